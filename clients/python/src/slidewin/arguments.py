"""The arguments of each command, as docs/reference.md has them. The server checks them and says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

Key = str | bytes
Duration = str | int | float | timedelta
"""A string as the module takes it (`"250ms"`, `"5m"`, `"24h"`), a number of seconds, or a timedelta."""
Id = str | bytes
"""Names a request: 1 to 63 bytes."""
Argument = str | bytes | int


def duration(value: Duration) -> str | int:
    """A duration as the module reads it, to the microsecond."""
    if isinstance(value, timedelta):
        us = value // timedelta(microseconds=1)
        return f"{us // 1000}.{us % 1000:03}ms"
    if isinstance(value, float):
        return f"{value:.6f}"  # repr() may end in e-05, or have more digits than the module takes
    return value


def windows(window: Duration, limit: int, more: tuple[Duration | int, ...]) -> list[Argument]:
    """`window limit [window limit ...]`."""
    pairs = (window, limit, *more)
    if len(pairs) % 2:
        raise TypeError("each window needs its limit: window, limit, window, limit")
    return [argument for at in range(0, len(pairs), 2) for argument in (duration(pairs[at]), _limit(pairs[at + 1]))]


def _limit(value: Duration) -> int:
    if isinstance(value, int):
        return value
    raise TypeError(f"a limit is an int, not {value!r}")


def check(
    key: Key,
    window: Duration,
    limit: int,
    more: tuple[Duration | int, ...] = (),
    cost: int = 1,
    resolution: Duration | None = None,
    force: bool = False,
    token: Id | None = None,
) -> list[Argument]:
    """SLIDEWIN.CHECK, which answers with the receipt, where there is one, and with the array."""
    command: list[Argument] = ["SLIDEWIN.CHECK", key, *windows(window, limit, more), *_cost(cost)]
    # A shared entry has no receipt.
    command += ["RECEIPT"] if resolution is None else ["RESOLUTION", duration(resolution)]
    if force:
        command.append("FORCE")
    return [*command, *_id(token), "WITHQUOTA"]


def mcheck(
    limits: Sequence[tuple[Key, Duration, int]], cost: int = 1, force: bool = False, token: Id | None = None
) -> list[Argument]:
    """SLIDEWIN.MCHECK, which answers with the array."""
    command: list[Argument] = ["SLIDEWIN.MCHECK", len(limits)]
    for key, window, limit in limits:
        command += [key, *windows(window, limit, ())]
    command += _cost(cost)
    if force:
        command.append("FORCE")
    return [*command, *_id(token), "WITHQUOTA"]


def reserve(
    key: Key,
    max_wait: Duration,
    window: Duration,
    limit: int,
    more: tuple[Duration | int, ...] = (),
    cost: int = 1,
    token: Id | None = None,
) -> list[Argument]:
    """SLIDEWIN.RESERVE, which answers with the receipt and the wait in ms."""
    return ["SLIDEWIN.RESERVE", key, duration(max_wait), *windows(window, limit, more), *_cost(cost), *_id(token)]


def peek(
    key: Key, window: Duration, limit: int, more: tuple[Duration | int, ...] = (), cost: int = 1
) -> list[Argument]:
    """SLIDEWIN.PEEK, which answers with the array."""
    return ["SLIDEWIN.PEEK", key, *windows(window, limit, more), *_cost(cost), "WITHQUOTA"]


def refund(
    key: Key, receipt: int | None = None, cost: int | None = None, token: Id | None = None
) -> list[Argument]:
    """SLIDEWIN.REFUND by receipt or ID; without a cost it gives back all that is left of the admission."""
    if (receipt is None) == (token is None):
        raise TypeError("a refund needs a receipt or an ID, and not both")
    named = _id(token) if receipt is None else [receipt]
    return ["SLIDEWIN.REFUND", key, *named, *(_cost(cost) if cost is not None else [])]


def log(key: Key, count: int = 10) -> list[Argument]:
    """SLIDEWIN.LOG."""
    return ["SLIDEWIN.LOG", key, "COUNT", count]


def offenders(count: int = 10, reset: bool = False) -> list[Argument]:
    """SLIDEWIN.OFFENDERS."""
    return ["SLIDEWIN.OFFENDERS", "COUNT", count, *(["RESET"] if reset else [])]


def _id(token: Id | None) -> list[Argument]:
    return [] if token is None else ["ID", token]


def _cost(cost: int) -> list[Argument]:
    return ["COST", cost]
