"""Sends a request again while that can help."""

from __future__ import annotations

import random
import time
from typing import Callable, Optional, TypeVar

from .cancellation import Cancellation
from .errors import FacegateError
from .options import CallOptions, ClientEvent, Settings, read_limits
from .transport import ServiceRequest, ServiceResponse, Transport

Value = TypeVar("Value")

# The first wait is random in 0..0.2 s. The upper limit doubles for each further wait, up to 10 s.
_BACKOFF_SECONDS_INITIAL = 0.2
_BACKOFF_SECONDS_MAX = 10.0

# Statuses of temporary failures. A retry does not change the others.
_RETRYABLE_STATUSES = frozenset((408, 429, 502, 503, 504))
_RETRYABLE_CODES = frozenset(("CONNECTION_FAILED", "TIMED_OUT", "RATE_LIMITED"))


def send_with_retries(
    transport: Transport,
    settings: Settings,
    request: ServiceRequest,
    parse: Callable[[ServiceResponse], Value],
    options: CallOptions,
) -> Value:
    """Raises the FacegateError of the last attempt, or CallCancelled."""
    limits = read_limits(options, settings.limits)
    cancellation = options.cancellation or Cancellation()
    end = time.monotonic() + limits.call_seconds_max
    count = 0
    while True:
        count += 1
        start = time.monotonic()

        def report(
            outcome: str, request_id: Optional[str], status: Optional[int],
            code: Optional[str] = None, delay: Optional[float] = None,
        ) -> None:
            settings.on_event(
                ClientEvent(
                    outcome=outcome, operation=request.operation,
                    request_id=request_id or request.request_id, attempt=count,
                    duration_seconds=time.monotonic() - start,
                    code=code, status=status, delay_seconds=delay,
                )
            )

        try:
            seconds_max = max(0.001, min(limits.attempt_seconds_max, end - start))
            response = transport.send(request, seconds_max, cancellation)
            value = parse(response)
            report("succeeded", response.request_id, response.status)
            return value
        except FacegateError as error:
            delay = retry_delay_seconds(count, error.retry_after_seconds, random.random())
            has_time_left = count < limits.attempts_max and time.monotonic() + delay < end
            if not has_time_left or not _is_retryable(error, request):
                report("failed", error.request_id, error.status, error.code)
                raise
            report("retrying", error.request_id, error.status, error.code, delay)
        cancellation.sleep(delay)


def retry_delay_seconds(count: int, retry_after: Optional[float], fraction: float) -> float:
    """Returns the wait that the service requests, plus a random part of a limit that doubles.

    The random part ("full jitter") spreads clients that were rejected together. `fraction` is
    0..1, 1 excluded.
    """
    limit = min(_BACKOFF_SECONDS_MAX, _BACKOFF_SECONDS_INITIAL * 2.0 ** (count - 1))
    return (retry_after or 0) + fraction * limit


def _is_retryable(error: FacegateError, request: ServiceRequest) -> bool:
    if not request.is_repeatable:
        return error.status == 429
    return error.code in _RETRYABLE_CODES or error.status in _RETRYABLE_STATUSES
