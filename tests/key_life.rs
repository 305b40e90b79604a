//! The key always expires: not before its newest unit is gone, soon after it, and whatever is refused.

use crate::harness::{wait_until, Client, Server};
use rand::{rngs::SmallRng, RngExt, SeedableRng};
use std::collections::HashSet;

fn assert_ttl(con: &mut Client, key: &str, window_ms: i64, call: &str) {
    let pttl: i64 = con.call(&format!("PTTL {key}"));
    let longest_ms = window_ms + window_ms / 8 + 2;
    assert!((window_ms..=longest_ms).contains(&pttl), "{call}: PTTL {pttl}");
}

#[test]
fn an_admission_leaves_a_ttl_between_the_window_and_an_eighth_more() {
    let mut random = SmallRng::seed_from_u64(3);
    let table = [
        ("1ms 2", 1),
        ("7ms 2", 7),
        ("0.25 1000", 250),
        ("1 1000", 1_000),
        ("60 1000", 60_000),
        ("1.5h 1000", 5_400_000),
        ("24h 1000", 86_400_000),
        ("3650d 1000", 315_360_000_000),
        ("60 1000 COST 5", 60_000),
        ("60 0 FORCE", 60_000),
        ("60 1000 RECEIPT", 60_000),
        ("60 1000 RESOLUTION 5", 60_000),
        ("60 1000 RESOLUTION 60", 60_000),
        ("1 1000 60 1000", 60_000),
        ("60 1000 1 1000 5 1000", 60_000),
    ];
    for (arguments, window_ms) in table {
        let (_server, mut con, clock) = Server::frozen();
        for _ in 0..300 {
            let call = format!("k {arguments}");
            if con.check(&call) != 0 {
                assert_ttl(&mut con, "k", window_ms, &call);
            }
            // Often soon, sometimes at the end of the window or after the key is gone.
            let mean_us = window_ms * [20, 200, 1_100][random.random_range(0..3)];
            clock.advance_us(random.random_range(2..mean_us.max(3)));
        }
    }
}

#[test]
fn the_longest_window_asked_of_a_key_counts_until_it_is_idle() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 80 10"), 1);
    for _ in 0..100 {
        clock.advance_ms(500);
        assert_eq!(con.check("k 1 10"), 1);
        assert_ttl(&mut con, "k", 80_000, "k 1 10");
    }
    clock.advance_ms(80_000 * 9 / 8 + 3);
    assert_eq!(con.check("k 1 10"), 1);
    assert_ttl(&mut con, "k", 1_000, "k 1 10 after the key was idle");
    assert_eq!(con.check("k 60 10"), 1);
    assert_ttl(&mut con, "k", 60_000, "k 60 10");
}

#[test]
fn a_refusal_never_moves_the_expiry() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 1"), 1);
    let pttl: i64 = con.call("PTTL k");
    for second in 1..60 {
        clock.advance_ms(1_000);
        for call in ["k 60 1", "k 60 1 COST 2 WITHQUOTA", "k 3650d 1", "k 1 5 60 1", "k 60 0 RESOLUTION 1"] {
            con.call::<redis::Value>(&format!("SLIDEWIN.CHECK {call}"));
        }
        assert_eq!(con.call::<i64>("PTTL k"), pttl - 1_000 * second);
    }
}

#[test]
fn a_lost_ttl_is_back_with_the_next_admission() {
    let (_server, mut con, clock) = Server::frozen();
    for (arguments, window_ms) in [("60 2", 60_000), ("1 2 60 2", 60_000), ("60 2 RESOLUTION 1", 60_000)] {
        let call = format!("k {arguments}");
        con.call::<i64>("DEL k");
        assert_eq!(con.check(&call), 1);
        assert_eq!(con.call::<i64>("PERSIST k"), 1);
        clock.advance_ms(10);
        assert_eq!(con.check(&call), 1);
        assert_ttl(&mut con, "k", window_ms, &call);
        assert_eq!(con.call::<i64>("PERSIST k"), 1);
        assert_eq!(con.check(&call), 0);
        assert_eq!(con.call::<i64>("PTTL k"), -1, "a refusal moves nothing, not even this");
    }
}

#[test]
fn ten_thousand_idle_keys_are_gone_by_themselves_and_not_all_at_once() {
    let (_server, mut con, clock) = Server::frozen();
    for nth in 0..10_000 {
        assert_eq!(con.check(&format!("k{nth} 1 5")), 1);
    }
    clock.at_ms(1_000);
    assert_eq!(con.call::<i64>("DBSIZE"), 10_000);
    let ttls: HashSet<i64> = (0..1_000).map(|nth| con.call(&format!("PTTL k{nth}"))).collect();
    assert!(ttls.len() > 40, "{ttls:?}");
    clock.at_ms(1_000 * 9 / 8 + 3);
    wait_until("no key is left", || con.call::<i64>("DBSIZE") == 0);
}

#[test]
fn a_busy_key_seldom_sets_its_ttl() {
    let (_server, mut con, clock) = Server::frozen();
    let mut expiries = HashSet::new();
    for nth in 0..1_200 {
        clock.at_ms(nth * 100);
        assert_eq!(con.check("k 60 1000"), 1);
        expiries.insert(con.call::<i64>("PTTL k") + nth * 100);
    }
    // Two minutes, a slack of at least 1/16 of one each time.
    assert!(expiries.len() <= 33, "{}", expiries.len());
}

#[test]
fn del_is_the_reset() {
    let (_server, mut con, _clock) = Server::frozen();
    assert_eq!(con.check("k 60 1"), 1);
    assert_eq!(con.check("k 60 1"), 0);
    assert_eq!(con.call::<i64>("DEL k"), 1);
    assert_eq!(con.quota("k 60 1"), [1, 1, 0, 60_000, 60_000, 60_000]);
}
