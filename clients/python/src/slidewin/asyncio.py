"""The commands, for redis-py's asyncio clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis.asyncio
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry

from slidewin import arguments, replies
from slidewin.arguments import Argument, Duration, Id, Key
from slidewin.pause import Pause
from slidewin.replies import Admission, Decision, Offender, Place
from slidewin.resend import NO_RETRY_ASYNC as NO_RETRY
from slidewin.resend import execute_with_async, new_id, refuse_resending

__all__ = ["NO_RETRY", "Slidewin"]


class Slidewin:
    """`slidewin.Slidewin` for asyncio: the same methods, to be awaited, through `redis.asyncio.Redis`, its
    `RedisCluster`, or what its `Sentinel.master_for` gives.
    """

    def __init__(self, client: Any, *, retry: Retry | None = None, pause_s: float = 0) -> None:
        refuse_resending(client)
        self.client = client
        self._retry = retry
        self._pause = Pause(pause_s)

    @classmethod
    def from_url(
        cls, url: str, *, cluster: bool = False, retry: Retry | None = None, pause_s: float = 0, **options: Any
    ) -> Slidewin:
        """For a server, or the cluster that it is a node of. The options are those of `Redis.from_url`."""
        if cluster:
            return cls(RedisCluster.from_url(url, **options), retry=retry, pause_s=pause_s)
        return cls(redis.asyncio.Redis.from_url(url, **options, retry=NO_RETRY), retry=retry, pause_s=pause_s)

    async def check(
        self,
        key: Key,
        window: Duration,
        limit: int,
        *more: Duration | int,
        cost: int = 1,
        resolution: Duration | None = None,
        force: bool = False,
        id: Id | None = None,
    ) -> Decision:
        """See `slidewin.Slidewin.check`."""
        id = self._id(id) if resolution is None else id
        command = arguments.check(key, window, limit, more, cost, resolution, force, id)
        return replies.decision(await self._ask_key(key, command, id), receipt=resolution is None)

    async def mcheck(
        self, limits: Sequence[tuple[Key, Duration, int]], *, cost: int = 1, force: bool = False, id: Id | None = None
    ) -> Decision:
        """See `slidewin.Slidewin.mcheck`."""
        id = self._id(id)
        first_key = limits[0][0] if limits else ""
        return replies.decision(await self._ask_key(first_key, arguments.mcheck(limits, cost, force, id), id))

    async def reserve(
        self,
        key: Key,
        max_wait: Duration,
        window: Duration,
        limit: int,
        *more: Duration | int,
        cost: int = 1,
        id: Id | None = None,
    ) -> Place:
        """See `slidewin.Slidewin.reserve`."""
        id = self._id(id)
        command = arguments.reserve(key, max_wait, window, limit, more, cost, id)
        return replies.place(await self._ask_key(key, command, id))

    async def peek(self, key: Key, window: Duration, limit: int, *more: Duration | int, cost: int = 1) -> Decision:
        """See `slidewin.Slidewin.peek`."""
        return replies.decision(await self._ask(arguments.peek(key, window, limit, more, cost)))

    async def refund(
        self, key: Key, receipt: int | None = None, cost: int | None = None, *, id: Id | None = None
    ) -> int:
        """See `slidewin.Slidewin.refund`."""
        return int(await self._ask_key(key, arguments.refund(key, receipt, cost, id)))

    async def log(self, key: Key, count: int = 10) -> list[Admission]:
        """See `slidewin.Slidewin.log`."""
        return replies.log(await self._ask(arguments.log(key, count)))

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

    async def _ask_key(self, key: Key, command: list[Argument], id: Id | None = None) -> Any:
        """Sends it once; with an ID as often as `retry` says."""
        with self._pause:
            return await execute_with_async(self._retry if id is not None else None, self.client, key, command)

    def _id(self, given: Id | None) -> Id | None:
        """The caller's; else one of our own, where the call may be sent again."""
        return new_id() if given is None and self._retry else given
