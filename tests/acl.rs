//! Registration: arity, flags and keys of the commands, and what follows from them for ACL and a full server.

use crate::harness::{version, Server};
use redis::Value;

#[test]
fn arity_flags_and_key_positions() {
    let (_server, mut con) = Server::start();
    let table: &[(&str, i64, &[&str], &[&str])] = &[
        ("slidewin.check", -4, &["write", "denyoom", "fast", "module"], &["readonly"]),
        ("slidewin.peek", -4, &["readonly", "fast", "module"], &["write", "denyoom"]),
        ("slidewin.refund", -3, &["write", "module"], &["readonly", "denyoom", "fast"]),
    ];
    for &(name, arity, flags, not_flags) in table {
        let info: Vec<Vec<Value>> = con.call(&format!("COMMAND INFO {name}"));
        let [_, got_arity, got_flags, first, last, step, ..] = &info[0][..] else { panic!("{info:?}") };
        let numbers = [got_arity, first, last, step].map(|number| match number {
            Value::Int(number) => *number,
            other => panic!("{other:?}"),
        });
        assert_eq!(numbers, [arity, 1, 1, 1], "{name}");
        let got_flags: Vec<String> = redis::from_redis_value_ref(got_flags).unwrap();
        for flag in flags {
            assert!(got_flags.contains(&flag.to_string()), "{name} has {got_flags:?}");
        }
        for flag in not_flags {
            assert!(!got_flags.contains(&flag.to_string()), "{name} has {got_flags:?}");
        }
    }
    let keys: Vec<String> = con.call("COMMAND GETKEYS SLIDEWIN.CHECK the-key 60 5 1 1 COST 2");
    assert_eq!(keys, ["the-key"]);
}

/// Calls as a user with these rules: the errors of CHECK, PEEK and REFUND, or None where it may.
fn allowed(rules: &str) -> [bool; 3] {
    let (server, mut con) = Server::start();
    con.call::<()>(&format!("ACL SETUSER limited on nopass {rules}"));
    let mut limited = server.connect();
    limited.call::<()>("AUTH limited any");
    ["CHECK k 60 5", "PEEK k 60 5", "REFUND k 5"].map(|command| {
        let words = format!("SLIDEWIN.{command}");
        let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
        match limited.raw(&words) {
            Ok(_) => true,
            Err(error) => {
                assert!(error.starts_with("NOPERM "), "{rules}, {command}: {error}");
                false
            }
        }
    })
}

#[test]
fn a_user_needs_no_scripting_rights() {
    assert_eq!(allowed("~* +slidewin.check -@scripting"), [true, false, false]);
    assert_eq!(allowed("~* +slidewin.peek"), [false, true, false]);
    assert_eq!(allowed("~other* +@all"), [false, false, false]);
}

#[test]
fn categories_are_those_of_a_sorted_set() {
    if version() < (7, 2, 0) {
        // These servers give a module's command no category. What they have instead: all, and each by name.
        assert_eq!(allowed("~* +@all -slidewin.check"), [false, true, true]);
        return;
    }
    assert_eq!(allowed("~* +@read"), [false, true, false]);
    assert_eq!(allowed("~* +@write"), [true, false, true]);
    assert_eq!(allowed("~* +@sortedset"), [true, true, true]);
    assert_eq!(allowed("~* +@fast"), [true, true, false]);
    assert_eq!(allowed("~* +@all -@fast"), [false, false, true]);
}

#[test]
fn the_right_to_read_a_key_allows_peek_alone() {
    if version() < (7, 0, 0) {
        // No rights of their own for reading and writing: a key is allowed or not.
        assert_eq!(allowed("~k +@all"), [true, true, true]);
        return;
    }
    assert_eq!(allowed("%R~k +@all"), [false, true, false]);
    assert_eq!(allowed("%W~k +@all"), [false, false, false], "what is written tells what was there");
    assert_eq!(allowed("%RW~k +@all"), [true, true, true]);
}

#[test]
fn a_full_server_refuses_what_takes_memory_and_nothing_else() {
    let (_server, mut con) = Server::start();
    let receipt = con.check("k 60 5 RECEIPT");
    con.call::<()>("CONFIG SET maxmemory 1");
    let error = con.error("SLIDEWIN.CHECK k 60 5");
    assert!(error.starts_with("OOM "), "{error}");
    assert_eq!(con.call::<i64>("SLIDEWIN.PEEK k 60 5"), 1);
    assert_eq!(con.refund(&format!("k {receipt}")), 1);
}
