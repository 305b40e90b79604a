"""No call that takes something is sent twice.

After a lost reply nobody knows whether the call was counted, and redis-py sends it again by default: up to ten times
more, a unit for each that arrives. A cluster's client does not, where it is told the node. Another client must have been
made without retries, and is refused otherwise.
"""

from __future__ import annotations

from typing import Any

from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.retry import Retry

from slidewin.arguments import Argument, Key

NO_RETRY = Retry(NoBackoff(), 0)
"""For redis-py's option `retry`: a command is sent once."""
NO_RETRY_ASYNC = AsyncRetry(NoBackoff(), 0)
"""The same for its asyncio clients."""


def refuse_resending(client: Any) -> None:
    """Raises ValueError for a client that sends a command again after a failure, and cannot be kept from it."""
    if isinstance(client, RedisCluster | AsyncRedisCluster):
        return
    options = client.get_connection_kwargs()
    retry = options.get("retry")
    if retry.get_retries() if retry else options.get("retry_on_error") or options.get("retry_on_timeout"):
        raise ValueError(
            "this client sends a command again after a failure, which can count a call twice: "
            "make it with retry=slidewin.NO_RETRY (slidewin.asyncio.NO_RETRY), or by Slidewin.from_url"
        )


def execute_once(client: Any, key: Key, command: list[Argument]) -> Any:
    """Sends the command to the key's node. It may be redirected, for which no node has carried it out."""
    node = {}
    if isinstance(client, RedisCluster):
        node = {"target_nodes": client.get_node_from_key(key)}  # type: ignore[no-untyped-call]
    return client.execute_command(*command, **node)


async def execute_once_async(client: Any, key: Key, command: list[Argument]) -> Any:
    """The same for asyncio."""
    node = {}
    if isinstance(client, AsyncRedisCluster):
        await client.initialize()
        node = {"target_nodes": client.get_node_from_key(key)}  # type: ignore[arg-type] # bytes do as well
    return await client.execute_command(*command, **node)
