"""Real servers on loopback: what all Python of this project starts a server with, be it a test or a measurement.

REDIS_SERVER is the server, else `redis-server`; SLIDEWIN_MODULE the module, else the one that `make build` makes.
Needs the standard library only, apart from `Server.client`.
"""

import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = Path(os.environ.get("SLIDEWIN_MODULE", ROOT / "target/release/libslidewin.so")).absolute()
SERVER = os.environ.get("REDIS_SERVER", "redis-server")


def free_port():
    """A port that nobody listens on. The one 10,000 above it is free too: a cluster's nodes talk there."""
    while True:
        port = random.randrange(20000, 32000)
        try:
            for number in (port, port + 10000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
            return port
        except OSError:
            continue


def wait_until(what, condition, seconds=20):
    """Waits for condition() to be true, and answers what it gave. After so long: an error that names what was awaited."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise TimeoutError(f"{seconds} s have passed and not: {what}")


class Server:
    """A redis-server with the module, in a directory of its own. As a context it is killed at the end.

    `args` are further arguments of the server. `wrapper` is a command that runs the server in its own place, such as
    valgrind or taskset. The server does not survive the thread that started it.
    """

    def __init__(self, *args, module=True, wrapper=()):
        self.dir = tempfile.TemporaryDirectory(prefix="slidewin-")
        self.log = Path(self.dir.name, "log")
        self.command_line = ["setpriv", "--pdeathsig", "KILL", *wrapper, SERVER]
        self.args = ["--bind", "127.0.0.1", "--save", "", "--dir", self.dir.name]
        if module:
            self.args += ["--loadmodule", str(MODULE)]
        self.args += args
        self.process = None
        # Between the choice of a port and its use another process may take it.
        for last in (False, False, True):
            self.port = free_port()
            try:
                self.start()
                break
            except RuntimeError:
                if last or "already in use" not in self.log_text():
                    raise

    def start(self):
        """Starts it, the first time or again, on the same port. Answers when it answers."""
        with open(self.log, "ab") as log:
            command = [*self.command_line, "--port", str(self.port), *self.args]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_until("the server answers", self._answers, 60)
        except BaseException:
            self.kill()
            raise

    def _answers(self):
        """Whether this process answers: not another one on its port, nor one that is still loading."""
        if self.process.poll() is not None:
            raise RuntimeError(f"{SERVER} does not start:\n{self.log_text()[-2000:]}")
        try:
            return f"process_id:{self.process.pid}\r" in self.command("INFO server")
        except OSError:
            return False

    def log_text(self):
        return self.log.read_text(errors="replace")

    @cached_property
    def client(self):
        """A connection of redis-py, RESP2."""
        import redis

        return redis.Redis("127.0.0.1", self.port, protocol=2, socket_timeout=600)

    def command(self, line):
        """The answer to an inline command: a bulk string's text, of others the first line as it came."""
        with socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            connection.sendall(line.encode() + b"\r\n")
            reply = connection.makefile("rb")
            first = reply.readline().decode().strip()
            return reply.read(int(first[1:])).decode() if first.startswith("$") else first

    def freeze(self):
        """It stays connected, and answers nothing: a hung server."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Ends it as an operator does: it exits, where `kill` cuts it off."""
        self.process.terminate()
        self.process.wait(60)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.dir.cleanup()


class Cluster:
    """Three nodes that share the slots."""

    def __init__(self):
        self.nodes = []
        try:
            self._form()
        except BaseException:
            self.__exit__()
            raise

    def _form(self):
        for _ in range(3):
            self.nodes.append(Server("--cluster-enabled", "yes", "--cluster-node-timeout", "5000"))
        bounds = (0, 5461, 10923, 16384)
        for node, first, end in zip(self.nodes, bounds, bounds[1:]):
            node.command("CLUSTER ADDSLOTS " + " ".join(map(str, range(first, end))))
        for node in self.nodes[1:]:
            self.nodes[0].command(f"CLUSTER MEET 127.0.0.1 {node.port}")
        for node in self.nodes:
            wait_until("each node knows all slots", lambda: self._is_whole(node))

    @staticmethod
    def _is_whole(node):
        info = node.command("CLUSTER INFO").split()
        return {"cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:3"} <= set(info)

    @property
    def addresses(self):
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()
