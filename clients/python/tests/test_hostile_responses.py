from __future__ import annotations

import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Callable, Dict, Tuple
from unittest import mock

from facegate import Client, FacegateError

_ENVELOPE = '{"ok":true,"requestId":"r","action":"a","errors":[],"data":{"results":[%s]}}'


class HostileResponseTests(unittest.TestCase):
    def test_each_invalid_response_raises_a_facegate_error(self) -> None:
        bodies: Tuple[Tuple[str, str], ...] = (
            ("[" * 200_000, "CONNECTION_FAILED"),
            (_ENVELOPE % "1", "BAD_RESPONSE"),
            (_ENVELOPE % "{}", "BAD_RESPONSE"),
            (_ENVELOPE % '{"index":0,"correlationId":"a","ok":false,"value":{}}', "BAD_RESPONSE"),
            (_ENVELOPE % '{"index":0,"correlationId":"a","ok":false,"value":"x"}', "BAD_RESPONSE"),
            (
                _ENVELOPE % '{"index":0,"correlationId":"a","ok":false,"value":{"error":"x"}}',
                "BAD_RESPONSE",
            ),
        )
        for body, code in bodies:
            self.assertEqual(_code_of(200, {}, body), code, body[:100])

    def test_a_json_object_that_no_route_returns_is_not_from_the_service(self) -> None:
        calls: Tuple[Callable[[Client], object], ...] = (
            lambda client: client.me(),
            lambda client: client.subjects.page(),
            lambda client: list(client.subjects.list()),
            lambda client: client.subjects.get("a"),
            lambda client: client.groups.delete("a"),
        )
        for call in calls:
            for body in ('{"a":1}', '{"items":5}'):
                self.assertEqual(_code_of(200, {}, body, call=call), "BAD_RESPONSE", body)

    def test_a_retry_after_of_other_digits_or_of_a_far_date_is_ignored(self) -> None:
        for text in ("\u00b2\u00b3", "9" * 400, "-5", "Fri, 31 Dec 99999 23:59:59 GMT"):
            self.assertEqual(_code_of(503, {"retry-after": text}, "{}"), "HTTP_503", text)


    def test_a_response_above_the_limit_is_not_read(self) -> None:
        body = _ENVELOPE % ""
        body += " " * (1000 - len(body))
        for limit, is_chunked, code in (
            (999, False, "CONNECTION_FAILED"),
            (999, True, "CONNECTION_FAILED"),
            (1000, False, "BAD_RESPONSE"),
            (1000, True, "BAD_RESPONSE"),
        ):
            with mock.patch("facegate.transport._RESPONSE_BYTES_MAX", limit):
                shown = f"{limit} {is_chunked}"
                self.assertEqual(_code_of(200, {}, body, is_chunked=is_chunked), code, shown)

    def test_responses_with_hints_are_skipped(self) -> None:
        hint = b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n"
        body = '{"detail":"no"}'
        self.assertEqual(_code_of(404, {}, body, before=hint * 2), "HTTP_404")


def _code_of(
    status: int,
    headers: Dict[str, str],
    body: str,
    *,
    before: bytes = b"",
    is_chunked: bool = False,
    call: Callable[[Client], object] = lambda client: client.detect(b"\xff\xd8\xff"),
) -> str:
    """Returns the code of the error that a call raises for this response."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"] or 0))
            self.wfile.write(before)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            for name, value in headers.items():
                self.send_header(name, value)
            if is_chunked:
                self.send_header("transfer-encoding", "chunked")
            else:
                self.send_header("content-length", str(len(body)))
            self.end_headers()
            text = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n" if is_chunked else body
            self.wfile.write(text.encode())

        do_GET = do_DELETE = do_POST

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            with Client(base_url=url, api_key="a-key", attempts_max=1) as client:
                call(client)
        except FacegateError as error:
            return error.code
        finally:
            server.shutdown()
            thread.join()
    raise AssertionError("the call succeeded")
