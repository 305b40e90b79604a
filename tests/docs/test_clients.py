"""docs/clients.md: what its tables say of each client that can be had here is what its program in clients/ meets."""

import json
import os
import re
import socket
import subprocess
import threading
from pathlib import Path

import pytest
import redis
import servers
from pages import ROOT, page, rows

PAGE = page("clients.md")
HERE = Path(__file__).parent / "clients"
INSTALLED = ROOT / "target/clients"
SOURCES = {"redigo": "redigo/main.go"}
PROGRAMS = {
    "redis-py": [INSTALLED / "docs/bin/python", HERE / "redis_py.py"],
    "node-redis": ["node", INSTALLED / "docs-node/node_redis.mjs"],
    "ioredis": ["node", INSTALLED / "docs-node/ioredis.mjs"],
    "phpredis": ["php", HERE / "phpredis.php"],
    "predis": ["php", HERE / "predis.php"],
    "redis-rb": ["ruby", HERE / "redis_rb.rb"],
    "redigo": [INSTALLED / "redigo"],
}
REPLIES = {row[0]: row[1:] for row in rows(PAGE, "client")}
CLUSTER = {row[0]: row[1:] for row in rows(PAGE, "client in a cluster")}
# In a cluster redis-rb 4 and redis-rb 5 are two clients, of which a system has one.
REDIS_RB = subprocess.check_output(["ruby", "-e", "require 'redis'; print 'redis-rb ', Redis::VERSION.to_i"], text=True)
CLUSTER["redis-rb"] = CLUSTER[REDIS_RB]
del CLUSTER["redis-rb 4"], CLUSTER["redis-rb 5"]
LOST = {row[0]: row[1:] for row in rows(PAGE, "client whose reply is lost")}
NOT_RUN = "not run here"


def run(client, mode, **environment):
    """What the client's program says of that mode: a list of texts."""
    process = subprocess.run(
        [*PROGRAMS[client], mode],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(process.stdout.splitlines()[-1])


def is_run(table):
    return [client for client, cells in table.items() if NOT_RUN not in cells[-1].lower()]


def test_the_page_has_every_program():
    assert set(is_run(REPLIES)) == set(PROGRAMS)
    assert set(is_run(CLUSTER)) == set(PROGRAMS) - {"redigo"}
    assert set(is_run(LOST)) == set(PROGRAMS)


@pytest.mark.parametrize("client", PROGRAMS)
def test_replies(client):
    """Admitted, refused, the array, an error: as the page says."""
    with servers.Server() as server:
        replies = run(client, "call", PORT=str(server.port))
    if client == "phpredis":
        assert replies[4:] == ["ERR", "NULL null"], "getLastError, before and after clearLastError"
    assert [f"`{reply}`" for reply in replies[:4]] == REPLIES[client][2:6]


@pytest.fixture(scope="module")
def cluster():
    """Three primaries and a replica of each."""
    with servers.Cluster() as cluster:
        primaries = list(cluster.nodes)
        for primary in primaries:
            primary.command("CONFIG SET repl-diskless-sync-delay 0")
            replica = servers.Server("--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
            cluster.nodes.append(replica)  # so that it ends with the cluster
            replica.command(f"CLUSTER MEET 127.0.0.1 {primary.port}")
            identity = primary.command("CLUSTER MYID")
            servers.wait_until("it is met", lambda: replica.command(f"CLUSTER REPLICATE {identity}") == "+OK")
            servers.wait_until("in sync", lambda: "master_link_status:up" in replica.command("INFO replication"))
        for node in cluster.nodes:
            servers.wait_until("all know all", lambda: whole(node))
        cluster.primaries, cluster.replicas = primaries, cluster.nodes[3:]
        yield cluster


def whole(node):
    with redis.Redis(port=node.port) as connection:
        nodes = connection.execute_command("CLUSTER NODES").values()
    flags = [flag for each in nodes for flag in each["flags"].split(",")]
    return flags.count("slave") == 3 and flags.count("master") == 3 and "handshake" not in flags


def lists_replicas(node):
    with redis.Redis(port=node.port) as connection:
        # From, to, the primary, and then its replicas.
        return all(len(slots) > 3 for slots in connection.execute_command("CLUSTER SLOTS"))


def count(nodes, section, name):
    """The sum of one counter of INFO over the nodes."""
    total = 0
    for node in nodes:
        with redis.Redis(port=node.port) as connection:
            counters = connection.info(section).get(name, {})
            total += counters.get("calls", counters.get("count", 0))
    return total


def in_cluster(cluster, client, mode):
    """What came back, how many of the calls were redirected, how many PEEKs replicas answered."""
    for node in cluster.nodes:
        node.command("CONFIG RESETSTAT")
        if node in cluster.primaries:
            node.command("FLUSHALL")
    replies = run(client, mode, NODES=",".join(str(node.port) for node in cluster.primaries))
    moved = count(cluster.nodes, "errorstats", "errorstat_MOVED")
    return replies, moved, count(cluster.replicas, "commandstats", "cmdstat_slidewin.peek")


def ones(replies):
    return sum(reply.endswith(" 1") for reply in replies)


@pytest.mark.parametrize("client", is_run(CLUSTER))
def test_cluster(client, cluster):
    _, goes, _, peeks = CLUSTER[client]
    replies, moved, _ = in_cluster(cluster, client, "cluster")
    assert ones(replies) == 50, replies
    assert goes == ("straight" if moved == 0 else "redirected"), moved
    if peeks == "no such option":
        return
    # A replica is listed once it is known to have taken what was written.
    for node in cluster.nodes:
        servers.wait_until("each range has a replica", lambda: lists_replicas(node))
    replies, _, on_replicas = in_cluster(cluster, client, "replica")
    assert ones(replies) == 50, replies
    assert peeks == {0: "on primaries", 50: "on replicas"}.get(on_replicas, "on both"), on_replicas


def test_ioredis_without_the_key(cluster):
    """`call` is redirected; with autopipelining it is not even that."""
    replies, moved, _ = in_cluster(cluster, "ioredis", "cluster_call")
    assert ones(replies) == 50 and moved > 10

    def most_fail():  # it picks a node at random, and with some choices all are followed
        replies, _, _ = in_cluster(cluster, "ioredis", "cluster_autopipelining")
        return len(replies) == 200 and sum(reply.endswith(" MOVED") for reply in replies) > 100

    servers.wait_until("more than 100 of 200 calls end with MOVED", most_fail, 60)
    replies, moved, _ = in_cluster(cluster, "ioredis", "cluster_autopipelining_by_key")
    assert ones(replies) == 200 and moved == 0


class LosesOneReply:
    """Stands between a client and a server, and closes the connection in place of the first reply to a CHECK."""

    def __init__(self, server):
        self.server, self.lost = server, threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pump, args=(client,), daemon=True).start()

    def pump(self, client):
        with client, socket.create_connection(("127.0.0.1", self.server.port)) as server:
            while request := client.recv(65536):
                server.sendall(request)
                reply = server.recv(65536)
                if b"SLIDEWIN.CHECK" in request and not self.lost.is_set():
                    self.lost.set()
                    return
                client.sendall(reply)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def lose(client, mode):
    """What the caller gets when the reply is lost, and how many units were taken."""
    with servers.Server() as server, LosesOneReply(server) as between:
        (reply,) = run(client, mode, PORT=str(between.port))
        assert between.lost.is_set()
        return reply, int(server.command("ZCARD rl:ann")[1:])


@pytest.mark.parametrize("client", is_run(LOST))
def test_lost(client):
    caller, units, stop = LOST[client]
    assert lose(client, "lost") == (caller.strip("`"), int(units))
    if int(units) > 1:
        reply, units = lose(client, "lost_once")
        assert units == 1 and not reply.endswith(" 1")
        source = PROGRAMS[client][-1].name
        option = stop.split("`")[1]
        assert option in (HERE / source).read_text(), "the option is the one that was tried"


def test_the_code_on_the_page_is_what_ran():
    """Each block is part of a program; each call and option of a row is named in its client's program."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", PAGE, re.M | re.S)
    programs = {
        client: (HERE / SOURCES.get(client, Path(command[-1]).name)).read_text() for client, command in PROGRAMS.items()
    }
    assert len(blocks) == 2
    for block in blocks:
        assert any(block in program for program in programs.values()), block
    for client, program in programs.items():
        call = REPLIES[client][1].split("`")[1]
        codes = [call, *(CLUSTER[client][0] + CLUSTER[client][2]).split("`")[1::2]] if client in CLUSTER else [call]
        for code in codes:
            name = re.match(r"[\w.$>:-]+(: '?\w+'?)?", code)[0].split(".")[-1].split("->")[-1]
            assert name in program, f"{client}: {name} of {code}"
