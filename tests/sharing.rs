//! Keys that hold something else, and logs that somebody else has written into.

use crate::harness::{Clock, Server};

const WRONGTYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn a_key_of_another_type_is_refused_and_left_alone() {
    let (_server, mut con, _clock) = Server::frozen();
    for (make, read) in [
        ("SET k hello", "GET k"),
        ("SET k 42", "GET k"),
        ("SETBIT k 100 1", "GET k"),
        ("PFADD k a b", "GET k"),
        ("HSET k field value", "HGETALL k"),
        ("RPUSH k a b c", "LRANGE k 0 -1"),
        ("SADD k a", "SMEMBERS k"),
        ("XADD k 1-1 field value", "XRANGE k - +"),
    ] {
        con.call::<()>("FLUSHALL");
        con.call::<()>(make);
        con.call::<()>("PEXPIRE k 50000");
        let value: redis::Value = con.call(read);
        for command in [
            "CHECK k 60 5",
            "CHECK k 60 5 FORCE WITHQUOTA",
            "CHECK k 60 0",
            "PEEK k 60 5",
            "RESERVE k 60 60 5",
            "REFUND k 1",
        ] {
            assert_eq!(con.error(&format!("SLIDEWIN.{command}")), WRONGTYPE, "{make}, then {command}");
        }
        assert_eq!(con.call::<redis::Value>(read), value, "{make}");
        assert_eq!(con.call::<i64>("PTTL k"), 50_000, "{make}");
    }
}

#[test]
fn what_lies_in_a_sorted_set_already_expires_like_any_entry() {
    let (_server, mut con, _clock) = Server::frozen();
    con.call::<()>("ZADD k 1 a 2 b");
    assert_eq!(con.quota("k 60 5"), [1, 5, 4, 0, 60_000, 60_000]);
    assert_eq!(con.call::<i64>("ZCARD k"), 1);
    assert!(con.call::<i64>("PTTL k") >= 60_000);
}

#[test]
fn a_live_member_of_somebody_else_counts_one_unit_at_either_end() {
    let now_us = Clock::START_US;
    // What is added by hand (µs before now), and what `60 10` says then.
    let table: &[(&str, &[i64])] = &[
        ("5000000 foreign", &[1, 10, 8, 0, 60_000, 55_000]),
        ("5000000 foreign 4000000 another", &[1, 10, 7, 0, 60_000, 55_000]),
        ("60000000 gone 70000000 long-gone", &[1, 10, 9, 0, 60_000, 60_000]),
        ("5000000 01 4000000 1:1 3000000 -5 2000000 1~0 1000000 x", &[1, 10, 4, 0, 60_000, 55_000]),
    ];
    for (foreign, answer) in table {
        let (_server, mut con, _clock) = Server::frozen();
        let words: Vec<&str> = foreign.split(' ').collect();
        for pair in words.chunks(2) {
            let score = now_us - pair[0].parse::<i64>().unwrap();
            con.call::<()>(&format!("ZADD k {score} {}", pair[1]));
        }
        assert_eq!(con.peek("k 60 10")[2], answer[2] + 1, "PEEK with {foreign}");
        assert_eq!(con.quota("k 60 10"), *answer, "{foreign}");
    }
}

#[test]
fn a_member_between_our_own_counts_nothing_and_one_behind_them_counts_on() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 10"), 1);
    clock.advance_ms(2_000);
    assert_eq!(con.check("k 60 10"), 1);
    con.call::<()>(&format!("ZADD k {} between", clock.now_us() - 1_000_000));
    assert_eq!(con.peek("k 60 10")[2], 8);
    clock.advance_ms(2_000);
    con.call::<()>(&format!("ZADD k {} behind", clock.now_us() - 1_000_000));
    assert_eq!(con.peek("k 60 10")[2], 7);
    clock.advance_ms(1);
    assert_eq!(con.quota("k 60 10")[2], 6, "the one behind counts in the new total");
    assert_eq!(con.peek("k 60 10")[2], 6);
}

#[test]
fn what_somebody_does_to_the_set_is_never_an_error() {
    let edits: &[&str] = &[
        "ZADD k {now} 5",
        "ZADD k {now} 18446744073709551615",
        "ZADD k {now} 18446744073709551615:18446744073709551615",
        "ZADD k {now} 0~18446744073709551615",
        "ZADD k 0.5 7 inf 8 -inf 9",
        "ZADD k {now}.75 1000000",
        "ZADD k 1e300 y -1e300 z",
        "ZADD k 9223372036854775807 y 9007199254740993 z",
        "ZADD k {now} a {now} b {now} c {now} 1 {now} 2:2 {now} 3~3",
        "ZREMRANGEBYRANK k 0 0",
        "ZREMRANGEBYRANK k -1 -1",
        "ZREMRANGEBYRANK k 1 1",
        "ZINCRBY k 1000000000 foreign",
        "ZINCRBY k inf foreign",
        "PEXPIRE k 1000000000000",
        "PEXPIRE k 1",
        "PERSIST k",
        "ZADD k {now} \u{fffd}\u{1f600}",
    ];
    let (_server, mut con, clock) = Server::frozen();
    for edit in edits {
        for step_ms in [0, 10, 61_000, -1_000, -3_600_000] {
            con.call::<()>("FLUSHALL");
            let mut receipt = 0;
            for _ in 0..3 {
                clock.advance_ms(5);
                receipt = con.check("k 60 5 RECEIPT");
            }
            con.call::<()>(&edit.replace("{now}", &clock.now_us().to_string()));
            clock.advance_ms(step_ms);
            for call in
                ["k 60 5", "k 60 5 COST 3", "k 1 2 60 5", "k 60 5 RESOLUTION 1", "k 60 5 FORCE", "k 60 5"]
            {
                clock.advance_ms(1);
                for answer in
                    [con.peek(&call.replace(" FORCE", "").replace(" RESOLUTION 1", "")), con.quota(call)]
                {
                    assert!([0, 1].contains(&answer[0]), "{edit}, {call}: {answer:?}");
                    for window in answer[1..].chunks(5) {
                        assert!((0..=window[0]).contains(&window[1]), "{edit}, {call}: {answer:?}");
                    }
                }
            }
            let returned = con.refund(&format!("k {receipt}"));
            assert!(returned >= 0, "{edit}: {returned}");
        }
    }
    assert_eq!(con.call::<String>("PING"), "PONG");
}

#[test]
fn a_log_can_be_read_renamed_copied_and_restored() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..3 {
        clock.advance_ms(10);
        assert_eq!(con.check("k 60 5 COST 1"), 1);
    }
    con.call::<()>("RENAME k renamed");
    con.call::<()>("COPY renamed copied");
    let dump: redis::Value = con.call("DUMP renamed");
    let redis::Value::BulkString(dump) = dump else { panic!("{dump:?}") };
    con.raw(&[b"RESTORE", b"restored", b"60000", &dump]).unwrap();
    for key in ["renamed", "copied", "restored"] {
        clock.advance_ms(10);
        assert_eq!(con.quota(&format!("{key} 60 5"))[..3], [1, 5, 1], "{key}");
    }
}
