"""docs/memory.md: the formula and each figure are measured again."""

import os
import re
import socket
import struct
import subprocess

import pytest
import redis
import servers
from pages import ROOT, page, rows, stock

PAGE = page("memory.md")
SERVERS = ("redis-7.0", "redis-8.2", "valkey-9.1")
TITLES = {"redis-7.0": "Redis 7.0", "redis-8.2": "Redis 8.2", "valkey-9.1": "Valkey 9.1"}
K = {server: int(bytes_) for server, bytes_ in rows(PAGE, "server")}
FEW = [(row[0].strip("`"), *map(int, row[1:])) for row in rows(PAGE, "name")]
MANY = [(int(row[0].replace(",", "")), *map(float, row[1:])) for row in rows(PAGE, "live admissions")]


def key_bytes(version, name, admissions):
    """What a key named like that needs, with so many admissions and its TTL."""
    keys = 100_000 if admissions == 1 else 6_250  # both fill the server's tables to the same degree
    prefix, digits = re.fullmatch(r"(.*\D)(\d+)", name).groups()
    with stock(version) as server, redis.Redis(port=server.port) as connection:
        before = connection.info("memory")["used_memory"]
        for first in range(0, keys * admissions, 1_250):
            with connection.pipeline(transaction=False) as pipeline:
                for nth in range(first, first + 1_250):
                    key = f"{prefix}{nth % keys:0{len(digits)}}"
                    pipeline.execute_command("SLIDEWIN.CHECK", key, "1h", admissions)
                assert sum(pipeline.execute()) == 1_250
        assert connection.dbsize() == keys
        # The connection's buffers are given back after a while: they are not the keys'.
        buffers = connection.info("memory")["mem_clients_normal"]
        return (connection.info("memory")["used_memory"] - before - buffers) / keys


@pytest.mark.parametrize("version", SERVERS)
@pytest.mark.parametrize("row", FEW, ids=lambda row: f"{row[0]} {row[1]}")
def test_few(version, row):
    name, admissions, *figures = row
    figure = figures[SERVERS.index(version)]
    measured = key_bytes(version, name, admissions)
    formula = K[TITLES[version]] + len(name) + 16 * admissions
    print(f"{version} {name} {admissions}: {measured:.1f} B measured, {formula} by the formula, {figure} on the page")
    assert measured == pytest.approx(formula, rel=0.1), "the formula"
    assert measured == pytest.approx(figure, rel=0.03), "the figure on the page"


class Clock:
    """The server's wall clock, set by the test: tests/clock/preload.c."""

    def __init__(self, path):
        self.library = ROOT / "target/clients/clock.so"
        self.library.parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / "tests/clock/preload.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.library, source, "-ldl"], check=True)
        self.file = open(path, "wb", buffering=0)
        self.set(1_700_006_400_000_000)

    def set(self, us):
        os.pwrite(self.file.fileno(), struct.pack("<qq", us, 0), 0)
        self.us = us


def one_by_one(port, clock, step, command, calls):
    """Sends the command so often, a step of the clock apart. Each answer must be 1. A bare socket: millions are sent."""
    words = "".join(f"${len(word)}\r\n{word}\r\n" for word in map(str, command))
    request = f"*{len(command)}\r\n{words}".encode()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(calls):
            clock.set(clock.us + step)
            connection.sendall(request)
            assert connection.recv(64) == b":1\r\n"


def admission_bytes(version, live, clock, monkeypatch):
    """MEMORY USAGE for each live admission of a key that is always full: in each hour so many, evenly spread. It changes
    a little from call to call, since some calls bundle and others trim: the mean over 64 of them."""
    monkeypatch.setenv("SLIDEWIN_CLOCK", clock.file.name)
    monkeypatch.setenv("LD_PRELOAD", str(clock.library))
    with stock(version) as server, redis.Redis(port=server.port) as connection:
        check = ("SLIDEWIN.CHECK", "key", "1h", live)
        step = 3_600_000_000 // live
        one_by_one(server.port, clock, step, check, live + max(live // 10, 200))  # the oldest ones have left
        measured = []
        for _ in range(64):
            one_by_one(server.port, clock, step, check, 1)
            measured.append(connection.memory_usage("key", samples=0))
        assert connection.execute_command("SLIDEWIN.PEEK", "key", "1h", live, "WITHQUOTA")[:3] == [0, live, 0]
        return sum(measured) / len(measured) / live


@pytest.mark.parametrize("version", SERVERS)
@pytest.mark.parametrize("row", MANY, ids=lambda row: f"{row[0]}")
def test_many(version, row, tmp_path, monkeypatch):
    live, *figures = row
    figure = figures[SERVERS.index(version)]
    measured = admission_bytes(version, live, Clock(tmp_path / "clock"), monkeypatch)
    print(f"{version} {live}: {measured:.2f} B measured, {figure} on the page")
    assert measured == pytest.approx(figure, rel=0.05)


def test_the_border():
    """The server keeps up to 128 admissions in a listpack, and more in a skip list."""
    with stock("redis-7.0") as server, redis.Redis(port=server.port, decode_responses=True) as connection:
        encodings = []
        for _ in range(129):
            connection.execute_command("SLIDEWIN.CHECK", "key", "1h", 1000)
            encodings.append(connection.object("encoding", "key"))
        assert encodings == ["listpack"] * 128 + ["skiplist"]


def test_the_tables_are_whole():
    assert set(K) == set(TITLES.values()) and len(FEW) == 5 and len(MANY) == 4
