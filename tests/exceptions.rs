//! What the exceptions of promise 7 cost: bounds, and figures for docs/measured.md, µs on the CPU. To see them:
//!
//! ```text
//! cargo test --test server exceptions -- --show-output --test-threads 1
//! ```

use crate::harness::{caught_up, Client, Clock, Server};

/// The middle of so many runs.
fn median<T: Copy + Ord>(mut us: Vec<T>) -> T {
    us.sort_unstable();
    us[us.len() / 2]
}

/// Admits one unit so many times, each of this cost.
fn fill(con: &mut Client, key: &str, admissions: usize, cost: u64) {
    let line = format!("SLIDEWIN.CHECK {key} 10h 100000000 COST {cost}");
    for _ in 0..admissions.div_ceil(10_000) {
        con.times(admissions.min(10_000), &line);
    }
}

#[test]
fn a_refund_of_one_admission_in_the_middle_of_a_thousand() {
    let clock = Clock::running();
    let server = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&server);
    let (mut con, mut on_replica) = (server.connect(), replica.connect());
    for (cost, most_bytes) in [(1, 10_000), (2, 64_000)] {
        let (mut us, mut bytes) = (Vec::new(), Vec::new());
        for _ in 0..21 {
            con.call::<()>("FLUSHALL");
            fill(&mut con, "k", 500, cost);
            let receipt = con.check(&format!("k 10h 100000000 COST {cost} RECEIPT"));
            fill(&mut con, "k", 499, cost);
            caught_up(&mut con, &mut on_replica);
            let before = con.info("master_repl_offset");
            us.push(server.cpu_us(|| assert_eq!(con.refund(&format!("k {receipt}")), cost as i64)));
            bytes.push(con.info("master_repl_offset") - before);
            assert_eq!(con.peek("k 10h 100000000")[2], 100_000_000 - 999 * cost as i64);
        }
        let bytes = median(bytes);
        println!("REFUND in the middle of 1,000 of cost {cost}: {bytes} B replicated, {} us", median(us));
        assert!(bytes < most_bytes, "{bytes} B");
    }
}

#[test]
fn the_repair_of_a_million_entries_ahead_of_the_clock() {
    for cost in [1, 2] {
        let clock = Clock::running();
        let server = Server::builder().clock(&clock).start();
        let mut con = server.connect();
        fill(&mut con, "k", 1_000_000, cost);
        let entries: i64 = con.call("ZCARD k");
        clock.advance_ms(-11 * 3_600_000);
        let first_us = server.cpu_us(|| assert_eq!(con.check("k 10h 100000000"), 1));
        assert_eq!(con.info("slidewin_clock_step_backs"), 1);
        assert_eq!(con.peek("k 10h 100000000")[2], 100_000_000 - 1_000_000 * cost as i64 - 1);
        let next_us = server.cpu_us(|| assert_eq!(con.check("k 10h 100000000"), 1));
        println!("repair of 1,000,000 admissions of cost {cost} in {entries} entries: {first_us} us, then {next_us} us");
        assert!(next_us < 1_000, "only once: {next_us} us");
    }
}

#[test]
fn the_repair_of_half_a_million_entries_leaves_the_others() {
    for cost in [1, 2] {
        let clock = Clock::running();
        let server = Server::builder().clock(&clock).start();
        let mut con = server.connect();
        fill(&mut con, "k", 10_000, cost);
        clock.advance_ms(7_200_000);
        fill(&mut con, "k", 1_000_000, cost);
        let entries: i64 = con.call("ZCARD k");
        clock.advance_ms(-5_400_000);
        let first_us = server.cpu_us(|| assert_eq!(con.check("k 10h 100000000"), 1));
        assert_eq!(con.info("slidewin_clock_step_backs"), 1);
        assert_eq!(con.peek("k 10h 100000000")[2], 100_000_000 - 1_010_000 * cost as i64 - 1);
        let next_us = server.cpu_us(|| assert_eq!(con.check("k 10h 100000000"), 1));
        println!("the same with others before it, of {entries} entries: {first_us} us, then {next_us} us");
        assert!(next_us < 1_000, "only once: {next_us} us");
    }
}

#[test]
fn a_hundred_thousand_live_members_of_somebody_else() {
    let server = Server::builder().clock(&Clock::running()).start();
    let mut con = server.connect();
    let add = b"local now = redis.call('TIME')[1] * 1000000
        for nth = 1, 100000 do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), 'foreign' .. nth) end";
    // Behind our entries, where they are the oldest; and after the first one of ours.
    for (place, first) in [("before", false), ("after", true)] {
        con.call::<()>("FLUSHALL");
        if first {
            assert_eq!(con.check("k 10h 1000000"), 1);
        }
        con.raw(&[b"EVAL", add, b"1", b"k", b"-1"]).unwrap();
        let us = (0..11).map(|_| server.cpu_us(|| assert_eq!(con.check("k 10h 1000000"), 1))).collect();
        println!(
            "100,000 members of somebody else {place} the first entry: {} us for each CHECK",
            median(us)
        );
        assert_eq!(con.peek("k 10h 1000000")[2], 1_000_000 - 100_000 - 11 - i64::from(first));
    }
}
