"""The storages, as limits uses them: blocking and asyncio, over a server, a cluster and a sentinel."""

import asyncio
import time

import limits
import limits.aio.strategies
import limits.strategies
import pytest
import redis
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string

import slidewin.limits

TEN = limits.parse("10/minute")


def uri_of(kind, place):
    if kind == "standalone":
        return f"slidewin://127.0.0.1:{place.port}"
    if kind == "cluster":
        return f"slidewin+cluster://{place.addresses}"
    return f"slidewin+sentinel://127.0.0.1:{place.port}/mymaster"


class Strategies:
    """The strategies over one storage. Of the asyncio ones each method is run to its end."""

    def __init__(self, uri, loop=None, **options):
        self._loop = loop
        if loop is None:
            self.storage = storage_from_string(uri, **options)
            module = limits.strategies
        else:
            self.storage = loop.run_until_complete(self._make(uri, options))
            module = limits.aio.strategies
        self.moving = self._wrap(module.MovingWindowRateLimiter(self.storage))
        self.fixed = self._wrap(module.FixedWindowRateLimiter(self.storage))
        self.counter = self._wrap(module.SlidingWindowCounterRateLimiter(self.storage))
        self.plain = self._wrap(self.storage)

    @staticmethod
    async def _make(uri, options):
        return storage_from_string(f"async+{uri}", **options)

    def _wrap(self, target):
        return target if self._loop is None else _Awaited(self._loop, target)


class _Awaited:
    def __init__(self, loop, target):
        self._loop, self._target = loop, target

    def __getattr__(self, name):
        method = getattr(self._target, name)
        return lambda *args, **kwargs: self._loop.run_until_complete(method(*args, **kwargs))


@pytest.fixture(params=["blocking", "asyncio"])
def strategies(request):
    """Makes Strategies."""
    if request.param == "blocking":
        yield Strategies
        return
    loop, made = asyncio.new_event_loop(), []

    def make(uri, **options):
        made.append(Strategies(uri, loop, **options))
        return made[-1]

    yield make
    for each in made:
        loop.run_until_complete(each.storage.bridge.storage.aclose())
    loop.close()


@pytest.fixture
def on(strategies, kind, request):
    return strategies(uri_of(kind, request.getfixturevalue({"standalone": "server"}.get(kind, kind))))


def test_moving_window(on):
    assert on.plain.check()
    assert [on.moving.hit(TEN, "ann") for _ in range(12)] == [True] * 10 + [False] * 2
    assert on.moving.hit(TEN, "bob")
    reset, remaining = on.moving.get_window_stats(TEN, "ann")
    assert remaining == 0
    assert 50 < reset - time.time() <= 60.1
    assert not on.moving.test(TEN, "ann")
    assert on.moving.test(TEN, "bob", cost=9)
    assert not on.moving.test(TEN, "bob", cost=10)


def test_cost(on):
    assert on.moving.hit(TEN, cost=7)
    assert not on.moving.hit(TEN, cost=4)
    assert on.moving.get_window_stats(TEN).remaining == 3
    assert on.moving.hit(TEN, cost=3)
    assert not on.moving.hit(TEN, cost=11)
    assert on.moving.hit(TEN, cost=0), "it takes nothing"
    assert on.moving.get_window_stats(TEN).remaining == 0


def test_an_empty_window(on):
    reset, remaining = on.moving.get_window_stats(TEN, "nobody")
    assert remaining == 10
    assert 59 < reset - time.time() <= 60


def test_the_window_is_reset_when_its_oldest_hit_leaves(on):
    on.moving.hit(TEN, "ann")
    first = on.moving.get_window_stats(TEN, "ann").reset_time
    time.sleep(0.3)
    on.moving.hit(TEN, "ann")
    assert abs(on.moving.get_window_stats(TEN, "ann").reset_time - first) < 0.2


def test_clear_and_reset(on):
    for name in "ann", "bob":
        on.moving.hit(TEN, name)
    on.moving.clear(TEN, "ann")
    assert on.moving.get_window_stats(TEN, "ann").remaining == 10
    assert on.moving.get_window_stats(TEN, "bob").remaining == 9
    on.fixed.hit(TEN, "bob")
    assert on.plain.reset() == 2
    assert on.moving.get_window_stats(TEN, "bob").remaining == 10


def test_strategies_share_no_key(on):
    """The key of a moving window outlives it, as a sorted set."""
    for _ in range(10):
        assert on.moving.hit(TEN)
        assert on.fixed.hit(TEN)
        assert on.counter.hit(TEN)
    assert not on.moving.hit(TEN) and not on.fixed.hit(TEN) and not on.counter.hit(TEN)
    on.fixed.clear(TEN)
    assert on.fixed.hit(TEN)


def test_resolution_bounds_the_entries(strategies, server, client):
    on = strategies(uri_of("standalone", server), resolution=1)
    thousand = limits.parse("1000/minute")
    begin = time.monotonic()
    for _ in range(500):
        assert on.moving.hit(thousand)
    slots = int(time.monotonic() - begin) + 2
    (key,) = client.keys("*")
    assert client.zcard(key) <= slots
    assert on.moving.get_window_stats(thousand).remaining == 500


def test_a_prefix(strategies, server, client):
    on = strategies(uri_of("standalone", server), key_prefix="mine")
    on.moving.hit(TEN, "ann")
    assert client.keys("*") == [b"mine:LIMITER/ann/10/1/minute/slidewin"]


def test_a_unix_socket(strategies, server, client):
    with pytest.raises(redis.ConnectionError, match="no-such.sock"):
        strategies("slidewin+unix:///no-such.sock").moving.hit(TEN)


@pytest.mark.parametrize("wrap", [False, True])
def test_a_server_that_is_down(strategies, mortal, wrap):
    on = strategies(uri_of("standalone", mortal), wrap_exceptions=wrap)
    assert on.moving.hit(TEN)
    mortal.kill()
    error = StorageError if wrap else redis.ConnectionError
    for call in on.moving.hit, on.moving.test, on.moving.get_window_stats, on.fixed.hit, on.moving.clear:
        with pytest.raises(error):
            call(TEN)
    assert not on.plain.check()
    mortal.start()
    assert on.moving.hit(TEN)


def test_a_failover(strategies):
    """The sentinel names the new primary; nothing is made anew."""
    from servers import Sentinel, wait_until

    with Sentinel() as sentinel:
        on = strategies(uri_of("sentinel", sentinel))
        assert on.moving.hit(TEN)
        sentinel.nodes[0].kill()

        def hit():
            try:
                return on.moving.hit(TEN)
            except (redis.ConnectionError, redis.TimeoutError, redis.ResponseError):
                return False

        wait_until("the replica takes over", hit)


def test_only_redis_py():
    with pytest.raises(ConfigurationError, match="use redis-py, not coredis"):
        storage_from_string("async+slidewin://127.0.0.1:1", implementation="coredis")
