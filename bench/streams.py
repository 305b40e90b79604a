"""MULTI/EXEC of the four plain commands, as a file for redis-cli --pipe.

redis-benchmark sends one command again and again; a transaction needs six, and a time of the client's in two of
them. That time is a number like any other to the server, so the file is written ahead and its clock runs at any pace.
"""

import random
from typing import Iterator

COMMANDS = ["MULTI", "EXEC"]  # EXEC includes what it executes


def write(path: str, keys: int, calls: int, pace_us: float, window_us: int, start_us: int) -> None:
    """A file of calls to random ones of the keys, `pace_us` apart on the client's clock."""
    with open(path, "wb") as file:
        file.writelines(text.encode() for text in transactions(keys, calls, pace_us, window_us, start_us))


def transactions(keys: int, calls: int, pace_us: float, window_us: int, start_us: int) -> Iterator[str]:
    expire = bulk(str(-(-window_us // 1_000_000)))
    for call in range(calls):
        now_us = start_us + int(call * pace_us)
        key = f"$14\r\nk:{random.randrange(keys):012d}\r\n"
        # A client's unique member: its clock and a number, as long as the script's.
        member = bulk(f"{now_us}{call:012d}")
        yield (
            "*1\r\n$5\r\nMULTI\r\n"
            f"*4\r\n$16\r\nZREMRANGEBYSCORE\r\n{key}$4\r\n-inf\r\n{bulk(str(now_us - window_us))}"
            f"*4\r\n$4\r\nZADD\r\n{key}{bulk(str(now_us))}{member}"
            f"*2\r\n$5\r\nZCARD\r\n{key}"
            f"*3\r\n$6\r\nEXPIRE\r\n{key}{expire}"
            "*1\r\n$4\r\nEXEC\r\n"
        )


def bulk(text: str) -> str:
    return f"${len(text)}\r\n{text}\r\n"
