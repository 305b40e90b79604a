//! A long life: calls of every kind while the clock jumps, memory runs short and replicas are killed.

use crate::digests::Caller;
use crate::harness::{caught_up, sized, wait_until, Clock, Server};
use crate::replication::state;

/// What one connection sends at a time.
const BATCH: usize = 500;

#[test]
fn clock_jumps_evictions_and_killed_replicas_leave_both_sides_equal() {
    let clock = Clock::frozen();
    let builder = || Server::builder().clock(&clock);
    let primary = builder().args("--maxmemory-policy allkeys-random --repl-backlog-size 64kb").start();
    let mut con = primary.connect();
    let mut caller = Caller::new(11);
    let calls = sized(20_000, 2_000_000);
    let mut replica = builder().start_replica_of(&primary);
    let mut evicted = 0;
    for batch in 0..calls / BATCH {
        for _ in 0..BATCH {
            caller.call(&mut con, &clock);
        }
        match batch % 20 {
            // Memory runs short: keys are evicted, here and on the replica.
            5 => {
                let before = con.info("evicted_keys");
                con.call::<()>("CONFIG SET maxmemory 1");
                wait_until("keys are evicted", || {
                    con.info("evicted_keys") > before + 3 || con.call::<i64>("DBSIZE") == 0
                });
                con.call::<()>("CONFIG SET maxmemory 0");
                evicted += con.info("evicted_keys") - before;
            }
            10 => {
                replica.kill();
                replica = builder().start_replica_of(&primary);
            }
            15 => {
                let mut on_replica = replica.connect();
                caught_up(&mut con, &mut on_replica);
                assert_eq!(state(&mut on_replica), state(&mut con), "after {} calls", (batch + 1) * BATCH);
            }
            _ => {}
        }
    }
    let mut on_replica = replica.connect();
    caught_up(&mut con, &mut on_replica);
    let ours = state(&mut con);
    assert!(ours.len() > 3 && evicted > 0, "{evicted} evicted, left are {ours:?}");
    assert_eq!(state(&mut on_replica), ours);
    // Keys that have expired are in the digest until the primary has looked at them.
    wait_until("the digests are equal", || {
        con.call::<String>("DEBUG DIGEST") == on_replica.call::<String>("DEBUG DIGEST")
    });
    assert_eq!(con.info("slidewin_internal_errors"), 0);
    for counter in ["refunds", "clock_step_backs", "entries_trimmed", "logs_restarted", "checks_refused"] {
        assert!(con.info(&format!("slidewin_{counter}")) > 0, "{counter}");
    }
}
