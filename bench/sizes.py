"""What needs no stopwatch: bytes of memory per admission, bytes of replication per call."""

import time

import contestants
import logs
from contestants import Ask, Contestant
from server import Server
from workloads import HOUR, NEVER_FULL, name

CALLS = 600
MULTI = Contestant("MULTI/EXEC", None, logs.load_script)


def memory(server: Server, who: Contestant, admissions: int) -> float:
    """Bytes of a key after so many admissions, for each; its name and the set's head are shared among them."""
    client = server.client
    client.flushdb()
    argv = who.argv(Ask(HOUR.window_us, NEVER_FULL))
    with client.pipeline(transaction=False) as pipe:
        for call in range(admissions):
            pipe.execute_command(*contestants.filled(argv, 0, call))
        pipe.execute()
    return client.memory_usage(name(0), samples=0) / admissions


class Replication:
    """Bytes per call that a primary sends to its replica, while it sends nothing else."""

    def __init__(self, primary: Server, replica: Server):
        self.client = primary.client
        while replica.client.info("replication")["master_link_status"] != "up":
            time.sleep(0.05)

    def single(self, who: Contestant) -> float:
        """Admitted: keys with 5 young entries. Nothing is due but the new entry."""
        self._load(who, 5, HOUR.window_us // 100)
        return self._per_call(who, HOUR, CALLS)

    def burst(self, who: Contestant) -> float:
        """Admitted: new keys, 6 calls each within a moment."""
        self.client.flushdb()
        return self._per_call(who, HOUR, CALLS // 6)

    def steady(self, who: Contestant) -> float:
        """Admitted: keys with 6 entries over the window, the oldest of which has just expired."""
        self._load(who, 6, HOUR.window_us)
        return self._per_call(who, HOUR, CALLS)

    def dense(self, who: Contestant) -> float:
        """Admitted: 100 live entries, and one that has just expired."""
        self._load(who, 101, HOUR.window_us)
        return self._per_call(who, Ask(HOUR.window_us, NEVER_FULL), CALLS)

    def refused(self, who: Contestant) -> float:
        """Refused: keys that are full."""
        self._load(who, HOUR.limit, HOUR.window_us // 2)
        if not who.load:
            for _ in range(2 * HOUR.limit):
                self._per_call(who, HOUR, CALLS)
        return self._per_call(who, HOUR, CALLS)

    def _load(self, who: Contestant, entries: int, span_us: int) -> None:
        self.client.flushdb()
        now_us = logs.now_us()
        if who.load:
            for key in range(CALLS):
                who.load(self.client, name(key), entries, now_us - span_us, now_us, HOUR.window_us)

    def _per_call(self, who: Contestant, ask: Ask, keys: int) -> float:
        self.client.set("selects", "the database")
        before = self.client.info("replication")["master_repl_offset"]
        with self.client.pipeline(transaction=who is MULTI) as pipe:
            for at in range(CALLS):
                for command in commands(who, ask, at % keys, at):
                    pipe.execute_command(*command)
                pipe.execute()
        return (self.client.info("replication")["master_repl_offset"] - before) / CALLS


def commands(who: Contestant, ask: Ask, key: int, unique: int) -> list[list]:
    """One call. That of MULTI/EXEC is several commands, with the client's clock."""
    if who is not MULTI:
        return [contestants.filled(who.argv(ask), key, unique)]
    now_us = logs.now_us()
    return [
        ["ZREMRANGEBYSCORE", name(key), "-inf", now_us - ask.window_us],
        ["ZADD", name(key), now_us, f"{now_us}{unique:012d}"],
        ["ZCARD", name(key)],
        ["EXPIRE", name(key), ask.window_us // 1_000_000],
    ]
