from __future__ import annotations

import json
import os
import threading
import time
from email.utils import formatdate
from typing import Any, List

from facegate import CallCancelled, CallOptions, Cancellation, Client, ClientEvent, FacegateError
from facegate.errors import BadResponseError, ConnectionFailedError, TimedOutError
from facegate.retries import retry_delay_seconds

from .support import DETECT_BODY, ScriptedServer, TestCase, failure_body, image_of, project_client

BUSY = {"status": 503, "headers": {"retry-after": "60"}, "body": {"detail": "busy"}}


class RetryTests(TestCase):
    def test_temporary_failures_are_retried_with_the_same_request_id(self) -> None:
        with ScriptedServer(
            {"status": 200, "body": failure_body("RATE_LIMITED")},
            {"status": 429, "body": {"detail": "slow down"}},
            {"status": 503, "body": {"detail": "busy"}},
            {"status": 502, "type": "text/html", "body": "<html>bad gateway</html>"},
            {"status": 200, "body": '{"ok":true,"requ'},
            {"status": 200, "body": DETECT_BODY},
        ) as server:
            value = server.client(attempts_max=6).detect(image_of("A"))
            self.assertEqual(value["faceCount"], 0)
            self.assertEqual(len(server.requests), 6)
            self.assertEqual(len({request["request_id"] for request in server.requests}), 1)

    def test_permanent_failures_are_not_retried(self) -> None:
        location = {"location": "http://127.0.0.1:1/"}
        cases: List[Any] = [
            ({"status": 200, "body": failure_body("NO_FACE_FOUND")}, "NO_FACE_FOUND"),
            ({"status": 200, "body": failure_body("A_LATER_CODE")}, "A_LATER_CODE"),
            ({"status": 400, "body": {"detail": "no"}}, "INVALID_REQUEST"),
            ({"status": 401, "body": {"detail": "no"}}, "UNAUTHORIZED"),
            ({"status": 413, "body": {"detail": "no"}}, "PAYLOAD_TOO_LARGE"),
            ({"status": 404, "body": {"detail": "No such route."}}, "HTTP_404"),
            ({"status": 200, "type": "text/html", "body": "<html>"}, "BAD_RESPONSE"),
            ({"status": 200, "body": {"ok": "yes"}}, "BAD_RESPONSE"),
            ({"status": 200, "body": {"ok": True, "data": {"results": []}}}, "BAD_RESPONSE"),
            ({"status": 500, "body": {"detail": "no"}}, "HTTP_500"),
            ({"status": 307, "headers": location, "body": {}}, "HTTP_307"),
        ]
        for response, code in cases:
            with self.subTest(code), ScriptedServer(response) as server:
                with self.assertRaises(FacegateError) as raised:
                    server.client().detect(image_of("A"))
                self.assertEqual(raised.exception.code, code)
                self.assertEqual(len(server.requests), 1)
        self.assertTrue(issubclass(BadResponseError, FacegateError))

    def test_the_client_waits_for_retry_after_in_seconds_or_as_a_date(self) -> None:
        date = int(time.time()) + 2
        events: List[ClientEvent] = []
        with ScriptedServer(
            {"status": 503, "headers": {"retry-after": "1"}, "body": {}},
            {"status": 503, "headers": {"retry-after": formatdate(date, usegmt=True)}, "body": {}},
            {"status": 200, "body": DETECT_BODY},
        ) as server:
            server.client(on_event=events.append).detect(image_of("A"))
            first, second, _ = server.requests
            self.assertGreaterEqual(second["at"] - first["at"], 1)
            self.assertGreaterEqual(time.time(), date)
        self.assertEqual(
            [(event.outcome, event.attempt, event.status) for event in events],
            [("retrying", 1, 503), ("retrying", 2, 503), ("succeeded", 3, 200)],
        )

    def test_the_call_fails_at_once_if_the_wait_would_exceed_its_limits(self) -> None:
        with ScriptedServer(BUSY) as server:
            with self.assertRaises(FacegateError) as raised:
                server.client(call_seconds_max=30).detect(image_of("A"))
            self.assertEqual(raised.exception.retry_after_seconds, 60)
            self.assertEqual(len(server.requests), 1)
        with ScriptedServer({"status": 200, "body": failure_body("RATE_LIMITED")}) as server:
            with self.assertRaises(FacegateError):
                server.client(attempts_max=3).detect(image_of("A"))
            self.assertEqual(len(server.requests), 3)

    def test_a_wait_of_more_than_a_day_in_retry_after_counts_as_one_day(self) -> None:
        for wait in ("86401", "9" * 12, "9" * 400, "Fri, 01 Jan 2900 00:00:00 GMT"):
            busy = {"status": 503, "headers": {"retry-after": wait}, "body": {}}
            with self.subTest(wait), ScriptedServer(busy) as server:
                with self.assertRaises(FacegateError) as raised:
                    server.client().detect(image_of("A"))
                self.assertEqual(raised.exception.retry_after_seconds, 86_400)
                self.assertEqual(len(server.requests), 1)

    def test_the_backoff_doubles_up_to_its_limit_and_is_added_to_retry_after(self) -> None:
        limits = [retry_delay_seconds(count, None, 1) for count in (1, 2, 3, 6, 7, 20)]
        self.assertEqual(limits, [0.2, 0.4, 0.8, 6.4, 10, 10])
        self.assertEqual(retry_delay_seconds(5, None, 0), 0)
        self.assertEqual(retry_delay_seconds(1, 3, 0.5), 3.1)

    def test_silence_is_timed_out_and_no_connection_is_connection_failed(self) -> None:
        events: List[ClientEvent] = []
        with ScriptedServer(None) as server:
            client = server.client(
                attempt_seconds_max=0.05, attempts_max=2, on_event=events.append
            )
            with self.assertRaises(TimedOutError):
                client.detect(image_of("A"))
        codes = [(event.attempt, event.code) for event in events]
        self.assertEqual(codes, [(1, "TIMED_OUT"), (2, "TIMED_OUT")])
        with self.assertRaises(ConnectionFailedError) as offline:
            Client("http://127.0.0.1:1", "k", attempts_max=2).detect(image_of("A"))
        self.assertRegex(offline.exception.request_id or "", "^[0-9a-f-]{36}$")

    def test_a_cancellation_ends_a_call_before_during_and_between_attempts(self) -> None:
        cancelled = Cancellation()
        cancelled.cancel()
        with ScriptedServer(None) as server:
            with self.assertRaises(CallCancelled):
                server.client().detect(image_of("A"), options=CallOptions(cancellation=cancelled))
            self.assertEqual(server.requests, [])
            during = Cancellation()

            def cancel_when_sent() -> None:
                while not server.requests:
                    time.sleep(0.001)
                during.cancel()

            threading.Thread(target=cancel_when_sent, daemon=True).start()
            with self.assertRaises(CallCancelled):
                server.client().detect(image_of("A"), options=CallOptions(cancellation=during))
        between = Cancellation()
        with ScriptedServer(BUSY) as server:
            client = server.client(on_event=lambda _: between.cancel())
            with self.assertRaises(CallCancelled):
                client.detect(image_of("A"), options=CallOptions(cancellation=between))
            self.assertEqual(len(server.requests), 1)

    def test_calls_share_a_connection_and_replace_one_that_the_service_closed(self) -> None:
        with ScriptedServer(
            {"status": 200, "body": DETECT_BODY},
            {"status": 200, "body": DETECT_BODY},
            {"status": 200, "headers": {"connection": "close"}, "body": DETECT_BODY},
            {"status": 200, "body": DETECT_BODY},
        ) as server, server.client(attempts_max=1) as client:
            for _ in range(4):
                client.detect(image_of("A"))
            self.assertEqual(server.connections, 2)

    def test_after_a_broken_connection_a_read_is_retried_but_a_deletion_is_not(self) -> None:
        client = project_client()
        client.enroll(image_of("A"), groups=["staff"])
        key = client._settings.api_key  # a project has one key here
        breaking = Client(os.environ["FACEGATE_BREAKING_URL"], key)
        list(breaking.groups.list())  # the proxy closes every second connection
        with self.assertRaises(ConnectionFailedError):
            breaking.groups.delete("staff")
        self.assertEqual(list(breaking.groups.list()), [])
        self.assertEqual(list(breaking.groups.list()), [])

    def test_the_deletion_of_a_group_is_retried_after_429_only(self) -> None:
        deleted = {"records": [], "deletedCount": 0, "deletedAtUtc": "2026-01-01T00:00:00.000Z"}
        with ScriptedServer(
            {"status": 429, "headers": {"retry-after": "0"}, "body": {"detail": "slow down"}},
            {"status": 200, "body": deleted},
            {"status": 503, "headers": {"retry-after": "0"}, "body": {"detail": "busy"}},
            {"status": 502, "type": "text/html", "body": "<html>bad gateway</html>"},
        ) as server:
            client = server.client()
            self.assertEqual(client.groups.delete("staff")["deletedCount"], 0)
            for _ in (503, 502):
                with self.assertRaises(FacegateError):
                    client.groups.delete("staff")
            self.assertEqual(len(server.requests), 4)

    def test_errors_and_events_contain_neither_the_key_nor_an_image(self) -> None:
        events: List[ClientEvent] = []

        def log(event: ClientEvent) -> None:
            events.append(event)
            raise OSError("the log is full")

        texts = []
        for url in (os.environ["FACEGATE_TEST_URL"], "http://127.0.0.1:1"):
            client = Client(url, "fsk_live_secret", on_event=log, attempts_max=1)
            with self.assertRaises(FacegateError) as raised:
                client.detect({"bytes": "c2VjcmV0IHBpY3R1cmU=", "contentType": "image/png"})
            texts += [repr(raised.exception), repr(raised.exception.__cause__), repr(vars(client))]
        text = json.dumps([texts, [repr(event) for event in events]])
        self.assertEqual(len(events), 2)
        self.assertNotIn("secret", text)
        self.assertNotIn("c2Vj", text)
