"""What is sent, word for word."""

from datetime import timedelta

import pytest

from slidewin import arguments


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("250ms", "250ms"),
        (60, 60),
        (0.1, "0.100000"),
        (0.1 + 0.2, "0.300000"),
        (0.00001, "0.000010"),  # not 1e-05
        (1e17, "100000000000000000.000000"),  # too long; the server says so
        (timedelta(minutes=1), "60000.000ms"),
        (timedelta(microseconds=1500), "1.500ms"),
        (timedelta(days=3650), "315360000000.000ms"),
        (timedelta(seconds=-1), "-1000.000ms"),
    ],
)
def test_durations(given, sent):
    assert arguments.duration(given) == sent


@pytest.mark.parametrize(
    ("command", "sent"),
    [
        (arguments.check("k", "1m", 5), "SLIDEWIN.CHECK k 1m 5 COST 1 RECEIPT WITHQUOTA"),
        (arguments.check("k", "1s", 2, ("1h", 9), cost=3, force=True),
         "SLIDEWIN.CHECK k 1s 2 1h 9 COST 3 RECEIPT FORCE WITHQUOTA"),
        (arguments.check("k", 60, 5, resolution="1s"), "SLIDEWIN.CHECK k 60 5 COST 1 RESOLUTION 1s WITHQUOTA"),
        (arguments.peek("k", 0.5, 5, ("1h", 9), cost=2), "SLIDEWIN.PEEK k 0.500000 5 1h 9 COST 2 WITHQUOTA"),
        (arguments.refund("k", 17), "SLIDEWIN.REFUND k 17"),
        (arguments.refund("k", 17, 2), "SLIDEWIN.REFUND k 17 COST 2"),
        (arguments.refund("k", cost=2, token="t"), "SLIDEWIN.REFUND k ID t COST 2"),
        (arguments.check("k", "1m", 5, token="t"), "SLIDEWIN.CHECK k 1m 5 COST 1 RECEIPT ID t WITHQUOTA"),
        (arguments.mcheck([("a", "1m", 5), ("b", 0.5, 9)], cost=2, token="t"),
         "SLIDEWIN.MCHECK 2 a 1m 5 b 0.500000 9 COST 2 ID t WITHQUOTA"),
        (arguments.mcheck([("a", "1m", 5)], force=True), "SLIDEWIN.MCHECK 1 a 1m 5 COST 1 FORCE WITHQUOTA"),
        (arguments.reserve("k", 0, "1s", 5, ("1h", 9), token="t"), "SLIDEWIN.RESERVE k 0 1s 5 1h 9 COST 1 ID t"),
        (arguments.log("k", 3), "SLIDEWIN.LOG k COUNT 3"),
        (arguments.offenders(), "SLIDEWIN.OFFENDERS COUNT 10"),
        (arguments.offenders(3, reset=True), "SLIDEWIN.OFFENDERS COUNT 3 RESET"),
    ],
)
def test_commands(command, sent):
    assert " ".join(map(str, command)) == sent


def test_a_window_without_its_limit():
    with pytest.raises(TypeError, match="each window needs its limit"):
        arguments.check("k", "1m", 5, ("1h",))


@pytest.mark.parametrize("named", [{}, {"receipt": 17, "token": "t"}])
def test_a_refund_of_nothing_or_of_two(named):
    with pytest.raises(TypeError, match="a receipt or an ID, and not both"):
        arguments.refund("k", **named)


def test_a_limit_that_is_no_int():
    with pytest.raises(TypeError, match="a limit is an int, not '5'"):
        arguments.check("k", "1m", "5")
