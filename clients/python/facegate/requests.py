"""Builds the requests of actions and routes."""

from __future__ import annotations

import json
import uuid
from typing import Any, Callable, Dict, Mapping, Optional
from urllib.parse import quote, urlencode

from .errors import client_error
from .options import CallOptions
from .responses import error_from_response
from .transport import ServiceRequest, ServiceResponse


def action_request(
    action: str, params: Mapping[str, Any], options: CallOptions, validate_only: bool = False
) -> ServiceRequest:
    """Built once for a call: every attempt sends the same request with the same id."""
    request_id = options.request_id or str(uuid.uuid4())
    message: Dict[str, Any] = {"action": action, "requestId": request_id, "params": params}
    if options.debug:
        message["debug"] = True
    if validate_only:
        message["validateOnly"] = True
    return ServiceRequest(
        method="POST",
        path="/v1/face/execute",
        operation=action,
        body=_to_json(message),
        request_id=request_id,
    )


def route_request(
    method: str,
    route: str,
    path_param: Optional[str] = None,
    query: Optional[Mapping[str, Any]] = None,
    body: Optional[Mapping[str, Any]] = None,
) -> ServiceRequest:
    """`route` is the path as in the documentation; `path_param` replaces its part in braces."""
    path = route
    if path_param is not None:
        path = route[: route.index("{")] + _path_segment(path_param)
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in (query or {}).items()
        if value is not None
    }
    return ServiceRequest(
        method=method,
        path=path + (f"?{urlencode(texts)}" if texts else ""),
        operation=f"{method} {route}",
        body=None if body is None else _to_json(body),
        # Repeating a completed deletion would return GROUP_NOT_FOUND. A session has a requestId.
        is_repeatable=method != "DELETE",
    )


def body_reader(
    field: str, not_found_code: Optional[str] = None
) -> Callable[[ServiceResponse], Any]:
    """Returns a function that reads the body of a route, which has the field; `items` is a list."""

    def read(response: ServiceResponse) -> Any:
        body = response.body
        value = body.get(field) if isinstance(body, dict) else None
        is_expected = isinstance(value, list) if field == "items" else value is not None
        if response.status != 200 or not is_expected:
            raise error_from_response(response, not_found_code)
        return body

    return read


def _path_segment(text: str) -> str:
    if not isinstance(text, str) or text in ("", ".", ".."):
        raise client_error("INVALID_ARGUMENT", f"{text!r} is not a valid id or name")
    return quote(text, safe="")


def _to_json(message: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise client_error("INVALID_ARGUMENT", f"the parameters are not JSON: {error}") from error
