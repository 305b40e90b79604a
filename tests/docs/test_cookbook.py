"""docs/cookbook.md: its code is taken from the page and run."""

import re
import threading
import time
from datetime import datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
import servers
from pages import page

BLOCKS = re.findall(r"^```python\n(.*?)^```$", page("cookbook.md"), re.M | re.S)


@pytest.fixture(scope="module")
def server():
    with servers.Server() as server:
        yield server


@pytest.fixture
def book(server, monkeypatch):
    """All that the page defines."""
    monkeypatch.setenv("REDIS_URL", server.url)
    names = {}
    for block in BLOCKS:
        exec(compile(block, "docs/cookbook.md", "exec"), names)
    book = SimpleNamespace(**names)
    book.r.flushall()
    return book


def test_at_most_n_at_once(book):
    running, most, lock, ends = [], [], threading.Lock(), threading.Event()

    def job():
        with lock:
            running.append(1)
            most.append(len(running))
        ends.wait(20)
        with lock:
            running.pop()
        return "done"

    results = []
    workers = [threading.Thread(target=lambda: results.append(book.run_job(job))) for _ in range(12)]
    for worker in workers:
        worker.start()
    servers.wait_until("seven are refused", lambda: results.count(None) == 7)
    ends.set()
    for worker in workers:
        worker.join()
    assert max(most) == 5 and sorted(map(str, results)) == ["None"] * 7 + ["done"] * 5
    assert book.r.exists("jobs") == 0, "all places are free again"

    def fails():
        raise ValueError

    with pytest.raises(ValueError):
        book.run_job(fails)
    assert book.r.exists("jobs") == 0, "also after a failure"


def test_the_holder_of_a_lease_dies(book):
    dead = book.check("jobs", "10m", 5, "RECEIPT")
    for _ in range(4):
        assert book.check("jobs", "10m", 5, "RECEIPT")
    assert book.run_job(lambda: "done") is None
    book.an_hour_later("jobs", 601)
    assert book.run_job(lambda: "done") == "done"
    assert book.refund("jobs", dead) == 0, "the lease has ended"


def test_a_lease_is_renewed(book):
    leases = [book.check("jobs", "10m", 5, "RECEIPT") for _ in range(5)]
    renewed = book.r.execute_command(*"SLIDEWIN.CHECK jobs 10m 5 FORCE RECEIPT".split())
    assert book.refund("jobs", leases[0]) == 1
    assert book.peek("jobs", "10m", 5, "WITHQUOTA")[:3] == [0, 5, 0]
    assert book.refund("jobs", renewed) == 1
    assert book.peek("jobs", "10m", 5, "WITHQUOTA")[:3] == [1, 5, 1]


def test_calendar_day(book):
    berlin = ZoneInfo("Europe/Berlin")
    evening = datetime(2026, 10, 24, 23, 59, 59, tzinfo=berlin)
    assert [book.may_export("ann", now=evening) for _ in range(11)] == [1] * 10 + [0]
    midnight = datetime(2026, 10, 25, 0, 0, tzinfo=berlin)
    assert book.may_export("ann", now=midnight) == 1
    assert book.until_tomorrow(now=evening) == 1
    assert book.until_tomorrow(now=midnight) == 25 * 3600, "the clocks go back"
    assert book.until_tomorrow(now=datetime(2026, 3, 29, 0, 0, tzinfo=berlin)) == 23 * 3600
    assert 25 * 3600 < book.r.ttl("export:ann:2026-10-24") <= 25 * 3600 * 9 / 8 + 1
    book.an_hour_later("export:ann:2026-10-24", 24.99 * 3600)
    assert book.may_export("ann", now=evening) == 0, "all day long"


def test_dry_run(book):
    assert [book.dry_run("ann") for _ in range(102)] == [1] * 100 + [0, 0]
    assert book.peek("new:ann", "1m", 102, "WITHQUOTA")[:3] == [0, 102, 0], "each was counted"


@pytest.mark.parametrize(
    "used, cost, wait",
    [(0, 1, 0), (5, 1, 60_000), (5, 6, None), (9, 1, 3_600_000)],
)
def test_which_wait(book, used, cost, wait):
    if used:
        book.check("k", "1m", 5, "1h", 9, "COST", used, "FORCE")
    got = book.wait_ms(book.peek("k", "1m", 5, "1h", 9, "COST", cost, "WITHQUOTA"))
    assert got == wait or wait and wait - 5_000 < got <= wait


def test_waiting_in_a_loop(book):
    admitted = []
    workers = [
        threading.Thread(target=book.call_patiently, args=("k", lambda: admitted.append(time.monotonic())))
        for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(admitted) == 8
    assert max(admitted) - min(admitted) > 0.9, "three of them had to wait"
    book.check("full", "1s", 5, "1m", 100, "COST", 1000, "FORCE")
    begin = time.monotonic()
    assert book.call_patiently("full", lambda: 1, tries=0) is None and time.monotonic() - begin < 1


def test_never_cache_peek(book):
    assert book.both_look_first("k") == ([1, 1], [1, 0])


def test_an_hour_later(book):
    for _ in range(3):
        assert book.check("k", "1h", 3) == 1
    book.an_hour_later("k", 3_590)
    assert book.check("k", "1h", 3) == 0
    assert 0 < book.peek("k", "1h", 3, "WITHQUOTA")[3] <= 10_000
    book.an_hour_later("k", 10)
    assert book.peek("k", "1h", 3, "WITHQUOTA")[:4] == [1, 3, 3, 0]
    assert book.check("k", "1h", 3) == 1
    assert 3600 <= book.r.ttl("k") <= 3600 * 9 / 8 + 1
    book.r.delete("k")
    assert book.peek("k", "1h", 3, "WITHQUOTA")[2] == 3
    for _ in range(3):
        assert book.check("short", "200ms", 3) == 1
    time.sleep(book.peek("short", "200ms", 3, "WITHQUOTA")[3] / 1000)
    assert book.check("short", "200ms", 3) == 1
