"""The commands, for redis-py's blocking clients."""

from __future__ import annotations

from typing import Any

import redis
from redis.cluster import RedisCluster

from slidewin import arguments, replies
from slidewin.arguments import Argument, Duration, Key
from slidewin.pause import Pause
from slidewin.replies import Decision, Offender
from slidewin.resend import NO_RETRY, execute_once, refuse_resending


class Slidewin:
    """The commands of the module, through a client of redis-py: `redis.Redis`, `RedisCluster`, or what
    `Sentinel.master_for` gives.

    An error of the server is raised as redis-py raises it: `redis.exceptions.ResponseError` with the module's text for
    a wrong argument, `ConnectionError` or `TimeoutError` when there is no answer. A call without an answer may have
    been counted. It is not sent again, and a client that would do so is refused with ValueError (a cluster's can be
    kept from it).

    pause_s: after a failure to get an answer, calls raise `Paused` (a ConnectionError) at once for so many seconds.
    """

    def __init__(self, client: Any, *, pause_s: float = 0) -> None:
        refuse_resending(client)
        self.client: Any = client
        self._pause = Pause(pause_s)

    @classmethod
    def from_url(cls, url: str, *, cluster: bool = False, pause_s: float = 0, **options: Any) -> Slidewin:
        """For a server, or the cluster that it is a node of. The options are those of `Redis.from_url`."""
        if cluster:
            return cls(RedisCluster.from_url(url, **options), pause_s=pause_s)
        return cls(redis.Redis.from_url(url, **{"retry": NO_RETRY, **options}), pause_s=pause_s)

    def check(
        self,
        key: Key,
        window: Duration,
        limit: int,
        *more: Duration | int,
        cost: int = 1,
        resolution: Duration | None = None,
        force: bool = False,
    ) -> Decision:
        """Admits the call and records it, or refuses it and changes nothing.

        more: further windows, each followed by its limit; all must have room. cost: the units that the call takes.
        resolution: admissions of one slot of that length share an entry, which bounds memory; there is no receipt.
        force: admit it whatever the limits say, for units that are spent already.
        """
        command = arguments.check(key, window, limit, more, cost, resolution, force)
        return replies.decision(self._ask_once(key, command), receipt=resolution is None)

    def peek(self, key: Key, window: Duration, limit: int, *more: Duration | int, cost: int = 1) -> Decision:
        """What `check` would decide. It writes nothing, and runs on replicas."""
        return replies.decision(self._ask(arguments.peek(key, window, limit, more, cost)))

    def refund(self, key: Key, receipt: int, cost: int | None = None) -> int:
        """Gives back what the admission of that receipt took, or `cost` units of it; the units given back."""
        return int(self._ask_once(key, arguments.refund(key, receipt, cost)))

    def offenders(self, count: int = 10, *, reset: bool = False) -> list[Offender]:
        """The keys with the most refusals lately, heaviest first; in a cluster those of all primaries.

        reset: they are forgotten after the answer. The server's user needs the rights of an administrator.
        """
        command = arguments.offenders(count, reset)
        if isinstance(self.client, RedisCluster):
            nodes = self.client.get_primaries()  # type: ignore[no-untyped-call]
            return replies.offenders([self._ask(command, target_nodes=node) for node in nodes], count)
        return replies.offenders([self._ask(command)], count)

    def reset(self, key: Key) -> bool:
        """Forgets the key: its whole limit is there again. False: there was nothing to forget."""
        return bool(self._ask(["DEL", key]))

    def _ask(self, command: list[Argument], **options: Any) -> Any:
        with self._pause:
            return self.client.execute_command(*command, **options)

    def _ask_once(self, key: Key, command: list[Argument]) -> Any:
        with self._pause:
            return execute_once(self.client, key, command)
