//! A request that comes twice is admitted once, where it has an ID.

use crate::harness::{caught_up, wait_until, Client, Clock, Server};
use crate::replication::same_everywhere;

#[test]
fn the_same_id_is_answered_as_the_first_time_and_takes_nothing() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.quota("k 60 3 ID a"), [1, 3, 2, 0, 60_000, 60_000]);
    let (log, pttl) = (con.log("k"), con.call::<i64>("PTTL k"));
    let names: Vec<&str> = log.iter().map(|(member, _)| &**member).collect();
    assert_eq!((names[0], names.len()), ("#a", 2), "the mark comes before its entry");
    assert_eq!([log[0].1, log[1].1], [clock.now_us(); 2], "and has its score");

    clock.at_ms(10_000);
    assert_eq!(con.quota("k 60 3 ID a"), [1, 3, 2, 0, 50_000, 50_000]);
    assert_eq!(con.check("k 60 3 ID a COST 3"), 1, "whatever it costs");
    assert_eq!(con.check("k 60 0 ID a"), 1, "whatever the limit is");
    assert_eq!(con.check("k 60 3 ID a FORCE"), 1);
    assert_eq!(con.check("k 60 3 ID a RECEIPT"), Clock::START_US, "the receipt of the first call");
    assert_eq!((con.log("k"), con.call::<i64>("PTTL k")), (log, pttl - 10_000), "no TTL moved");
    assert_eq!(con.peek("k 60 3"), [1, 3, 2, 0, 50_000, 50_000]);

    // It is remembered for as long as it counts in the longest window of the call that asks.
    assert_eq!(con.quota("k 5 1 10 1 ID a")[..3], [1, 1, 0], "10 s are just over");
    assert_eq!(con.peek("k 60 3")[2], 1, "which was another admission");
    clock.at_ms(69_999);
    assert_eq!(con.check("k 60 3 ID a COST 9"), 1);
    clock.at_ms(70_000);
    assert_eq!(con.check("k 60 3 ID a COST 9"), 0, "forgotten, and 9 are too many");
}

#[test]
fn tokens_are_any_bytes_up_to_63() {
    let (_server, mut con, _clock) = Server::frozen();
    let longest = [0xff; 63];
    let tokens: [&[u8]; 7] = [b"a", b"\0", b"#", b"1", b"a b\r\n", b"id", &longest];
    for _ in 0..2 {
        for token in tokens {
            con.raw(&[b"SLIDEWIN.CHECK", b"k", b"60", b"7", b"ID", token]).unwrap();
        }
    }
    assert_eq!(con.peek("k 60 9")[2], 2, "seven tokens, seven units");
    assert_ne!(con.call::<String>("OBJECT ENCODING k"), "skiplist", "64 bytes fit into a listpack");
    for token in [&b""[..], &[b'x'; 64]] {
        let error = con.raw(&[b"SLIDEWIN.CHECK", b"k", b"60", b"7", b"ID", token]).unwrap_err();
        assert_eq!(error, "ERR ID must be 1 to 63 bytes");
        assert_eq!(con.raw(&[b"SLIDEWIN.REFUND", b"k", b"ID", token]).unwrap_err(), error);
    }
    for line in ["k 60 7 ID a RESOLUTION 1", "k 60 7 RESOLUTION 1 ID a"] {
        assert_eq!(con.error(&format!("SLIDEWIN.CHECK {line}")), "ERR RESOLUTION and ID exclude each other");
    }
}

#[test]
fn a_refusal_is_not_remembered() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!([con.check("k 60 1 ID a"), con.check("k 60 1 ID b"), con.check("k 60 1 ID b")], [1, 0, 0]);
    clock.at_ms(60_000);
    assert_eq!([con.check("k 60 1 ID b"), con.check("k 60 1 ID a"), con.check("k 60 1 ID b")], [1, 0, 1]);
}

#[test]
fn refund_by_id_gives_back_what_that_request_took() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.refund("missing ID a"), 0);
    for (token, cost) in [("a", 2), ("b", 3), ("c", 4)] {
        assert_eq!(con.check(&format!("k 60 9 COST {cost} ID {token}")), 1);
        clock.advance_ms(1);
    }
    assert_eq!(con.refund("k ID b COST 1"), 1);
    assert_eq!(con.check("k 60 9 COST 9 ID b"), 1, "a part of it is left, so it is remembered");
    assert_eq!(con.refund("k id b"), 2);
    assert_eq!([con.refund("k ID b"), con.refund("k ID B"), con.refund("k ID other")], [0; 3]);
    assert_eq!(con.peek("k 60 9")[2], 3);
    assert_eq!(con.check("k 60 9 COST 4 ID b"), 0, "forgotten, and it would be one too many");
    assert_eq!(con.check("k 60 9 COST 3 ID b"), 1);
    assert!(con.log("k").iter().filter(|(member, _)| member == "#b").count() == 1);

    // The receipt is another name of the same admission.
    let receipt = con.check("k 60 9 ID a RECEIPT");
    assert_eq!(con.refund(&format!("k {receipt}")), 2);
    assert_eq!(con.refund("k ID a"), 0);
    assert!(con.log("k").iter().all(|(member, _)| member != "#a"));
    for token in ["b", "c"] {
        assert!(con.refund(&format!("k ID {token}")) > 0);
    }
    assert_eq!(con.call::<i64>("EXISTS k"), 0, "no mark outlives its entry");
}

#[test]
fn a_refund_counts_entries_and_no_marks() {
    let (_server, mut con, clock) = Server::frozen();
    for nth in 0..2_100 {
        clock.advance_us(1);
        con.check(&format!("k 60 9999 ID {nth}"));
    }
    // 1,000 entries and as many marks are older.
    assert_eq!(con.refund("k ID 1000"), 1);
    assert!(con
        .error("SLIDEWIN.REFUND k ID 1002")
        .starts_with("ERR more than 1000 entries lie on both sides"));
    assert_eq!(con.peek("k 60 9999")[2], 9_999 - 2_099);
}

#[test]
fn a_step_back_forgets_no_id_before_it_is_asked_for() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!([con.check("k 10 2 ID a"), con.check("k 10 2 ID b")], [1, 1]);
    clock.at_ms(-3_600_000);
    // The first retry after a failover to a clock that is behind.
    assert_eq!(con.quota("k 10 2 ID a"), [1, 2, 0, 10_000, 10_000, 10_000]);
    assert_eq!(con.log("k").len(), 4, "nothing was repaired");
    assert_eq!(con.check("k 10 3"), 1, "which repairs");
    assert_eq!(con.check("k 10 4 ID a"), 1, "counts twice at worst");
    assert_eq!(con.peek("k 10 9")[2], 5);
}

/// Everything that may happen to IDs.
fn all_of_it(con: &mut Client, clock: &Clock) {
    for nth in 0..300 {
        clock.advance_ms(25);
        // Every second one is plain, so that bundles lie between marks; and runs of plain ones.
        let id = if nth % 2 == 0 && nth / 100 != 1 { format!(" ID t{}", nth % 150) } else { String::new() };
        con.check(&format!("mixed 2 1000 COST {}{id}", 1 + i64::from(nth % 31 == 0)));
        con.check(&format!(
            "runs 5 1000{}",
            if nth % 37 == 0 { format!(" ID r{nth}") } else { String::new() }
        ));
        con.check(&format!("marked 1 1000 ID {nth}"));
    }
    assert_eq!(con.refund("mixed ID t140 COST 1"), 1);
    assert_eq!(con.refund("runs ID r296"), 1);
    assert_eq!(con.refund("marked ID 280"), 1);
    assert_eq!(con.check("gone 60 5 ID only"), 1);
    assert_eq!(con.refund("gone ID only"), 1);
    assert_eq!(con.check("back 60 5 ID back"), 1);
    clock.advance_ms(-100_000);
    assert_eq!(con.check("back 60 5 ID again"), 1);
}

#[test]
fn replicas_and_the_aof_have_the_same_marks() {
    let held = same_everywhere(all_of_it);
    assert!(held.len() >= 4, "{held:?}");
    let (_, members, ..) = held.iter().find(|(key, ..)| key == "runs").unwrap();
    assert!(members.iter().any(|(member, _)| member.contains(';')), "{members:?}");
    assert!(members.iter().any(|(member, _)| member.starts_with('#')), "{members:?}");
}

#[test]
fn bundles_spare_what_has_an_id() {
    let (_server, mut con, clock) = Server::frozen();
    for nth in 0..100 {
        clock.advance_ms(1);
        let id = if nth == 50 { " ID kept" } else { "" };
        assert_eq!(con.check(&format!("k 60 100{id}")), 1);
    }
    let receipt = con.check("k 60 100 ID kept RECEIPT");
    assert_eq!(receipt, Clock::START_US + 51_000);
    assert!(con.log("k").len() < 60, "{:?}", con.log("k"));
    assert_eq!(con.refund("k ID kept COST 1"), 1);
    assert_eq!(con.peek("k 60 100")[2], 1);
    clock.at_ms(60_049);
    assert_eq!(con.peek("k 60 100")[2], 1 + 49);
}

#[test]
fn a_repeat_is_no_event_and_no_write() {
    let (server, mut con) = Server::start();
    let replica = Server::builder().start_replica_of(&server);
    let mut on_replica = replica.connect();
    assert_eq!(con.check("k 60 2 ID a"), 1);
    caught_up(&mut con, &mut on_replica);
    con.call::<()>("CONFIG SET notify-keyspace-events AKE");
    let mut listening = server.connect();
    let mut events = listening.0.as_pubsub();
    events.psubscribe("__key*__:*").unwrap();
    events.subscribe("end").unwrap();
    con.call::<()>("WATCH k");
    let offset = con.info("master_repl_offset");
    let mut other = server.connect();
    assert_eq!(other.check("k 60 2 ID a"), 1);
    assert_eq!(con.info("master_repl_offset"), offset);
    con.call::<()>("MULTI");
    con.call::<String>("PING");
    assert_eq!(con.call::<Vec<String>>("EXEC"), ["PONG"], "the watch was not broken");
    con.call::<i64>("PUBLISH end .");
    assert_eq!(events.get_message().unwrap().get_channel_name(), "end");
    wait_until("the replica follows", || on_replica.call::<i64>("ZCARD k") == 2);
}

#[test]
fn log_says_which_admission_has_which_id() {
    let (_server, mut con, _clock) = Server::frozen();
    for line in ["ID a", "", "ID 7 COST 3", "RESOLUTION 1"] {
        con.check(&format!("k 60 9 {line}"));
    }
    let at_us = |nth| Clock::START_US + nth;
    let row = |nth, units, receipt, id: &str| (at_us(nth), units, receipt, id.to_owned());
    let expected =
        [row(3, 1, 0, ""), row(2, 3, at_us(2), "7"), row(1, 1, at_us(1), ""), row(0, 1, at_us(0), "a")];
    for count in 1..=4 {
        let listed: Vec<(i64, i64, i64, String)> = con.call(&format!("SLIDEWIN.LOG k COUNT {count}"));
        assert_eq!(listed, expected[..count]);
    }
    // A mark that has lost its entry is nobody's.
    assert_eq!(con.call::<i64>(&format!("ZADD k {} #lost {} #later", at_us(-1), at_us(9))), 2);
    assert_eq!(con.call::<i64>(&format!("ZADD k {} #b", at_us(1))), 1);
    assert_eq!(con.call::<i64>("ZREM k #a"), 1);
    let listed: Vec<(i64, i64, i64, String)> = con.call("SLIDEWIN.LOG k");
    assert_eq!((listed[2].3.as_str(), listed[3].3.as_str()), ("b", ""));
}
