"""The commands, for redis-py's asyncio clients."""

from __future__ import annotations

from typing import Any

import redis.asyncio
from redis.asyncio.cluster import RedisCluster

from slidewin import arguments, replies
from slidewin.arguments import Argument, Duration, Key
from slidewin.pause import Pause
from slidewin.replies import Decision, Offender
from slidewin.resend import NO_RETRY_ASYNC as NO_RETRY
from slidewin.resend import execute_once_async, refuse_resending

__all__ = ["NO_RETRY", "Slidewin"]


class Slidewin:
    """`slidewin.Slidewin` for asyncio: the same methods, to be awaited, through `redis.asyncio.Redis`, its
    `RedisCluster`, or what its `Sentinel.master_for` gives.
    """

    def __init__(self, client: Any, *, pause_s: float = 0) -> None:
        refuse_resending(client)
        self.client = client
        self._pause = Pause(pause_s)

    @classmethod
    def from_url(cls, url: str, *, cluster: bool = False, pause_s: float = 0, **options: Any) -> Slidewin:
        """For a server, or the cluster that it is a node of. The options are those of `Redis.from_url`."""
        if cluster:
            return cls(RedisCluster.from_url(url, **options), pause_s=pause_s)
        return cls(redis.asyncio.Redis.from_url(url, **{"retry": NO_RETRY, **options}), pause_s=pause_s)

    async def check(
        self,
        key: Key,
        window: Duration,
        limit: int,
        *more: Duration | int,
        cost: int = 1,
        resolution: Duration | None = None,
        force: bool = False,
    ) -> Decision:
        """See `slidewin.Slidewin.check`."""
        command = arguments.check(key, window, limit, more, cost, resolution, force)
        return replies.decision(await self._ask_once(key, command), receipt=resolution is None)

    async def peek(self, key: Key, window: Duration, limit: int, *more: Duration | int, cost: int = 1) -> Decision:
        """See `slidewin.Slidewin.peek`."""
        return replies.decision(await self._ask(arguments.peek(key, window, limit, more, cost)))

    async def refund(self, key: Key, receipt: int, cost: int | None = None) -> int:
        """See `slidewin.Slidewin.refund`."""
        return int(await self._ask_once(key, arguments.refund(key, receipt, cost)))

    async def offenders(self, count: int = 10, *, reset: bool = False) -> list[Offender]:
        """See `slidewin.Slidewin.offenders`."""
        command = arguments.offenders(count, reset)
        if isinstance(self.client, RedisCluster):
            await self.client.initialize()
            nodes = self.client.get_primaries()
            return replies.offenders([await self._ask(command, target_nodes=node) for node in nodes], count)
        return replies.offenders([await self._ask(command)], count)

    async def reset(self, key: Key) -> bool:
        """See `slidewin.Slidewin.reset`."""
        return bool(await self._ask(["DEL", key]))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.client.aclose()

    async def _ask(self, command: list[Argument], **options: Any) -> Any:
        with self._pause:
            return await self.client.execute_command(*command, **options)

    async def _ask_once(self, key: Key, command: list[Argument]) -> Any:
        with self._pause:
            return await execute_once_async(self.client, key, command)
