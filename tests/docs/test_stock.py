"""Each command of the README and of docs/ is one that a stock server takes; where it is not, the page says what it needs."""

import re
import shlex

import pytest
import redis
import servers
from conftest import ROOT, stock

DOCUMENTS = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").glob("*.md"))]
SPAN = re.compile(r"`([A-Z][A-Z.]+(?: [^`\n]+)?)`")
NAMES = ("MEMORY USAGE",)  # a command's name, without its arguments
# The forms and errors of our own commands are checked by tests/readme.rs.
KNOWN = set(
    "ACL BGSAVE CLIENT CONFIG DEL EXISTS FLUSHALL INCR INFO MEMORY MIGRATE MODULE OBJECT PERSIST PEXPIRE PTTL REPLICAOF SAVE SCRIPT SET"
    " SHUTDOWN SLIDEWIN.CHECK SLIDEWIN.OFFENDERS SLIDEWIN.PEEK SLIDEWIN.REFUND SUBSCRIBE UNLINK WAIT ZADD ZCARD ZRANGE".split()
)
PLACES = {
    "old-host": "127.0.0.1", "new-host": "127.0.0.1", "<receipt>": "1", "<count>": "1", "/path/libslidewin.so": "module", "key": "some-key",
}  # fmt: skip


def commands():
    for document in DOCUMENTS:
        for span in SPAN.findall(document.read_text()):
            words = span.split(" ")
            is_command = len(words) > 1 and words[0] in KNOWN and span not in NAMES
            if is_command and "[" not in span and "..." not in span:
                yield f"{document.relative_to(ROOT)}: {span}", document, words


@pytest.mark.parametrize("document, words", [pytest.param(*rest, id=name) for name, *rest in dict((c[0], c) for c in commands()).values()])
def test_command(document, words):
    """The server knows it and its form, and no setting forbids it."""
    with stock("redis-7.0") as server, redis.Redis(port=server.port, decode_responses=True) as connection:
        words = [PLACES.get(word, word) for word in words]
        try:
            connection.execute_command(*shlex.split(" ".join(words)))
        except redis.TimeoutError:
            return
        except redis.ResponseError as error:
            if "MODULE command not allowed" in str(error):
                assert "enable-module-command" in document.read_text(), f"{document} does not say what it needs"
            else:
                assert not re.search("unknown|syntax|wrong number|not allowed", str(error)), error
