"""Keys with a million entries: whether calls slow down, and the slowest one when all of them expire."""

import redis

import contestants
import drive
import logs
from contestants import Ask, Contestant
from drive import Figure
from server import Server
from workloads import HOUR, NEVER_FULL, name

MILLION = 1_000_000
AFTER = 100  # calls among which the slowest is looked for


class Big:
    """Loads each log once, into database 1, and takes copies of it."""

    def __init__(self, server: Server):
        self.server = server
        self.client = server.client
        self.templates = redis.Redis("127.0.0.1", server.port, db=1, protocol=2, socket_timeout=600)
        self.newest_us: dict[str, int] = {}

    def copies(self, who: Contestant, live: int, keys: int) -> int:
        """So many keys with entries between one and two hours old; answers the time of the newest."""
        template = f"{who.load.__name__}:{live}"
        if template not in self.newest_us:
            now_us = logs.now_us()
            newest_us, step_us = now_us - HOUR.window_us, HOUR.window_us // live
            oldest_us = newest_us - HOUR.window_us
            who.load(self.templates, template, live, oldest_us, newest_us, 24 * HOUR.window_us)
            self.newest_us[template] = newest_us - step_us
        self.client.flushdb()
        for key in range(keys):
            self.templates.copy(template, name(key), destination_db=0)
        return self.newest_us[template]

    def grown(self, live: int, refused: bool, calls: int) -> Figure:
        """CHECK on keys with so many live entries, a hundred thousand in all, or one key."""
        keys = max(100_000 // live, 1)
        self.copies(contestants.CHECK, live, keys)
        ask = Ask(24 * HOUR.window_us, 1 if refused else NEVER_FULL)
        return drive.benchmark(self.server, contestants.CHECK.argv(ask), calls, keys)

    def slowest_us(self, who: Contestant, half: bool) -> int:
        """The slowest of the first calls after a million entries, or half of them, have expired."""
        newest_us = self.copies(who, MILLION, 1)
        age_us = logs.now_us() - newest_us
        # A little over the window old: the key has not expired yet. Or as old as the middle of the log.
        window_us = age_us + HOUR.window_us // 2 if half else age_us * 100 // 103
        self.client.pexpireat(name(0), (newest_us + window_us + window_us // 9) // 1_000)
        self.client.config_set("slowlog-log-slower-than", 0)
        self.client.config_set("slowlog-max-len", 100 * AFTER)  # what a script calls is in it as well
        self.client.slowlog_reset()
        argv = who.argv(Ask(window_us, NEVER_FULL))
        for call in range(AFTER):
            self.client.execute_command(*contestants.filled(argv, 0, call))
        slow = self.client.slowlog_get(100 * AFTER)
        self.client.config_set("slowlog-log-slower-than", -1)
        own = [entry["duration"] for entry in slow if entry["command"].split(b" ")[0] == argv[0].encode()]
        if len(own) != AFTER:
            raise SystemExit(f"bench: {len(own)} of {AFTER} calls are in the slow log")
        return max(own)
