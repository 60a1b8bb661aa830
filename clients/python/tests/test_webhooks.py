from __future__ import annotations

import hashlib
import hmac
from typing import Any, List, Union

from facegate import WebhookSignatureError, verify_webhook

from .support import TestCase

NOW = 1_700_000_000
BODY = b'{"id":"1","type":"webhook.test","data":{"webhookId":"w"}}'


def signed(secret: str, seconds: int = NOW, body: bytes = BODY) -> str:
    content = f"{seconds}.".encode() + body
    return f"t={seconds},v1={hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()}"


class WebhookTests(TestCase):
    def test_a_signed_request_returns_its_event(self) -> None:
        bodies: List[Union[bytes, str]] = [BODY, BODY.decode()]
        for body in bodies:
            event = verify_webhook(body, signed("whsec_a"), "whsec_a", now=NOW + 299)
            self.assertEqual(event["type"], "webhook.test")
        rotated = f"{signed('whsec_b')}, v1={'0' * 64}, v2=later"
        verify_webhook(BODY, rotated, ["whsec_a", "whsec_b"], now=NOW)

    def test_a_request_with_another_signature_or_time_is_refused(self) -> None:
        for signature, now in (
            (signed("whsec_b"), NOW),
            (signed("whsec_a", body=b"{}"), NOW),
            (signed("whsec_a"), NOW + 301),
            (signed("whsec_a"), NOW - 301),
            (signed("whsec_a").replace(str(NOW), str(NOW + 1)), NOW),
            ("", NOW),
            (None, NOW),
            (f"t={NOW}", NOW),
            (signed("whsec_a").upper(), NOW),
        ):
            with self.assertRaises(WebhookSignatureError):
                verify_webhook(BODY, signature, "whsec_a", now=now)

    def test_an_error_of_the_program_is_a_type_error(self) -> None:
        signature: Any = signed("whsec_a")
        wrong: Any = [
            ({"id": "1"}, "whsec_a", 300),
            (BODY, "", 300),
            (memoryview(BODY[:2]).cast("H"), "whsec_a", 300),
            (BODY, [], 300),
            (BODY, None, 300),
            (BODY, "whsec_a", float("nan")),
            (BODY, "whsec_a", "300"),
        ]
        for body, secret, tolerance in wrong:
            with self.assertRaises(TypeError):
                verify_webhook(body, signature, secret, tolerance_seconds=tolerance, now=NOW)
