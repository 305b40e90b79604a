//! The primary is lost: the replica that takes over refuses what the primary would have refused.

use crate::harness::{sized, Clock, Server};
use rand::{rngs::SmallRng, RngExt, SeedableRng};

#[test]
fn what_was_waited_for_counts_on_the_promoted_replica() {
    let clock = Clock::frozen();
    let mut primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    let mut random = SmallRng::seed_from_u64(4);
    let calls: Vec<String> = (0..40)
        .map(|key| {
            let windows = ["10 5", "10 20 60 60", "1 3", "60 40 1h 70", "24h 50"][key % 5];
            let options = ["", " COST 3", " RESOLUTION 0.5", " COST 7"][key % 4];
            format!("k{key} {windows}{options}")
        })
        .collect();
    for _ in 0..sized(2_000, 20_000) {
        clock.advance_ms(random.random_range(0..20));
        con.call::<redis::Value>(&format!("SLIDEWIN.CHECK {}", calls[random.random_range(0..calls.len())]));
    }
    assert_eq!(con.call::<i64>("WAIT 1 20000"), 1);
    for command in ["CHECK k0 10 5", "CHECK k0 10 0", "REFUND k0 5"] {
        let error = on_replica.error(&format!("SLIDEWIN.{command}"));
        assert!(error.starts_with("READONLY "), "{error}");
    }
    let peeks: Vec<String> =
        calls.iter().map(|call| call.split(" RESOLUTION").next().unwrap().to_owned()).collect();
    let would: Vec<_> = peeks.iter().map(|peek| con.peek(peek)).collect();
    primary.kill();
    on_replica.call::<()>("REPLICAOF NO ONE");
    let refused = would.iter().filter(|answer| answer[0] == 0).count();
    assert!((5..=35).contains(&refused), "of both kinds: {would:?}");
    for (peek, would) in peeks.iter().zip(&would) {
        assert_eq!(on_replica.peek(peek), *would, "{peek}");
        assert_eq!(on_replica.check(peek), would[0], "{peek}");
    }
}

#[test]
fn a_host_whose_clock_is_behind_counts_at_most_the_difference_too_long() {
    for behind_ms in [50, 5_000, 3_600_000] {
        let (clock, other) = (Clock::frozen(), Clock::frozen());
        other.advance_ms(-behind_ms);
        let primary = Server::builder().clock(&clock).start();
        let replica = Server::builder().clock(&other).start_replica_of(&primary);
        let (mut con, mut on_replica) = (primary.connect(), replica.connect());
        for _ in 0..5 {
            clock.advance_ms(1_000);
            other.advance_ms(1_000);
            assert_eq!(con.check("k 10 5"), 1);
        }
        assert_eq!(con.call::<i64>("WAIT 1 20000"), 1);
        drop(primary);
        on_replica.call::<()>("REPLICAOF NO ONE");
        let answer = on_replica.quota("k 10 5");
        assert_eq!(answer[..3], [0, 5, 0], "{behind_ms} ms behind: {answer:?}");
        // The first unit is 4 s old: 6 s, and the difference.
        let retry_ms = answer[3];
        assert!((6_000..=10_000).contains(&retry_ms), "{behind_ms} ms behind: {answer:?}");
        assert!(retry_ms <= 6_000 + behind_ms, "{behind_ms} ms behind: {answer:?}");
        other.advance_ms(retry_ms - 2);
        assert_eq!(on_replica.check("k 10 5"), 0, "{behind_ms} ms behind, 2 ms too soon");
        other.advance_ms(2);
        assert_eq!(on_replica.check("k 10 5"), 1, "{behind_ms} ms behind, after the wait");
        let pttl: i64 = on_replica.call("PTTL k");
        assert!((10_000..=11_252).contains(&pttl), "{behind_ms} ms behind: PTTL {pttl}");
    }
}

#[test]
fn to_a_host_whose_clock_is_ahead_units_are_older() {
    let (clock, other) = (Clock::frozen(), Clock::frozen());
    other.advance_ms(3_000);
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&other).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    assert_eq!(con.check("k 10 2"), 1);
    for clock in [&clock, &other] {
        clock.advance_ms(5_000);
    }
    assert_eq!(con.check("k 10 2"), 1);
    assert_eq!(con.call::<i64>("WAIT 1 20000"), 1);
    drop(primary);
    on_replica.call::<()>("REPLICAOF NO ONE");
    // 8 s old by its clock, and 3 s.
    assert_eq!(on_replica.quota("k 10 2"), [0, 2, 0, 2_000, 7_000, 2_000]);
    other.advance_ms(2_000);
    assert_eq!(on_replica.quota("k 10 2"), [1, 2, 0, 5_000, 10_000, 5_000]);
}
