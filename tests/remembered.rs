//! The module remembers which entry left no room for a call. Whatever happens to that entry, the next answer is exact.

use crate::harness::{packed, Client, Clock, Server};
use crate::module_life::builder;
use redis::ConnectionLike;

/// Thirty admissions, the oldest of them in a bundle, and two refusals: the second one by what the first has found.
fn fill(con: &mut Client, clock: &Clock) {
    for nth in 0..30 {
        clock.at_ms(nth);
        assert_eq!(con.check("k 10 30"), 1);
    }
    assert_eq!([con.check("k 10 30"), con.check("k 10 30")], [0, 0]);
}

#[test]
fn an_entry_that_is_gone_or_was_changed_is_not_believed() {
    let changes: [(&str, &[&str]); 9] = [
        ("it is removed", &["ZREMRANGEBYRANK k 0 0"]),
        ("the key is removed", &["DEL k"]),
        ("all keys are", &["FLUSHALL"]),
        ("the key has expired", &["PEXPIREAT k 1"]),
        ("another log takes its place", &["SLIDEWIN.CHECK other 10 30", "RENAME other k"]),
        ("it comes back without it", &["RENAME k gone", "SLIDEWIN.CHECK k 10 30 COST 29"]),
        ("it is refunded", &["SLIDEWIN.REFUND k OLDEST"]),
        ("it is moved out of the window", &["ZADD k XX 1 MEMBER"]),
        ("it is moved, and is the only one of the window", &["ZREMRANGEBYRANK k 1 -1", "ZADD k XX 1 MEMBER"]),
    ];
    for (what, commands) in changes {
        let (_server, mut con, clock) = Server::frozen();
        clock.at_ms(0);
        let oldest_us = clock.now_us();
        fill(&mut con, &clock);
        let (member, _) = con.log("k")[0].clone();
        assert!(member.contains(';'), "a bundle: {member}");
        for command in commands {
            let command = command.replace("MEMBER", &member).replace("OLDEST", &oldest_us.to_string());
            con.call::<redis::Value>(&command);
        }
        // The array is found without what is remembered.
        assert_eq!(con.peek("k 10 30")[0], 1, "{what}");
        assert_eq!(con.check("k 10 30"), 1, "{what}");
    }
}

#[test]
fn it_leaves_at_its_time_and_others_are_asked_by_their_own_windows() {
    let (_server, mut con, clock) = Server::frozen();
    fill(&mut con, &clock);
    assert_eq!([con.check("k 10 31"), con.check("k 10 31")], [1, 0]);
    clock.at_ms(10_000);
    clock.advance_us(-1);
    assert_eq!([con.check("k 10 31"), con.check("k 9.99 31"), con.check("k 10 32 COST 12")], [0, 1, 0]);
    clock.at_ms(10_000);
    assert_eq!([con.check("k 10 32"), con.check("k 10 32")], [1, 0]);
    clock.at_ms(10_001);
    assert_eq!([con.check("k 10 32"), con.check("k 10 32")], [1, 0]);
}

#[test]
fn keys_that_share_a_place_do_not_answer_for_each_other_and_an_unload_frees_what_is_kept() {
    const PLACES: i64 = 4_096;
    const KEYS: usize = 20_000;
    let server = builder().start();
    let mut con = server.connect();
    let mut all = |line: &str| -> Vec<i64> {
        let commands: Vec<u8> =
            (0..KEYS).flat_map(|nth| packed(&line.replace("KEY", &format!("key:{nth}")))).collect();
        let replies = con.0.req_packed_commands(&commands, 0, KEYS).unwrap();
        replies.into_iter().map(|reply| redis::from_redis_value(reply).unwrap()).collect()
    };
    let mut used_memory = server.connect();
    let mut used = Vec::new();
    for admitted in [1, 1, 0, 0, 0] {
        assert_eq!(all("SLIDEWIN.CHECK KEY 1h 2"), [admitted; KEYS]);
        used.push(used_memory.info("used_memory"));
    }
    let grown = used[4] - used[2];
    assert!(grown < PLACES * 32, "what takes another's place frees it: {grown} bytes");
    assert_eq!(all("SLIDEWIN.CHECK KEY 1h 3"), [1; KEYS]);
    con.call::<()>("SLIDEWIN.OFFENDERS RESET");
    let loaded = con.info("used_memory");
    con.call::<()>("MODULE UNLOAD slidewin");
    let freed = loaded - con.info("used_memory");
    println!("freed: {freed} bytes");
    assert!((PLACES * 32..PLACES * 100).contains(&freed), "{freed} bytes");
}
