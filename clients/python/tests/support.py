"""What the tests share: clients of the running service, fake images, and a scripted server."""

from __future__ import annotations

import json
import os
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional

from facegate import Client, DescribedImage

_keys = os.environ.get("FACEGATE_TEST_KEYS", "").split()


def project_client(**options: Any) -> Client:
    """Returns a client of a new project with an empty gallery."""
    return Client(os.environ["FACEGATE_TEST_URL"], project_key(), **options)


def project_key() -> str:
    return _keys.pop()


def real_client() -> Client:
    """Returns a client of a service with its models."""
    return Client(os.environ["FACEGATE_REAL_URL"], os.environ["FACEGATE_REAL_KEY"])


def image_of(*people: Any) -> DescribedImage:
    """Creates an image for the fake vision of the service, which lists the people in it."""
    persons = [{"name": person} if isinstance(person, str) else person for person in people]
    return {"bytes": json.dumps(persons).encode(), "contentType": "image/jpeg"}


class ScriptedServer:
    """Returns the responses of a script, one for each request. After None it stays silent."""

    def __init__(self, *responses: Optional[Dict[str, Any]]) -> None:
        self.requests: List[Dict[str, Any]] = []
        self.connections = 0
        self._end = threading.Event()
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                script.connections += 1

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                response = responses[min(len(script.requests), len(responses) - 1)]
                request_id = json.loads(body or "{}").get("requestId")
                script.requests.append({"at": time.monotonic(), "request_id": request_id})
                if response is None:
                    script._end.wait(30)
                    return
                content = response["body"]
                data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                self.send_response(response["status"])
                self.send_header("content-type", response.get("type", "application/json"))
                self.send_header("content-length", str(len(data)))
                for name, value in response.get("headers", {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST
            do_DELETE = do_POST

            def log_message(self, format: str, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()

    def client(self, **options: Any) -> Client:
        return Client(self.url, "k", **options)


def failure_body(code: str) -> Dict[str, Any]:
    return {"ok": False, "data": None, "errors": [{"code": code, "message": "no"}]}


DETECT_BODY = {
    "ok": True,
    "requestId": "r",
    "data": {
        "results": [{"index": 0, "correlationId": "auto-0", "ok": True, "value": {"faceCount": 0}}]
    },
    "errors": [],
}

TestCase = unittest.TestCase
