"""What the commands answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Standing(NamedTuple):
    """How one window stands after the call. Times are milliseconds from now, rounded up."""

    limit: int
    """As it was given."""
    remaining: int
    """Units left, never negative."""
    retry_after_ms: int
    """Until a call of the same cost fits. 0: now; -1: never with these arguments."""
    reset_after_ms: int
    """Until the window is empty. 0: it is."""
    oldest_after_ms: int
    """Until its oldest unit leaves. 0: the window is empty."""


class Decision(NamedTuple):
    """What CHECK or MCHECK decided, or what CHECK would decide for PEEK. It is true if the call is admitted."""

    admitted: bool
    receipt: int | None
    """What `refund` takes. None: the call was refused, or had a RESOLUTION, or was no CHECK."""
    standings: tuple[Standing, ...]
    """One for each window, in the order of the call."""

    def __bool__(self) -> bool:
        return self.admitted

    @property
    def remaining(self) -> int:
        """Units left in all windows: the smallest of them."""
        return min(standing.remaining for standing in self.standings)

    @property
    def retry_after_ms(self) -> int:
        """How long to wait for all windows: the longest of them; -1, never, of any is -1 for all."""
        waits = [standing.retry_after_ms for standing in self.standings]
        return -1 if -1 in waits else max(waits)

    @property
    def reset_after_ms(self) -> int:
        """Until all windows are empty."""
        return max(standing.reset_after_ms for standing in self.standings)


class Place(NamedTuple):
    """A place in line, from RESERVE. It is true if the place was taken."""

    receipt: int | None
    """What `refund` takes to give the place back. None: the wait would be too long, and nothing was recorded."""
    wait_ms: int
    """How long to wait before going ahead, or how long it would have been. 0: now; -1: never with these arguments."""

    def __bool__(self) -> bool:
        return self.receipt is not None


class Admission(NamedTuple):
    """An admission of a key, from LOG."""

    time_us: int
    """When it is recorded, since the epoch."""
    units: int
    """What is left of it."""
    receipt: int | None
    """What `refund` takes. None: several admissions share the entry."""
    id: Any
    """bytes, or str where the client decodes its responses. None: the call had no ID."""


class Offender(NamedTuple):
    """A key with many refusals, from OFFENDERS."""

    key: Any
    """bytes, or str where the client decodes its responses."""
    refused: int
    """About how often it was refused lately."""
    too_high_by: int
    """The most by which that count may be too high."""


def decision(reply: Sequence[int], receipt: bool = False) -> Decision:
    """The array of WITHQUOTA. receipt: its first integer is one, if the call was admitted."""
    first, *fields = reply
    size = len(Standing._fields)
    standings = tuple(Standing(*fields[at : at + size]) for at in range(0, len(fields), size))
    return Decision(first != 0, first if receipt and first else None, standings)


def place(reply: Sequence[int]) -> Place:
    """RESERVE's receipt, or 0, and the wait."""
    receipt, wait_ms = reply
    return Place(receipt or None, wait_ms)


def log(reply: Iterable[Sequence[Any]]) -> list[Admission]:
    """LOG's rows, with 0 for no receipt and an empty string for no ID."""
    return [Admission(time_us, units, receipt or None, token or None) for time_us, units, receipt, token in reply]


def offenders(replies: Iterable[Iterable[Any]], count: int) -> list[Offender]:
    """The worst of those that each node has answered with."""
    rows = (Offender(*row) for reply in replies for row in reply)
    return sorted(rows, key=lambda offender: offender.refused, reverse=True)[:count]
