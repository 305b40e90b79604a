"""redis-py, for docs/clients.md: `redis_py.py MODE` says what happened. See ../test_clients.py."""

import json
import os
import sys

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry

CHECK = ("SLIDEWIN.CHECK", "rl:ann", "1m", 1)
port = int(os.environ.get("PORT", 0))
nodes = [ClusterNode("127.0.0.1", int(node)) for node in os.environ.get("NODES", "").split(",") if node]


def kind(reply):
    return f"list of {type(reply[0]).__name__}" if isinstance(reply, list) else f"{type(reply).__name__} {reply}"


def attempt(call):
    try:
        return kind(call())
    except Exception as error:
        return type(error).__name__


def call():
    r = redis.Redis(port=port)
    print(
        json.dumps(
            [
                attempt(lambda: r.execute_command(*CHECK)),
                attempt(lambda: r.execute_command(*CHECK)),
                attempt(lambda: r.execute_command(*CHECK, "WITHQUOTA")),
                attempt(lambda: r.execute_command("SLIDEWIN.CHECK", "rl:ann", "soon", 1)),
            ]
        )
    )


def cluster():
    r = RedisCluster(startup_nodes=nodes)
    print(json.dumps([attempt(lambda: r.execute_command("SLIDEWIN.CHECK", f"rl:{n}", "1m", 1)) for n in range(50)]))


def replica():
    r = RedisCluster(startup_nodes=nodes, read_from_replicas=True)
    print(json.dumps([attempt(lambda: r.execute_command("SLIDEWIN.PEEK", f"rl:{n}", "1m", 1)) for n in range(50)]))


def lost():
    print(json.dumps([attempt(lambda: redis.Redis(port=port).execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 9))]))


def lost_once():
    r = redis.Redis(port=port, retry=Retry(NoBackoff(), 0))
    print(json.dumps([attempt(lambda: r.execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 9))]))


globals()[sys.argv[1]]()
