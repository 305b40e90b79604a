//! Another module answers events by commands, inside the call that the event is about: no hang, no crash, right answers.
//! See tests/events/subscriber.c.

use crate::harness::{subscriber, version, Client, Server};
use std::time::Duration;

/// What is called, when, and what is run then; and what the call answers.
type Case = (&'static str, &'static str, &'static str, i64);

/// `k` is the key of the call. DEL and SET of the key inside `new` are not in the table: the server publishes `new` before
/// it fills the key, and then goes on with the value that was freed. Its own ZADD crashes in the same way.
const CASES: &[Case] = &[
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "SLIDEWIN.CHECK other 1h 1000000", 1),
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "SLIDEWIN.CHECK k 1h 5", 1),
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "DEL k", 1),
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "UNLINK k", 1),
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "SET k hello", 1),
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "PEXPIRE k 5000", 1),
    ("SLIDEWIN.CHECK k 1h 5", "slidewin.admitted", "FLUSHALL", 1),
    ("SLIDEWIN.CHECK full 1h 1", "slidewin.refused", "SLIDEWIN.CHECK other 1h 1000000", 0),
    ("SLIDEWIN.CHECK full 1h 1", "slidewin.refused", "DEL full", 0),
    ("SLIDEWIN.CHECK full 1h 1", "slidewin.refused", "SET full hello", 0),
    ("SLIDEWIN.CHECK full 1h 1", "slidewin.refused", "PEXPIRE full 5000", 0),
    ("SLIDEWIN.CHECK full 1h 1", "slidewin.refused", "SLIDEWIN.REFUND full 5", 0),
    ("SLIDEWIN.REFUND two RECEIPT", "slidewin.refunded", "SLIDEWIN.CHECK other 1h 1000000", 1),
    ("SLIDEWIN.REFUND two RECEIPT", "slidewin.refunded", "DEL two", 1),
    ("SLIDEWIN.REFUND two RECEIPT", "slidewin.refunded", "SET two hello", 1),
    ("SLIDEWIN.REFUND two RECEIPT", "slidewin.refunded", "PEXPIRE two 5000", 1),
    ("SLIDEWIN.REFUND one RECEIPT", "slidewin.refunded", "SLIDEWIN.CHECK one 1h 5", 1),
    ("SLIDEWIN.CHECK gone 1h 1", "expired", "SLIDEWIN.CHECK other 1h 1000000", 1),
    ("DEL one", "del", "SLIDEWIN.CHECK other 1h 1000000", 1),
];

/// `new` is there from 7.0 on.
const NEW: &[Case] = &[
    ("SLIDEWIN.CHECK k 1h 5", "new", "SLIDEWIN.CHECK other 1h 1000000", 1),
    ("SLIDEWIN.CHECK k 1h 5", "new", "SLIDEWIN.PEEK other 1h 1000000", 1),
    ("SLIDEWIN.CHECK k 1h 5", "new", "SLIDEWIN.CHECK born 1h 1000000", 1),
    // The log has expired as a whole: the key is unlinked and begun anew.
    ("SLIDEWIN.CHECK idle 1h 5", "new", "SLIDEWIN.CHECK other 1h 1000000", 1),
];

/// Later servers, from Redis 8.2 and Valkey 8.1 on, move a value that gets an expiry: see above.
const NEW_AND_PEXPIRE: Case = ("SLIDEWIN.CHECK k 1h 5", "new", "PEXPIRE k 5000", 1);

/// `deleted` is there from 7.2 on. The other key exists: a key that is born while another is being deleted from the same
/// table may be lost, whatever creates it.
const DELETED: &[Case] = &[
    ("SLIDEWIN.CHECK idle 1h 5", "deleted", "SLIDEWIN.CHECK other 1h 1000000", 1),
    ("SLIDEWIN.REFUND one RECEIPT", "deleted", "SLIDEWIN.CHECK other 1h 1000000", 1),
];

/// Each event of ours, and those that the server publishes meanwhile, answered by each command.
pub fn each_event_answered_by_each_command() {
    let server = Server::builder().also_load(subscriber(), "").start();
    let mut con = server.connect();
    // A server that hangs fails the test.
    con.0.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let new = if version() >= (7, 0, 0) { NEW } else { &[] };
    let new_and_pexpire = Some(&NEW_AND_PEXPIRE).filter(|_| ((7, 0, 0)..(8, 0, 0)).contains(&version()));
    let deleted = if version() >= (7, 2, 0) { DELETED } else { &[] };
    for &(call, event, command, answer) in CASES.iter().chain(new).chain(new_and_pexpire).chain(deleted) {
        for _ in 0..3 {
            run(&mut con, call, event, command, answer);
        }
    }
    assert_eq!(con.info("process_id"), i64::from(server.pid()), "it is the same process");
    assert_eq!(con.info("slidewin_internal_errors"), 0);
}

fn run(con: &mut Client, call: &str, event: &str, command: &str, answer: i64) {
    let shown = format!("{call}, {event}: {command}");
    con.call::<()>("FLUSHALL");
    assert_eq!(con.check("other 1h 1000000"), 1);
    assert_eq!(con.check("full 1h 1"), 1);
    assert_eq!(con.check("two 1h 5"), 1);
    let receipt = match call.contains("two") {
        true => con.check("two 1h 5 RECEIPT"),
        false => con.check("one 1h 5 RECEIPT"),
    };
    // Expired as a log, but not as a key; and both.
    con.call::<()>("ZADD idle 1000000 5 2000000 6");
    con.keep_expired();
    con.call::<()>("SET gone hello PX 1");
    std::thread::sleep(Duration::from_millis(3));
    let key = call.split(' ').nth(1).unwrap();
    con.call::<()>(&format!("SUBSCRIBER.WHEN {event} {key} {command}"));

    assert_eq!(con.call::<i64>(&call.replace("RECEIPT", &receipt.to_string())), answer, "{shown}");
    assert_eq!(con.call::<i64>("SUBSCRIBER.RAN"), 1, "{shown}");

    // What was called and what was answered have both happened, in this order.
    let left = |con: &mut Client, key: &str| con.peek(&format!("{key} 1h 1000000"))[2];
    let (kind, pttl) = (con.call::<String>(&format!("TYPE {key}")), con.call::<i64>(&format!("PTTL {key}")));
    match command.split(' ').next().unwrap() {
        "DEL" | "UNLINK" | "FLUSHALL" => assert_eq!(kind, "none", "{shown}"),
        "SET" => assert_eq!((kind.as_str(), pttl), ("string", -1), "{shown}"),
        // What CHECK does later holds.
        "PEXPIRE" if event == "new" => assert!(pttl >= 3_600_000, "{shown}: {pttl}"),
        "PEXPIRE" => assert!((1..=5_000).contains(&pttl), "{shown}: {pttl}"),
        "SLIDEWIN.CHECK" if command.contains("other") => assert_eq!(left(con, "other"), 999_998, "{shown}"),
        "SLIDEWIN.CHECK" if command.contains("born") => assert_eq!(left(con, "born"), 999_999, "{shown}"),
        _ => {}
    }
    if call.starts_with("SLIDEWIN.CHECK") && command.contains("SLIDEWIN.CHECK") {
        let again = i64::from(command.contains(" k "));
        assert_eq!(left(con, key), 999_999 - again, "{shown}");
    }
}

#[test]
fn each_event_is_answered_by_each_command() {
    each_event_answered_by_each_command();
}
