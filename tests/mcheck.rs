//! SLIDEWIN.MCHECK: several keys, one decision.

use crate::harness::{caught_up, has, subscriber, Client, Clock, Server};
use crate::replication::{same_everywhere, state};
use redis::ConnectionLike;
use std::sync::Barrier;

fn mcheck(con: &mut Client, line: &str) -> Vec<i64> {
    con.call(&format!("SLIDEWIN.MCHECK {line} WITHQUOTA"))
}

fn admitted(con: &mut Client, line: &str) -> i64 {
    con.call(&format!("SLIDEWIN.MCHECK {line}"))
}

/// The units that a key holds.
fn used(con: &mut Client, key: &str) -> i64 {
    1_000_000 - con.peek(&format!("{key} 1h 1000000"))[2]
}

#[test]
fn every_window_of_every_key_must_have_room() {
    let (_server, mut con, clock) = Server::frozen();
    let call = "3 user 1m 2 ip 1h 5 everybody 1s 3";
    let [minute, hour, second] = [60_000, 3_600_000, 1_000];
    assert_eq!(
        mcheck(&mut con, call),
        [1, 2, 1, 0, minute, minute, 5, 4, 0, hour, hour, 3, 2, 0, second, second]
    );
    clock.at_ms(100);
    assert_eq!(mcheck(&mut con, call)[..3], [1, 2, 0]);
    clock.at_ms(200);
    // The user has no room, so nobody is charged.
    let refused = [
        0,
        2,
        0,
        minute - 200,
        minute - 100,
        minute - 200,
        5,
        3,
        0,
        hour - 100,
        hour - 200,
        3,
        1,
        0,
        900,
        800,
    ];
    let before = state(&mut con);
    assert_eq!(mcheck(&mut con, call), refused);
    assert_eq!(admitted(&mut con, call), 0);
    assert_eq!(state(&mut con), before);
    assert_eq!(con.peek("ip 1h 5")[2], 3, "each key is one of CHECK's and PEEK's");
    assert_eq!(con.check("everybody 1s 3"), 1);
    // Who is full is the last key.
    assert_eq!(admitted(&mut con, "2 other 1m 5 everybody 1s 3"), 0);
    assert_eq!(con.call::<i64>("EXISTS other"), 0);
    // What does not fit, and what is never admitted.
    assert_eq!(mcheck(&mut con, "2 a 1m 5 b 1m 3 COST 4"), [0, 5, 5, 0, 0, 0, 3, 3, -1, 0, 0]);
    assert_eq!(mcheck(&mut con, "2 a 1m 5 b 1m 0"), [0, 5, 5, 0, 0, 0, 0, 0, -1, 0, 0]);
    assert_eq!(mcheck(&mut con, "2 a 1m 5 b 1m 4 COST 4")[..3], [1, 5, 1]);
    assert_eq!([con.log("a").len(), con.log("b").len()], [1, 1], "one entry, whatever the cost");
    assert_eq!(mcheck(&mut con, "2 a 1m 5 b 1m 3 COST 4 FORCE")[..3], [1, 5, 0]);
    assert_eq!([used(&mut con, "a"), used(&mut con, "b")], [8, 8]);
}

#[test]
fn a_key_that_comes_again_is_decided_with_all_its_windows_and_charged_once() {
    let (_server, mut con, clock) = Server::frozen();
    let call = "4 k 1s 1 other 1m 9 k 1h 2 k 1m 9";
    let answer = mcheck(&mut con, call);
    assert_eq!(answer.len(), 21);
    let each: Vec<[i64; 2]> = answer[1..].chunks(5).map(|window| [window[0], window[1]]).collect();
    assert_eq!((answer[0], each), (1, vec![[1, 0], [9, 8], [2, 1], [9, 8]]));
    assert_eq!(con.log("k").len(), 1);
    assert_eq!(admitted(&mut con, call), 0, "the second");
    clock.at_ms(1_000);
    assert_eq!(admitted(&mut con, call), 1);
    clock.at_ms(2_000);
    assert_eq!(admitted(&mut con, call), 0, "the hour");
    assert!(con.call::<i64>("PTTL k") > 3_599_000, "its longest window is the hour");
    let eight: String = (1..=8).map(|nth| format!(" k {nth} 9")).collect();
    assert_eq!(admitted(&mut con, &format!("9 other 1m 9{eight}")), 1);
    let error = con.error(&format!("SLIDEWIN.MCHECK 10 other 1m 9{eight} k 1m 9"));
    assert_eq!(error, "ERR at most 8 windows in one call");
    let sixteen: String = (0..16).map(|nth| format!(" n{nth} 1m 1")).collect();
    assert_eq!(
        [admitted(&mut con, &format!("16{sixteen}")), admitted(&mut con, &format!("16{sixteen}"))],
        [1, 0]
    );
}

#[test]
fn a_key_that_remembers_the_id_is_neither_asked_nor_charged() {
    let (_server, mut con, clock) = Server::frozen();
    // So that nothing is trimmed.
    clock.at_ms(-10_000);
    assert_eq!(con.check("everybody 1h 1000"), 1);
    clock.at_ms(0);
    let call = "2 user 10 1 everybody 1 1 ID a";
    assert_eq!(admitted(&mut con, call), 1);
    let before = state(&mut con);
    assert_eq!(mcheck(&mut con, call), [1, 1, 0, 10_000, 10_000, 10_000, 1, 0, 1_000, 1_000, 1_000]);
    assert_eq!(admitted(&mut con, "2 user 10 0 everybody 1 0 COST 9 ID a FORCE"), 1);
    assert_eq!(state(&mut con), before, "nothing was written");
    // Each key remembers for as long as its own window.
    clock.at_ms(1_000);
    assert_eq!(admitted(&mut con, call), 1, "paid for again by those who have forgotten");
    assert_eq!([used(&mut con, "user"), used(&mut con, "everybody")], [1, 3]);
    clock.at_ms(2_000);
    assert_eq!(con.check("everybody 1 1"), 1);
    assert_eq!(mcheck(&mut con, call)[..3], [0, 1, 0], "by the key that has forgotten and is full");
    assert_eq!(used(&mut con, "user"), 1);
    // The IDs of CHECK and MCHECK are the same, and so is a refund.
    assert_eq!(con.check("user 10 1 ID a"), 1);
    assert_eq!(con.refund("user ID a"), 1);
    clock.at_ms(3_000);
    assert_eq!(admitted(&mut con, call), 1);
    assert_eq!([used(&mut con, "user"), used(&mut con, "everybody")], [1, 5]);
    // A key that another call has charged with this ID.
    assert_eq!(con.check("first 1m 1 ID b"), 1);
    assert_eq!(admitted(&mut con, "2 first 1m 1 second 1m 1 ID b"), 1);
    assert_eq!([used(&mut con, "first"), used(&mut con, "second")], [1, 1]);
    // A refused call is not remembered anywhere.
    assert_eq!(admitted(&mut con, "2 third 1m 1 second 1m 1 ID c"), 0);
    assert_eq!(con.call::<i64>("EXISTS third"), 0);
}

#[test]
fn a_key_of_another_type_comes_before_any_write() {
    let (_server, mut con, clock) = Server::frozen();
    let digest = |con: &mut Client| (con.call::<String>("DEBUG DIGEST"), con.call::<i64>("PTTL ahead"));
    for fill in ["SET wrong v", "RPUSH wrong v", "HSET wrong f v", "SADD wrong v", "XADD wrong 1-1 f v"] {
        con.call::<()>("FLUSHALL");
        con.call::<redis::Value>(fill);
        clock.at_ms(3_600_000);
        assert_eq!(admitted(&mut con, "2 ahead 10 5 full 10 1"), 1);
        // Both would be repaired.
        clock.at_ms(0);
        let before = digest(&mut con);
        let calls = [
            "3 ahead 10 5 new 10 5 wrong 10 5",
            "3 wrong 10 5 ahead 10 5 new 10 5",
            "3 full 10 1 ahead 10 5 wrong 10 5",
        ];
        for call in calls {
            for option in ["", " FORCE", " ID a", " WITHQUOTA"] {
                let error = con.error(&format!("SLIDEWIN.MCHECK {call}{option}"));
                assert_eq!(error, "WRONGTYPE Operation against a key holding the wrong kind of value");
            }
        }
        assert_eq!(digest(&mut con), before, "{fill}");
        assert_eq!(con.call::<i64>("DEL wrong"), 1);
        assert_eq!(admitted(&mut con, calls[0]), 1);
        assert_ne!(digest(&mut con), before, "{fill}");
    }
}

#[test]
fn a_step_back_is_repaired_in_each_key_whatever_is_decided() {
    let (_server, mut con, clock) = Server::frozen();
    clock.at_ms(3_600_000);
    assert_eq!(admitted(&mut con, "2 a 10 3 b 10 1"), 1);
    assert_eq!(con.check("a 10 3 ID known"), 1);
    clock.at_ms(0);
    // Remembered: `a` is not repaired, and `b` is, although it refuses.
    assert_eq!(admitted(&mut con, "2 a 10 3 b 10 1 ID known"), 0);
    let newest = |con: &mut Client, key| con.log(key).last().unwrap().1 - Clock::START_US;
    assert_eq!([newest(&mut con, "a"), newest(&mut con, "b")], [3_600_000_001, 0]);
    assert_eq!(con.info("slidewin_clock_step_backs"), 1);
    let refused = [0, 3, 1, 0, 10_000, 10_000, 1, 0, 10_000, 10_000, 10_000];
    assert_eq!(mcheck(&mut con, "2 a 10 3 b 10 1"), refused);
    assert_eq!([newest(&mut con, "a"), newest(&mut con, "b")], [0, 0], "has room, and is repaired as well");
    assert_eq!(con.info("slidewin_clock_step_backs"), 2);
    clock.at_ms(10_000);
    assert_eq!(admitted(&mut con, "2 a 10 3 b 10 1"), 1, "nobody waits longer than the window");
}

#[test]
fn what_is_wrong_with_the_arguments() {
    let (_server, mut con) = Server::start();
    let window = "ERR window must be a duration from 1ms to 3650d, such as 60, 0.5, 250ms, 5m or 24h";
    let limit = "ERR limit must be an integer from 0 to 9007199254740991";
    let count = "ERR numkeys must be an integer from 1 to 16";
    let arity = "ERR wrong number of arguments for 'slidewin.mcheck' command";
    let option =
        "ERR unknown option, expected COST, FORCE, ID or WITHQUOTA after the windows of numkeys keys";
    for (line, error) in [
        ("", arity),
        ("1", arity),
        ("1 k 60", arity),
        ("2 k 60 5", arity),
        ("2 k 60 5 COST 2", arity),
        ("2 k 60 5 COST 2 ID a", limit),
        ("0 k 60 5", count),
        ("17 k 60 5", count),
        ("-1 k 60 5", count),
        ("01 k 60 5", count),
        ("k 60 5 60 5", count),
        ("1 k 0 5", window),
        ("2 k 60 5 l x 5", window),
        ("1 k 60 -1", limit),
        ("1 k 60 5 60 5", option),
        ("1 k 60 5 RECEIPT", option),
        ("1 k 60 5 RESOLUTION 1", option),
        ("1 k 60 5 FORCED", option),
        ("1 k 60 5 COST", arity),
        ("1 k 60 5 COST 0", "ERR cost must be an integer from 1 to 9007199254740991"),
        ("1 k 60 5 ID", arity),
        (&format!("1 k 60 5 ID {}", "x".repeat(64)), "ERR ID must be 1 to 63 bytes"),
        ("1 k 60 5 FORCE FORCE", "ERR an option may be given only once"),
        ("1 k 60 5 ID a COST 1 ID a", "ERR an option may be given only once"),
    ] {
        // Before 7.0 the server repeats the caller's spelling of the name.
        assert_eq!(con.error(&format!("slidewin.mcheck {line}")), error, "{line}");
    }
    assert_eq!(con.call::<i64>("DBSIZE"), 0);
    for (options, answer) in [("cost 2 force id a", 1), ("Force Id a", 1), ("COST 3", 0)] {
        assert_eq!(con.call::<i64>(&format!("slidewin.mcheck 1 k 60 4 {options}")), answer, "{options}");
    }
    // A key may be called like an option, or be empty.
    assert_eq!(con.call::<i64>("SLIDEWIN.MCHECK 2 COST 60 5 FORCE 60 5 COST 2"), 1);
    let words: [&[u8]; 8] = [b"SLIDEWIN.MCHECK", b"2", b"", b"60", b"1", b"\xff\0\r\n", b"60", b"1"];
    assert_eq!([con.raw(&words), con.raw(&words)], [Ok(redis::Value::Int(1)), Ok(redis::Value::Int(0))]);
}

#[test]
fn only_keys_without_room_are_told_as_refused_and_a_call_counts_once() {
    let (server, mut con) = Server::start();
    con.call::<()>("CONFIG SET notify-keyspace-events Ed");
    let mut listening = server.connect();
    let mut events = listening.0.as_pubsub();
    events.psubscribe("__keyevent@0__:slidewin.*").unwrap();
    events.subscribe("end").unwrap();
    assert_eq!(admitted(&mut con, "4 a 60 2 b 60 1 c 60 5 a 1h 9 COST 1 ID x"), 1);
    assert_eq!(admitted(&mut con, "3 a 60 2 b 60 1 c 60 5 ID x"), 1);
    assert_eq!(con.check("d 60 1"), 1);
    assert_eq!(admitted(&mut con, "4 a 60 2 b 60 1 c 60 5 d 60 1"), 0);
    assert_eq!(admitted(&mut con, "2 a 60 2 new 60 5 ID x"), 1);
    assert_eq!(admitted(&mut con, "2 b 60 1 c 60 5 FORCE COST 3"), 1);
    con.call::<i64>("PUBLISH end .");
    let mut told = Vec::new();
    loop {
        let message = events.get_message().unwrap();
        let event = message.get_channel_name().trim_start_matches("__keyevent@0__:slidewin.").to_owned();
        if event == "end" {
            break;
        }
        told.push(format!("{event} {}", message.get_payload::<String>().unwrap()));
    }
    let expected = [
        "admitted a",
        "admitted b",
        "admitted c", // once each, and not for the repeat
        "admitted d",
        "refused b",
        "refused d",
        "admitted new",
        "admitted b",
        "admitted c",
    ];
    assert_eq!(told, expected);
    let offenders: Vec<(String, i64, i64)> = con.call("SLIDEWIN.OFFENDERS");
    assert_eq!(offenders, [("b".to_owned(), 1, 0), ("d".to_owned(), 1, 0)]);
    let counted = ["checks_admitted", "checks_refused", "units_admitted", "repeats"]
        .map(|name| con.info(&format!("slidewin_{name}")));
    assert_eq!(counted, [4, 1, 6, 1]);
}

/// Everything that may happen to several keys.
fn all_of_it(con: &mut Client, clock: &Clock) {
    for nth in 0..300 {
        clock.advance_ms(25);
        let id = if nth % 3 == 0 { format!(" ID {}", nth % 50) } else { String::new() };
        let cost = 1 + i64::from(nth % 31 == 0);
        let call = format!("4 user{} 1 20 ip 2 1000 everybody 5 150 ip 1 1000 COST {cost}{id}", nth % 3);
        con.call::<i64>(&format!("SLIDEWIN.MCHECK {call}"));
    }
    assert!(con.refund("ip ID 44") > 0);
    clock.advance_ms(-100_000);
    assert_eq!(admitted(con, "3 user0 1 20 ip 2 1000 everybody 5 0"), 0);
    // Some 14 units are live, and up to 11 expired ones are still in a bundle with them: to the clock they are to come.
    assert_eq!(admitted(con, "2 user1 1 40 everybody 5 1000"), 1);
}

#[test]
fn replicas_and_the_aof_follow_each_key() {
    let held = same_everywhere(all_of_it);
    assert_eq!(held.len(), 5, "{held:?}");
}

#[test]
fn a_refused_call_writes_nothing() {
    let (server, mut con) = Server::start();
    let replica = Server::builder().start_replica_of(&server);
    let mut on_replica = replica.connect();
    assert_eq!(admitted(&mut con, "2 a 1h 5 full 1h 1 ID x"), 1);
    caught_up(&mut con, &mut on_replica);
    let mut other = server.connect();
    for call in [
        "2 a 1h 5 full 1h 1",
        "2 full 1h 1 a 1h 5 WITHQUOTA",
        "2 a 1h 5 full 1h 1 ID x",
        "2 new 1h 5 full 1h 0",
    ] {
        con.call::<()>("WATCH a full new");
        let offset = con.info("master_repl_offset");
        other.call::<redis::Value>(&format!("SLIDEWIN.MCHECK {call}"));
        assert_eq!(con.info("master_repl_offset"), offset, "{call}");
        con.call::<()>("MULTI");
        con.call::<String>("PING");
        assert_eq!(con.call::<Vec<String>>("EXEC"), ["PONG"], "{call}: the watch was not broken");
    }
    con.call::<()>("WATCH full");
    assert_eq!(admitted(&mut other, "2 a 1h 5 full 1h 2"), 1);
    con.call::<()>("MULTI");
    con.call::<String>("PING");
    assert_eq!(con.call::<Option<Vec<String>>>("EXEC"), None, "an admitted call breaks it");
}

#[test]
fn forty_callers_at_once_charge_the_wide_key_for_admitted_calls_only() {
    const CALLERS: usize = 40;
    const CALLS: usize = 250;
    let (server, mut con) = Server::start();
    let start = Barrier::new(CALLERS);
    let admitted: i64 = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (server, start) = (&server, &start);
                scope.spawn(move || {
                    let mut con = server.connect();
                    // Eight users, five callers each.
                    let call = format!("3 user{} 1h 20 ip{caller} 1h 15 everybody 1h 130", caller % 8);
                    start.wait();
                    (0..CALLS).map(|_| admitted(&mut con, &call)).sum::<i64>()
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    assert_eq!(admitted, 130, "the wide key is full, and all of it is used");
    assert_eq!(used(&mut con, "everybody"), admitted);
    let by_user: Vec<i64> = (0..8).map(|user| used(&mut con, &format!("user{user}"))).collect();
    let by_ip: Vec<i64> = (0..CALLERS).map(|ip| used(&mut con, &format!("ip{ip}"))).collect();
    assert!(by_user.iter().all(|&units| units <= 20) && by_ip.iter().all(|&units| units <= 15));
    assert_eq!([by_user.iter().sum::<i64>(), by_ip.iter().sum()], [admitted; 2]);
    assert_eq!(con.info("slidewin_checks_refused"), (CALLERS * CALLS) as i64 - admitted);
}

#[test]
fn in_a_cluster_all_keys_are_in_one_slot() {
    let server = Server::builder().args("--cluster-enabled yes").start();
    let mut con = server.connect();
    for slots in (0..16_384).collect::<Vec<_>>().chunks(4_096) {
        let slots: Vec<String> = slots.iter().map(i32::to_string).collect();
        con.call::<()>(&format!("CLUSTER ADDSLOTS {}", slots.join(" ")));
    }
    crate::harness::wait_until("the cluster serves", || {
        con.call::<String>("CLUSTER INFO").contains("cluster_state:ok")
    });
    assert_eq!(admitted(&mut con, "3 {ann}:user 1m 5 {ann}:ip 1m 5 {ann}:user 1s 1"), 1);
    for call in ["2 user 1m 5 ip 1m 5", "3 {a}x 1m 5 {a}y 1m 5 {b}x 1m 5", "2 {a}x 1m 5 {b}x 1m 5 FORCE ID a"]
    {
        let error = con.error(&format!("SLIDEWIN.MCHECK {call}"));
        assert!(error.starts_with("CROSSSLOT "), "{call}: {error}");
    }
    assert_eq!(con.call::<i64>("DBSIZE"), 2);
}

#[test]
fn it_runs_in_transactions_and_scripts() {
    let (_server, mut con) = Server::start();
    con.call::<()>("MULTI");
    for _ in 0..2 {
        con.call::<String>("SLIDEWIN.MCHECK 2 a 1h 1 b 1h 5");
    }
    assert_eq!(con.call::<Vec<i64>>("EXEC"), [1, 0]);
    assert_eq!(con.times(10, "SLIDEWIN.MCHECK 2 b 1h 5 c 1h 9"), 4);
    assert_eq!([used(&mut con, "a"), used(&mut con, "b"), used(&mut con, "c")], [1, 5, 4]);
    let replies = con
        .0
        .req_packed_commands(&crate::harness::packed("SLIDEWIN.MCHECK 1 d 1h 3").repeat(5), 0, 5)
        .unwrap();
    assert_eq!(replies.iter().filter(|reply| **reply == redis::Value::Int(1)).count(), 3);
}

/// The first key is born by the call, and what answers that event changes the second one, between two writes.
#[test]
fn an_event_within_one_key_may_change_another() {
    if !has("the event `new`", (7, 0, 0)) {
        return;
    }
    let server = Server::builder().also_load(subscriber(), "").start();
    let mut con = server.connect();
    let call = "SLIDEWIN.MCHECK 2 a 1h 5 b 1h 5 ID x";
    // What answers the event, what the call answers, and what is left in both keys.
    for (event, command, answer, left) in [
        ("new a", "SLIDEWIN.CHECK b 1h 5", Ok(1), [1, 2]),
        ("new a", "SLIDEWIN.CHECK b 1h 5 ID x", Ok(1), [1, 1]),
        ("new a", "SLIDEWIN.CHECK b 1h 5 COST 5", Ok(0), [0, 5]),
        (
            "new a",
            "SET b hello",
            Err("WRONGTYPE Operation against a key holding the wrong kind of value"),
            [0, 0],
        ),
        ("new b", "DEL a", Ok(1), [0, 1]),
        ("new b", "SLIDEWIN.REFUND a ID x", Ok(1), [0, 1]),
        ("slidewin.admitted a", "DEL b", Ok(1), [1, 0]),
        ("slidewin.admitted b", "SLIDEWIN.MCHECK 2 a 1h 5 b 1h 5", Ok(1), [2, 2]),
    ] {
        con.call::<()>("FLUSHALL");
        con.call::<()>(&format!("SUBSCRIBER.WHEN {event} {command}"));
        let words: Vec<&[u8]> = call.split(' ').map(str::as_bytes).collect();
        let answer = answer.map(redis::Value::Int).map_err(str::to_owned);
        assert_eq!(con.raw(&words), answer, "{event}: {command}");
        assert_eq!(con.call::<i64>("SUBSCRIBER.RAN"), 1, "{event}: {command}");
        let mut units = |key| match con.call::<String>(&format!("TYPE {key}")).as_str() {
            "zset" => used(&mut con, key),
            _ => 0,
        };
        assert_eq!([units("a"), units("b")], left, "{event}: {command}");
    }
    assert_eq!(con.info("slidewin_internal_errors"), 0);
}

#[test]
fn one_call_costs_the_server_less_than_three() {
    const TIMES: usize = 300;
    let (server, mut con) = Server::start();
    let calls: [&[&str]; 3] = [
        &["SLIDEWIN.MCHECK 3 a 1h 1000000 b 1h 1000000 c 1h 1000000"],
        &["SLIDEWIN.CHECK a 1h 1000000", "SLIDEWIN.CHECK b 1h 1000000", "SLIDEWIN.CHECK c 1h 1000000"],
        &["SLIDEWIN.MCHECK 3 a 1h 1000000 b 1h 1000000 c 1h 0"],
    ];
    // With all that a call costs, from reading it to sending the reply. A processor has fast and slow moments: a round
    // compares calls of about the same moment, and most rounds must agree.
    let mut cost_us = |lines: &[&str]| {
        server.cpu_us(|| (0..TIMES).for_each(|_| lines.iter().for_each(|line| _ = con.call::<i64>(line))))
    };
    let rounds: Vec<[u64; 3]> = (0..15).map(|_| calls.map(&mut cost_us)).collect();
    let most = |holds: fn(&&[u64; 3]) -> bool| rounds.iter().filter(holds).count() * 2 > rounds.len();
    assert!(most(|&&[several, singly, _]| several * 4 < singly * 3), "us for {TIMES} calls: {rounds:?}");
    assert!(most(|&&[_, singly, refused]| refused * 5 < singly * 2), "us for {TIMES} calls: {rounds:?}");
}
