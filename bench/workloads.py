"""The workloads: what state the keys are in, and what is asked of them."""

import os
import time
from typing import Callable, NamedTuple

import contestants
import drive
import logs
import streams
from contestants import Ask, Contestant
from drive import Figure
from server import Server

SECOND_US = 1_000_000
HOUR = Ask(3600 * SECOND_US, 100)
NEVER_FULL = 10**9
# Before the first dense or hot run shorter ones find out how fast a contestant is; dense ones until two agree.
CALIBRATION = 100_000
CALIBRATIONS = 4


class Known(NamedTuple):
    """What the runs before have told: how fast a contestant is, how many units were live after dense ones."""

    rates: dict[tuple, float]
    live: dict[int, dict[str, int]]


class Bench:
    """Runs one contestant in one workload after the other, against one server.

    `scale` shrinks the number of calls, to try the bench out.
    """

    def __init__(
        self, server: Server, scale: float = 1.0, pipeline: int = drive.PIPELINE, known: Known | None = None
    ):
        self.server = server
        self.client = server.client
        self.scale = scale
        self.pipeline = pipeline
        self.rates, self.live = known or Known({}, {})

    def calls(self, calls: int) -> int:
        return max(int(calls * self.scale), 1_000)

    def drive(self, who: Contestant, ask: Ask, keys: int, calls: int) -> Figure:
        return drive.benchmark(self.server, who.argv(ask), calls, keys, self.pipeline)

    def stream(self, keys: int, calls: int, pace_us: float, window_us: int, start_us: int) -> Figure:
        path = os.path.join(self.server.dir.name, "stream")
        streams.write(path, keys, calls, pace_us, window_us, start_us)
        found = drive.pipe(self.server, path, streams.COMMANDS, calls)
        os.remove(path)
        return found

    # sparse: keys that do not exist yet, about 6 admissions each

    def sparse(self, who: Contestant, keys: int = 100_000, limit: int = HOUR.limit, fresh: bool = True) -> Figure:
        """Where not fresh, the keys are those of the run before: a PEEK of no key is no PEEK."""
        keys = self.calls(keys)
        if fresh:
            self.client.flushdb()
        return self.drive(who, HOUR._replace(limit=limit), keys, 6 * keys)

    def sparse_multi(self, keys: int = 100_000) -> Figure:
        keys = self.calls(keys)
        self.client.flushdb()
        return self.stream(keys, 6 * keys, 5, HOUR.window_us, logs.now_us())

    def sparse_floor(self) -> Figure:
        keys = self.calls(100_000)
        self.client.flushdb()
        return total(self.drive(one, HOUR, keys, 6 * keys) for one in (contestants.ZADD, contestants.PEXPIRE))

    # refused: 10 keys with 100 live units, which is the limit

    def fill(self, who: Contestant, keys: int = 10) -> None:
        self.client.flushdb()
        now_us = logs.now_us()
        for key in range(keys):
            if who.load:
                who.load(self.client, name(key), HOUR.limit, now_us - HOUR.window_us // 2, now_us, HOUR.window_us)
        if not who.load:
            self.drive(who, HOUR, keys, 3 * keys * HOUR.limit)

    def refused(self, who: Contestant, calls: int = 300_000) -> Figure:
        self.fill(who)
        found = self.drive(who, HOUR, 10, self.calls(calls))
        if who.load and any(logs.units(self.client, name(key)) != HOUR.limit for key in range(10)):
            raise SystemExit(f"bench: refused: {who.name} admitted")
        return found

    def refused_multi(self) -> Figure:
        """It has added its entry by the time it knows: so the key grows, and its expiry moves."""
        self.fill(contestants.Contestant("multi", None, logs.load_script))
        return self.stream(10, self.calls(100_000), 10, HOUR.window_us, logs.now_us())

    # dense: a window that keeps so many entries alive at the contestant's own speed, so that each
    # admission finds about one expired entry to trim

    def dense(self, who: Contestant, keys: int = 5_000, live: int = 100, calls: int = 250_000) -> Figure:
        case = (who.name, keys, live, self.pipeline)
        if case not in self.rates:
            self.rates[case] = 80_000
            for _ in range(CALIBRATIONS):
                before = self.rates[case]
                self.rates[case] = self._dense(who, keys, live, self.calls(CALIBRATION), case).rps
                if abs(self.rates[case] / before - 1) < 0.05:
                    break
        found = self._dense(who, keys, live, self.calls(calls), case)
        self.rates[case] = found.rps
        sample = range(0, keys, max(keys // 50, 1))
        if who.load:
            units = sum(logs.units(self.client, name(key)) for key in sample)
            self.live.setdefault(live, {})[who.name] = round(units / len(sample))
        return found

    def _dense(self, who: Contestant, keys: int, live: int, calls: int, case: tuple) -> Figure:
        ask = Ask(int(keys * live / self.rates[case] * SECOND_US), NEVER_FULL)
        # All keys start as copies of one, whose entries are as old as they should be when the run begins.
        loading_us = 200_000 + 5 * live + 50 * keys + keys * live
        start_us = logs.now_us() + loading_us
        self.copies(who.load, keys, live, start_us - ask.window_us, start_us, ask.window_us)
        time.sleep(max(start_us - logs.now_us(), 0) / SECOND_US)
        return self.drive(who, ask, keys, calls)

    def copies(self, load: Callable | None, keys: int, *log) -> None:
        """So many keys with the same log; its further arguments are those of `logs.load_*`."""
        self.client.flushdb()
        if load is None:
            return
        load(self.client, name(0), *log)
        with self.client.pipeline(transaction=False) as pipe:
            for key in range(1, keys):
                pipe.copy(name(0), name(key))
            pipe.execute()

    def dense_multi(self, keys: int = 5_000, live: int = 100, calls: int = 150_000) -> Figure:
        now_us, pace_us = logs.now_us(), 10
        window_us = keys * live * pace_us
        self.copies(logs.load_script, keys, live, now_us - window_us, now_us, HOUR.window_us)
        return self.stream(keys, self.calls(calls), pace_us, window_us, now_us)

    def dense_floor(self, *commands: Contestant, keys: int = 5_000, live: int = 100, calls: int = 150_000) -> Figure:
        """Nothing is trimmed here: the keys grow from below that many entries to above."""
        calls = self.calls(calls)
        now_us = logs.now_us()
        live -= calls // keys // 2
        self.copies(logs.load_slidewin, keys, live, now_us - HOUR.window_us // 2, now_us, HOUR.window_us)
        return total(self.drive(one, HOUR, keys, calls) for one in commands)

    # hot: one key, a limit of 100,000 per second (or none), in the second window and later

    def hot(self, who: Contestant, limit: int = 100_000) -> Figure:
        ask = Ask(SECOND_US, limit)
        case = (who.name, limit, self.pipeline)
        self.client.flushdb()
        if case not in self.rates:
            self.rates[case] = self.drive(who, ask, 1, self.calls(CALIBRATION)).rps
        calls = int(self.rates[case] * 1.2)
        self.drive(who, ask, 1, self.calls(calls))
        found = self.drive(who, ask, 1, self.calls(calls))
        self.rates[case] = found.rps
        return found

    def hot_multi(self) -> Figure:
        pace_us, calls = 20, self.calls(60_000)
        now_us = logs.now_us()
        self.client.flushdb()
        self.stream(1, calls, pace_us, SECOND_US, now_us)
        return self.stream(1, calls, pace_us, SECOND_US, now_us + calls * pace_us)


def total(found) -> Figure:
    """Commands one after the other."""
    figures = list(found)
    rps = 1 / sum(1 / one.rps for one in figures)
    return Figure(sum(one.usec for one in figures), sum(one.cpu_usec for one in figures), rps)


def name(key: int) -> str:
    return f"k:{key:012d}"
