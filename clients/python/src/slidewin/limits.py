"""Storages for the package limits, and so for Flask-Limiter and slowapi. Importing this module registers them.

Moving windows are served by SLIDEWIN.CHECK and SLIDEWIN.PEEK. Everything else is what limits' own Redis storages do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import limits.aio.storage
import limits.storage
from limits.errors import ConfigurationError
from packaging.version import Version
from redis.asyncio.retry import Retry as AsyncRetry
from redis.retry import Retry

from slidewin.arguments import Argument, Duration, Id, duration
from slidewin.replies import Standing
from slidewin.resend import (
    NO_RETRY,
    NO_RETRY_ASYNC,
    execute_with,
    execute_with_async,
    new_id,
    refuse_resending,
)

# limits copies the methods of a base into each class derived from it, so a mixin that were a storage itself would bring
# the wrong `reset` for clusters.
if TYPE_CHECKING:
    _Storage = limits.storage.RedisStorage
    _AsyncStorage = limits.aio.storage.RedisStorage
else:
    _Storage = _AsyncStorage = object

SUFFIX = "/slidewin"
"""Ends the names of our keys. They outlive their window a little, so no other strategy may find them under its own."""


def _redis_uri(uri: str) -> str:
    """`slidewin+cluster://...` as limits' own storages know it: `redis+cluster://...`."""
    scheme, colon, rest = uri.partition("://")
    return scheme.replace("slidewin", "redis") + colon + rest


def _check(
    key: str, limit: int, expiry: int, amount: int, resolution: Duration | None, token: Id | None
) -> list[Argument]:
    command: list[Argument] = ["SLIDEWIN.CHECK", key, expiry, limit, "COST", amount]
    if token is not None:
        command += ["ID", token]
    return command if resolution is None else [*command, "RESOLUTION", duration(resolution)]


def _refuse_both(resolution: Duration | None, retry: Retry | AsyncRetry | None) -> None:
    if resolution is not None and retry is not None:
        raise ConfigurationError("a hit with a resolution has no ID, so it cannot be sent again: drop retry or resolution")


def _peek(key: str, limit: int, expiry: int) -> list[Argument]:
    return ["SLIDEWIN.PEEK", key, expiry, limit, "WITHQUOTA"]


def _moving_window(reply: Sequence[int], expiry: int) -> tuple[float, int]:
    """(when the oldest unit in the window came, units in it), by this host's clock; an empty window starts now."""
    standing = Standing(*reply[1:])
    used, now = standing.limit - standing.remaining, time.time()
    return (now + standing.oldest_after_ms / 1000 - expiry, used) if used else (now, 0)


class _MovingWindow(_Storage):
    """What our blocking storages do in place of limits' own."""

    DEFAULTS: Mapping[str, Any] = {"retry": NO_RETRY}

    def __init__(
        self,
        uri: str,
        *args: Any,
        resolution: Duration | None = None,
        retry: Retry | None = None,
        **options: Any,
    ) -> None:
        """resolution: as of SLIDEWIN.CHECK, to bound the memory of large limits. retry: how often a hit without an
        answer is sent again; it then has an ID, and counts once. All else as limits' own storage."""
        _refuse_both(resolution, retry)
        self._resolution = resolution
        self._retry = retry
        super().__init__(_redis_uri(uri), *args, **{**self.DEFAULTS, **options})
        refuse_resending(self.storage)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        if amount == 0:
            return True  # takes nothing, so there is nothing to decide; the module has no such cost
        key = self.prefixed_key(key) + SUFFIX
        command = _check(key, limit, expiry, amount, self._resolution, new_id() if self._retry else None)
        return bool(execute_with(self._retry, self.get_connection(), key, command))

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        command = _peek(self.prefixed_key(key) + SUFFIX, limit, expiry)
        client: Any = self.get_connection()  # limits' type for it has no execute_command
        return _moving_window(client.execute_command(*command), expiry)

    def clear(self, key: str) -> None:
        super().clear(key)
        super().clear(key + SUFFIX)


class SlidewinStorage(_MovingWindow, limits.storage.RedisStorage):
    """`slidewin://host:port`, `slidewins://` with TLS, `slidewin+unix:///path`."""

    STORAGE_SCHEME = ["slidewin", "slidewins", "slidewin+unix"]


class SlidewinClusterStorage(_MovingWindow, limits.storage.RedisClusterStorage):
    """`slidewin+cluster://host:port,host:port`."""

    STORAGE_SCHEME = ["slidewin+cluster"]
    DEFAULTS = {}


class SlidewinSentinelStorage(_MovingWindow, limits.storage.RedisSentinelStorage):
    """`slidewin+sentinel://host:port,host:port/service`."""

    STORAGE_SCHEME = ["slidewin+sentinel"]


class _AsyncMovingWindow(_AsyncStorage):
    """What our asyncio storages do in place of limits' own."""

    DEPENDENCIES = {"redis": Version("6.0")}  # limits imports all that are named here
    DEFAULTS: Mapping[str, Any] = {"retry": NO_RETRY_ASYNC}
    bridge: Any  # that of redis-py

    def __init__(
        self,
        uri: str,
        wrap_exceptions: bool = False,
        implementation: Literal["redispy"] = "redispy",
        resolution: Duration | None = None,
        retry: AsyncRetry | None = None,
        **options: Any,
    ) -> None:
        """As the blocking storages. implementation: only redis-py is there."""
        if implementation != "redispy":
            raise ConfigurationError(f"slidewin's storages use redis-py, not {implementation}")
        _refuse_both(resolution, retry)
        self._resolution = resolution
        self._retry = retry
        options = {**self.DEFAULTS, **options}
        super().__init__(_redis_uri(uri), wrap_exceptions, implementation, **options)
        refuse_resending(self.bridge.storage)

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        if amount == 0:
            return True
        key = self.bridge.prefixed_key(key) + SUFFIX
        command = _check(key, limit, expiry, amount, self._resolution, new_id() if self._retry else None)
        return bool(await execute_with_async(self._retry, self.bridge.get_connection(), key, command))

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        command = _peek(self.bridge.prefixed_key(key) + SUFFIX, limit, expiry)
        return _moving_window(await self.bridge.get_connection().execute_command(*command), expiry)

    async def clear(self, key: str) -> None:
        await super().clear(key)
        await super().clear(key + SUFFIX)


class AsyncSlidewinStorage(_AsyncMovingWindow, limits.aio.storage.RedisStorage):
    """`async+slidewin://host:port`, `async+slidewins://` with TLS, `async+slidewin+unix:///path`."""

    STORAGE_SCHEME = ["async+slidewin", "async+slidewins", "async+slidewin+unix"]


class AsyncSlidewinClusterStorage(_AsyncMovingWindow, limits.aio.storage.RedisClusterStorage):
    """`async+slidewin+cluster://host:port,host:port`."""

    STORAGE_SCHEME = ["async+slidewin+cluster"]
    DEFAULTS = {}


class AsyncSlidewinSentinelStorage(_AsyncMovingWindow, limits.aio.storage.RedisSentinelStorage):
    """`async+slidewin+sentinel://host:port,host:port/service`."""

    STORAGE_SCHEME = ["async+slidewin+sentinel"]
