"""A call whose reply is lost has been counted once. It is not sent again."""

import limits
import limits.aio.strategies
import limits.strategies
import pytest
import redis
import redis.asyncio
from limits.storage import storage_from_string
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.cluster import RedisCluster

import slidewin.asyncio
import slidewin.limits
from slidewin import Slidewin


def entries(client):
    return [client.zcard(key) for key in client.keys("*")]


def test_what_redis_py_does_by_default(lossy, client):
    """Else the tests below would prove nothing."""
    with pytest.raises(redis.ConnectionError):
        redis.Redis(port=lossy.port).execute_command("SLIDEWIN.CHECK", "k", 60, 100)
    assert entries(client)[0] > 1


def test_blocking(lossy, client):
    with pytest.raises(redis.ConnectionError):
        Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}").check("k", 60, 100)
    assert entries(client) == [1]


async def test_asyncio(lossy, client):
    limiter = slidewin.asyncio.Slidewin.from_url(f"redis://127.0.0.1:{lossy.port}")
    with pytest.raises(redis.ConnectionError):
        await limiter.check("k", 60, 100)
    await limiter.aclose()
    assert entries(client) == [1]


def cluster_entries(cluster):
    return sum(redis.Redis(port=node.port).zcard("k") for node in cluster.nodes if b"k" in keys_of(node))


def keys_of(node):
    return redis.Redis(port=node.port).keys("*")


def test_cluster(lossy_cluster, cluster):
    with pytest.raises(redis.ConnectionError):
        Slidewin(RedisCluster(**lossy_cluster)).check("k", 60, 100)
    assert cluster_entries(cluster) == 1


def test_what_a_cluster_client_does_by_default(lossy_cluster, cluster):
    with pytest.raises(redis.ConnectionError):
        RedisCluster(**lossy_cluster).execute_command("SLIDEWIN.CHECK", "k", 60, 100)
    assert cluster_entries(cluster) > 1


async def test_asyncio_cluster(lossy_cluster, cluster):
    client = AsyncRedisCluster(**lossy_cluster)
    limiter = slidewin.asyncio.Slidewin(client)
    with pytest.raises(redis.ConnectionError):
        await limiter.check("k", 60, 100)
    await limiter.aclose()
    assert cluster_entries(cluster) == 1


def test_limits_cluster(lossy_cluster, cluster):
    storage = storage_from_string("slidewin+cluster://", **lossy_cluster)
    with pytest.raises(redis.ConnectionError):
        limits.strategies.MovingWindowRateLimiter(storage).hit(limits.parse("100/minute"))
    sizes = [redis.Redis(port=node.port).zcard(key) for node in cluster.nodes for key in keys_of(node)]
    assert sizes == [1]


async def test_limits_asyncio_cluster(lossy_cluster, cluster):
    storage = storage_from_string("async+slidewin+cluster://", **lossy_cluster)
    with pytest.raises(redis.ConnectionError):
        await limits.aio.strategies.MovingWindowRateLimiter(storage).hit(limits.parse("100/minute"))
    await storage.bridge.storage.aclose()
    sizes = [redis.Redis(port=node.port).zcard(key) for node in cluster.nodes for key in keys_of(node)]
    assert sizes == [1]


def test_limits(lossy, client):
    limiter = limits.strategies.MovingWindowRateLimiter(storage_from_string(f"slidewin://127.0.0.1:{lossy.port}"))
    with pytest.raises(redis.ConnectionError):
        limiter.hit(limits.parse("100/minute"))
    assert entries(client) == [1]


async def test_limits_asyncio(lossy, client):
    storage = storage_from_string(f"async+slidewin://127.0.0.1:{lossy.port}")
    with pytest.raises(redis.ConnectionError):
        await limits.aio.strategies.MovingWindowRateLimiter(storage).hit(limits.parse("100/minute"))
    await storage.bridge.storage.aclose()
    assert entries(client) == [1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Slidewin(redis.Redis()),
        lambda: slidewin.asyncio.Slidewin(redis.asyncio.Redis()),
        lambda: Slidewin(redis.Redis(), retry=redis.Redis().get_retry()),
        lambda: Slidewin(redis.Redis(retry=None, retry_on_error=[ConnectionError])),
        lambda: storage_from_string("slidewin://127.0.0.1:1", connection_pool=redis.Redis().connection_pool),
    ],
)
async def test_a_client_that_would_is_refused(make):
    with pytest.raises(ValueError, match="retry=slidewin.NO_RETRY"):
        make()
