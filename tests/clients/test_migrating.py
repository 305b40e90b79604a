"""docs/migrating.md: each before and after of migrating.py, and each claim, against a real server."""

import re
import time

import pytest
import redis
from servers import ROOT
from table import fits


@pytest.fixture
def r(server):
    return redis.Redis.from_url(server.url)


@pytest.fixture
def check(r):
    return lambda *arguments: r.execute_command("SLIDEWIN.CHECK", *arguments)


@pytest.fixture
def peek(r):
    return lambda *arguments: r.execute_command("SLIDEWIN.PEEK", *arguments)


def test_zset(example, r, check, peek):
    for admit in (example.admit_before, example.admit_after):
        assert [admit("ann") for _ in range(103)] == [1] * 100 + [0] * 3, "100 and no more"

    colliding = [r.eval(example.SCRIPT, 1, "colliding", 1000, 60_000, 3, 1000) for _ in range(10)]
    assert sum(colliding) == 10, "before: a member that is its time admits all of one instant"

    example.carry_over("limit:ann", "carried:ann", 60_000)
    assert check("carried:ann", 60, 100) == 0, "carried over: full"
    assert peek("carried:ann", 60, 101, "WITHQUOTA")[:3] == [1, 101, 1], "carried over: every entry"
    oldest_ms = r.zrange("limit:ann", 0, 0, withscores=True)[0][1]
    retry_ms = peek("carried:ann", 60, 100, "WITHQUOTA")[3]
    left_ms = oldest_ms + 60_000 - time.time() * 1000
    assert abs(retry_ms - left_ms) < 1000, "carried over: with its time"
    assert 0 < r.pttl("carried:ann") <= 60_000, "carried over: with an expiry"
    now_s = time.time()
    r.zadd("in seconds", {f"m{i}": int(now_s) for i in range(5)})
    example.carry_over("in seconds", "from seconds", 60_000, 1_000_000)
    assert peek("from seconds", 60, 10, "WITHQUOTA")[:3] == [1, 10, 5], "carried over from seconds"
    example.carry_over("missing", "from missing", 60_000)
    assert r.exists("from missing") == 0, "carried over from nothing"


def old_log(r, key, per_second, member, seconds_ago=(5, 4, 3, 2, 1), ttl_ms=60_000):
    now = time.time()
    r.delete(key)
    for ago in seconds_ago:
        at = int((now - ago) * per_second)
        r.zadd(key, {member(at): at})
    if ttl_ms:
        r.pexpire(key, ttl_ms)


def suffixed(at):
    return f"{at}-{time.perf_counter_ns()}"


@pytest.mark.parametrize("member", [suffixed, str])
@pytest.mark.parametrize("ttl_ms", [60_000, 3_600_000, None])
@pytest.mark.parametrize("per_second", [1, 1000], ids=["s", "ms"])
def test_same_name_in_a_coarser_unit(r, check, peek, per_second, ttl_ms, member):
    """What CHECK and PEEK make of a log that another script has left under the name."""
    old_log(r, "same", per_second, member, ttl_ms=ttl_ms)
    assert peek("same", 60, 5, "WITHQUOTA") == [1, 5, 5, 0, 0], "reads as empty"
    assert r.zcard("same") == 5, "and is not touched by PEEK"
    assert fits([1, 5, 4, 0, "~60000"], check("same", 60, 5, "WITHQUOTA")), "starts afresh"
    assert r.zcard("same") == 1, "the old entries are gone"
    assert 59_000 < r.pttl("same") <= 67_502


@pytest.mark.parametrize("ttl_ms, most_ms", [(60_000, 67_502), (None, 67_502), (3_600_000, 3_600_002)])
def test_same_name_in_us(r, check, ttl_ms, most_ms):
    old_log(r, "same", 1e6, suffixed, ttl_ms=ttl_ms)
    assert fits([1, 7, 1, 0, "~60000"], check("same", 60, 7, "WITHQUOTA")), "the old entries count"
    assert r.zcard("same") == 6, "and are kept"
    assert most_ms * 0.8 < r.pttl("same") <= most_ms + 5000


def test_same_name_in_us_where_the_member_is_its_time(r, check):
    old_log(r, "same", 1e6, str)
    assert fits([1, 7, 1, 0, "~60000"], check("same", 60, 7, "WITHQUOTA"))


def test_same_name_in_ns(r, check):
    old_log(r, "same", 1e9, suffixed, seconds_ago=(90, 80, 3, 2, 1))
    quota = check("same", 60, 7, "WITHQUOTA")
    assert fits([1, 7, 1, 0, "~60000"], quota), "the old entries count afresh, also the expired"
    assert 59_000 < r.pttl("same") <= 67_505


def test_both_at_once(example, r, check, peek):
    """During a deployment the old script and the module meet under one name."""
    expire = "redis.call('PEXPIRE', KEYS[1], window)"
    refreshing = example.SCRIPT.replace(expire, "").replace("if redis", f"{expire}\nif redis")  # on refusals too
    script = lambda: r.eval(refreshing, 1, "both", int(time.time() * 1000), 2000, 3, suffixed(0))
    assert [check("both", 2, 3) for _ in range(4)] == [1, 1, 1, 0], "the module admits 3"
    answers = []
    for _ in range(11):
        answers.append(script())
        time.sleep(0.2)
    assert answers == [0] * 11, "the script sees them, and never sees them leave"
    assert check("both", 2, 3) == 1, "for the module they have left"
    assert r.zcard("both") == 4, "but it keeps them: the refreshed expiry reads as a longer window"
    assert script() == 0, "so the script still refuses"
    r.delete("both")
    assert [check("both", 2, 3), script(), script(), script()] == [1, 1, 1, 0]
    assert peek("both", 2, 3, "WITHQUOTA")[:3] == [1, 3, 2], "the module does not see what the script admits"


def gcra(max_burst, count, period):
    """CL.THROTTLE's decision, as redis-cell's source has it: a model, since the module is not here to be asked."""
    interval, state = period / count, {"tat": 0.0}

    def admits(now):
        tat = max(now, state["tat"]) + interval
        admitted = tat - interval * (max_burst + 1) <= now
        state["tat"] = tat if admitted else state["tat"]
        return admitted

    return admits


def test_cell(example, r, check):
    throttle = example.throttle
    assert throttle("cell", 15, 30, 60) == [0, 30, 29, -1, 60], "allowed"
    assert throttle("cell", 15, 30, 60, 9) == [0, 30, 20, -1, 60], "quantity"
    assert throttle("cell", 15, 30, 60, 0) == [0, 30, 20, -1, 60], "quantity 0 looks"
    assert throttle("cell", 15, 30, 60, 21) == [1, 30, 20, 60, 60], "limited"
    assert throttle("cell", 15, 30, 60, 31) == [1, 30, 20, -1, 60], "more than there ever are"
    admits = gcra(15, 30, 60)
    assert sum(admits(ms / 1000) for ms in range(60_000)) == 45, "`15 30 60` admits 45 in its first minute"
    assert sum(check("cell2", 60, 30, 30, 16) for _ in range(40)) == 16, "with a second window: 16 at once"
    r.set("cell3", 1_700_000_000_000_000_000, ex=60)
    with pytest.raises(redis.ResponseError, match="wrong kind of value"):
        check("cell3", 60, 30)
    assert r.get("cell3") == b"1700000000000000000" and 50 < r.ttl("cell3") <= 60, "and is left as it was"


def test_incr(example, r):
    count_before, count_after = example.count_before, example.count_after
    for admit in (count_before, count_after):
        assert [admit("bob") for _ in range(103)] == [1] * 100 + [0] * 3, "100 and no more"

    # One call opens the counter's window, 99 come at its end and 100 at the beginning of the next.
    r.delete("count:bob")
    admitted = count_before("bob")
    r.pexpire("count:bob", 300)  # the 60 s are nearly over
    admitted += sum(count_before("bob") for _ in range(99))
    while r.exists("count:bob"):
        time.sleep(0.01)
    admitted += sum(count_before("bob") for _ in range(100))
    assert admitted == 200, "before: 200 in a moment"

    # The same a minute after the first call, which alone has left.
    now_us = time.time_ns() // 1000
    r.delete("slidewin:count:bob")
    r.zadd("slidewin:count:bob", {1: now_us - 60_000_001, **{2 + i: now_us - 300_000 + i for i in range(99)}})
    assert sum(count_after("bob") for _ in range(100)) == 1, "after: one has left, so one is admitted"

    r.set("count:cat", 1)  # a client that dies between INCR and EXPIRE leaves this
    assert (count_before("cat"), r.ttl("count:cat")) == (1, -1), "before: without EXPIRE for ever"
    count_after("cat")
    assert 59 <= r.ttl("slidewin:count:cat") <= 68, "after: with an expiry from the first call"


def test_the_document_has_the_snippets_as_they_are_tested():
    document = (ROOT / "docs/migrating.md").read_text()
    source = (ROOT / "tests/clients/migrating.py").read_text()
    snippets = re.findall(r"^# snippet:([\w-]+):start\n(.*?)^# snippet:\1:end$", source, re.M | re.S)
    assert len(snippets) == 6
    for name, snippet in snippets:
        assert f"```python\n{snippet}```" in document, name
