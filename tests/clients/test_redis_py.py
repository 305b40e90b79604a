"""redis-py: the snippet, and table.json by each of its ways to send commands."""

import asyncio

import pytest
import redis
from redis.cluster import ClusterNode, RedisCluster
from table import CASES, failures


def one_by_one(client):
    def run(_key, commands):
        for command in commands:
            try:
                yield client.execute_command(*command)
            except redis.ResponseError as error:
                yield error

    return run


def together(client, transaction):
    def run(_key, commands):
        with client.pipeline(transaction=transaction) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            return pipeline.execute(raise_on_error=False)

    return run


def by_asyncio(url, protocol):
    async def run(commands):
        async with redis.asyncio.Redis.from_url(url, protocol=protocol) as client:
            async with client.pipeline(transaction=True) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                return await pipeline.execute(raise_on_error=False)

    return lambda _key, commands: asyncio.run(run(commands))


def moved(cluster):
    """How many times the nodes of a cluster have sent a client elsewhere."""
    stats = cluster.info("errorstats", target_nodes="primaries")
    return sum(node.get("errorstat_MOVED", {}).get("count", 0) for node in stats.values())


def test_the_snippet(example):
    assert [example.admitted, example.limit, example.remaining, example.retry_after_ms] == [1, 100, 99, 0]
    assert example.reset_after_ms > 50_000


@pytest.fixture(scope="module", params=[2, 3], ids=["RESP2", "RESP3"])
def protocol(request):
    return request.param


@pytest.fixture(scope="module")
def of_server(the_server, protocol):
    return redis.Redis.from_url(the_server.url, protocol=protocol)


@pytest.fixture(scope="module")
def of_cluster(the_cluster, protocol):
    nodes = [ClusterNode("127.0.0.1", node.port) for node in the_cluster.nodes]
    return RedisCluster(startup_nodes=nodes, protocol=protocol)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
@pytest.mark.parametrize("way", ["raw", "pipeline", "transaction", "asyncio transaction"])
def test_table(server, of_server, protocol, way, case):
    run = {
        "raw": one_by_one(of_server),
        "pipeline": together(of_server, False),
        "transaction": together(of_server, True),
        "asyncio transaction": by_asyncio(server.url, protocol),
    }[way]
    assert not failures(case, run)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
@pytest.mark.parametrize("way", ["raw", "pipeline", "transaction"])
def test_table_on_a_cluster(cluster, of_cluster, way, case):
    run = {
        "raw": one_by_one(of_cluster),
        "pipeline": together(of_cluster, False),
        "transaction": together(of_cluster, True),
    }[way]
    before = moved(of_cluster)
    assert not failures(case, run)
    assert moved(of_cluster) == before, "the client does not go straight to the right node"
