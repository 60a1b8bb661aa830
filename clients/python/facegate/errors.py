"""The exceptions of failed calls."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Type, TypedDict, cast


class _ProblemBase(TypedDict):
    code: str
    message: str
    """The location, the rule and what was received, for people."""


class Problem(_ProblemBase, total=False):
    """One problem of a call."""

    path: str
    """The JSON path of the parameter, such as `params.images[1].bytes`."""
    imageIndex: int
    """The position in `params.images` of the image with the problem."""
    correlationId: str
    subjectId: str
    """The subject that the problem concerns."""
    hint: str
    """One sentence: what to change."""


class FacegateError(Exception):
    """A failed call.

    It was not charged, with one exception: if the connection broke after the service had completed
    the call. `code` is an error code of the service, a code of the client, or `HTTP_<status>` if the
    response has no code. Each code has a subclass in `facegate.errors` or `facegate.error_codes`.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        *,
        request_id: Optional[str] = None,
        status: Optional[int] = None,
        retry_after_seconds: Optional[float] = None,
    ) -> None:
        super().__init__("; ".join(problem["message"] for problem in problems))
        self.problems: List[Problem] = list(problems)
        """Every problem of the call; never empty."""
        self.code: str = self.problems[0]["code"]
        """The code of the first problem."""
        self.request_id = request_id
        """The id of the call in the request log of the service."""
        self.status = status
        """The HTTP status, if there was a response."""
        self.retry_after_seconds = retry_after_seconds
        """The wait that the service requests before the next attempt."""

    def __reduce__(self) -> Any:
        details = {
            "request_id": self.request_id,
            "status": self.status,
            "retry_after_seconds": self.retry_after_seconds,
        }
        return (_restore, (type(self), self.problems, details))


class ConnectionFailedError(FacegateError):
    """CONNECTION_FAILED: The response did not arrive, or not completely."""


class TimedOutError(FacegateError):
    """TIMED_OUT: The response did not arrive in time."""


class BadResponseError(FacegateError):
    """BAD_RESPONSE: The response did not come from the service."""


class FileNotReadableError(FacegateError):
    """FILE_NOT_READABLE: The file of an image cannot be read. Nothing was sent."""


class InvalidArgumentError(FacegateError):
    """INVALID_ARGUMENT: An argument of the method is invalid. Nothing was sent."""


class CallCancelled(Exception):
    """The call was cancelled. The service may have completed it: see `Cancellation`."""


_CLIENT_EXCEPTIONS: Dict[str, Type[FacegateError]] = {
    "CONNECTION_FAILED": ConnectionFailedError,
    "TIMED_OUT": TimedOutError,
    "BAD_RESPONSE": BadResponseError,
    "FILE_NOT_READABLE": FileNotReadableError,
    "INVALID_ARGUMENT": InvalidArgumentError,
}


def error_of(
    problems: Sequence[Problem],
    *,
    request_id: Optional[str] = None,
    status: Optional[int] = None,
    retry_after_seconds: Optional[float] = None,
) -> FacegateError:
    """Returns the exception of the first code; `FacegateError` itself for unknown codes."""
    from .error_codes import EXCEPTIONS  # imports this module

    code = problems[0]["code"]
    kind = _CLIENT_EXCEPTIONS.get(code) or EXCEPTIONS.get(code) or FacegateError
    return kind(
        problems, request_id=request_id, status=status, retry_after_seconds=retry_after_seconds
    )


def client_error(code: str, message: str, request_id: Optional[str] = None) -> FacegateError:
    """Returns an error that the service did not send."""
    return error_of([{"code": code, "message": message}], request_id=request_id)


def problem_of(error: Mapping[str, object]) -> Problem:
    """Keeps unknown codes: a later service can return codes that this client does not list."""
    problem: Dict[str, object] = {
        "code": str(error.get("code")),
        "message": str(error.get("message")),
    }
    for name in ("path", "correlationId", "subjectId", "hint"):
        if isinstance(error.get(name), str):
            problem[name] = error[name]
    if isinstance(error.get("imageIndex"), int):
        problem["imageIndex"] = error["imageIndex"]
    return cast(Problem, problem)


def _restore(
    kind: Type[FacegateError], problems: Sequence[Problem], details: Dict[str, Any]
) -> FacegateError:
    return kind(problems, **details)
