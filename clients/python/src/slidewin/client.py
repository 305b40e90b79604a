"""The commands, for redis-py's blocking clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis
from redis.cluster import RedisCluster
from redis.retry import Retry

from slidewin import arguments, replies
from slidewin.arguments import Argument, Duration, Id, Key
from slidewin.pause import Pause
from slidewin.replies import Admission, Decision, Offender, Place
from slidewin.resend import NO_RETRY, execute_with, new_id, refuse_resending


class Slidewin:
    """The commands of the module, through a client of redis-py: `redis.Redis`, `RedisCluster`, or what
    `Sentinel.master_for` gives.

    An error of the server is raised as redis-py raises it: `redis.exceptions.ResponseError` with the module's text for
    a wrong argument, `ConnectionError` or `TimeoutError` when there is no answer. A call without an answer may have
    been counted. It is not sent again, and a client that would do so is refused with ValueError (a cluster's can be
    kept from it).

    retry: `check`, `mcheck` and `reserve` get an ID of their own, where the caller gives none, and redis-py's `Retry`
    says how often they are sent again: with an ID a call counts once. A `check` with a resolution can have none.
    pause_s: after a failure to get an answer, calls raise `Paused` (a ConnectionError) at once for so many seconds.
    """

    def __init__(self, client: Any, *, retry: Retry | None = None, pause_s: float = 0) -> None:
        refuse_resending(client)
        self.client: Any = client
        self._retry = retry
        self._pause = Pause(pause_s)

    @classmethod
    def from_url(
        cls, url: str, *, cluster: bool = False, retry: Retry | None = None, pause_s: float = 0, **options: Any
    ) -> Slidewin:
        """For a server, or the cluster that it is a node of. The options are those of `Redis.from_url`."""
        if cluster:
            return cls(RedisCluster.from_url(url, **options), retry=retry, pause_s=pause_s)
        return cls(redis.Redis.from_url(url, **options, retry=NO_RETRY), retry=retry, pause_s=pause_s)

    def check(
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
        """Admits the call and records it, or refuses it and changes nothing.

        more: further windows, each followed by its limit; all must have room. cost: the units that the call takes.
        resolution: admissions of one slot of that length share an entry, which bounds memory; there is no receipt.
        force: admit it whatever the limits say, for units that are spent already. id: 1 to 63 bytes that name the
        request: the same again takes nothing, and is answered as the first was. It excludes resolution.
        """
        id = self._id(id) if resolution is None else id
        command = arguments.check(key, window, limit, more, cost, resolution, force, id)
        return replies.decision(self._ask_key(key, command, id), receipt=resolution is None)

    def mcheck(
        self, limits: Sequence[tuple[Key, Duration, int]], *, cost: int = 1, force: bool = False, id: Id | None = None
    ) -> Decision:
        """Admits the call and records it in each key, or refuses it and records it in none.

        limits: key, window and limit, 1 to 16 times; a key may come again with another window. The standings of the
        decision are in that order, and it has no receipt. In a cluster all keys must have the same hash tag.
        """
        id = self._id(id)
        first_key = limits[0][0] if limits else ""
        return replies.decision(self._ask_key(first_key, arguments.mcheck(limits, cost, force, id), id))

    def reserve(
        self,
        key: Key,
        max_wait: Duration,
        window: Duration,
        limit: int,
        *more: Duration | int,
        cost: int = 1,
        id: Id | None = None,
    ) -> Place:
        """Takes the earliest place in line, if it is at most `max_wait` away; otherwise it changes nothing.

        Wait for `wait_ms`, and go ahead without asking again. max_wait: 0, or a duration up to the longest window.
        """
        id = self._id(id)
        command = arguments.reserve(key, max_wait, window, limit, more, cost, id)
        return replies.place(self._ask_key(key, command, id))

    def peek(self, key: Key, window: Duration, limit: int, *more: Duration | int, cost: int = 1) -> Decision:
        """What `check` would decide. It writes nothing, and runs on replicas."""
        return replies.decision(self._ask(arguments.peek(key, window, limit, more, cost)))

    def refund(
        self, key: Key, receipt: int | None = None, cost: int | None = None, *, id: Id | None = None
    ) -> int:
        """Gives back what the admission of that receipt or ID took, or `cost` units of it; the units given back.

        It is sent once.
        """
        return int(self._ask_key(key, arguments.refund(key, receipt, cost, id)))

    def log(self, key: Key, count: int = 10) -> list[Admission]:
        """The newest admissions of the key, newest first. It writes nothing, and runs on replicas."""
        return replies.log(self._ask(arguments.log(key, count)))

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

    def _ask_key(self, key: Key, command: list[Argument], id: Id | None = None) -> Any:
        """Sends it once; with an ID as often as `retry` says."""
        with self._pause:
            return execute_with(self._retry if id is not None else None, self.client, key, command)

    def _id(self, given: Id | None) -> Id | None:
        """The caller's; else one of our own, where the call may be sent again."""
        return new_id() if given is None and self._retry else given
