"""No call is sent twice.

After a lost reply nobody knows whether the call was counted, and redis-py sends it again by default: up to ten times
more, a unit for each that arrives. So the clients of this package never do, and one that would is refused.
"""

from __future__ import annotations

from typing import Any

from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

NO_RETRY = Retry(NoBackoff(), 0)
"""For redis-py's option `retry`: a command is sent once."""
NO_RETRY_ASYNC = AsyncRetry(NoBackoff(), 0)
"""The same for its asyncio clients."""


def refuse_resending(client: Any) -> None:
    """Raises ValueError for a client that sends a command again after a failure."""
    if _resends(client):
        raise ValueError(
            "this client sends a command again after a failure, which can count a call twice: "
            "make it with retry=slidewin.NO_RETRY (slidewin.asyncio.NO_RETRY), or by Slidewin.from_url"
        )


def _resends(client: Any) -> bool:
    if not hasattr(client, "get_connection_kwargs") or hasattr(client, "nodes_manager"):
        return bool(client.retry.get_retries())  # a cluster's client
    options = client.get_connection_kwargs()
    if options.get("retry"):
        return bool(options["retry"].get_retries())
    return bool(options.get("retry_on_error") or options.get("retry_on_timeout"))
