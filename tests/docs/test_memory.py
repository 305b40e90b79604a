"""docs/memory.md: the formula and each figure are measured again."""

import os
import re
import socket
import struct
import subprocess
import uuid
from itertools import count, islice, repeat

import pytest
import redis
import servers
from pages import ROOT, page, rows, stock

PAGE = page("memory.md")
SERVERS = {"redis-7.0": "Redis 7.0", "redis-8.2": "Redis 8.2", "valkey-9.1": "Valkey 9.1"}
K = {server: int(bytes_) for server, bytes_ in rows(PAGE, "server")}
HOUR_US = 3_600_000_000


def table(heading):
    """One parameter for each figure of a table: the server, what stands before the figures in its row, the figure."""
    for *first, redis_7_0, redis_8_2, valkey_9_1 in rows(PAGE, heading):
        row = [int(cell.replace(",", "")) if cell[0].isdigit() else cell.strip("`") for cell in first]
        for server, figure in zip(SERVERS, (redis_7_0, redis_8_2, valkey_9_1), strict=True):
            yield pytest.param(server, *row, float(figure), id=" ".join(map(str, [*row, server])))


def resp(*words):
    """A command as a client sends it."""
    bulks = [f"${len(word)}\r\n{word}\r\n" for word in map(str, words)]
    return f"*{len(words)}\r\n{''.join(bulks)}".encode()


def all_answer(port, answer, requests):
    """Sends all these requests, many at once. Each answer must be that."""
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answers:
        for first in range(0, len(requests), 1_250):
            some = requests[first : first + 1_250]
            connection.sendall(b"".join(some))
            assert answers.read(len(answer) * len(some)) == answer * len(some)


def being_moved(connection):
    """The bytes of old tables, where the server says so."""
    return connection.info("memory").get("mem_overhead_db_hashtable_rehashing", 0)


def key_bytes(version, name, admissions):
    """What a key named like that needs, with so many admissions and its TTL."""
    keys = 100_000 if admissions == 1 else 12_500  # both fill the server's tables to the same degree
    prefix, digits = re.fullmatch(r"(.*\D)(\d+)", name).groups()
    with stock(version) as server, redis.Redis(port=server.port) as connection:
        before = connection.info("memory")["used_memory"]
        names = [f"{prefix}{nth:0{len(digits)}}" for nth in range(keys)]
        requests = [resp("SLIDEWIN.CHECK", name, "1h", admissions) for name in names]
        for _ in range(admissions):
            all_answer(server.port, b":1\r\n", requests)
        # A table that has grown keeps the old one until its keys are moved: by look-ups and by the server.
        # Not by a refusal: of those the module remembers something itself.
        all_answer(server.port, b":1\r\n", [resp("SLIDEWIN.PEEK", name, "1h", admissions + 1) for name in names])
        servers.wait_until("all keys are moved", lambda: not being_moved(connection))
        assert connection.dbsize() == keys
        # The connection's buffers are given back after a while: they are not the keys'.
        memory = connection.info("memory")
        return (memory["used_memory"] - before - memory["mem_clients_normal"]) / keys


@pytest.mark.parametrize("version, name, admissions, figure", table("name"))
def test_few(version, name, admissions, figure):
    measured = key_bytes(version, name, admissions)
    formula = K[SERVERS[version]] + len(name) + 16 * admissions
    print(f"{measured:.1f} B measured, {formula} by the formula, {figure} on the page")
    assert measured == pytest.approx(formula, rel=0.1), "the formula"
    assert measured == pytest.approx(figure, rel=0.03), "the figure on the page"


class Clock:
    """The server's wall clock, set by the test: tests/clock/preload.c."""

    def __init__(self, path):
        self.library = path.with_suffix(".so")
        source = ROOT / "tests/clock/preload.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.library, source, "-ldl"], check=True)
        self.file = open(path, "wb", buffering=0)
        self.set(1_700_006_400_000_000)

    def set(self, us):
        os.pwrite(self.file.fileno(), struct.pack("<qq", us, 0), 0)
        self.us = us


def one_by_one(port, clock, step_us, requests):
    """Sends them, a step of the clock apart. Each answer must be 1. A bare socket: many are sent."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in requests:
            clock.set(clock.us + step_us)
            connection.sendall(request)
            assert connection.recv(64) == b":1\r\n"


@pytest.fixture
def clock(tmp_path, monkeypatch):
    clock = Clock(tmp_path / "clock")
    monkeypatch.setenv("SLIDEWIN_CLOCK", clock.file.name)
    monkeypatch.setenv("LD_PRELOAD", str(clock.library))
    return clock


def checks(key, live, cost, with_id):
    """So many fill the key. An ID has as many characters as a UUID."""
    command = ("SLIDEWIN.CHECK", key, "1h", live * cost, "COST", cost)
    return (resp(*command, "ID", uuid.uuid4()) for _ in count()) if with_id else repeat(resp(*command))


def admission_bytes(clock, version, live, step_us, calls, *settings, cost=1, with_id=False):
    """MEMORY USAGE of a key, for each of its live admissions, after so many calls. It changes from call to call, since some
    calls bundle and others trim, and a little from key to key, since totals start at a random number: the mean of the
    last 64 calls, on several keys where they are small."""
    measured = []
    with stock(version, *settings) as server, redis.Redis(port=server.port) as connection:
        for key in range(16 if live <= 1_000 else 1):
            requests = checks(key, live, cost, with_id)
            one_by_one(server.port, clock, step_us, islice(requests, calls - 64))
            for called in range(calls - 63, calls + 1):
                one_by_one(server.port, clock, step_us, islice(requests, 1))
                measured.append(connection.memory_usage(key, samples=0) / min(called, live))
            peek = connection.execute_command("SLIDEWIN.PEEK", key, "1h", live * cost, "WITHQUOTA")
            assert peek[:3] == [0, live * cost, 0], "it is full"
    return sum(measured) / len(measured)


def always_full(clock, version, live, *settings, **options):
    """The same of a key that is always full: in each hour so many, evenly spread, and the oldest ones have left."""
    calls = live + max(live // 10, 200) + 64
    return admission_bytes(clock, version, live, HOUR_US // live, calls, *settings, **options)


def compare(measured, figure):
    print(f"{measured:.2f} B measured, {figure} on the page")
    assert measured == pytest.approx(figure, rel=0.05)


def only_in_long_tests(live):
    if live > 100_000 and not os.environ.get("SLIDEWIN_LONG"):
        pytest.skip("a million calls one by one: SLIDEWIN_LONG=1 runs them")


@pytest.mark.parametrize("version, live, figure", table("live admissions"))
def test_spread(version, live, figure, clock):
    only_in_long_tests(live)
    compare(always_full(clock, version, live), figure)


@pytest.mark.parametrize("version, live, figure", table("admissions in a burst"))
def test_burst(version, live, figure, clock):
    only_in_long_tests(live)
    compare(admission_bytes(clock, version, live, 10, live), figure)


@pytest.mark.parametrize("version, live, figure", table("live admissions, value 256"))
def test_a_larger_listpack(version, live, figure, clock):
    compare(always_full(clock, version, live, "--zset-max-listpack-value", "256"), figure)


@pytest.mark.parametrize("version, live, figure", table("live admissions of COST 2"))
def test_cost(version, live, figure, clock):
    compare(always_full(clock, version, live, cost=2), figure)


@pytest.mark.parametrize("version, live, figure", table("live admissions with an ID"))
def test_id(version, live, figure, clock):
    compare(always_full(clock, version, live, with_id=True), figure)


def test_the_tables_are_whole():
    assert set(K) == set(SERVERS.values())
    spread, burst, wide = "live admissions", "admissions in a burst", "live admissions, value 256"
    cost, with_id = "live admissions of COST 2", "live admissions with an ID"
    assert [len(list(rows(PAGE, it))) for it in ("name", spread, burst, wide, cost, with_id)] == [5, 7, 7, 3, 3, 3]
