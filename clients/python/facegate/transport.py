"""One HTTP request over a connection that is kept for the next one."""

from __future__ import annotations

import http.client
import json
import selectors
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import List, Mapping, Optional

from .cancellation import Cancellation
from .errors import client_error
from .options import Settings

_IDLE_CONNECTIONS_MAX = 16
_RESPONSE_BYTES_MAX = 256 * 1024 * 1024
_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class ServiceRequest:
    """One request to the service. Every attempt sends the same request."""

    method: str
    path: str
    """With its query."""
    operation: str
    """The name of the request in events."""
    body: Optional[bytes] = None
    request_id: Optional[str] = None
    is_repeatable: bool = True
    """Whether it can be sent again after a broken connection."""


@dataclass(frozen=True)
class ServiceResponse:
    """A complete response."""

    status: int
    headers: Mapping[str, str]
    """With names in lower case."""
    body: object
    """The JSON body; None if the content type is not JSON."""
    request_id: Optional[str]


class _FinalResponse(http.client.HTTPResponse):
    """A response that skips those with hints, which a proxy may send before it."""

    def begin(self) -> None:
        super().begin()
        while 101 < self.status < 200:
            # Without headers, the method reads the next response.
            self.headers = None  # type: ignore[assignment]
            super().begin()


class Transport:
    """Sends requests to one service. Threads can share it."""

    def __init__(self, settings: Settings) -> None:
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._settings = settings
        self._is_closed = False
        self._ssl_context = settings.ssl_context
        if settings.url.scheme == "https" and self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()

    def send(
        self, request: ServiceRequest, seconds_max: float, cancellation: Cancellation
    ) -> ServiceResponse:
        """Raises CONNECTION_FAILED, TIMED_OUT, or CallCancelled."""
        cancellation.raise_if_cancelled()
        end = time.monotonic() + seconds_max
        connection = self._take(request, seconds_max)
        watch = _Watch(connection)
        # A timeout of the socket limits each read, the timer all of them together.
        timer = threading.Timer(seconds_max, watch.abort)
        timer.daemon = True
        timer.start()
        cancellation.add(watch.abort)
        try:
            response = self._exchange(connection, request, cancellation, end)
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            cancellation.raise_if_cancelled()
            if isinstance(error, socket.timeout) or time.monotonic() >= end:
                message = f"no response within {seconds_max:g} s"
                raise client_error("TIMED_OUT", message, request.request_id) from None
            message = f"no complete response: {error or type(error).__name__}"
            raise client_error("CONNECTION_FAILED", message, request.request_id) from error
        except BaseException:
            connection.close()
            raise
        finally:
            watch.end()
            timer.cancel()
            cancellation.remove(watch.abort)
        self._keep(connection)
        return response

    def close(self) -> None:
        """Closes the connections that no request uses."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        self.close()

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        request: ServiceRequest,
        cancellation: Cancellation,
        end: float,
    ) -> ServiceResponse:
        if connection.sock is None:
            connection.connect()
            # A call that is cancelled or late while it connects has no socket to shut down.
            cancellation.raise_if_cancelled()
            if time.monotonic() >= end:
                raise socket.timeout()
        headers = {"x-api-key": self._settings.api_key, "accept": "application/json"}
        if request.body is not None:
            headers["content-type"] = "application/json"
        path = self._settings.url.path + request.path
        try:
            connection.request(request.method, path, request.body, headers)
        except (BrokenPipeError, ConnectionResetError):
            # The service can refuse a request before it has read its body.
            pass
        response = connection.getresponse()
        text = _read_body(response)
        result_headers = {name.lower(): value for name, value in response.getheaders()}
        body = _parse_json(text, result_headers)
        if response.will_close:
            connection.close()
        request_id = request.request_id or result_headers.get("x-request-id")
        return ServiceResponse(response.status, result_headers, body, request_id)

    def _take(self, request: ServiceRequest, seconds_max: float) -> http.client.HTTPConnection:
        """Returns an idle connection that the service has not closed, or a new one."""
        while request.is_repeatable:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if connection.sock is not None and not _is_readable(connection.sock):
                connection.sock.settimeout(seconds_max)
                return connection
            connection.close()
        url = self._settings.url
        assert url.hostname is not None
        connection = (
            http.client.HTTPSConnection(
                url.hostname, url.port, timeout=seconds_max, context=self._ssl_context
            )
            if url.scheme == "https"
            else http.client.HTTPConnection(url.hostname, url.port, timeout=seconds_max)
        )
        connection.response_class = _FinalResponse
        return connection

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        if connection.sock is None:
            return
        with self._lock:
            is_kept = not self._is_closed and len(self._idle) < _IDLE_CONNECTIONS_MAX
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()


class _Watch:
    """Ends the exchange of a connection from another thread, but not a later one."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._lock = threading.Lock()
        self._connection: Optional[http.client.HTTPConnection] = connection

    def abort(self) -> None:
        with self._lock:
            sock = self._connection.sock if self._connection is not None else None
            if sock is None:
                return
            try:
                # It wakes the thread that waits for the socket, which closing does not. The method
                # of a TLS socket would change its state in this thread.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except OSError:
                pass

    def end(self) -> None:
        with self._lock:
            self._connection = None


def _is_readable(sock: socket.socket) -> bool:
    """An idle connection has data only when its other side has closed it."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _read_body(response: http.client.HTTPResponse) -> bytes:
    """Raises ValueError above the limit."""
    pieces: List[bytes] = []
    if response.length is not None and response.length <= _RESPONSE_BYTES_MAX:
        # Reading in pieces would not detect a missing end.
        return response.read()
    size = 0 if response.length is None else response.length
    while size <= _RESPONSE_BYTES_MAX:
        piece = response.read(_PIECE_BYTES)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
    raise ValueError(f"the response has more than {_RESPONSE_BYTES_MAX} bytes")


def _parse_json(text: bytes, headers: Mapping[str, str]) -> object:
    """Raises ValueError when a JSON body is invalid: some connections break without an error."""
    if "json" not in headers.get("content-type", ""):
        return None
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        # The error of the parser has the body, and logs must not contain names of people.
        raise ValueError("the response is incomplete, or no JSON") from None
    return body
