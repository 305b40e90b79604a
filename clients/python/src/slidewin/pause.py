"""After a failure, nobody waits for the server for a while."""

from __future__ import annotations

import time

from redis.exceptions import ConnectionError, TimeoutError


class Paused(ConnectionError):
    """The server has just failed, and has not been asked again yet."""


class Pause:
    """A context for each call. When one fails for want of an answer, those of the next seconds raise Paused."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0

    def __enter__(self) -> None:
        if time.monotonic() < self._until:
            raise Paused(f"the server failed less than {self._seconds} s ago")

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, (ConnectionError, TimeoutError)):
            self._until = time.monotonic() + self._seconds
