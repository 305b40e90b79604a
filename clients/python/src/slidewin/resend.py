"""No call that takes something is sent twice, unless it has an ID.

After a lost reply nobody knows whether the call was counted, and redis-py sends it again by default: up to ten times
more, a unit for each that arrives. A cluster's client does not, where it is told the node. Another client must have been
made without retries, and is refused otherwise. A call with an ID counts once however often it arrives, so redis-py's
`Retry` may send it again: around the call, since the client's own would do so with every command.
"""

from __future__ import annotations

import uuid
from typing import Any

from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.retry import Retry

from slidewin.arguments import Argument, Id, Key

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


def new_id() -> Id:
    """Names one request, and no other."""
    return uuid.uuid4().hex


def execute_with(retry: Retry | None, client: Any, key: Key, command: list[Argument]) -> Any:
    """Sends a command that counts once however often it arrives, again as often as `retry` says. A cluster's client has
    looked for the key's node anew by then."""
    if retry is None:
        return execute_once(client, key, command)
    return retry.call_with_retry(lambda: execute_once(client, key, command), lambda _error: None)


async def execute_with_async(retry: AsyncRetry | None, client: Any, key: Key, command: list[Argument]) -> Any:
    """The same for asyncio."""
    if retry is None:
        return await execute_once_async(client, key, command)

    async def fail(_error: Exception) -> None:
        pass

    return await retry.call_with_retry(lambda: execute_once_async(client, key, command), fail)


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
