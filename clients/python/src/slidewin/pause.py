"""After a failure, nobody waits for the server for a while."""

from __future__ import annotations

import time

from redis.exceptions import ConnectionError


class Paused(ConnectionError):
    """The server has just failed, and has not been asked again yet."""


class Pause:
    """Of how many seconds, and since when. With 0 seconds every call asks."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0

    def wait_is_over(self) -> None:
        """Raises Paused if the last failure is too young."""
        if time.monotonic() < self._until:
            raise Paused(f"the server failed less than {self._seconds} s ago")

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds
