"""Logs of slidewin and of the Lua script, written with plain commands (DESIGN.md, section 3).

Loading is not what is measured, and a log with entries of any age cannot be had otherwise.
"""

import time

import redis

# Seven digits, as most random bases have.
BASE = 3_000_000
CHUNK = 5_000


def now_us() -> int:
    return time.time_ns() // 1_000


def scores(count: int, from_us: int, to_us: int) -> list[int]:
    """Times that spread evenly from the first up to the second, not included."""
    return [from_us + (to_us - from_us) * i // count for i in range(count)]


def load_slidewin(client: redis.Redis, key: str, times_us: list[int], window_us: int) -> None:
    """A log of cost-1 admissions, with the expiry that the last of them would have left: 9/8 of the window."""
    with client.pipeline(transaction=False) as pipe:
        for start in range(0, len(times_us), CHUNK):
            part = times_us[start : start + CHUNK]
            pipe.zadd(key, {str(BASE + start + i + 1): at_us for i, at_us in enumerate(part)})
        pipe.pexpireat(key, (times_us[-1] + window_us + window_us // 8) // 1_000)
        pipe.execute()


def load_script(client: redis.Redis, key: str, times_us: list[int], window_us: int) -> None:
    """The same log as the script keeps it: members made unique by time and a counter."""
    with client.pipeline(transaction=False) as pipe:
        for start in range(0, len(times_us), CHUNK):
            part = times_us[start : start + CHUNK]
            pipe.zadd(key, {f"{at_us}-{start + i}": at_us for i, at_us in enumerate(part)})
        pipe.pexpireat(key, (times_us[-1] + window_us) // 1_000)
        pipe.execute()
