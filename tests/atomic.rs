//! One command, one decision: under concurrency, in transactions and in scripts.

use crate::harness::Server;
use redis::Value;
use std::sync::Barrier;

#[test]
fn two_hundred_connections_get_five_thousand_units_and_no_more() {
    let (server, mut con) = Server::start();
    let start = Barrier::new(200);
    let mut receipts: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..200)
            .map(|_| {
                scope.spawn(|| {
                    let mut con = server.connect();
                    start.wait();
                    (0..100).map(|_| con.check("k 1h 5000 RECEIPT")).collect::<Vec<i64>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    receipts.retain(|receipt| *receipt > 0);
    receipts.sort_unstable();
    assert_eq!(receipts.len(), 5_000);
    assert_eq!(con.times_us("k"), receipts);
    assert_eq!(con.peek("k 1h 5000")[..3], [0, 5_000, 0]);
}

#[test]
fn many_windows_and_costs_at_once_never_pass_a_limit() {
    let (server, mut con) = Server::start();
    let units: i64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=20)
            .map(|nth| {
                let server = &server;
                scope.spawn(move || {
                    let (mut con, cost) = (server.connect(), nth % 7 + 1);
                    let call = format!("k 1h 1000 2h 900 COST {cost}");
                    (0..100).map(|_| con.check(&call) * cost).sum::<i64>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // Somebody always asked for 1: all of the smaller limit is used.
    assert_eq!(units, 900);
    assert_eq!(con.peek("k 2h 900")[2], 0);
    assert_eq!(con.peek("k 1h 1000")[2], 100);
}

#[test]
fn a_transaction_counts_call_by_call() {
    let (_server, mut con, _clock) = Server::frozen();
    con.call::<()>("MULTI");
    for _ in 0..3 {
        assert_eq!(con.call::<String>("SLIDEWIN.CHECK k 60 2"), "QUEUED");
    }
    assert_eq!(con.call::<String>("SLIDEWIN.PEEK k 60 2"), "QUEUED");
    assert_eq!(con.call::<Vec<i64>>("EXEC"), [1, 1, 0, 0]);
}

#[test]
fn a_script_can_call_it_and_needs_nothing_else() {
    let (_server, mut con, _clock) = Server::frozen();
    let script: &[u8] = b"local q = redis.call('SLIDEWIN.CHECK', KEYS[1], 60, 2, 'WITHQUOTA')
        local failed = redis.pcall('SLIDEWIN.CHECK', KEYS[1], 0, 2)
        return {q[1], q[3], failed['err'], redis.call('SLIDEWIN.PEEK', KEYS[1], 60, 2)}";
    let mut run = || con.raw(&[b"EVAL", script, b"1", b"k"]).unwrap();
    for (admitted, remaining, peeked) in [(1, 1, 1), (1, 0, 0), (0, 0, 0)] {
        let Value::Array(reply) = run() else { panic!() };
        assert_eq!(
            [&reply[0], &reply[1], &reply[3]],
            [admitted, remaining, peeked].map(Value::Int).each_ref()
        );
        let Value::BulkString(error) = &reply[2] else { panic!("{reply:?}") };
        assert!(String::from_utf8_lossy(error).contains("window must be a duration"), "{reply:?}");
    }
}

#[test]
fn it_is_there_after_a_restart_without_any_loading_of_scripts() {
    let (server, mut con) = Server::start();
    assert_eq!(con.check("k 60 1"), 1);
    let server = server.restart(|builder| builder);
    assert_eq!(
        server.connect().check("k 60 1"),
        1,
        "nothing was persisted: the first command of a new server"
    );
}
