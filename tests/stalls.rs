//! No call stalls a shared server, however much a log holds or has expired.

use crate::harness::{Client, Clock, Server};

const MOST_US: u64 = 1_000;

/// The longest of so many calls. What is long because of the log is long every time it is tried; what is long
/// because of the machine (a page that the kernel had to clear, a stolen core) is not.
fn longest_us(server: &Server, con: &mut Client, count: usize, line: &str) -> u64 {
    let mut calls = || {
        (0..count)
            .map(|_| {
                server.cpu_us(|| {
                    let _ = con.raw(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
                })
            })
            .max()
            .unwrap()
    };
    (0..3).map(|_| calls()).min().unwrap()
}

#[test]
fn the_measure_sees_what_is_slow() {
    let (server, mut con) = Server::start();
    let busy: &[u8] = b"for i = 1, 1000000 do end";
    let us = server.cpu_us(|| drop(con.raw(&[b"EVAL", busy, b"0"])));
    assert!(us > MOST_US, "{us}");
    let us = longest_us(&server, &mut con, 100, "PING");
    assert!(us < MOST_US, "{us}");
}

#[test]
fn a_log_of_a_million_entries_answers_at_once_also_when_they_have_expired() {
    // An admission of two units is always an entry of its own.
    answers_at_once("SLIDEWIN.CHECK k 600 10000000 COST 2", |entries| entries == 1_000_000);
}

#[test]
fn a_log_of_a_million_admissions_in_bundles_answers_at_once_also_when_they_have_expired() {
    answers_at_once("SLIDEWIN.CHECK k 600 10000000", |entries| (1_000_000 / 64..100_000).contains(&entries));
}

/// A log that these calls fill.
fn answers_at_once(call: &str, is_right: impl Fn(usize) -> bool) {
    let clock = Clock::running();
    let server = Server::builder().clock(&clock).start();
    let mut con = server.connect();
    // Half a million at 0 s, and at 400 s.
    for half in 0..2 {
        for _ in 0..50 {
            assert_eq!(con.times(10_000, call), 10_000);
        }
        clock.advance_ms(if half == 0 { 400_000 } else { 0 });
    }
    assert_eq!(con.admissions("k").len(), 1_000_000);
    let full = con.call("ZCARD k");
    assert!(is_right(full), "{full}");
    let calls: &[&str] = &[
        "SLIDEWIN.PEEK k 600 1000000 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 1000 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 700000 COST 350000 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 3000 10 3000 1 1 24h 5000 7d 70000 300 400000 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 1000000000000 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 1000000000000 COST 1000000 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 1000000000000 RESOLUTION 1ms",
        "SLIDEWIN.CHECK k 600 1 FORCE RECEIPT",
    ];
    let mut assert_none_stalls = |state: &str| {
        for call in calls {
            let us = longest_us(&server, &mut con, 100, call);
            assert!(us < MOST_US, "{call} with {state} takes {us} us");
        }
        con.call::<usize>("ZCARD k")
    };
    let entries_before = assert_none_stalls("nothing expired");
    assert!(entries_before > full, "{entries_before}");
    clock.advance_ms(250_000);
    let entries = assert_none_stalls("half of it expired");
    let trimmed = (full / 2 - 2_000).min(50_000);
    assert!((full / 2 - 100..entries_before - trimmed).contains(&entries), "trimmed by 64 each: {entries}");
    con.call::<()>("PERSIST k"); // so that the server's own expiry, which is no call of ours, does not come first
    clock.advance_ms(700_000);
    for call in [
        "SLIDEWIN.PEEK k 600 5 WITHQUOTA",
        "SLIDEWIN.CHECK k 600 0",
        "SLIDEWIN.CHECK k 600 5 COST 6 WITHQUOTA",
    ] {
        let us = longest_us(&server, &mut con, 100, call);
        assert!(us < MOST_US, "{call} with all of it expired takes {us} us");
    }
    assert!(con.call::<usize>("ZCARD k") > full / 2);
    // Three equal logs, as each can start anew only once.
    let logs = ["k", "second", "third"];
    for copy in &logs[1..] {
        con.call::<()>(&format!("COPY k {copy}"));
    }
    let begin_anew = |log| server.cpu_us(|| assert_eq!(con.check(&format!("{log} 600 1000")), 1));
    let us = logs.map(begin_anew).into_iter().min().unwrap();
    assert!(us < MOST_US, "the admission that starts a new log takes {us} us");
    for log in logs {
        assert_eq!(con.call::<i64>(&format!("ZCARD {log}")), 1);
    }
}

#[test]
fn a_refund_deep_in_a_long_log_is_quick_at_either_end() {
    let (server, mut con) = Server::start();
    let mut receipts: Vec<i64> = (0..200).map(|_| con.check("k 1h 1000000 COST 2 RECEIPT")).collect();
    for _ in 0..20 {
        con.times(10_000, "SLIDEWIN.CHECK k 1h 1000000");
    }
    receipts.extend((0..200).map(|_| con.check("k 1h 1000000 COST 2 RECEIPT")));
    let used = 1_000_000 - con.peek("k 1h 1000000")[2];
    assert_eq!(used, 200_800);
    for place in [0, 10, 100, 199, 399, 390, 300] {
        // Each in two parts, so that one is tried again where the machine was slow.
        let mut us = u64::MAX;
        for _ in 0..2 {
            let refund = format!("k {} COST 1", receipts[place]);
            us = us.min(server.cpu_us(|| assert_eq!(con.refund(&refund), 1)));
        }
        assert!(us < MOST_US, "the refund of receipt {place} takes {us} us");
    }
    assert_eq!(1_000_000 - con.peek("k 1h 1000000")[2], used - 14);
}

#[test]
fn an_admission_trims_at_most_64_entries() {
    let (_server, mut con, clock) = Server::frozen();
    // Admissions of two units are entries of their own.
    assert_eq!(con.times(500, "SLIDEWIN.CHECK k 60 2000 COST 2"), 500);
    clock.at_ms(30_000);
    assert_eq!(con.check("k 60 2000"), 1);
    clock.at_ms(60_001);
    for left in [438, 375, 312, 249, 186, 123, 60, 9, 10] {
        assert_eq!(con.check("k 60 2000"), 1);
        assert_eq!(con.call::<i64>("ZCARD k"), left);
    }
    assert_eq!(con.peek("k 60 2000")[2], 1_990, "what is not yet trimmed has not counted");
}
