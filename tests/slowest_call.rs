//! The slowest single call on a long log, by the server's own measure: under 1 ms, whatever has expired.
//!
//! tests/stalls.rs measures CPU time from outside; this is what an operator sees in SLOWLOG.

use crate::harness::{wait_until, Client, Clock, Server};
use std::cell::Cell;
use std::time::Instant;

const MOST_US: u64 = 1_000;

const ADMIT: &[u8] =
    b"for _ = 1, 10000 do redis.call('SLIDEWIN.CHECK', KEYS[1], '10h', 10000000, 'COST', ARGV[1]) end";

/// Runs the calls: how long the server says that each took, µs.
fn times_us(con: &mut Client, calls: &[String]) -> Vec<u64> {
    con.call::<()>("SLOWLOG RESET");
    for call in calls {
        con.call::<redis::Value>(call);
    }
    let slowlog: Vec<Vec<redis::Value>> = con.call("SLOWLOG GET 1000");
    let mut times: Vec<(i64, u64)> = Vec::new();
    for entry in slowlog {
        let command: Vec<String> = redis::from_redis_value_ref(&entry[3]).unwrap();
        if command[0].starts_with("SLIDEWIN.") {
            let number = |nth: usize| redis::from_redis_value_ref(&entry[nth]).unwrap();
            times.push((number(0), number(2) as u64));
        }
    }
    times.sort_unstable();
    assert_eq!(times.len(), calls.len(), "every call is in the slowlog");
    times.into_iter().map(|(_, us)| us).collect()
}

fn calls() -> Vec<String> {
    let table: &[(usize, &str)] = &[
        (5, "SLIDEWIN.PEEK k 10h 1000 WITHQUOTA"),
        (5, "SLIDEWIN.PEEK k 10h 900000 30m 10000000 1 5 24h 2000000 COST 70000 WITHQUOTA"),
        (5, "SLIDEWIN.CHECK k 10h 0 WITHQUOTA"),
        (40, "SLIDEWIN.CHECK k 10h 10000000 WITHQUOTA"),
        (5, "SLIDEWIN.CHECK k 10h 10000000000 COST 100000000 WITHQUOTA RECEIPT"),
        (5, "SLIDEWIN.CHECK k 10h 10000000000 RESOLUTION 1s WITHQUOTA"),
        (40, "SLIDEWIN.CHECK k 10h 1 FORCE"),
        (5, "SLIDEWIN.CHECK k 10h 1 WITHQUOTA"),
    ];
    table.iter().flat_map(|&(count, call)| vec![call.to_owned(); count]).collect()
}

/// On a log of so many admissions, of so many units each: those of one unit are bundled, others are entries of their own.
fn slowest(admissions: usize, units: u64) {
    let clock = Clock::running();
    let server =
        Server::builder().clock(&clock).args("--slowlog-log-slower-than 0 --slowlog-max-len 1000").start();
    let mut con = server.connect();
    // The clock runs, since 6.2 measures by it: what it reads is what has passed, and what it was put ahead by.
    let (started, ahead_ms) = (Instant::now(), Cell::new(0));
    let advance_to = |at_ms: i64| {
        let by_ms = at_ms - started.elapsed().as_millis() as i64 - ahead_ms.get();
        assert!(by_ms >= 0, "{by_ms} ms to {at_ms} ms: this machine is too slow");
        clock.advance_ms(by_ms);
        ahead_ms.set(ahead_ms.get() + by_ms);
    };
    // One at 0 s, half of the others at 600 s, the rest at 1,300 s, each for ten hours; the key for 38,250 s at least.
    assert_eq!(con.check("log 10h 10000000"), 1);
    for at_ms in [600_000, 1_300_000] {
        advance_to(at_ms);
        for _ in 0..admissions / 20_000 {
            con.raw(&[b"EVAL", ADMIT, b"1", b"log", units.to_string().as_bytes()]).unwrap();
        }
    }
    assert_eq!(con.admissions("log").len(), admissions + 1);
    let entries: usize = con.call("ZCARD log");
    assert_eq!(entries == admissions + 1, units > 1, "{entries} entries");
    let calls = calls();
    // What has expired at that time, and how many must be left after the calls, new ones included.
    let states = [
        (36_300_000, "one expired", entries - 50..entries + 200),
        (37_000_000, "half expired", entries / 2..entries - 4_000),
        (37_900_000, "all expired", 1..200),
    ];
    for (at_ms, state, left) in states {
        advance_to(at_ms);
        let mut least = vec![u64::MAX; calls.len()];
        // What is slow because of the log is slow each time. What the machine delays is not: a core that somebody
        // else has, or the lock of libc's allocator while another thread frees the old log.
        let mut tries = 0;
        while tries < 10 {
            tries += 1;
            assert_eq!(con.call::<i64>("COPY log k REPLACE"), 1);
            assert_eq!(con.call::<usize>("ZCARD k"), entries);
            let freed = con.info("lazyfreed_objects");
            let times = times_us(&mut con, &calls);
            least = least.iter().zip(times).map(|(&least, us)| least.min(us)).collect();
            let is_left: usize = con.call("ZCARD k");
            assert!(left.contains(&is_left), "{state}: {is_left} of {entries} entries are left");
            if state == "all expired" {
                wait_until("the old log is freed by another thread", || {
                    con.info("lazyfreed_objects") > freed
                });
            }
            if least.iter().all(|us| *us < MOST_US) {
                break;
            }
        }
        let (us, call) = least.iter().zip(&calls).max().unwrap();
        println!("{admissions} admissions in {entries} entries, {state}: the slowest call takes {us} us ({call}), tried {tries} times");
        assert!(*us < MOST_US, "{entries} entries, {state}: {call} takes {us} us");
    }
}

#[test]
fn of_a_hundred_thousand_entries() {
    slowest(100_000, 2);
}

#[test]
fn of_a_million_entries() {
    slowest(1_000_000, 2);
}

#[test]
fn of_a_million_admissions_in_bundles() {
    slowest(1_000_000, 1);
}

#[test]
fn the_measure_sees_what_is_slow() {
    let server = Server::builder().args("--slowlog-log-slower-than 0 --slowlog-max-len 1000").start();
    let mut con = server.connect();
    con.times(100_000, "SLIDEWIN.CHECK k 10h 10000000 COST 2");
    con.call::<()>("SLOWLOG RESET");
    con.call::<redis::Value>("ZRANGE k 0 -1");
    let slowlog: Vec<Vec<redis::Value>> = con.call("SLOWLOG GET 1");
    assert!(redis::from_redis_value_ref::<u64>(&slowlog[0][2]).unwrap() > MOST_US, "{slowlog:?}");
}
