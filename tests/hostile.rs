//! Hostile bytes anywhere: a reply or an error, and the server lives.

use crate::harness::{Client, Server};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;

fn assert_alive(server: &Server, con: &mut Client) {
    assert_eq!(con.call::<String>("PING"), "PONG");
    let mut fresh = server.connect();
    assert_eq!(fresh.info("process_id"), i64::from(server.pid()), "it is the same process");
}

#[test]
fn any_bytes_are_a_key() {
    let (server, mut con) = Server::start();
    let megabyte = vec![b'k'; 1 << 20];
    let keys: &[&[u8]] = &[
        b"",
        b"\0",
        b"a\0b",
        b"\xff\xfe",
        b"\r\n",
        b"*3\r\n$3\r\nDEL",
        b"{",
        b"%s%n",
        "\u{1f600}".as_bytes(),
        &megabyte,
    ];
    for key in keys {
        let mut call = |words: &[&[u8]]| con.raw(words).unwrap();
        assert_eq!(call(&[b"SLIDEWIN.CHECK", key, b"60", b"1"]), redis::Value::Int(1));
        assert_eq!(call(&[b"SLIDEWIN.CHECK", key, b"60", b"1"]), redis::Value::Int(0));
        assert_eq!(call(&[b"SLIDEWIN.PEEK", key, b"60", b"1"]), redis::Value::Int(0));
        assert_eq!(call(&[b"SLIDEWIN.REFUND", key, b"1"]), redis::Value::Int(0));
        assert_eq!(call(&[b"ZCARD", key]), redis::Value::Int(1));
        let log = call(&[b"SLIDEWIN.LOG", key]);
        assert!(matches!(&log, redis::Value::Array(listed) if listed.len() == 1), "{log:?}");
    }
    assert_alive(&server, &mut con);
}

#[test]
fn any_bytes_in_any_place_are_an_answer_or_one_line_of_error() {
    let (server, mut con) = Server::start();
    let megabyte_of_digits = vec![b'9'; 1 << 20];
    let megabyte_of_letters = vec![b'C'; 1 << 20];
    let hostile: &[&[u8]] = &[
        b"",
        b"\0",
        b"6\0",
        b"60\0",
        b"\xff\xfe\xfd",
        b"\r\n-ERR x",
        b"COST",
        b"RESOLUTION",
        b"-9223372036854775808",
        b"\xe2\x88\x9e",
        b"0",
        b"WITHQUOTA\0",
        b"CO\xffST",
        &megabyte_of_digits,
        &megabyte_of_letters,
    ];
    let commands: &[&[&[u8]]] = &[
        &[
            b"SLIDEWIN.CHECK",
            b"k",
            b"60",
            b"5",
            b"1",
            b"2",
            b"COST",
            b"1",
            b"RESOLUTION",
            b"1ms",
            b"FORCE",
            b"WITHQUOTA",
        ],
        &[b"SLIDEWIN.CHECK", b"k", b"60", b"5", b"RECEIPT"],
        &[b"SLIDEWIN.CHECK", b"k", b"60", b"5", b"ID", b"a"],
        &[
            b"SLIDEWIN.MCHECK",
            b"2",
            b"k",
            b"60",
            b"5",
            b"l",
            b"1",
            b"9",
            b"COST",
            b"2",
            b"ID",
            b"a",
            b"FORCE",
        ],
        &[b"SLIDEWIN.PEEK", b"k", b"60", b"5", b"COST", b"1", b"WITHQUOTA"],
        &[b"SLIDEWIN.REFUND", b"k", b"5", b"COST", b"1"],
        &[b"SLIDEWIN.LOG", b"k", b"COUNT", b"5"],
        &[b"SLIDEWIN.RESERVE", b"k", b"1", b"60", b"5", b"1s", b"2", b"COST", b"1", b"ID", b"a"],
    ];
    for command in commands {
        for place in 1..command.len() {
            for bytes in hostile {
                let (mut replaced, mut inserted) = (command.to_vec(), command.to_vec());
                replaced[place] = bytes;
                inserted.insert(place, bytes);
                for words in [&replaced, &inserted, &command[..place].to_vec()] {
                    if let Err(error) = con.raw(words) {
                        assert!(error.starts_with("ERR "), "{error:?}");
                        assert!(error.len() < 200 && !error.contains(['\r', '\n']), "{error:?}");
                    }
                }
            }
        }
    }
    let thousand = vec![b"1" as &[u8]; 1_000];
    for command in ["SLIDEWIN.CHECK", "SLIDEWIN.PEEK", "SLIDEWIN.RESERVE", "SLIDEWIN.REFUND", "SLIDEWIN.LOG"]
    {
        assert!(con.raw(&[&[command.as_bytes()], &thousand[..]].concat()).is_err());
    }
    assert_alive(&server, &mut con);
}

#[test]
fn random_words_and_random_contents() {
    let (server, con) = Server::start();
    let con = RefCell::new(con);
    let word = prop_oneof![
        3 => prop::sample::select(vec![
            "60", "1", "1ms", "24h", "0.5", "0", "5", "9007199254740991", "COST", "RESOLUTION", "FORCE", "RECEIPT",
            "WITHQUOTA", "cost", "-1", "3650d", "COUNT",
        ]).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => "[0-9.:~a-z+-]{0,20}".prop_map(String::into_bytes),
    ];
    let member = prop_oneof![
        "[0-9]{1,20}",
        "[0-9]{1,20}[:~][0-9]{1,20}",
        "[0-9]{1,20}([:~][0-9]{1,20})?>[0-9]{1,20}",
        "[0-9]{1,20}:[2-9];[0-o]{1,30}",
        "[0-9]{1,20}:3;([0-o]{2}){1,10}",
        ".{0,10}"
    ];
    let score = prop_oneof![any::<f64>().prop_filter("no NaN", |score| !score.is_nan()), -3e8..3e8_f64];
    let case = (
        prop::sample::select(vec![
            "SLIDEWIN.CHECK",
            "SLIDEWIN.PEEK",
            "SLIDEWIN.RESERVE",
            "SLIDEWIN.REFUND",
            "SLIDEWIN.LOG",
        ]),
        prop::collection::vec(word, 0..10),
        prop::collection::vec((score, member), 0..6),
    );
    let mut runner = TestRunner::new(Config { cases: 2_000, failure_persistence: None, ..Config::default() });
    let result = runner.run(&case, |(command, words, members)| {
        let con = &mut *con.borrow_mut();
        con.call::<i64>("DEL k");
        let now: (i64, i64) = con.call("TIME");
        for (score, member) in &members {
            // A small one lies that many µs from now.
            let score = if score.abs() < 3e8 { now.0 as f64 * 1e6 + score } else { *score };
            con.raw(&[b"ZADD", b"k", score.to_string().as_bytes(), member.as_bytes()]).unwrap();
        }
        let mut line: Vec<&[u8]> = vec![command.as_bytes(), b"k"];
        line.extend(words.iter().map(Vec::as_slice));
        if let Err(error) = con.raw(&line) {
            prop_assert!(error.starts_with("ERR ") && !error.contains("internal error"), "{error}");
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert_alive(&server, &mut con.borrow_mut());
}
