"""A private server on a free port of the loopback interface."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis

SERVER = os.environ["REDIS_SERVER"]
MODULE = os.environ["SLIDEWIN_MODULE"]
START_SECONDS = 60


class Server:
    """Runs while the `with` block does. `client` is connected to it, `dir` is its own folder.

    `wrapper` is the command that runs the server: taskset, valgrind. `options` are lines of redis.conf.
    """

    def __init__(self, *options: str, wrapper: tuple[str, ...] = (), modules: tuple[str, ...] = (MODULE,)):
        self.options = (*options, *(f"loadmodule {os.path.abspath(module)}" for module in modules))
        self.wrapper = wrapper

    def __enter__(self) -> "Server":
        # A SIGTERM leaves the `with` block like any exception.
        signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit(143)))
        self.dir = tempfile.mkdtemp(prefix="slidewin-bench-")
        self.port = free_port()
        self.log = os.path.join(self.dir, "log")
        conf = os.path.join(self.dir, "redis.conf")
        with open(conf, "w") as file:
            lines = (f"port {self.port}", "bind 127.0.0.1", f"dir {self.dir}", 'save ""', f"logfile {self.log}")
            file.write("\n".join((*lines, *self.options)) + "\n")
        # Whatever ends this process ends the server with it.
        command = ("setpriv", "--pdeathsig", "KILL", *self.wrapper, SERVER, conf)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self.client = redis.Redis("127.0.0.1", self.port, protocol=2, socket_timeout=600)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            try:
                self.client.shutdown(nosave=True)
            except redis.RedisError:
                self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                if self.client.info("server")["process_id"] == self.process.pid:
                    return
                raise SystemExit(f"another server listens on port {self.port}")
            except redis.ConnectionError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    with open(self.log) as log:
                        raise SystemExit(f"the server did not start:\n{log.read()}") from None
                time.sleep(0.02)

    def load_script(self, path: str) -> str:
        """Loads a Lua script; answers its digest."""
        with open(path) as file:
            return self.client.script_load(file.read())


def bare_module() -> str:
    """Compiles bare.c against the header that the crate redis-module brings; answers where it is."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(here)
    metadata = json.loads(subprocess.check_output(("cargo", "metadata", "--format-version=1"), cwd=root))
    crate = next(one["manifest_path"] for one in metadata["packages"] if one["name"] == "redis-module")
    header = os.path.join(os.path.dirname(crate), "src", "include")
    module = os.path.join(root, "target", "bench-bare.so")
    command = ("cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-I", header, "-o", module)
    subprocess.run((*command, os.path.join(here, "bare.c")), check=True)
    return module


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
