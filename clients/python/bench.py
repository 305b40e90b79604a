"""What a request with headers costs the server: limits' moving window over our storage, and over its own for Redis.

usage: bench.py    with limits and redis installed; see test.sh for the environment.

One hit and one look at the window, as Flask-Limiter and slowapi do for a request with headers, for 100 clients with 110
requests each and a limit of 100 a minute; then one client with 70,000 a day. µs are those of INFO commandstats; Lua's inner
calls are part of its EVALSHA and are not counted twice.
"""

import statistics
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests/clients"), str(Path(__file__).resolve().parent / "src")]

import limits
import redis
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter
from servers import Server

import slidewin.limits  # noqa: F401 # registers the storage

OURS = {"cmdstat_slidewin.check", "cmdstat_slidewin.peek"}
STOCK = {"cmdstat_evalsha", "cmdstat_eval"}


def strategy(server, scheme):
    return MovingWindowRateLimiter(storage_from_string(f"{scheme}://127.0.0.1:{server.port}"))


def requests(server, scheme, commands):
    """(µs in the server a request, round trips a request)."""
    client, limiter = redis.Redis(port=server.port), strategy(server, scheme)
    client.flushall()
    limit = limits.parse("100/minute")
    limiter.hit(limit, "first")  # stock sends its scripts with their first call
    limiter.get_window_stats(limit, "first")
    client.config_resetstat()
    for client_number in range(100):
        for _ in range(110):
            limiter.hit(limit, str(client_number))
            limiter.get_window_stats(limit, str(client_number))
    stats = client.info("commandstats")
    seen = [stats[name] for name in commands if name in stats]
    count = 100 * 110
    return sum(each["usec"] for each in seen) / count, sum(each["calls"] for each in seen) / count


def memory(server, scheme):
    client, limiter = redis.Redis(port=server.port), strategy(server, scheme)
    client.flushall()
    limit = limits.parse("70000/day")
    for _ in range(70_000):
        assert limiter.hit(limit, "busy")
    (key,) = client.keys("*")
    return client.memory_usage(key, samples=0)


def main():
    rounds = {"slidewin": [], "redis": []}
    with Server() as server:
        for _ in range(5):
            for scheme, commands in (("slidewin", OURS), ("redis", STOCK)):
                rounds[scheme].append(requests(server, scheme, commands))
        for scheme, seen in rounds.items():
            us, trips = (statistics.median(column) for column in zip(*seen))
            print(f"{scheme}: {us:.1f} us in the server and {trips:.0f} round trips a request with headers; "
                  f"70,000 admissions of 70,000 a day: {memory(server, scheme):,} bytes")


main()
