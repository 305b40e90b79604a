"""docs/server-errors.md: each row's error is brought about on a stock server, and its remedies are carried out."""

import re
import signal
import socket
from contextlib import ExitStack, contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, prlimit

import pytest
import servers
from pages import page, rows, stock

KEY = "rl:ann"
CALLS = {
    "CHECK": f"SLIDEWIN.CHECK {KEY} 60 100",
    "PEEK": f"SLIDEWIN.PEEK {KEY} 60 100",
    "REFUND": f"SLIDEWIN.REFUND {KEY} 1",
}


# Each situation yields the server to ask, in the state that the page describes.


@contextmanager
def save_failed(version):
    with stock(version, "--dbfilename", "dump") as server:
        server.command('CONFIG SET save "3600 1"')
        Path(server.dir.name, "dump").mkdir()  # so that the file cannot be put in its place
        server.command("BGSAVE")
        servers.wait_until(
            "the save has failed", lambda: "rdb_last_bgsave_status:err" in server.command("INFO persistence")
        )
        yield server


@contextmanager
def aof_write_failed(version):
    # The limit on a file's size stands for a full disk. Blocked here, its signal does not end the server.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGXFSZ})
    try:
        with stock(version, "--appendonly", "yes") as server:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            size = 20_000
            prlimit(server.process.pid, RLIMIT_FSIZE, (size, size))
            servers.wait_until(
                "the file is full",
                lambda: server.command(f"SET {'k' * 100} {'v' * 1000}").startswith("-MISCONF"),
            )
            yield server
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextmanager
def without_replicas(version):
    with stock(version, "--min-replicas-to-write", "1") as server:
        yield server


@contextmanager
def memory_full(version):
    with stock(version) as server:
        server.command("CONFIG SET maxmemory 1")
        yield server


@contextmanager
def replica(version):
    with stock(version) as primary, stock(version) as server:
        server.command(f"REPLICAOF 127.0.0.1 {primary.port}")
        servers.wait_until("in sync", lambda: "master_link_status:up" in server.command("INFO replication"))
        yield server


@contextmanager
def stale_replica(version):
    with stock(version) as server:
        server.command("CONFIG SET replica-serve-stale-data no")
        server.command(f"REPLICAOF 127.0.0.1 {servers.free_port()}")  # nobody listens there
        yield server


@contextmanager
def loading(version):
    # It takes a millisecond for each key, and looks at its connections after every 10 KB; Redis 6.2 after every 2 MB.
    is_6_2 = version == "redis-6.2"
    interval = () if is_6_2 else ("--loading-process-events-interval-bytes", "10000")
    with stock(version, "--key-load-delay", "1000", "--rdbcompression", "no", *interval) as server:
        fill = "for i = 1, 5000 do redis.call('SET', i, string.rep(i, ARGV[1])) end return 1"
        server.client.eval(fill, 0, 4000 if is_6_2 else 1000)
        server.command("SAVE")
        server.kill()
        server.start()  # it answers INFO while it loads
        servers.wait_until("the server loads", lambda: server.command("PING").startswith("-LOADING"))
        yield server


@contextmanager
def slots_missing(version):
    with stock(version, "--cluster-enabled", "yes") as server:
        yield server


class Pairs:
    """For each version two nodes: the second has the slot of the key, the first all others. They share them out at the
    start, which takes two seconds, so that both situations use the same nodes."""

    def __init__(self):
        self.nodes, self.stack = {}, ExitStack()

    def of(self, version):
        if version not in self.nodes:
            first, second = (self.stack.enter_context(stock(version, "--cluster-enabled", "yes")) for _ in range(2))
            slot = int(first.command(f"CLUSTER KEYSLOT {KEY}")[1:])
            add_slots(first, [each for each in range(16384) if each != slot])
            add_slots(second, [slot])
            meet(first, second)
            self.nodes[version] = first, second, slot
        return self.nodes[version]


PAIRS = Pairs()


@pytest.fixture(scope="module", autouse=True)
def end_of_the_pairs():
    with PAIRS.stack:
        yield


@contextmanager
def elsewhere(version):
    without_it, _, _ = PAIRS.of(version)
    yield without_it


@contextmanager
def moving(version):
    to, having_it, slot = PAIRS.of(version)
    assert having_it.command(f"CLUSTER SETSLOT {slot} MIGRATING {to.command('CLUSTER MYID')}") == "+OK"
    yield having_it
    assert having_it.command(f"CLUSTER SETSLOT {slot} STABLE") == "+OK"


def add_slots(server, slots):
    for first in range(0, len(slots), 8192):  # a line has at most 64 KB
        assert server.command(f"CLUSTER ADDSLOTS {' '.join(map(str, slots[first : first + 8192]))}") == "+OK"


def meet(server, other):
    server.command(f"CLUSTER MEET 127.0.0.1 {other.port}")
    for node in (server, other):
        servers.wait_until(
            "the nodes know all slots",
            lambda: {"cluster_state:ok", "cluster_known_nodes:2"} <= set(node.command("CLUSTER INFO").split()),
        )


@contextmanager
def several_slots(version):
    with stock(version, "--cluster-enabled", "yes") as server:
        add_slots(server, range(16384))
        servers.wait_until("it serves", lambda: "cluster_state:ok" in server.command("CLUSTER INFO"))
        refused = server.command("SLIDEWIN.MCHECK 2 user 60 5 ip 60 5")
        assert is_error(refused, "CROSSSLOT Keys in request don't hash to the same slot"), refused
        assert server.command("SLIDEWIN.MCHECK 2 {ann}:user 60 5 {ann}:ip 60 5") == ":1"
        yield server


@contextmanager
def forbidden(version):
    with stock(version) as server:
        server.command("ACL SETUSER default -slidewin.check -slidewin.peek -slidewin.refund")
        yield server


@contextmanager
def other_key(version):
    with stock(version) as server:
        server.command("ACL SETUSER default resetkeys ~other:*")
        yield server


@contextmanager
def password(version):
    with stock(version) as server:
        server.command("CONFIG SET requirepass secret")
        yield server


@contextmanager
def script_runs(version):
    with stock(version, "--lua-time-limit", "50") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b'EVAL "while true do end" 0\r\n')
            servers.wait_until("the server is busy", lambda: server.command("PING").startswith("-BUSY"))
            yield server


@contextmanager
def not_loaded(version):
    with stock(version, module=False) as server:
        yield server


SITUATIONS = {
    "MISCONF ... RDB snapshots": save_failed,
    "MISCONF Errors writing to the AOF file": aof_write_failed,
    "NOREPLICAS Not enough good replicas to write": without_replicas,
    "OOM command not allowed": memory_full,
    "READONLY You can't write against a read only replica": replica,
    "LOADING ... is loading the dataset in memory": loading,
    "MASTERDOWN Link with MASTER is down": stale_replica,
    "CLUSTERDOWN Hash slot not served": slots_missing,
    "MOVED": elsewhere,
    "ASK": moving,
    "CROSSSLOT Keys in request don't hash to the same slot": several_slots,
    "NOPERM ... command": forbidden,
    "NOPERM ... key": other_key,
    "NOAUTH Authentication required": password,
    "BUSY ... is busy running a script": script_runs,
    "ERR unknown command": not_loaded,
}
ROWS = {row[0].strip("`"): row for row in rows(page("server-errors.md"), "error")}


def is_error(reply, text):
    return re.match("-" + ".*".join(map(re.escape, text.split(" ... "))), reply)


def test_each_row_has_its_situation():
    assert list(ROWS) == list(SITUATIONS)


@pytest.mark.parametrize("text", SITUATIONS)
def test_error(text, version):
    _, when, *answers, remedy = ROWS[text]
    assert when and remedy
    with SITUATIONS[text](version) as server:
        for (name, call), said in zip(CALLS.items(), answers, strict=True):
            reply = server.command(call)
            if said == "answers":
                assert reply.startswith(":"), f"{name}: {reply}"
            else:
                assert is_error(reply, said.strip("`") if said != "refused" else text), f"{name}: {reply}"
        commands = re.findall("`([A-Z][A-Z]+ [^`]+)`", remedy)
        for command in commands:
            assert server.command(command) == "+OK", command
        if commands:
            call = next(call for call, said in zip(CALLS.values(), answers) if said == "refused")
            servers.wait_until(f"{call} is answered", lambda: server.command(call) == ":1")
