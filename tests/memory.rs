//! Memory: what happens when there is none, that it comes back, and that nothing leaks.

use crate::harness::{packed, sized, wait_until, Client, Server};
use redis::ConnectionLike;
use std::time::{Duration, Instant};

/// Runs `count` commands, pipelined by thousands: how many of the replies were integers.
pub fn run(con: &mut Client, count: usize, mut line: impl FnMut(usize) -> String) -> usize {
    let mut answered = 0;
    for from in (0..count).step_by(1_000) {
        let here = 1_000.min(count - from);
        let bytes: Vec<u8> = (from..from + here).flat_map(|nth| packed(&line(nth))).collect();
        let replies = con.0.req_packed_commands(&bytes, 0, here).unwrap();
        answered += replies.iter().filter(|reply| matches!(reply, redis::Value::Int(_))).count();
    }
    answered
}

/// The nth of calls of every kind, on ten keys.
pub fn mixed(nth: usize) -> String {
    let key = nth % 10;
    match nth / 10 % 8 {
        0 => format!("SLIDEWIN.CHECK k{key} 20ms 1000000 COST {}", nth % 3 + 1),
        1 => format!("SLIDEWIN.CHECK k{key} 20ms 5 1 40"),
        2 => format!("SLIDEWIN.CHECK k{key} 10ms 100000 RESOLUTION 5ms"),
        3 => format!("SLIDEWIN.PEEK k{key} 20ms 5 1 4 1h 9 COST 2"),
        4 => format!("SLIDEWIN.REFUND k{key} {}", nth + 1),
        5 => format!("SLIDEWIN.CHECK k{key} 1ms 1 FORCE"),
        6 => format!("SLIDEWIN.CHECK k{key} 20ms nonsense"),
        _ => format!("SLIDEWIN.CHECK k{key} 60 0 RECEIPT"),
    }
}

/// `used_memory` when it no longer falls.
fn settled(con: &mut Client) -> i64 {
    let mut least = con.info("used_memory");
    let mut since = Instant::now();
    while since.elapsed() < Duration::from_millis(400) {
        std::thread::sleep(Duration::from_millis(20));
        let used = con.info("used_memory");
        if used < least {
            (least, since) = (used, Instant::now());
        }
    }
    least
}

#[test]
fn without_memory_check_is_an_error_that_changes_nothing_and_peek_works() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..3 {
        clock.advance_ms(100);
        assert_eq!(con.check("k 60 5"), 1);
    }
    clock.advance_ms(100);
    let receipt = con.check("k 60 5 RECEIPT");
    let before = (con.log("k"), con.call::<i64>("PTTL k"), con.info("rdb_changes_since_last_save"));
    con.call::<()>("CONFIG SET maxmemory-policy noeviction");
    con.call::<()>("CONFIG SET maxmemory 1");
    for call in ["k 60 5", "k 60 5 FORCE WITHQUOTA", "k 60 0", "missing 60 5", "k 60 5 RESOLUTION 1"] {
        let error = con.error(&format!("SLIDEWIN.CHECK {call}"));
        assert!(error.starts_with("OOM command not allowed"), "{call}: {error}");
    }
    assert_eq!(con.peek("k 60 5"), [1, 5, 1, 0, 60_000, 59_700]);
    assert_eq!((con.log("k"), con.call("PTTL k"), con.info("rdb_changes_since_last_save")), before);
    assert_eq!(con.call::<i64>("EXISTS missing"), 0);
    assert_eq!(con.refund(&format!("k {receipt}")), 1, "what makes room is allowed");
    con.call::<()>("CONFIG SET maxmemory 0");
    assert_eq!(con.quota("k 60 5")[..3], [1, 5, 1]);
}

#[test]
fn with_eviction_there_is_no_error_and_an_evicted_key_has_its_limit_again() {
    let (_server, mut con) = Server::start();
    let used = con.info("used_memory");
    let maxmemory = used + 4_000_000;
    con.call::<()>("CONFIG SET maxmemory-policy allkeys-lru");
    con.call::<()>(&format!("CONFIG SET maxmemory {maxmemory}"));
    let keys = 60_000;
    assert_eq!(run(&mut con, keys, |nth| format!("SLIDEWIN.CHECK k{nth} 1h 1")), keys, "never an error");
    assert!(con.info("evicted_keys") > 1_000);
    assert!(con.info("used_memory") < maxmemory + 1_000_000);
    let left: Vec<String> = con.call("KEYS *");
    assert!(left.len() > 1_000 && left.len() < keys, "{}", left.len());
    for key in left.iter().take(200) {
        let pttl: i64 = con.call(&format!("PTTL {key}"));
        assert!(pttl > 0 || pttl == -2, "{key} was not evicted, and has PTTL {pttl}");
    }
    let mut admitted = 0;
    for nth in 0..200 {
        let was_there = con.call::<i64>(&format!("EXISTS k{nth}")) == 1;
        let check = con.check(&format!("k{nth} 1h 1"));
        // One of them may be evicted in between, none comes back.
        assert!(check == 1 || was_there, "k{nth} is missing and was refused");
        admitted += check;
    }
    assert!(admitted > 0, "the oldest were evicted");
}

#[test]
fn a_million_random_keys_give_their_memory_back_by_themselves() {
    let (_server, mut con) = Server::start();
    let keys = sized(200_000, 1_000_000);
    run(&mut con, 1_000, |nth| format!("SLIDEWIN.CHECK warm{nth} 1ms 1"));
    wait_until("the first are gone", || con.call::<i64>("DBSIZE") == 0);
    let before = settled(&mut con);
    let mut most = 0;
    for part in 0..10 {
        let from = part * keys / 10;
        run(&mut con, keys / 10, |nth| {
            format!("SLIDEWIN.CHECK ip:{:x} 1 5", (from + nth).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        most = most.max(con.info("used_memory"));
    }
    assert!(most > before * 2, "{before} {most}");
    let ended = Instant::now();
    let (mut used, mut left) = (i64::MAX, 0);
    while ended.elapsed() < Duration::from_secs(10) && used > before + before / 10 {
        std::thread::sleep(Duration::from_millis(20));
        (used, left) = (con.info("used_memory"), con.call("DBSIZE"));
    }
    println!(
        "{keys} keys: {before} B before, {most} B at most, {used} B {} ms after",
        ended.elapsed().as_millis()
    );
    assert!(used <= before + before / 10, "{used} B against {before} B, {left} keys left");
}

#[test]
fn a_million_calls_leave_nothing_behind() {
    let (_server, mut con) = Server::start();
    let round = |con: &mut Client, calls: usize| {
        run(con, calls, mixed);
        for _ in 0..calls / 2_000 {
            let receipt = con.check("k0 1s 1000000 RECEIPT COST 4");
            assert_eq!(con.refund(&format!("k0 {receipt} COST 1")), 1);
            con.quota("k1 1ms 3 1s 5000");
        }
        con.call::<()>("DEL k0 k1 k2 k3 k4 k5 k6 k7 k8 k9");
        settled(con)
    };
    let first = round(&mut con, 20_000);
    let calls = sized(200_000, 1_000_000);
    let last = round(&mut con, calls);
    println!("{calls} calls: {first} B before, {last} B afterwards");
    // A leak of one byte a call would show.
    assert!(last - first < sized(60_000, 200_000) as i64, "{first} B before, {last} B afterwards");
}
