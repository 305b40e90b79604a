//! RESOLUTION: a log whose size the limit does not decide.

use crate::harness::Server;
use rand::{rngs::SmallRng, RngExt, SeedableRng};

#[test]
fn a_million_admissions_of_a_minute_take_less_than_four_kilobytes() {
    let (_server, mut con, clock) = Server::frozen();
    const BATCHES: i64 = 2_000;
    for nth in 0..BATCHES {
        clock.at_ms(nth * 60_000 / BATCHES);
        let admitted = con.times(500, "SLIDEWIN.CHECK k 60 1000000 RESOLUTION 600ms");
        assert_eq!(admitted, 500, "batch {nth}");
        if nth % 100 == 99 {
            let live: i64 = con.call("ZCARD k");
            assert!(live <= 102, "{live}");
        }
    }
    assert_eq!(con.check("k 60 1000000 RESOLUTION 600ms"), 0, "the million is full");
    let bytes: i64 = con.call("MEMORY USAGE k SAMPLES 0");
    assert!(bytes < 4_096, "{bytes}");
    // And on into the next minute, where the oldest slots leave one by one.
    for nth in 0..200 {
        clock.at_ms(60_000 + nth * 300);
        con.times(100, "SLIDEWIN.CHECK k 60 1000000 RESOLUTION 600ms");
        assert!(con.call::<i64>("ZCARD k") <= 102);
    }
}

#[test]
fn entries_are_at_most_window_by_resolution_and_two() {
    let mut random = SmallRng::seed_from_u64(4);
    for (window_ms, resolution_ms) in
        [(60_000, 60_000), (60_000, 30_000), (1_000, 100), (1_000, 7), (10, 1), (1, 1)]
    {
        let (_server, mut con, clock) = Server::frozen();
        let call = format!("k {window_ms}ms 100000 RESOLUTION {resolution_ms}ms");
        for _ in 0..2_000 {
            clock.advance_us(random.random_range(0..window_ms * 1_000 / 100));
            assert_eq!(con.check(&call), 1);
            let live: i64 = con.call(&format!("ZCOUNT k ({} +inf", clock.now_us() - window_ms * 1_000));
            assert!(live <= window_ms / resolution_ms + 2, "{call}: {live}");
        }
    }
}

#[test]
fn a_unit_counts_at_most_the_resolution_too_long_and_never_too_short() {
    let mut random = SmallRng::seed_from_u64(5);
    for (resolution_ms, step_us) in [(1_000, 400_000), (250, 100_000), (10, 5_000), (1, 900)] {
        let (_server, mut con, clock) = Server::frozen();
        let mut admitted_at = Vec::new();
        for _ in 0..500 {
            clock.advance_us(random.random_range(0..step_us));
            let now_us = clock.now_us();
            if con.check(&format!("k 1 20 RESOLUTION {resolution_ms}ms")) == 1 {
                admitted_at.push(now_us);
            }
            let within = |us: i64| admitted_at.iter().filter(|&&at_us| at_us > now_us - us).count() as i64;
            let counted = 20 - con.peek("k 1 20")[2];
            let (least, most) = (within(1_000_000), within(1_000_000 + resolution_ms * 1_000));
            assert!((least..=most).contains(&counted), "{resolution_ms} ms: {least} <= {counted} <= {most}");
        }
    }
}

#[test]
fn slots_are_shared_only_by_calls_that_ask_for_it() {
    let (_server, mut con, clock) = Server::frozen();
    // When, ms; the options; how many entries there are then, and the units of the last one.
    let table = [
        (0, "RESOLUTION 1", 1, "~1"),
        (400, "RESOLUTION 1 COST 5", 1, "~6"),
        (999, "RESOLUTION 1", 1, "~7"),
        (1_000, "RESOLUTION 1", 2, "~1"),
        (1_100, "", 3, ""),
        (1_200, "RESOLUTION 1", 4, "~1"),
        (1_300, "COST 3", 5, ":3"),
        (1_400, "RESOLUTION 1 COST 2", 6, "~2"),
        (1_450, "RESOLUTION 1", 6, "~3"),
        (1_600, "RESOLUTION 0.5", 7, "~1"), // another slot of half a second
        (1_999, "RESOLUTION 0.5", 7, "~2"),
    ];
    for (at_ms, options, entries, ends_with) in table {
        clock.at_ms(at_ms);
        assert_eq!(con.check(&format!("k 60 100 {options}")), 1);
        let log = con.log("k");
        assert_eq!(log.len(), entries, "{at_ms} ms {options}: {log:?}");
        let (member, score_us) = log.last().unwrap();
        assert_eq!(*score_us, clock.now_us(), "{at_ms} ms {options}: {log:?}");
        let units = member.trim_start_matches(|character: char| character.is_ascii_digit());
        assert_eq!(units, ends_with, "{at_ms} ms {options}: {log:?}");
    }
    assert_eq!(con.peek("k 60 100")[2], 100 - 18);
}
