"""A stock server takes each command of the README and of docs/; where it does not, the page says what it needs."""

import re
import shlex
from pathlib import Path

import pytest
import redis
import servers
from pages import ROOT, VERSIONS, stock
from redis.backoff import NoBackoff
from redis.retry import Retry

DOCUMENTS = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").glob("*.md"))]
SPAN = re.compile(r"`([A-Z][A-Z.]+(?: [^`\n]+)?)`")
NAMES = ("MEMORY USAGE", "MODULE LOAD")  # a command's name, without its arguments
# What the first word of a code span must be, for it to be a command. tests/readme.rs checks the errors of our own.
KNOWN = """
    ACL BGSAVE CLIENT CONFIG DEL EXISTS FLUSHALL INCR INFO MEMORY MIGRATE MODULE OBJECT PERSIST PEXPIRE PTTL REPLICAOF
    SAVE SCRIPT SET SHUTDOWN SLIDEWIN.CHECK SLIDEWIN.LOG SLIDEWIN.OFFENDERS SLIDEWIN.PEEK SLIDEWIN.REFUND SUBSCRIBE
    UNLINK WAIT ZADD ZCARD ZRANGE
""".split()
PLACES = {
    "old-host": "127.0.0.1",
    "new-host": "127.0.0.1",
    "<receipt>": "1",
    "<count>": "1",
    "/path/libslidewin.so": "module",
    "key": "some-key",
}


def connect(server):
    """SUBSCRIBE has no reply that a call could return: half a second is enough to see that it is no error."""
    return redis.Redis(port=server.port, decode_responses=True, socket_timeout=0.5, retry=Retry(NoBackoff(), 0))


def idle(server):
    """No child of the server writes into its directory."""
    info = server.command("INFO persistence").split()
    return {"rdb_bgsave_in_progress:0", "aof_rewrite_in_progress:0"} <= set(info)


def commands():
    for document in DOCUMENTS:
        for span in SPAN.findall(document.read_text()):
            words = span.split(" ")
            is_command = len(words) > 1 and words[0] in KNOWN and span not in NAMES
            if is_command and "[" not in span and "..." not in span:
                yield f"{document.relative_to(ROOT)}: {span}", document, words


@pytest.mark.parametrize(
    "document, words",
    [pytest.param(*rest, id=name) for name, *rest in {command[0]: command for command in commands()}.values()],
)
def test_command(document, words):
    """The server knows it and its form, and no setting forbids it."""
    with stock("redis-7.0") as server, connect(server) as connection:
        words = [PLACES.get(word, word) for word in words]
        try:
            connection.execute_command(*shlex.split(" ".join(words)))
        except redis.TimeoutError:
            assert words[0] == "SUBSCRIBE"
        except redis.ConnectionError:
            assert words[0] == "SHUTDOWN"
            return
        except redis.ResponseError as error:
            if "MODULE command not allowed" in str(error):
                assert "enable-module-command" in document.read_text(), f"{document} does not say what it needs"
            else:
                assert not re.search("unknown|syntax|wrong number|not allowed", str(error), re.I), error
        servers.wait_until("no child writes", lambda: idle(server))


@pytest.mark.parametrize("version", VERSIONS[1:])  # 6.2 has other names for two of the settings
def test_the_sample_configuration(version):
    """A stock server starts with it, also with the lines that are commented out; it goes on after a failed save."""
    example = (ROOT / "redis.conf.example").read_text()
    optional = re.findall(r"^# ((?:notify-|min-|user )\S* .*)$", example, re.M)
    assert len(optional) == 5, optional
    settings = [line for line in example.splitlines() if line and not line.startswith(("#", "loadmodule"))]
    arguments = []
    for line in settings + [line for line in optional if not line.startswith("min-")]:
        name, *values = line.split(" ")
        arguments += [f"--{name}", *values]
    with stock(version, *arguments) as server:
        server.command('CONFIG SET save "3600 1"')
        Path(server.dir.name, "dump.rdb").mkdir()
        server.command("BGSAVE")
        servers.wait_until("it failed", lambda: "rdb_last_bgsave_status:err" in server.command("INFO persistence"))
        assert server.command("SLIDEWIN.CHECK rl:ann 60 1") == ":1"
        assert server.command("SLIDEWIN.CHECK rl:ann 60 1") == ":0"
