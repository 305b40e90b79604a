"""Real servers with the module, one of each kind for all tests, empty at the start of each."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/clients"))

import pytest
import redis
from lossy import Lossy
from redis.asyncio.sentinel import Sentinel as AsyncSentinelClient
from redis.sentinel import Sentinel as SentinelClient
from servers import Cluster, Sentinel, Server

import slidewin
import slidewin.asyncio


@pytest.fixture(scope="session")
def the_server():
    with Server() as server:
        yield server


@pytest.fixture
def server(the_server):
    the_server.command("FLUSHALL")
    return the_server


@pytest.fixture
def mortal():
    """A server of this test alone, which may be killed."""
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def the_cluster():
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(the_cluster):
    for node in the_cluster.nodes:
        node.command("FLUSHALL")
    return the_cluster


@pytest.fixture(scope="session")
def the_sentinel():
    with Sentinel() as sentinel:
        yield sentinel


@pytest.fixture
def sentinel(the_sentinel):
    the_sentinel.nodes[0].command("FLUSHALL")
    return the_sentinel


@pytest.fixture
def client(server):
    """Plain redis-py, to look at what is in the server."""
    return redis.Redis.from_url(server.url)


@pytest.fixture
def lossy(server):
    with Lossy(server.port) as lossy:
        yield lossy


@pytest.fixture
def ways(cluster):
    """A lossy way to each node."""
    ways = {node.port: Lossy(node.port) for node in cluster.nodes}
    yield ways
    for way in ways.values():
        way.__exit__()


@pytest.fixture
def lossy_cluster(cluster, ways):
    """The options of a cluster's client that goes to each node by a lossy way."""
    return {
        "host": "127.0.0.1",
        "port": cluster.nodes[0].port,
        "address_remap": lambda address: ("127.0.0.1", ways[address[1]].port if address[1] in ways else address[1]),
    }


class Awaited:
    """slidewin.asyncio.Slidewin, each method run to its end, so that both classes go through the same tests."""

    def __init__(self, loop, limiter):
        self._loop, self._limiter = loop, limiter

    def __getattr__(self, name):
        method = getattr(self._limiter, name)
        return lambda *args, **kwargs: self._loop.run_until_complete(method(*args, **kwargs))


@pytest.fixture(params=["standalone", "cluster", "sentinel"])
def kind(request):
    return request.param


@pytest.fixture(params=["blocking", "asyncio"])
def limiter(request, kind):
    """Slidewin, of either kind, over each kind of client."""
    place = request.getfixturevalue({"standalone": "server"}.get(kind, kind))
    if request.param == "blocking":
        yield connect(slidewin.Slidewin, slidewin.NO_RETRY, SentinelClient, kind, place)
        return
    loop = asyncio.new_event_loop()

    async def make():
        return connect(slidewin.asyncio.Slidewin, slidewin.asyncio.NO_RETRY, AsyncSentinelClient, kind, place)

    awaited = Awaited(loop, loop.run_until_complete(make()))
    yield awaited
    awaited.aclose()
    loop.close()


def connect(cls, no_retry, sentinel_client, kind, place):
    if kind == "standalone":
        return cls.from_url(place.url)
    if kind == "cluster":
        return cls.from_url(place.nodes[0].url, cluster=True)
    return cls(sentinel_client([("127.0.0.1", place.port)], retry=no_retry).master_for("mymaster"))
