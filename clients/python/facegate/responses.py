"""Reads the responses of the service."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Generic, List, Optional, TypeVar, cast

from .errors import FacegateError, Problem, error_of, problem_of
from .transport import ServiceResponse

Value = TypeVar("Value")


@dataclass(frozen=True)
class ItemResult(Generic[Value]):
    """The result of one image of a batch."""

    index: int
    correlation_id: str
    error: Optional[FacegateError]
    """Why the image failed; None if it succeeded."""
    _value: Optional[Value]

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def value(self) -> Value:
        """Raises the error of an image that failed."""
        if self.error is not None:
            raise self.error
        return cast(Value, self._value)


@dataclass(frozen=True)
class ActionResponse(Generic[Value]):
    """The response of an action."""

    request_id: str
    is_replay: bool
    """Whether the service returned the stored result of an earlier request with the same id."""
    is_redacted: bool
    """Whether its identities were removed, because a subject was deleted after that request."""
    are_crops_omitted: bool
    """Whether the stored result has no crops, because they were large: see `replayCrops`."""
    results: List[ItemResult[Value]]
    """Never empty. Actions about one image return exactly one result."""

    def single(self) -> Value:
        """Returns the only value. Raises FacegateError if its item failed."""
        return self.results[0].value


@dataclass(frozen=True)
class CallValidation:
    """The price of a call that was only checked."""

    price_micros: int
    """If every image succeeds, in micro-units of the currency."""
    billing: bool
    """Whether the project is charged for its calls."""


def read_validation(response: ServiceResponse) -> CallValidation:
    """Reads the response to a call with `validateOnly`. Raises as `read_envelope`."""
    data = _read_success(response).get("data")
    validation = data.get("validation") if isinstance(data, dict) else None
    if not isinstance(validation, dict):
        raise error_from_response(response)
    return CallValidation(int(validation["priceMicros"]), validation["billing"] is True)


def _read_success(response: ServiceResponse) -> Dict[str, Any]:
    body = response.body
    if response.status != 200 or not isinstance(body, dict) or not isinstance(body.get("ok"), bool):
        raise error_from_response(response)
    if not body["ok"]:
        errors = body.get("errors")
        problems = [problem_of(error) for error in errors or [] if isinstance(error, dict)]
        raise _error(response, problems or [_NO_REASON])
    return body


def read_envelope(response: ServiceResponse) -> ActionResponse[Any]:
    """Raises FacegateError when the envelope has `ok: false`, or the body is not an envelope."""
    body = _read_success(response)
    data, meta = body.get("data"), body.get("meta")
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list) or not results:
        raise error_from_response(response)
    facts = meta if isinstance(meta, dict) else {}
    return ActionResponse(
        request_id=response.request_id or str(body.get("requestId")),
        is_replay=facts.get("idempotencyReplay") is True,
        is_redacted=facts.get("redacted") is True,
        are_crops_omitted=facts.get("cropsOmitted") is True,
        results=[_read_item(response, item) for item in results],
    )


_NO_REASON: Problem = {"code": "BAD_RESPONSE", "message": "the response contains no error code"}


def _read_item(response: ServiceResponse, item: Any) -> ItemResult[Any]:
    # The service validates every response against the schemas that generate the types.
    try:
        index, correlation_id, value = item["index"], item["correlationId"], item["value"]
        if item["ok"]:
            return ItemResult(index, correlation_id, None, value)
        error = _error(response, [problem_of(value["error"])])
    except (AttributeError, KeyError, TypeError):
        raise error_from_response(response) from None
    return ItemResult[Any](index, correlation_id, error, None)


# The error codes of statuses whose responses contain no code.
_CODES_BY_STATUS = {
    400: "INVALID_REQUEST",
    401: "UNAUTHORIZED",
    402: "PAYMENT_REQUIRED",
    403: "FORBIDDEN",
    413: "PAYLOAD_TOO_LARGE",
    429: "RATE_LIMITED",
}


def error_from_response(
    response: ServiceResponse, not_found_code: Optional[str] = None
) -> FacegateError:
    """Returns the error of a response with `{"detail"}`, or of one that the service never sends."""
    status, body = response.status, response.body
    if 200 <= status < 300:
        message = "the response did not come from the service; check base_url"
        return _error(response, [{"code": "BAD_RESPONSE", "message": message}])
    message = f"the service returned HTTP {status}"
    if 300 <= status < 400:
        message = "the response is a redirect, which is not followed with the key; check base_url"
    if isinstance(body, dict) and isinstance(body.get("detail"), str):
        message = body["detail"]
    code = _CODES_BY_STATUS.get(status)
    # Only known routes return an id. A 404 without one does not mean that a subject is missing.
    if status == 404 and response.request_id is not None:
        code = not_found_code
    return _error(response, [{"code": code or f"HTTP_{status}", "message": message}])


def _error(response: ServiceResponse, problems: List[Problem]) -> FacegateError:
    return error_of(
        problems,
        request_id=response.request_id,
        status=response.status,
        retry_after_seconds=_retry_after_seconds(response.headers.get("retry-after")),
    )


# One day, as in the client for TypeScript.
_RETRY_AFTER_SECONDS_MAX = 86_400.0


def _retry_after_seconds(text: Optional[str]) -> Optional[float]:
    """Parses Retry-After: seconds, or a date (RFC 9110, 10.2.3)."""
    if text is None:
        return None
    # Other digits than these are no numbers for `float`.
    if re.fullmatch(r"\s*[0-9]+\s*", text):
        return min(float(text), _RETRY_AFTER_SECONDS_MAX)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
        return min(max(0.0, seconds), _RETRY_AFTER_SECONDS_MAX)
    except (TypeError, ValueError, OverflowError):
        return None
