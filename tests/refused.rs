//! A refused call changes nothing: no write, no trim, no TTL, no replication, no AOF, no WATCH abort, no
//! invalidation of client caches. Each test also shows that an admitted call does.

use crate::harness::{caught_up, Client, Clock, Server};
use redis::Value;
use std::path::Path;
use std::time::Duration;

const REFUSED: &[&str] = &[
    "CHECK k 10 5",
    "CHECK k 10 5 WITHQUOTA",
    "CHECK k 10 5 COST 1000",
    "CHECK k 10 5 RECEIPT",
    "CHECK k 10 5 RESOLUTION 1",
    "CHECK k 10 1000 3650d 5",
    "CHECK k 10 0",
    "CHECK missing 10 0",
    "CHECK missing 10 5 COST 6",
    "CHECK other 10 5",
    "CHECK k 0 5",
    "RESERVE k 0 10 5",
    "RESERVE k 7.899 10 5",
    "RESERVE missing 10 10 0",
    "RESERVE other 10 10 5",
    "REFUND k 1",
    "REFUND missing 1",
    "PEEK k 10 5",
];

/// A log with three expired entries, which nobody trims while nobody is admitted, and seven live ones.
fn fill(con: &mut Client, clock: &Clock) {
    con.call::<()>("SET other value");
    for at_ms in [0, 500, 1_000] {
        clock.at_ms(at_ms);
        assert_eq!(con.check("k 10 5"), 1);
    }
    for at_ms in [9_000, 9_100, 9_200, 9_300, 9_400, 9_500, 9_600] {
        clock.at_ms(at_ms);
        assert_eq!(con.check("k 10 5 FORCE"), 1);
    }
    clock.at_ms(11_100);
    assert_eq!(con.call::<i64>("ZCARD k"), 10);
}

fn call_all(con: &mut Client) {
    for command in REFUSED {
        let line = format!("SLIDEWIN.{command}");
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        if let Ok(Value::Int(admitted)) = con.raw(&words) {
            assert_eq!(admitted, 0, "{command}");
        }
    }
}

fn bytes_below(dir: &Path) -> u64 {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let is_aof = path.extension().is_some_and(|extension| extension == "aof");
            if path.is_dir() {
                bytes_below(&path)
            } else {
                if is_aof {
                    path.metadata().unwrap().len()
                } else {
                    0
                }
            }
        })
        .sum()
}

#[test]
fn nothing_is_written_replicated_or_moved() {
    let clock = Clock::frozen();
    let primary = Server::builder()
        .clock(&clock)
        .args("--repl-ping-replica-period 3600 --appendonly yes --appendfsync always")
        .start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let (mut con, mut on_replica) = (primary.connect(), replica.connect());
    fill(&mut con, &clock);
    caught_up(&mut con, &mut on_replica);
    let state = |con: &mut Client| {
        let numbers = ["master_repl_offset", "rdb_changes_since_last_save", "aof_current_size"];
        let numbers = numbers.map(|field| con.info(field));
        let keys: Vec<i64> = vec![con.call("PTTL k"), con.call("PTTL other"), con.call("DBSIZE")];
        (numbers, bytes_below(primary.dir()), keys, con.log("k"), con.call::<String>("GET other"))
    };
    let before = state(&mut con);
    assert!(before.0[2] > 0 && before.1 > 0, "there is an AOF: {before:?}");
    for _ in 0..100 {
        call_all(&mut con);
    }
    assert_eq!(state(&mut con), before);

    assert_eq!(con.check("k 10 50"), 1);
    let after = state(&mut con);
    for (before, after) in before.0.iter().zip(after.0) {
        assert!(after > *before, "an admission moves them all: {after:?}");
    }
    assert!(after.1 > before.1);
    assert_eq!(after.3.len(), 8, "three were trimmed, one was added");
}

#[test]
fn a_watching_transaction_is_not_aborted() {
    let (server, mut con, clock) = Server::frozen();
    fill(&mut con, &clock);
    let mut watcher = server.connect();
    let mut is_aborted = |call: &mut dyn FnMut()| {
        watcher.call::<()>("WATCH k other missing");
        call();
        watcher.call::<()>("MULTI");
        watcher.call::<()>("PING");
        watcher.call::<Value>("EXEC") == Value::Nil
    };
    assert!(!is_aborted(&mut || call_all(&mut con)));
    assert!(is_aborted(&mut || assert_eq!(con.check("k 10 50"), 1)));
    assert!(is_aborted(&mut || assert_eq!(con.check("k 10 5 FORCE RESOLUTION 1"), 1)));
    let receipt = con.check("k 10 50 RECEIPT");
    assert!(is_aborted(&mut || assert_eq!(con.refund(&format!("k {receipt}")), 1)));
    assert!(!is_aborted(&mut || assert_eq!(con.refund(&format!("k {receipt}")), 0)));
}

#[test]
fn client_caches_are_not_invalidated() {
    let (server, mut con, clock) = Server::frozen();
    fill(&mut con, &clock);
    let (mut caching, mut listener) = (server.connect(), server.connect());
    listener.0.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let id: i64 = listener.call("CLIENT ID");
    let mut listener = listener.0.as_pubsub();
    listener.subscribe("__redis__:invalidate").unwrap();
    caching.call::<()>(&format!("CLIENT TRACKING ON REDIRECT {id}"));
    let mut next_after = |call: &mut dyn FnMut()| {
        caching.call::<i64>("ZCARD k");
        caching.call::<String>("GET other");
        call();
        listener.get_message().unwrap().get_payload::<Vec<String>>().unwrap()
    };
    let after_refusals = next_after(&mut || {
        call_all(&mut con);
        con.call::<()>("SET other changed");
    });
    assert_eq!(after_refusals, ["other"], "the first message is of what was written");
    assert_eq!(next_after(&mut || assert_eq!(con.check("k 10 50"), 1)), ["k"]);
}
