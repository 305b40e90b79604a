"""What is compared, and how each is asked."""

import os
import shlex
from typing import Callable, NamedTuple

import logs
from drive import RANDOM
from report import BARE

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "script.lua")
KEY = f"k:{RANDOM}"


class Ask(NamedTuple):
    """One question: may this key have a unit?"""

    window_us: int
    limit: int


class Contestant(NamedTuple):
    """Something that redis-benchmark can drive."""

    name: str
    argv: Callable[[Ask], list]
    # Writes a log with these times, as the contestant keeps it; None where it keeps none.
    load: Callable | None


def filled(argv: list, key: int, unique: int) -> list:
    """One call: what redis-benchmark would put in the key, and elsewhere."""
    number = {True: f"{key:012d}", False: f"{unique:012d}"}
    return [str(part).replace(RANDOM, number[part == KEY]) for part in argv]


def seconds(window_us: int) -> str:
    """A window as slidewin takes it."""
    return f"{window_us / 1e6:.6f}".rstrip("0").rstrip(".")


def check(name: str, *options: str, further: Callable[[Ask], list] = lambda _: [], command: str = "CHECK") -> Contestant:
    """CHECK with options; `further` gives more pairs of window and limit, put before the asked one."""
    argv = lambda ask: [f"SLIDEWIN.{command}", KEY, *further(ask), seconds(ask.window_us), ask.limit, *options]
    return Contestant(name, argv, logs.load_slidewin)


def script(sha: str) -> Contestant:
    """The Lua script, by its digest."""
    argv = lambda ask: ["EVALSHA", sha, 1, KEY, ask.window_us, ask.limit, RANDOM]
    return Contestant("script", argv, logs.load_script)


def peer(command: str) -> Contestant:
    """Another module's command with {key}, {limit} and {window} (whole seconds) in it."""

    def argv(ask: Ask) -> list:
        window = max(1, -(-ask.window_us // 1_000_000))
        return [part.format(key=KEY, limit=ask.limit, window=window) for part in shlex.split(command)]

    return Contestant("peer", argv, None)


CHECK = check("CHECK")
# Of bare.c: what no module that keeps a log in a sorted set can leave out.
BARE_ADMITTED = Contestant(BARE, lambda _: ["BARE.ADMITTED", KEY], logs.load_slidewin)
BARE_REFUSED = Contestant(BARE, lambda _: ["BARE.REFUSED", KEY], logs.load_slidewin)
# Behind every loaded score, as the newest admission is. 13 digits: an integer in the listpack, as ours are.
ZADD = Contestant("ZADD", lambda _: ["ZADD", KEY, "8" + "0" * 15, f"1{RANDOM}"], logs.load_slidewin)
PEXPIRE = Contestant("PEXPIRE", lambda ask: ["PEXPIRE", KEY, ask.window_us // 1_000], logs.load_slidewin)
ZCARD = Contestant("ZCARD", lambda _: ["ZCARD", KEY], logs.load_slidewin)
PING = Contestant("PING", lambda _: ["PING"], None)

# In the sparse workload: what an option adds to a plain call.
VARIANTS = [
    check("plain"),
    check("COST 1", "COST", "1"),
    check("COST 100000", "COST", "100000"),
    check("COST 1000000", "COST", "1000000"),
    check("three windows", further=lambda ask: [60, ask.limit, 600, ask.limit]),
    check("WITHQUOTA", "WITHQUOTA"),
    check("RECEIPT", "RECEIPT"),
    check("PEEK", command="PEEK"),
]
REFUSED_VARIANTS = [
    check("three windows", further=lambda ask: [60, 10**9, 600, 10**9]),
    check("WITHQUOTA", "WITHQUOTA"),
    check("PEEK", command="PEEK"),
]
