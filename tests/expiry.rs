//! Servers without GetAbsExpire and SetAbsExpire (6.2.0 to 6.2.7, 7.0.0 to 7.0.4): the expiry is as exact as elsewhere, also
//! where the clock runs.

use crate::harness::{caught_up, sized, version, Client, Clock, Server};

/// When a key expires, in ms since the epoch, by a clock that stands still.
fn expiry_ms(con: &mut Client, clock: &Clock, key: &str) -> i64 {
    let pttl: i64 = con.call(&format!("PTTL {key}"));
    assert!(pttl > 0, "{key}: {pttl}");
    clock.now_us().div_euclid(1_000) + pttl
}

/// By how many ms a key outlives its newest unit.
fn kept_ms(con: &mut Client, clock: &Clock, key: &str) -> i64 {
    let last_us = con.log(key).last().unwrap().1;
    expiry_ms(con, clock, key) - last_us.div_euclid(1_000)
}

#[test]
fn a_key_lives_no_longer_for_a_thousand_calls_with_a_shorter_window() {
    if version() >= (7, 2, 0) {
        println!("not run: every server from 7.2 on has GetAbsExpire, and reads another clock without it");
        return;
    }
    let clock = Clock::running();
    let set_up = || Server::builder().debug_module().variable("SLIDEWIN_PLANT_NO_ABS_EXPIRE").clock(&clock);
    let primary = set_up().start();
    let replica = set_up().start_replica_of(&primary);
    assert!(primary.log_text().contains("no exact expiry on this server"), "{}", primary.log_text());
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());

    clock.stop();
    let calls = sized(4_000, 100_000);
    for key in ["one", "two"] {
        assert_eq!(con.check(&format!("{key} 1h {calls}")), 1);
    }
    let before = ["one", "two"].map(|key| kept_ms(&mut con, &clock, key));
    clock.run();
    // In a script the server's time may stand still: each call by itself.
    for _ in 0..calls / 2 {
        assert_eq!(con.check("one 10s 1000000"), 1);
        con.quota("two 1ms 3 10s 1000000 RESOLUTION 1ms");
        con.check("two 1h 1000000 COST 2");
    }
    clock.stop();
    caught_up(&mut con, &mut on_replica);
    for (key, before) in ["one", "two"].into_iter().zip(before) {
        let after = kept_ms(&mut con, &clock, key);
        println!("{key}: kept for {before} ms at first, for {after} ms after {calls} calls");
        let there = expiry_ms(&mut on_replica, &clock, key);
        assert!(there.abs_diff(expiry_ms(&mut con, &clock, key)) <= 1, "{key}");
        assert_eq!(con.log(key), on_replica.log(key));
        assert!(key == "two" || after == before, "{key}: {before} ms became {after} ms");
        assert!((3_600_000..=4_050_002).contains(&after), "{key}: {after} ms");
    }
}
