"""The options of a client and of a call."""

from __future__ import annotations

import math
import os
import re
import ssl
from dataclasses import dataclass
from typing import Callable, Optional
from urllib.parse import SplitResult, urlsplit

from .cancellation import Cancellation


@dataclass(frozen=True)
class ClientEvent:
    """The result of one attempt of a call. It contains no image, no parameter and no key."""

    outcome: str
    """`succeeded` and `failed` end the call. After `retrying` another attempt follows."""
    operation: str
    """An action such as `svc.detect`, or a route such as `GET /v1/subjects`."""
    request_id: Optional[str]
    """Always set for actions. Set for routes only if the response contains it."""
    attempt: int
    """Counted from 1."""
    duration_seconds: float
    code: Optional[str] = None
    status: Optional[int] = None
    delay_seconds: Optional[float] = None
    """The wait before the next attempt; only with `retrying`."""


@dataclass(frozen=True)
class CallOptions:
    """Options of one call. Limits that are None are those of the client."""

    request_id: Optional[str] = None
    """Your UUID for the call, so that another process can retry the same call. Default: random."""
    debug: bool = False
    """Returns details of the computation. Requires the permission `debug`."""
    attempts_max: Optional[int] = None
    attempt_seconds_max: Optional[float] = None
    call_seconds_max: Optional[float] = None
    cancellation: Optional[Cancellation] = None
    """Cancels the call, which then raises `CallCancelled`."""


@dataclass(frozen=True)
class RetryLimits:
    attempts_max: int = 5
    attempt_seconds_max: float = 30
    call_seconds_max: float = 90


@dataclass(frozen=True)
class Settings:
    """Validated options of a client."""

    url: SplitResult
    """Its path has no trailing slash."""
    api_key: str
    limits: RetryLimits
    on_event: Callable[[ClientEvent], None]
    ssl_context: Optional[ssl.SSLContext]

    def __repr__(self) -> str:
        return "Settings(...)"  # without the key


def read_settings(
    base_url: Optional[str],
    api_key: Optional[str],
    limits: CallOptions,
    on_event: Optional[Callable[[ClientEvent], None]],
    ssl_context: Optional[ssl.SSLContext],
) -> Settings:
    """Raises ValueError that names the invalid option, but not its value, which may be a key."""
    key = os.environ.get("FACEGATE_KEY", "") if api_key is None else api_key
    # The error of the platform about an invalid header would quote the key.
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("api_key: must be the full key, without spaces or line breaks")

    def report(event: ClientEvent) -> None:
        try:
            if on_event is not None:
                on_event(event)
        except Exception:
            pass  # A failed log entry must not fail the call.

    return Settings(
        url=_read_base_url(base_url),
        api_key=key,
        limits=read_limits(limits, RetryLimits()),
        on_event=report,
        ssl_context=ssl_context,
    )


def read_limits(options: CallOptions, fallback: RetryLimits) -> RetryLimits:
    """Raises ValueError that names the limit that is not a positive number."""
    attempts = _or(options.attempts_max, fallback.attempts_max)
    if not (_is_positive(attempts) and attempts >= 1):
        raise ValueError("attempts_max: must be at least 1")
    attempt_seconds = _or(options.attempt_seconds_max, fallback.attempt_seconds_max)
    call_seconds = _or(options.call_seconds_max, fallback.call_seconds_max)
    for name, value in (
        ("attempt_seconds_max", attempt_seconds),
        ("call_seconds_max", call_seconds),
    ):
        if not _is_positive(value):
            raise ValueError(f"{name}: must be a number of seconds above 0")
    return RetryLimits(int(attempts), attempt_seconds, call_seconds)


def _or(value: Optional[float], fallback: float) -> float:
    return fallback if value is None else value


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0


def _read_base_url(base_url: Optional[str]) -> SplitResult:
    text = os.environ.get("FACEGATE_URL") if base_url is None else base_url
    try:
        url = urlsplit(text or "http://127.0.0.1:8080")
        _ = url.port
    except ValueError:
        raise ValueError("base_url: must be an absolute URL") from None
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("base_url: must begin with http:// or https://")
    if url.query or url.fragment or "@" in url.netloc or re.search(r"[\x00-\x20\x7f]", url.geturl()):
        raise ValueError("base_url: must not contain a user name, a password, spaces, ? or #")
    return url._replace(path=url.path.rstrip("/"))
