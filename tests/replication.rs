//! Replicas follow by ordinary commands with absolute values: they need neither the module nor the same clock.

use crate::harness::{caught_up, Client, Clock, Server};

/// Everything that a call can do to a log, under several keys.
pub fn everything(con: &mut Client, clock: &Clock) {
    let mut receipts = Vec::new();
    assert_eq!(con.check("stepped 60 100"), 1);
    for nth in 0..200 {
        clock.advance_ms(100);
        let cost = 1 + nth % 3;
        receipts.push(con.check(&format!("log 10 1000 COST {cost} RECEIPT"))); // trims from 10 s on
        con.check("shared 5 1000 RESOLUTION 1"); // ZADD and ZREM
        con.check("two 1 5 8 20 COST 2");
        con.check("full 60 3");
    }
    for back in [1, 2, 30, 60] {
        assert!(con.refund(&format!("log {} COST 2", receipts[200 - back])) > 0);
    }
    assert!(
        con.refund(&format!("log {}", receipts[199])) + con.refund(&format!("log {}", receipts[150])) > 0
    );
    assert_eq!(con.check("stepped 60 100"), 1);
    assert_eq!(con.check("idle 1 5"), 1);
    clock.advance_ms(1_050);
    assert_eq!(con.check("idle 1 5"), 1, "all expired, the key not yet: UNLINK");
    let receipt = con.check("one 60 5 RECEIPT");
    assert_eq!(con.refund(&format!("one {receipt}")), 1);
    clock.advance_ms(-10_000);
    assert_eq!(con.check("stepped 1 100"), 1); // ZREMRANGEBYSCORE of what lies ahead
    con.check("shared 5 1000 RESOLUTION 1");
}

/// Key, log, digest, PTTL.
type Keys = Vec<(String, Vec<(String, i64)>, String, i64)>;

/// What both sides must have in common.
pub fn state(con: &mut Client) -> Keys {
    let mut keys: Vec<String> = con.call("KEYS *");
    keys.sort();
    let mut state = Vec::new();
    for key in keys {
        let digest: Vec<String> = con.call(&format!("DEBUG DIGEST-VALUE {key}"));
        let (log, pttl) = (con.log(&key), con.call(&format!("PTTL {key}")));
        state.push((key, log, digest.concat(), pttl));
    }
    state
}

/// What is held after `play` on a primary, by its replica, which lacks the module, and by its AOF at the next start.
pub fn same_everywhere(play: impl FnOnce(&mut Client, &Clock)) -> Keys {
    let clock = Clock::frozen();
    let options = "--appendonly yes --appendfsync always --aof-use-rdb-preamble no";
    let primary = Server::builder().clock(&clock).args(options).start();
    let replica = Server::builder().clock(&clock).without_module().start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    play(&mut con, &clock);
    caught_up(&mut con, &mut on_replica);
    let expected = state(&mut con);
    assert_eq!(state(&mut on_replica), expected);
    drop(replica);
    let again = primary.restart(|builder| builder);
    assert_eq!(state(&mut again.connect()), expected);
    expected
}

#[test]
fn both_sides_are_equal() {
    let clock = Clock::frozen();
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    everything(&mut con, &clock);
    caught_up(&mut con, &mut on_replica);
    let state_of_primary = state(&mut con);
    assert!(state_of_primary.len() >= 5, "{state_of_primary:?}");
    assert_eq!(state(&mut on_replica), state_of_primary);
}

#[test]
fn a_replica_needs_neither_the_module_nor_the_same_clock() {
    let (clock, ahead) = (Clock::frozen(), Clock::frozen());
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&ahead).without_module().start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    everything(&mut con, &clock);
    caught_up(&mut con, &mut on_replica);
    let mut expected = state(&mut con);
    for (.., pttl) in &mut expected {
        *pttl += (clock.now_us() - ahead.now_us()) / 1_000;
    }
    assert_eq!(state(&mut on_replica), expected);
}

#[test]
fn a_failover_keeps_the_counts() {
    let clock = Clock::frozen();
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    let mut receipt = 0;
    for _ in 0..4 {
        clock.advance_ms(1_000);
        receipt = con.check("k 60 5 RECEIPT");
    }
    caught_up(&mut con, &mut on_replica);
    drop(primary);
    on_replica.call::<()>("REPLICAOF NO ONE");
    clock.advance_ms(1_000);
    assert_eq!(on_replica.quota("k 60 5"), [1, 5, 0, 56_000, 60_000, 56_000]);
    assert_eq!(on_replica.quota("k 60 5")[0], 0);
    assert_eq!(on_replica.refund(&format!("k {receipt}")), 1);
    assert_eq!(on_replica.check("k 60 5"), 1);
}
