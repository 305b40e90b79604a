"""docs/upgrading.md: live limits are moved between stock servers, in each way that the page names."""

import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import redis
import servers
from pages import VERSIONS, page, rows, stock

PAGE = page("upgrading.md")
ROWS = list(rows(PAGE, "from"))


def connect(server):
    return redis.Redis(port=server.port, decode_responses=True)


def use(connection):
    """Fills two of three units, a minute and 10 s apart in their windows, and answers the receipt of the second."""
    assert connection.execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 3, "1h", 10) == 1
    return connection.execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 3, "1h", 10, "RECEIPT")


def as_a_replica(old, new):
    assert new.command(f"REPLICAOF 127.0.0.1 {old.port}") == "+OK"

    def synced():
        with suppress(OSError):  # some versions end when they cannot read what they get
            if "master_link_status:up" in new.command("INFO replication"):
                return "works"
        return "Can't handle RDB format" in new.log_text() and "refused"

    if servers.wait_until("in sync, or refused", synced) == "refused":
        return False
    assert old.command("CLIENT PAUSE 10000 WRITE") == "+OK"
    assert old.command("SLIDEWIN.PEEK rl:ann 1m 3") == ":1"
    servers.wait_until("the same offset", lambda: offset(old) == offset(new))
    assert new.command("REPLICAOF NO ONE") == "+OK"
    return True


def offset(server):
    return next(
        line for line in server.command("INFO replication").splitlines() if line.startswith("master_repl_offset:")
    )


def rewriting(server):
    info = server.command("INFO persistence").split()
    return info if "aof_rewrite_scheduled:0" in info else []


def by_the_rdb_file(old, new):
    assert old.command("SAVE") == "+OK"
    new.kill()
    shutil.copy(Path(old.dir.name, "dump.rdb"), new.dir.name)
    try:
        new.start()
    except RuntimeError as error:
        assert re.search("Can't handle RDB format|Wrong signature trying to load DB", str(error))
        return False
    assert new.command("CONFIG SET appendonly yes") == "+OK"
    servers.wait_until("the file is written", lambda: "aof_rewrite_in_progress:0" in rewriting(new))
    return True


def key_by_key(old, new):
    reply = old.command(f"MIGRATE 127.0.0.1 {new.port} rl:ann 0 5000 COPY")
    assert reply == "+OK" or "DUMP payload version or checksum are wrong" in reply
    return reply == "+OK"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} to {row[1]}")
@pytest.mark.parametrize("move, cell", [(as_a_replica, 2), (by_the_rdb_file, 3), (key_by_key, 4)])
def test_move(row, move, cell):
    source, target = (name.lower().replace(" ", "-") for name in row[:2])
    with stock(source) as old, stock(target) as new:
        with connect(old) as connection:
            receipt = use(connection)
            before = connection.execute_command("SLIDEWIN.PEEK", "rl:ann", "1m", 3, "1h", 10, "COST", 2, "WITHQUOTA")
            log, pttl = connection.zrange("rl:ann", 0, -1, withscores=True), connection.pttl("rl:ann")
        assert ("works" if move(old, new) else "refused") == row[cell]
        if row[cell] == "refused":
            return
        with connect(new) as connection:
            assert connection.zrange("rl:ann", 0, -1, withscores=True) == log
            assert pttl - 20_000 < connection.pttl("rl:ann") <= pttl
            after = connection.execute_command("SLIDEWIN.PEEK", "rl:ann", "1m", 3, "1h", 10, "COST", 2, "WITHQUOTA")
            assert after[:3] == before[:3] == [0, 3, 1]
            assert before[3] - 20_000 < after[3] <= before[3], "the rest of the wait"
            assert connection.execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 3, "1h", 10) == 1
            assert connection.execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 3, "1h", 10) == 0
            assert connection.execute_command("SLIDEWIN.REFUND", "rl:ann", receipt) == 1
            assert connection.execute_command("SLIDEWIN.CHECK", "rl:ann", "1m", 3, "1h", 10) == 1


def test_without_the_module(version):
    """The old data loads, and can be read; the first CHECK is an error."""
    with stock(version) as old, stock(version, module=False) as new:
        with connect(old) as connection:
            use(connection)
        by_the_rdb_file(old, new)
        assert new.command("ZCARD rl:ann") == ":2"
        assert new.command("SLIDEWIN.CHECK rl:ann 1m 3").startswith("-ERR unknown command")


def test_by_plain_commands():
    with stock("redis-7.0") as old, stock("redis-6.2") as new, connect(old) as source, connect(new) as target:
        receipt = use(source)
        target.zadd("rl:ann", {member: score for member, score in source.zrange("rl:ann", 0, -1, withscores=True)})
        target.pexpire("rl:ann", source.pttl("rl:ann"))
        assert target.execute_command("SLIDEWIN.PEEK", "rl:ann", "1m", 3, "WITHQUOTA")[:3] == [1, 3, 1]
        assert target.execute_command("SLIDEWIN.REFUND", "rl:ann", receipt) == 1


def test_what_starts_anew(version):
    with stock(version) as server:
        for _ in range(2):
            server.command("SLIDEWIN.CHECK k 1m 1")
        assert "slidewin_checks_refused:1" in server.command("INFO slidewin_stats")
        assert server.command("SLIDEWIN.OFFENDERS") == "*1"
        server.command("SAVE")
        server.kill()
        server.start()
        assert server.command("SLIDEWIN.CHECK k 1m 1") == ":0"
        assert "slidewin_checks_refused:1" in server.command("INFO slidewin_stats"), "only the last one"


def test_settings(version):
    for old, new in rows(PAGE, "Redis 6.2"):
        with stock(version) as server:
            names = [name.strip("`") for name in ((old,) if version == "redis-6.2" else (old, new))]
            for name in names:
                assert server.command(f"CONFIG SET {name} 100") == "+OK", name


def test_unload(version):
    with stock(version) as server:
        reply = server.command("MODULE UNLOAD slidewin")
        if version == "redis-6.2":
            assert reply == "+OK"
            return
        assert reply.startswith("-ERR MODULE command not allowed"), reply
        assert server.command("CONFIG SET enable-module-command yes").startswith("-ERR")
    with stock(version, "--enable-module-command", "yes") as server:
        server.command("SLIDEWIN.CHECK k 1m 1")
        assert server.command("MODULE UNLOAD slidewin") == "+OK"
        assert server.command(f"MODULE LOAD {servers.MODULE}") == "+OK"
        assert server.command("SLIDEWIN.CHECK k 1m 1") == ":0"


def test_every_server_is_on_the_page():
    named = {name.lower().replace(" ", "-") for row in ROWS for name in row[:2]}
    assert named == set(VERSIONS)
