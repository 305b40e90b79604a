"""Logs of slidewin and of the Lua script, written with plain commands.

Loading is not what is measured, and a log with entries of any age cannot be had otherwise.
"""

import os
import time

import redis

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.lua")) as file:
    LOAD = file.read()


def now_us() -> int:
    return time.time_ns() // 1_000


def load_slidewin(client: redis.Redis, key: str, count: int, from_us: int, to_us: int, window_us: int) -> None:
    """So many admissions of cost 1 from a time up to another one, not included.

    The expiry is the latest that the last of them could have left: 9/8 of the window.
    """
    expiry_ms = (to_us - (to_us - from_us) // count + window_us + window_us // 8) // 1_000
    client.eval(LOAD, 1, key, "slidewin", count, from_us, to_us, expiry_ms)


def load_script(client: redis.Redis, key: str, count: int, from_us: int, to_us: int, window_us: int) -> None:
    """The same log as the script keeps it."""
    client.eval(LOAD, 1, key, "script", count, from_us, to_us, (to_us + window_us) // 1_000)
