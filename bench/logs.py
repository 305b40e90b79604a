"""Logs of slidewin and of the Lua script, written with plain commands.

Loading is not what is measured, and a log with entries of any age cannot be had otherwise.
"""

import functools
import os
import re
import subprocess
import time

import redis

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.lua")) as file:
    LOAD = file.read()
HOUR_US = 3_600_000_000


def now_us() -> int:
    return time.time_ns() // 1_000


@functools.lru_cache
def grown(count: int, span_us: int, base: int) -> list[tuple[int, bytes]]:
    """Times from 0 on, and members: what the core itself records (core/examples/grow.rs)."""
    # An hour on, since a clock starts at 0.
    arguments = map(str, (count, HOUR_US, HOUR_US + span_us, base))
    lines = subprocess.run((os.environ["GROW"], *arguments), check=True, capture_output=True).stdout.splitlines()
    return [(int(score) - HOUR_US, member) for score, member in (line.split(b" ", 1) for line in lines)]


def load_slidewin(
    client: redis.Redis, key: str, count: int, from_us: int, to_us: int, window_us: int, base: int = 3_000_000
) -> None:
    """So many admissions of cost 1 from a time up to another one, not included. The base has seven digits, as most have.

    The expiry is the latest that the last of them could have left: 9/8 of the window.
    """
    expiry_ms = (to_us - (to_us - from_us) // count + window_us + window_us // 8) // 1_000
    log = grown(count, to_us - from_us, base)
    with client.pipeline(transaction=False) as pipe:
        for begin in range(0, len(log), 1_000):
            pipe.zadd(key, {member: from_us + at_us for at_us, member in log[begin : begin + 1_000]})
        pipe.pexpireat(key, expiry_ms)
        pipe.execute()


def load_script(client: redis.Redis, key: str, count: int, from_us: int, to_us: int, window_us: int) -> None:
    """The same log as the script keeps it."""
    client.eval(LOAD, 1, key, count, from_us, to_us, (to_us + window_us) // 1_000)


def units(client: redis.Redis, key: str) -> int:
    """The units of a log: of an entry of slidewin what follows its total, of any other element one."""
    weights = (re.match(rb"\d+[:~](\d+)", member) for member in client.zrange(key, 0, -1))
    return sum(int(weight[1]) if weight else 1 for weight in weights)
