"""Ends calls from another thread."""

from __future__ import annotations

import threading
from typing import Callable, List

from .errors import CallCancelled


class Cancellation:
    """Cancels the calls that have it as `CallOptions.cancellation`.

    A cancelled call raises `CallCancelled` and closes its connection. The service may have completed
    and charged it: repeat it with the same `request_id` to read its result.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._actions: List[Callable[[], None]] = []

    def cancel(self) -> None:
        """Ends every running call, and every later call before it is sent."""
        with self._lock:
            self._event.set()
            actions = list(self._actions)
        for action in actions:
            action()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def raise_if_cancelled(self) -> None:
        if self.is_cancelled:
            raise CallCancelled("the call was cancelled")

    def sleep(self, seconds: float) -> None:
        """Waits; a cancellation ends the wait with `CallCancelled`."""
        self._event.wait(seconds)
        self.raise_if_cancelled()

    def add(self, action: Callable[[], None]) -> None:
        """Runs the action at the cancellation, or at once if that has happened."""
        with self._lock:
            self._actions.append(action)
            is_cancelled = self.is_cancelled
        if is_cancelled:
            action()

    def remove(self, action: Callable[[], None]) -> None:
        with self._lock:
            self._actions.remove(action)
