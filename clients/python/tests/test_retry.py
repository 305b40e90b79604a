"""With `retry` a call has an ID, so that it is sent again after a lost reply, and counts once."""

import limits
import limits.aio.strategies
import limits.strategies
import pytest
import redis
from limits.errors import ConfigurationError
from limits.storage import storage_from_string
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.retry import Retry

import slidewin.asyncio
import slidewin.limits
from slidewin import Slidewin

TWICE, TWICE_ASYNC = Retry(NoBackoff(), 2), AsyncRetry(NoBackoff(), 2)

CALLS = [
    lambda limiter: limiter.check("k", 60, 100),
    lambda limiter: limiter.check("k", 60, 100, id="request 1"),
    lambda limiter: limiter.mcheck([("k", 60, 100), ("k", 1, 100)]),
    lambda limiter: limiter.reserve("k", 0, 60, 100),
]


@pytest.mark.parametrize("call", CALLS)
def test_blocking(lossy, client, call):
    lossy.losses = 2
    assert call(Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}", retry=TWICE))
    assert lossy.losses == 0
    assert units(client) == 1


@pytest.mark.parametrize("call", CALLS)
async def test_asyncio(lossy, client, call):
    lossy.losses = 2
    limiter = slidewin.asyncio.Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}", retry=TWICE_ASYNC)
    assert await call(limiter)
    await limiter.aclose()
    assert lossy.losses == 0
    assert units(client) == 1


def units(client, key="k"):
    return sum(taken for _time, taken, _receipt, _id in client.execute_command("SLIDEWIN.LOG", key))


NO_ID = [
    lambda limiter: limiter.check("k", 60, 100, resolution=1),
    lambda limiter: limiter.refund("k", id="request 1", cost=1),
]


@pytest.mark.parametrize("call", NO_ID)
def test_what_has_no_id_of_its_own_is_sent_once(lossy, client, call):
    client.execute_command("SLIDEWIN.CHECK", "k", 60, 100, "COST", 5, "ID", "request 1")
    with pytest.raises(redis.ConnectionError):
        call(Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}", retry=TWICE))
    assert units(client) in (4, 6)


@pytest.mark.parametrize("call", NO_ID)
async def test_what_has_no_id_of_its_own_is_sent_once_asyncio(lossy, client, call):
    client.execute_command("SLIDEWIN.CHECK", "k", 60, 100, "COST", 5, "ID", "request 1")
    limiter = slidewin.asyncio.Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}", retry=TWICE_ASYNC)
    with pytest.raises(redis.ConnectionError):
        await call(limiter)
    await limiter.aclose()
    assert units(client) in (4, 6)


def test_without_retry_an_id_is_sent_once(lossy, client):
    """The caller sends it again, as often as he wants."""
    limiter = Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}")
    for left in (999, 998):
        with pytest.raises(redis.ConnectionError):
            limiter.check("k", 60, 100, id="request 1")
        assert lossy.losses == left
    assert units(client) == 1


def test_requests_have_ids_of_their_own(server, client):
    limiter = Slidewin.from_url(server.url, retry=TWICE)
    for _ in range(3):
        assert limiter.check("k", 60, 3)
    assert not limiter.check("k", 60, 3)
    assert len({row[3] for row in client.execute_command("SLIDEWIN.LOG", "k")}) == 3


def test_cluster(ways, lossy_cluster):
    limiter = Slidewin(RedisCluster(**lossy_cluster), retry=TWICE)
    lose_one(ways)
    assert limiter.check("k", 60, 100)
    assert_lost_one(ways)
    lose_one(ways)
    assert limiter.mcheck([("{a}", 60, 100), ("{a}:2", 60, 100)])
    assert_lost_one(ways)
    assert [limiter.peek(key, 60, 100).remaining for key in ("k", "{a}", "{a}:2")] == [99, 99, 99]


async def test_asyncio_cluster(ways, lossy_cluster):
    limiter = slidewin.asyncio.Slidewin(AsyncRedisCluster(**lossy_cluster), retry=TWICE_ASYNC)
    lose_one(ways)
    assert await limiter.check("k", 60, 100)
    assert_lost_one(ways)
    assert (await limiter.peek("k", 60, 100)).remaining == 99
    await limiter.aclose()


def lose_one(ways):
    for way in ways.values():
        way.losses = 1


def assert_lost_one(ways):
    assert sum(way.losses for way in ways.values()) == len(ways) - 1


def test_limits(lossy, client):
    lossy.losses = 2
    storage = storage_from_string(f"slidewin://127.0.0.1:{lossy.port}", retry=TWICE)
    assert limits.strategies.MovingWindowRateLimiter(storage).hit(limits.parse("100/minute"))
    assert lossy.losses == 0
    assert units(client, client.keys()[0]) == 1


async def test_limits_asyncio(lossy, client):
    lossy.losses = 2
    storage = storage_from_string(f"async+slidewin://127.0.0.1:{lossy.port}", retry=TWICE_ASYNC)
    assert await limits.aio.strategies.MovingWindowRateLimiter(storage).hit(limits.parse("100/minute"))
    await storage.bridge.storage.aclose()
    assert lossy.losses == 0
    assert units(client, client.keys()[0]) == 1


@pytest.mark.parametrize("uri", ["slidewin://127.0.0.1:1", "async+slidewin://127.0.0.1:1"])
def test_limits_with_a_resolution(uri):
    with pytest.raises(ConfigurationError, match="drop retry or resolution"):
        storage_from_string(uri, retry=TWICE, resolution="1s")
