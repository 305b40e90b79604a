//! `SLIDEWIN.RESERVE`: a place in line instead of a refusal.

use crate::harness::{caught_up, within_limit, Client, Clock, Server};
use crate::replication::same_everywhere;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;

/// `SLIDEWIN.RESERVE`: the receipt, in µs after the clock's start, and the ms to wait.
fn reserve(con: &mut Client, line: &str) -> (i64, i64) {
    let (receipt, wait_ms): (i64, i64) = con.call(&format!("SLIDEWIN.RESERVE {line}"));
    (if receipt > 0 { receipt - Clock::START_US } else { receipt }, wait_ms)
}

#[test]
fn a_place_is_answered_with_its_receipt_and_the_wait() {
    let (_server, mut con, clock) = Server::frozen();
    let mut next = || reserve(&mut con, "k 3 1 2 9 99");
    assert_eq!([next(), next()], [(0, 0), (1, 0)]);
    assert_eq!([next(), next(), next()], [(1_000_000, 1_000), (1_000_001, 1_001), (2_000_000, 2_000)]);
    assert_eq!(reserve(&mut con, "k 1.999 1 2 9 99"), (0, 2_001), "longer than it waits");
    assert_eq!(reserve(&mut con, "k 0 1 2"), (0, 2_001));
    assert_eq!(reserve(&mut con, "k 1 1 2 COST 3"), (0, -1));
    assert_eq!(reserve(&mut con, "k 1 1 0"), (0, -1));
    let members: Vec<String> = con.log("k").into_iter().map(|(member, _)| member).collect();
    assert_eq!(members.len(), 5, "what is refused is not recorded");
    assert!(members[4].ends_with(">2000000"), "{members:?}");
    assert!(!members[1].contains('>'), "{members:?}");
    let pttl: i64 = con.call("PTTL k");
    assert!((11_000..=12_127).contains(&pttl), "the longest window after the last place: {pttl}");
    let newest: Vec<(i64, i64, i64, String)> = con.call("SLIDEWIN.LOG k COUNT 1");
    let at_us = Clock::START_US + 2_000_000;
    assert_eq!(newest, [(at_us, 1, at_us, String::new())]);

    clock.at_ms(500);
    assert_eq!(con.quota("k 1 9"), [0, 9, 4, 1_500, 2_500, 500], "it would go before the line");
    assert_eq!(con.peek("k 1 9"), [0, 9, 4, 1_500, 2_500, 500]);
    assert_eq!(con.peek("k 1 2"), [0, 2, 0, 1_501, 2_500, 500]);
    assert_eq!(con.check("k 1 2 COST 2 FORCE RECEIPT"), Clock::START_US + 2_000_001, "behind the line");
    assert_eq!(reserve(&mut con, "k 1s 1 1"), (0, 2_501));
    clock.at_ms(2_001);
    assert_eq!(con.peek("k 1 4")[..4], [1, 4, 1, 0]);
    assert_eq!(con.check("k 1 4"), 1, "the line has come");
}

#[test]
fn a_place_is_given_back_and_those_behind_keep_theirs() {
    let (_server, mut con, clock) = Server::frozen();
    let places: Vec<i64> = (0..5).map(|_| reserve(&mut con, "k 9 2 4 20 99 COST 4").0).collect();
    assert_eq!(places, [0, 2, 4, 6, 8].map(|seconds| seconds * 1_000_000));
    let receipt = |seconds: i64| Clock::START_US + seconds * 1_000_000;
    assert_eq!(con.refund(&format!("k {}", receipt(4))), 4);
    assert_eq!(con.refund(&format!("k {}", receipt(4))), 0);
    assert_eq!(con.refund(&format!("k {} COST 3", receipt(6))), 3);
    let log: Vec<_> =
        con.log("k").into_iter().map(|(member, at_us)| (at_us - Clock::START_US, member)).collect();
    assert_eq!(
        log.iter().map(|(at_us, _)| *at_us).collect::<Vec<_>>(),
        [0, 2, 6, 8].map(|at| at * 1_000_000)
    );
    assert!(
        !log[2].1.contains(':') && log[2].1.ends_with(">6000000"),
        "a part of a place is a place: {log:?}"
    );
    assert_eq!(
        reserve(&mut con, "k 10 2 4 20 99"),
        (10_000_000, 10_000),
        "nobody is let in before those who wait"
    );
    assert_eq!(con.refund(&format!("k {}", receipt(10))) + con.refund(&format!("k {}", receipt(8))), 5);
    assert_eq!(reserve(&mut con, "k 9 2 4 20 99 COST 3"), (6_000_001, 6_000), "the end of the line is");
    let pttl: i64 = con.call("PTTL k");
    clock.at_ms(6_001);
    assert_eq!(con.quota("k 2 4"), [0, 4, 0, 1_999, 2_000, 1_999]);
    assert!((26_000..=28_502).contains(&pttl), "{pttl}");
}

#[test]
fn a_worker_asks_by_its_id_whether_its_place_has_come() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(reserve(&mut con, "k 5 1 1 5 9 ID a"), (0, 0));
    assert_eq!(reserve(&mut con, "k 5 1 1 5 9 ID b"), (1_000_000, 1_000));
    assert_eq!(reserve(&mut con, "k 5 1 1 5 9 ID c"), (2_000_000, 2_000));
    let log = con.log("k");
    clock.at_ms(400);
    assert_eq!(reserve(&mut con, "k 0 1 1 ID b COST 7"), (1_000_000, 600), "it keeps its place");
    assert_eq!(con.quota("k 1 1 ID b")[..4], [0, 1, 0, 600], "its own wait, not that of the line");
    assert_eq!(con.quota("k 1 1 ID d")[..4], [0, 1, 0, 2_600]);
    assert_eq!(con.check("k 1 1 ID c FORCE"), 1, "which says that it has gone");
    assert_eq!((con.log("k"), con.info("slidewin_checks_admitted")), (log, 0));
    clock.at_ms(1_000);
    assert_eq!(con.check("k 1 1 ID b RECEIPT"), Clock::START_US + 1_000_000);
    assert_eq!(con.refund("k ID c"), 1);
    assert_eq!(con.quota("k 1 1 ID c")[..4], [0, 1, 0, 1_000], "forgotten");
    assert_eq!(reserve(&mut con, "k 5 1 1 5 9 ID c"), (2_000_000, 1_000));
}

#[test]
fn what_is_wrong_with_a_call_is_said_in_one_line() {
    let (_server, mut con, _clock) = Server::frozen();
    let max_wait = "ERR max-wait must be 0 or a duration from 1ms to the longest window";
    let option = "ERR unknown option, expected COST or ID after the windows";
    for (line, text) in [
        ("k 61 60 5", max_wait),
        ("k 0.0001 60 5", max_wait),
        ("k -1 60 5", max_wait),
        ("k forever 60 5 1 1", max_wait),
        ("k 1 60 5 WITHQUOTA", option),
        ("k 1 60 5 FORCE", option),
        ("k 1 60 5 RESOLUTION 1", option),
        ("k 1 60", "ERR wrong number of arguments for 'slidewin.reserve' command"),
        ("k 1 60 x", "ERR limit must be an integer from 0 to 9007199254740991"),
        ("k 1 60 5 COST 0", "ERR cost must be an integer from 1 to 9007199254740991"),
    ] {
        let error = con.error(&format!("SLIDEWIN.RESERVE {line}"));
        assert_eq!(error.to_lowercase(), text.to_lowercase(), "{line}");
    }
    con.call::<()>("SET text t");
    assert!(con.error("SLIDEWIN.RESERVE text 1 60 5").starts_with("WRONGTYPE "));
    assert_eq!(con.call::<i64>("EXISTS k"), 0);
}

#[test]
fn an_operator_sees_places_and_refusals() {
    let (server, mut con) = Server::start();
    con.call::<()>("CONFIG SET notify-keyspace-events Ed");
    let mut listening = server.connect();
    listening.0.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut events = listening.0.as_pubsub();
    events.psubscribe("__keyevent@0__:*").unwrap();
    let mut is_taken = |line: &str| reserve(&mut con, line).0 > 0;
    assert!(is_taken("k 1h 1h 3 COST 2 ID a"), "now");
    assert!(is_taken("k 1h 1h 3 COST 2 ID a"), "the same");
    assert!(is_taken("k 1h 1h 3 COST 2"), "in an hour");
    assert!(!is_taken("k 1h 1h 3 COST 2"), "in two hours");
    assert_eq!(con.check("k 1h 9"), 0, "the line goes first");
    let mut event =
        || events.get_message().unwrap().get_channel_name().replace("__keyevent@0__:slidewin.", "");
    assert_eq!([event(), event(), event(), event()], ["reserved", "reserved", "refused", "refused"]);
    for (field, count) in [
        ("reservations", 2),
        ("reservations_refused", 1),
        ("repeats", 1),
        ("units_admitted", 4),
        ("checks_admitted", 0),
        ("checks_refused", 1),
    ] {
        assert_eq!(con.info(&format!("slidewin_{field}")), count, "{field}");
    }
    assert_eq!(con.call::<Vec<(String, i64, i64)>>("SLIDEWIN.OFFENDERS"), [("k".to_owned(), 2, 0)]);
}

#[test]
fn a_call_that_records_nothing_writes_nothing() {
    let clock = Clock::frozen();
    let server = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&server);
    let (mut con, mut on_replica) = (server.connect(), replica.connect());
    reserve(&mut con, "k 2 1 1 2 9 ID a");
    reserve(&mut con, "k 2 1 1 2 9 ID b");
    caught_up(&mut con, &mut on_replica);
    let (offset, dirty) = (con.info("master_repl_offset"), con.info("rdb_changes_since_last_save"));
    assert_eq!(reserve(&mut con, "k 1 1 1").0, 0);
    assert_eq!(reserve(&mut con, "k 1 1 1 ID b").0, 1_000_000);
    assert_eq!(con.check("k 1 1 ID b") + con.check("k 1 9") + con.peek("k 1 9")[0], 0);
    assert_eq!((con.info("master_repl_offset"), con.info("rdb_changes_since_last_save")), (offset, dirty));
    assert!(on_replica.error("SLIDEWIN.RESERVE k 1 1 1").starts_with("READONLY "));
    assert_eq!(on_replica.peek("k 1 9"), [0, 9, 7, 1_000, 2_000, 1_000], "a replica sees the line");
}

/// Everything that may happen to a line.
fn all_of_it(con: &mut Client, clock: &Clock) {
    let mut receipts = Vec::new();
    for nth in 0..300 {
        clock.advance_ms(nth % 40);
        let id = if nth % 3 == 0 { format!(" ID t{nth}") } else { String::new() };
        receipts.push(reserve(con, &format!("line 20 1 40 20 600 COST {}{id}", 1 + nth % 3)).0);
        reserve(con, &format!("short 5ms 10ms 3{id}"));
        con.check("short 10ms 5");
        con.check(&format!("forced 1 5{}", if nth % 9 == 0 { " FORCE" } else { "" }));
        reserve(con, "forced 1 1 5");
        if nth % 7 == 0 {
            let receipt = receipts[receipts.len() - 1 - nth as usize % 5] + Clock::START_US;
            con.refund(&format!("line {receipt} COST {}", 1 + nth % 2));
        }
    }
    assert!(con.refund("line ID t297") > 0);
    for key in ["within", "beyond"] {
        assert_eq!(reserve(con, &format!("{key} 60 60 1")).1, 0);
        assert_eq!(reserve(con, &format!("{key} 60 60 1 ID a")).1, 60_000);
    }
    clock.advance_ms(-9_000);
    reserve(con, "within 0 60 1");
    clock.advance_ms(-100_000);
    reserve(con, "beyond 0 60 1");
}

#[test]
fn replicas_and_the_aof_have_the_same_places() {
    let held = same_everywhere(all_of_it);
    assert!(held.len() >= 4, "{held:?}");
    let members = |name: &str| held.iter().find(|(key, ..)| key == name).map(|(_, log, ..)| log).unwrap();
    let places = members("line").iter().filter(|(member, _)| member.contains('>')).count();
    assert!(places > 50, "{:?}", members("line"));
    assert!(members("within").iter().any(|(member, _)| member.contains('~') && member.contains('>')));
}

#[test]
fn a_small_step_back_moves_no_place() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..4 {
        reserve(&mut con, "k 9 2 1 9 99 ID a");
        reserve(&mut con, "k 9 2 1 9 99");
    }
    let log = con.log("k");
    // An eighth of the window, to the µs.
    clock.advance_us(-250_000);
    assert_eq!(con.quota("k 2 1")[..4], [0, 1, 0, 10_250]);
    assert_eq!(reserve(&mut con, "k 2 2 1"), (0, 10_250));
    assert_eq!(con.log("k"), log);
    clock.advance_us(-1);
    assert_eq!(con.peek("k 2 1")[..4], [0, 1, 0, 10_000], "as a repair would leave it");
    assert_eq!(con.log("k"), log);
    assert_eq!(reserve(&mut con, "k 2 2 1"), (0, 10_000));
    let (member, at_us) = &con.log("k")[0];
    assert_eq!(
        (con.log("k").len(), *at_us),
        (1, clock.now_us() + 8_000_000),
        "as far ahead as the newest was"
    );
    assert!(member.ends_with("~5>8000000"), "{member}");
    assert_eq!(con.info("slidewin_clock_step_backs"), 1);
}

/// Who waits for a place waits by its own clock, whatever the server's does.
#[test]
fn whatever_the_clock_steps_back_nobody_goes_before_those_who_wait() {
    for step_ms in [1, 200, 249, 251, 1_000, 2_001, 7_000, HOUR_MS] {
        let (_server, mut con, clock) = Server::frozen();
        let mut gone_us = Vec::new();
        let mut step_us = 0;
        for nth in 0..200 {
            clock.advance_us(37_001);
            if nth == 70 {
                clock.advance_ms(-step_ms);
                step_us = step_ms * 1_000;
            }
            let (receipt, wait_ms) = reserve(&mut con, "k 2 2 10");
            let real_us = clock.now_us() - Clock::START_US + step_us;
            if receipt != 0 {
                gone_us.push(if wait_ms == 0 { real_us } else { receipt + step_us });
            }
            if con.check("k 2 10") == 1 {
                gone_us.push(real_us);
            }
        }
        assert!(gone_us.len() > 30, "{step_ms} ms back: {gone_us:?}");
        within_limit(gone_us, 2_000_000, 10);
        // The line and a window later all is as before.
        clock.advance_ms(2_000 + 2_000 + 2_000);
        assert_eq!(con.check("k 2 10"), 1, "{step_ms} ms back");
    }
}

#[test]
fn a_failover_keeps_the_line() {
    for ahead_ms in [0, 50, 3_000, -50, -3_000, -HOUR_MS] {
        let (clock, other) = (Clock::frozen(), Clock::frozen());
        other.advance_ms(ahead_ms);
        let primary = Server::builder().clock(&clock).start();
        let replica = Server::builder().clock(&other).start_replica_of(&primary);
        let (mut con, mut on_replica) = (primary.connect(), replica.connect());
        for nth in 0..5 {
            assert_eq!(
                reserve(&mut con, &format!("k 60 10 1 60 99 ID {nth}")),
                (nth * 10_000_000, nth * 10_000)
            );
        }
        clock.advance_ms(1_000);
        other.advance_ms(1_000);
        assert_eq!(con.call::<i64>("WAIT 1 20000"), 1);
        drop(primary);
        on_replica.call::<()>("REPLICAOF NO ONE");
        // Who sends again keeps its place, and waits no longer than it was told at first.
        let (receipt, wait_ms): (i64, i64) = on_replica.call("SLIDEWIN.RESERVE k 0 10 1 ID 4");
        assert_eq!(receipt, Clock::START_US + 40_000_000, "{ahead_ms} ms");
        assert_eq!(wait_ms, (39_000 - ahead_ms).min(40_000), "{ahead_ms} ms");
        // The next one goes after all of them, by any clock: 9 s after the last, who goes in 39 s.
        let (receipt, wait_ms): (i64, i64) = on_replica.call("SLIDEWIN.RESERVE k 10 10 1 ID 5");
        assert_eq!(receipt, 0, "{ahead_ms} ms: {wait_ms}");
        // A clock that is ahead makes units older than they are, as it always does.
        assert!(wait_ms >= 49_000 - ahead_ms.max(0), "{ahead_ms} ms: {wait_ms}");
        assert!(wait_ms <= 50_000, "{ahead_ms} ms: {wait_ms}");
    }
}

const WORKERS: usize = 40;
const JOBS: usize = 120;

/// Forty workers share 120 jobs. Each asks before a job until it may go, and answers with the receipts and how often it was
/// refused.
fn work(server: &Server, ask: impl Fn(&mut Client) -> (i64, i64) + Sync) -> (Vec<i64>, usize) {
    let (taken, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let receipts = std::thread::scope(|scope| {
        let worker = || {
            let mut con = server.connect();
            let mut receipts = Vec::new();
            while taken.fetch_add(1, Ordering::Relaxed) < JOBS {
                loop {
                    let (receipt, wait_ms) = ask(&mut con);
                    std::thread::sleep(Duration::from_millis(wait_ms as u64));
                    if receipt > 0 {
                        receipts.push(receipt);
                        break;
                    }
                    refused.fetch_add(1, Ordering::Relaxed);
                }
            }
            receipts
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    (receipts, refused.into_inner())
}

#[test]
fn forty_workers_stand_in_line_where_they_were_a_herd() {
    let server = Server::builder().start();
    let in_line = |con: &mut Client| con.call("SLIDEWIN.RESERVE line 1m 1 10 1m 600");
    let in_herd = |con: &mut Client| {
        let answer: Vec<i64> = con.call("SLIDEWIN.CHECK herd 1 10 1m 600 RECEIPT WITHQUOTA");
        (answer[0], if answer[0] > 0 { 0 } else { answer[3].max(answer[8]) })
    };
    let (line, herd) = std::thread::scope(|scope| {
        let line = scope.spawn(|| work(&server, in_line));
        let herd = scope.spawn(|| work(&server, in_herd));
        (line.join().unwrap(), herd.join().unwrap())
    });
    for (receipts, _) in [&line, &herd] {
        assert_eq!(receipts.len(), JOBS);
        within_limit(receipts.clone(), 1_000_000, 10);
    }
    println!("{WORKERS} workers, {JOBS} jobs: RESERVE refuses {}, CHECK {}", line.1, herd.1);
    assert_eq!(line.1, 0, "RESERVE refuses nobody");
    assert!(herd.1 > JOBS, "CHECK refuses each job more than once: {}", herd.1);
    let span_us = |receipts: &[i64]| receipts.iter().max().unwrap() - receipts.iter().min().unwrap();
    assert!(span_us(&line.0) < 11_500_000, "no place is left empty: {} us", span_us(&line.0));
}
