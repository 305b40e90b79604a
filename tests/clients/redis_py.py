"""redis-py. Run by scripts/test-clients.sh."""

# snippet:start
import os
import redis

r = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost"))
admitted, limit, remaining, retry_after_ms, reset_after_ms = r.execute_command(
    "SLIDEWIN.CHECK", "user:42", "1m", 100, "WITHQUOTA"
)
# snippet:end

import asyncio

from redis.cluster import ClusterNode, RedisCluster
from table import moved, test, test_table

URL = os.environ["REDIS_URL"]
NODES = [ClusterNode(*address.split(":")) for address in os.environ["REDIS_CLUSTER"].split(",")]


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


def asyncio_client(protocol):
    async def run(commands):
        async with redis.asyncio.Redis.from_url(URL, protocol=protocol) as client:
            async with client.pipeline(transaction=True) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                return await pipeline.execute(raise_on_error=False)

    return lambda _key, commands: asyncio.run(run(commands))


test("the snippet", [admitted, limit, remaining, retry_after_ms] == [1, 100, 99, 0] and reset_after_ms > 50_000)
for protocol in (2, 3):
    client = redis.Redis.from_url(URL, protocol=protocol)
    cluster = RedisCluster(startup_nodes=NODES, protocol=protocol)
    before = moved(cluster)
    for name, run in (
        ("raw", one_by_one(client)),
        ("pipeline", together(client, False)),
        ("transaction", together(client, True)),
        ("asyncio transaction", asyncio_client(protocol)),
        ("cluster raw", one_by_one(cluster)),
        ("cluster pipeline", together(cluster, False)),
        ("cluster transaction", together(cluster, True)),
    ):
        test_table(f"redis-py {redis.__version__} RESP{protocol} {name}", run)
    test("the cluster client goes straight to the right node", moved(cluster) == before)
