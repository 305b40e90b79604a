"""Each command: both classes over a server, a cluster, and a primary that a sentinel names."""

import time
from datetime import timedelta

import pytest
import redis

from slidewin import Admission, Decision, Offender, Place, Standing, ratelimit_headers


def test_check(limiter):
    first = limiter.check("user:1", "1m", 2)
    assert first and first.receipt > 10**15
    assert first.standings == (Standing(2, 1, 0, 60_000, 60_000),)
    second = limiter.check("user:1", timedelta(minutes=1), 2)
    assert second and second.receipt > first.receipt
    assert (second.remaining, second.reset_after_ms) == (0, 60_000)
    assert 50_000 < second.retry_after_ms <= 60_000
    refused = limiter.check("user:1", 60, 2)
    assert not refused and refused.receipt is None
    assert refused.remaining == 0 and 50_000 < refused.retry_after_ms <= 60_000
    assert limiter.check("user:2", 60, 2), "another key"


def test_several_windows(limiter):
    decision = limiter.check("k", "1s", 2, "1h", 3, cost=2)
    assert decision and [standing.remaining for standing in decision.standings] == [0, 1]
    decision = limiter.check("k", "1s", 9, "1h", 3, cost=2)
    assert not decision and [standing.remaining for standing in decision.standings] == [7, 1]
    assert decision.remaining == 1
    assert decision.retry_after_ms > 3_000_000, "the longest wait"
    assert decision.reset_after_ms > 3_000_000
    assert limiter.check("k", "1s", 0, "1h", 1).retry_after_ms == -1, "never, whatever the other says"


def test_force_and_resolution(limiter):
    assert limiter.check("k", 60, 0, cost=7, force=True)
    assert limiter.peek("k", 60, 9).remaining == 2
    shared = limiter.check("r", 60, 100, resolution=1)
    assert shared and shared.receipt is None


def test_peek(limiter):
    empty = limiter.peek("k", 60, 3)
    assert empty == Decision(True, None, (Standing(3, 3, 0, 0, 0),))
    limiter.check("k", 60, 3, cost=2)
    assert limiter.peek("k", 60, 3, cost=2).admitted is False
    assert limiter.peek("k", 60, 3).admitted is True
    assert limiter.peek("k", 60, 3).remaining == 1, "peeks take nothing"


def test_refund(limiter):
    receipt = limiter.check("k", 60, 10, cost=5).receipt
    assert limiter.refund("k", receipt, cost=2) == 2
    assert limiter.peek("k", 60, 10).remaining == 7
    assert limiter.refund("k", receipt) == 3
    assert limiter.refund("k", receipt) == 0
    assert limiter.peek("k", 60, 10).remaining == 10


def test_the_same_id_twice(limiter):
    first = limiter.check("k", 60, 10, cost=2, id="request 1")
    again = limiter.check("k", 60, 10, cost=2, id="request 1")
    assert again.admitted and again.receipt == first.receipt
    assert limiter.peek("k", 60, 10).remaining == 8
    assert limiter.check("k", 60, 10, id=b"\x00\xff").receipt > first.receipt, "another ID"
    assert limiter.check("k", 60, 10).receipt, "none"
    assert limiter.peek("k", 60, 10).remaining == 6


def test_refund_by_id(limiter):
    limiter.check("k", 60, 10, cost=5, id="request 1")
    limiter.check("k", 60, 10, cost=1, id="request 2")
    assert limiter.refund("k", id="request 1", cost=2) == 2
    assert limiter.refund("k", id="request 1") == 3
    assert limiter.refund("k", id="request 1") == 0
    assert limiter.peek("k", 60, 10).remaining == 9, "the other request keeps its unit"


def test_log(limiter):
    assert limiter.log("k") == []
    receipt = limiter.check("k", 60, 10, cost=3, id="request 1").receipt
    limiter.check("k", 60, 10, resolution=1)
    shared, named = limiter.log("k")
    assert named == Admission(named.time_us, 3, receipt, b"request 1")
    assert abs(named.time_us / 1e6 - time.time()) < 30
    assert shared == Admission(shared.time_us, 1, None, None) and shared.time_us > named.time_us
    assert limiter.log("k", 1) == [shared]


USER, ADDRESS = ("{ann}:user", "1m", 3), ("{ann}:ip", timedelta(hours=1), 2)


def test_mcheck(limiter):
    decision = limiter.mcheck([USER, ADDRESS, ("{ann}:user", "1h", 9)])
    assert decision and decision.receipt is None
    assert [(standing.limit, standing.remaining) for standing in decision.standings] == [(3, 2), (2, 1), (9, 8)]
    refused = limiter.mcheck([USER, ADDRESS], cost=2)
    assert not refused and [standing.remaining for standing in refused.standings] == [2, 1]
    assert limiter.peek(*USER).remaining == 2, "nothing was recorded in the key that had room"
    assert limiter.mcheck([USER, ADDRESS], cost=2, force=True)
    assert limiter.peek(*ADDRESS).remaining == 0


def test_mcheck_with_the_same_id_twice(limiter):
    for _ in range(2):
        assert limiter.mcheck([USER, ADDRESS], id="request 1")
    assert (limiter.peek(*USER).remaining, limiter.peek(*ADDRESS).remaining) == (2, 1)
    assert limiter.refund(ADDRESS[0], id="request 1") == 1
    assert (limiter.peek(*USER).remaining, limiter.peek(*ADDRESS).remaining) == (2, 2)


@pytest.mark.parametrize("kind", ["cluster"])
def test_mcheck_over_two_slots(limiter, kind):
    with pytest.raises(redis.ResponseError, match="same slot|CROSSSLOT"):
        limiter.mcheck([("ann", 60, 3), ("10.0.0.1", 60, 3)])
    assert limiter.log("ann") == []


@pytest.mark.parametrize("kind", ["cluster"])
def test_each_call_goes_straight_to_its_node(limiter, cluster, kind):
    limiter.log("k")  # the client learns the commands
    for node in cluster.nodes:
        node.command("CONFIG RESETSTAT")
    for number in range(10):
        key = f"{{{number}}}"
        limiter.check(key, 60, 9, id="request 1")
        limiter.mcheck([(key, 60, 9), (key + ":2", 60, 9)])
        limiter.reserve(key, 0, 60, 9)
        limiter.refund(key, id="request 1")
        assert len(limiter.log(key)) == 2
    assert not any("MOVED" in node.command("INFO errorstats") for node in cluster.nodes)


def test_reserve(limiter):
    now = limiter.reserve("k", 0, 60, 1)
    assert now and now.wait_ms == 0
    later = limiter.reserve("k", timedelta(minutes=1), 60, 1, "1h", 5, id="request 1")
    assert later and later.receipt > now.receipt and 50_000 < later.wait_ms <= 60_000
    again = limiter.reserve("k", 60, 60, 1, "1h", 5, id="request 1")
    assert again.receipt == later.receipt, "the same place"
    too_long = limiter.reserve("k", 10, 60, 1)
    assert not too_long and too_long.receipt is None and too_long.wait_ms > 100_000
    assert limiter.reserve("k", 10, 60, 1, cost=2) == Place(None, -1), "never"
    assert not limiter.check("k", 60, 5), "the line goes first"
    assert limiter.refund("k", id="request 1") == 1
    assert limiter.check("k", 60, 5)


def test_offenders(limiter):
    limiter.offenders(reset=True)
    for key, refusals in (("one", 1), ("three", 3), ("two", 2)):
        for _ in range(refusals):
            limiter.check(key, 60, 0)
    assert limiter.offenders() == [Offender(b"three", 3, 0), Offender(b"two", 2, 0), Offender(b"one", 1, 0)]
    assert limiter.offenders(1, reset=True) == [Offender(b"three", 3, 0)]
    assert limiter.offenders() == []


def test_reset(limiter):
    limiter.check("k", 60, 1)
    assert limiter.reset("k") is True
    assert limiter.reset("k") is False
    assert limiter.check("k", 60, 1)


@pytest.mark.parametrize("key", [b"\x00\xff\r\n", "ключ", ""])
def test_any_key(limiter, key):
    assert limiter.check(key, 60, 1)
    assert not limiter.check(key, 60, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda limiter: limiter.check("k", "never", 1), "window must be a duration"),
        (lambda limiter: limiter.check("k", 60, -1), "limit must be an integer from 0"),
        (lambda limiter: limiter.check("k", 60, 1, cost=0), "cost must be an integer from 1"),
        (lambda limiter: limiter.refund("k", 0), "receipt must be a positive integer"),
        (lambda limiter: limiter.check("k", 60, 1, id=""), "ID must be 1 to 63 bytes"),
        (lambda limiter: limiter.check("k", 60, 1, id="a", resolution=1), "RESOLUTION and ID exclude each other"),
        (lambda limiter: limiter.mcheck([]), "wrong number of arguments|numkeys must be an integer from 1 to 16"),
        (lambda limiter: limiter.mcheck([("k", "never", 1)]), "window must be a duration"),
        (lambda limiter: limiter.reserve("k", "2m", "1m", 1), "max-wait must be 0 or a duration from 1ms"),
        (lambda limiter: limiter.log("k", 0), "count must be an integer from 1 to 1000"),
        (lambda limiter: limiter.offenders(0), "count must be an integer from 1 to 256"),
    ],
)
def test_errors_are_exceptions(limiter, call, text):
    with pytest.raises(redis.ResponseError, match=text):
        call(limiter)


def test_wrong_type(server, client):
    client.set("k", "x")
    from slidewin import Slidewin

    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        Slidewin.from_url(server.url).check("k", 60, 1)
    assert client.get("k") == b"x"


def test_headers():
    standing = Standing(limit=10, remaining=3, retry_after_ms=0, reset_after_ms=1001, oldest_after_ms=1)
    assert ratelimit_headers("ip", 60, Decision(True, 17, (standing,))) == {
        "RateLimit-Policy": '"ip";q=10;w=60',
        "RateLimit": '"ip";r=3;t=2',
    }
    refused = Decision(False, None, (standing._replace(remaining=0, retry_after_ms=2000),))
    assert ratelimit_headers("ip", 60, refused)["Retry-After"] == "2"
    never = Decision(False, None, (standing._replace(retry_after_ms=-1),))
    assert "Retry-After" not in ratelimit_headers("ip", 60, never)
