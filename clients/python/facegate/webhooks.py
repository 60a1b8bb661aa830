"""Checks the signatures of webhook requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import List, Literal, Optional, Sequence, Tuple, TypedDict, Union, cast

_SIGNATURES_MAX = 10


class WebhookSignatureError(Exception):
    """The request was not signed with the secret, or is too old. Reply with a status of 400."""


class BudgetEventData(TypedDict):
    balanceMicros: str
    """The remaining budget in millionths of the currency."""
    thresholdMicros: str
    """The event was due at this balance or a lower one."""


class KeyExpiringData(TypedDict):
    keyId: str
    name: str
    prefix: str
    last4: str
    expiresAtUtc: str
    days: int
    """The notice: 14 or 1 days before the expiry."""


class CameraChange(TypedDict):
    measure: Literal["withoutFace", "quality", "unmatched", "nearMisses", "similarity"]
    before: float
    """Of the four weeks before. Shares and similarities are 0..1, qualities 0..100."""
    after: float
    """Of the last week."""
    text: str
    """A sentence without a full stop."""


class CameraChangedData(TypedDict):
    keyId: str
    name: str
    prefix: str
    last4: str
    changes: List[CameraChange]


class SubjectExpiredData(TypedDict):
    subjectId: str
    externalId: Optional[str]
    reason: Literal["expiresAtUtc", "retention"]
    deletedAtUtc: str


class WebhookMatch(TypedDict):
    resultIndex: int
    """The element of `results` in the response of the call."""
    faceIndex: int
    outcome: Literal["match", "ambiguous"]
    """`ambiguous`: the next subject is so near that it is likely to be the right one."""
    subjectId: str
    externalId: Optional[str]
    groups: List[str]
    """The groups of the subject."""
    faceId: str
    similarity: float
    threshold: float


class _FaceEventData(TypedDict, total=False):
    omitted: int
    """The number of further faces, beyond 64 KiB. The response of the call contains them."""


class _IdentifyMatchedData(TypedDict):
    requestId: str
    """In lower case."""
    keyId: str
    matches: List[WebhookMatch]
    """The best match of each face that has one."""


class IdentifyMatchedData(_IdentifyMatchedData, _FaceEventData):
    """A match of `svc.identify`."""


class _EventFace(TypedDict):
    resultIndex: int
    """The element of `results` in the response of the call."""
    faceIndex: int


class _UnmatchedFace(_EventFace):
    similarity: Optional[float]
    """To the most similar subject; None if there is none."""
    threshold: float


class WebhookUnmatchedFace(_UnmatchedFace, total=False):
    visitorId: str
    """Only if the project stores unknown people."""


class _IdentifyUnmatchedData(TypedDict):
    requestId: str
    keyId: str
    faces: List[WebhookUnmatchedFace]
    """Each face that matches no subject."""


class IdentifyUnmatchedData(_IdentifyUnmatchedData, _FaceEventData):
    """Faces of `svc.identify` that match no subject."""


class WebhookVisitor(_EventFace):
    visitorId: str
    visitCount: int
    """The number of pictures, with this one."""
    previousSeenAtUtc: str
    similarity: float
    """To the visitor."""


class _VisitorReturnedData(TypedDict):
    requestId: str
    keyId: str
    faces: List[WebhookVisitor]
    """Each face of an unknown person of earlier calls."""


class VisitorReturnedData(_VisitorReturnedData, _FaceEventData):
    """Unknown people of earlier calls."""


class WebhookTestData(TypedDict):
    webhookId: str


class _Event(TypedDict):
    id: str
    """A repeated delivery has the same id."""
    createdAtUtc: str
    projectId: str


class BudgetEvent(_Event):
    type: Literal["budget.low", "budget.exhausted"]
    data: BudgetEventData


class KeyExpiringEvent(_Event):
    type: Literal["key.expiring"]
    data: KeyExpiringData


class CameraChangedEvent(_Event):
    type: Literal["camera.changed"]
    data: CameraChangedData


class SubjectExpiredEvent(_Event):
    type: Literal["subject.expired"]
    data: SubjectExpiredData


class IdentifyMatchedEvent(_Event):
    type: Literal["identify.matched"]
    data: IdentifyMatchedData


class IdentifyUnmatchedEvent(_Event):
    type: Literal["identify.unmatched"]
    data: IdentifyUnmatchedData


class VisitorReturnedEvent(_Event):
    type: Literal["visitor.returned"]
    data: VisitorReturnedData


class WebhookTestEvent(_Event):
    type: Literal["webhook.test"]
    data: WebhookTestData


WebhookEvent = Union[
    BudgetEvent,
    KeyExpiringEvent,
    CameraChangedEvent,
    SubjectExpiredEvent,
    IdentifyMatchedEvent,
    IdentifyUnmatchedEvent,
    VisitorReturnedEvent,
    WebhookTestEvent,
]


def verify_webhook(
    body: Union[bytes, str],
    signature: Optional[str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
) -> WebhookEvent:
    """Returns the event of a webhook request.

    `body` is the body as it was received, before it is parsed; `signature` the header
    `Facegate-Signature`; `secret` the signing secret, or several of them during a rotation. `now` is
    the current Unix time, for tests.

    Raises WebhookSignatureError unless a signature matches a secret and the request is recent.
    Raises TypeError if the body was parsed, a secret is empty or the tolerance is no number: an error
    of the program.
    """
    content = _raw_body(body)
    secrets = _secrets(secret)
    # A comparison with NaN is false: such a tolerance must not accept every age.
    if not (isinstance(tolerance_seconds, (int, float)) and tolerance_seconds >= 0):
        raise TypeError("tolerance_seconds: must be a number of seconds, 0 or more")
    seconds, signatures = _parse_signature(signature)
    is_valid = False
    for text in secrets:
        signed = hmac.new(text.encode(), f"{seconds}.".encode() + content, hashlib.sha256)
        for expected in signatures:
            is_valid |= hmac.compare_digest(signed.hexdigest(), expected)
    if not is_valid:
        raise WebhookSignatureError("no signature of the webhook matches the secret")
    current = time.time() if now is None else now
    if not abs(current - int(seconds)) <= tolerance_seconds:
        message = f"the webhook was sent more than {tolerance_seconds:g} s ago, or later"
        raise WebhookSignatureError(message)
    # The signature shows that the service has written it.
    return cast(WebhookEvent, json.loads(content))


def _raw_body(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)) and memoryview(body).itemsize == 1:
        return bytes(body)
    raise TypeError("body: must be the raw bytes or the text of the request, before it is parsed")


def _secrets(secret: object) -> List[str]:
    secrets = [secret] if isinstance(secret, str) else secret
    if isinstance(secrets, (list, tuple)) and secrets:
        if all(isinstance(text, str) and text for text in secrets):
            return list(secrets)
    raise TypeError("secret: must be the signing secret of the webhook, and is empty or no text")


def _parse_signature(header: Optional[str]) -> Tuple[str, List[str]]:
    """`t=<seconds>,v1=<hex>`, with one `v1` per secret. Unknown parts belong to later schemes."""
    parts = [part.strip() for part in (header or "").split(",")]
    times = [part[2:] for part in parts if re.fullmatch(r"t=[0-9]{1,12}", part)]
    signatures = [part[3:] for part in parts if re.fullmatch(r"v1=[0-9a-f]{64}", part)]
    if not times or not signatures:
        raise WebhookSignatureError("the header Facegate-Signature is missing or malformed")
    return str(int(times[0])), signatures[:_SIGNATURES_MAX]
