//! PEEK spends nothing, writes nothing, and runs where writing is not allowed.

use crate::harness::{caught_up, Server};

#[test]
fn a_thousand_looks_leave_no_trace() {
    let clock = crate::harness::Clock::frozen();
    let primary = Server::builder().clock(&clock).args("--repl-ping-replica-period 3600").start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    for _ in 0..3 {
        assert_eq!(con.check("k 60 5"), 1);
    }
    caught_up(&mut con, &mut on_replica);
    let state = |con: &mut crate::harness::Client| {
        let numbers = ["rdb_changes_since_last_save", "master_repl_offset"].map(|field| con.info(field));
        (numbers, con.call::<i64>("PTTL k"), con.log("k"))
    };
    let before = state(&mut con);
    assert_eq!(con.times(1_000, "SLIDEWIN.PEEK k 60 5"), 1_000);
    assert_eq!(con.times(1_000, "SLIDEWIN.PEEK k 60 5 COST 3"), 0);
    assert_eq!(con.times(1_000, "SLIDEWIN.PEEK missing 60 5"), 1_000);
    assert_eq!(state(&mut con), before);
    assert_eq!(con.call::<i64>("EXISTS missing"), 0);
    assert_eq!(con.quota("k 60 5")[..3], [1, 5, 1], "and no unit was spent");
    assert!(state(&mut con) > before, "an admission moves these numbers");
}

#[test]
fn a_replica_answers_it_and_refuses_the_others() {
    let clock = crate::harness::Clock::frozen();
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    for _ in 0..3 {
        clock.advance_ms(100);
        assert_eq!(con.check("k 60 5"), 1);
    }
    caught_up(&mut con, &mut on_replica);
    for line in ["k 60 5", "k 60 5 COST 3", "k 60 3 1 5", "missing 60 5"] {
        assert_eq!(on_replica.peek(line), con.peek(line), "{line}");
    }
    assert_eq!(on_replica.peek("k 60 5"), [1, 5, 2, 0, 60_000, 59_800]);
    for command in ["CHECK k 60 5", "CHECK k 60 1", "REFUND k 5"] {
        let error = on_replica.error(&format!("SLIDEWIN.{command}"));
        assert!(error.starts_with("READONLY "), "{command}: {error}");
    }
}

#[test]
fn it_answers_without_quota_what_check_would() {
    let (_server, mut con, clock) = Server::frozen();
    for nth in 0..200 {
        clock.advance_ms(nth * 7 % 400);
        for arguments in ["k 1 3", "k 1 3 COST 2", "k 1 3 60 20", "k 1 0"] {
            let looked: i64 = con.call(&format!("SLIDEWIN.PEEK {arguments}"));
            assert_eq!(looked, con.peek(arguments)[0]);
            assert_eq!(looked, con.check(arguments), "{arguments}");
        }
    }
}
