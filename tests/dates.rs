//! The clock is wrong by much: ahead by hours or a year, or another one after a restart.

use crate::harness::{Client, Clock, Server};

const HOUR_MS: i64 = 3_600_000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;

/// The window of 10 s is full after a step: nobody waits longer than that, and then is admitted.
fn assert_full_for_10_s_at_most(con: &mut Client, clock: &Clock, call: &str) {
    let answer = con.quota(call);
    assert_eq!(answer[0], 0, "{call}: {answer:?}");
    assert!((1..=10_000).contains(&answer[3]), "{call}: {answer:?}");
    clock.advance_ms(answer[3] - 2);
    assert_eq!(con.check(call), 0, "{call}: 2 ms before {answer:?} has passed");
    clock.advance_ms(2);
    assert_eq!(con.check(call), 1, "{call}: when {answer:?} has passed");
    let pttl: i64 = con.call(&format!("PTTL {}", call.split(' ').next().unwrap()));
    assert!((10_000..=11_252).contains(&pttl), "{call}: {pttl}");
}

#[test]
fn an_hour_ahead_is_as_if_an_hour_had_passed_and_back_again_nobody_waits_an_hour() {
    let (_server, mut con, clock) = Server::frozen();
    for hour in 0..3 {
        clock.at_ms(hour * HOUR_MS);
        assert_eq!(con.check("day 24h 3"), 1);
    }
    for _ in 0..5 {
        assert_eq!(con.check("short 10 5"), 1);
    }
    clock.advance_ms(HOUR_MS);
    assert_eq!(con.quota("day 24h 3"), [0, 3, 0, 21 * HOUR_MS, 23 * HOUR_MS, 21 * HOUR_MS]);
    assert_eq!(con.call::<i64>("EXISTS short"), 0);
    for left in [4, 3, 2, 1, 0] {
        assert_eq!(con.quota("short 10 5")[..3], [1, 5, left]);
    }
    clock.advance_ms(-HOUR_MS);
    assert_full_for_10_s_at_most(&mut con, &clock, "short 10 5");
    clock.at_ms(24 * HOUR_MS);
    assert_eq!(con.check("day 24h 3"), 1, "the first unit has kept its time");
}

#[test]
fn a_year_ahead_and_back() {
    let (_server, mut con, clock) = Server::frozen();
    for call in ["k 10 2", "k 10 2", "long 3650d 2", "long 3650d 2"] {
        assert_eq!(con.check(call), 1);
    }
    clock.advance_ms(YEAR_MS);
    let ten_years_ms = 10 * YEAR_MS;
    assert_eq!(
        con.quota("long 3650d 2"),
        [0, 2, 0, ten_years_ms - YEAR_MS, ten_years_ms - YEAR_MS + 1, ten_years_ms - YEAR_MS]
    );
    assert_eq!(con.quota("k 10 2")[..3], [1, 2, 1]);
    assert_eq!(con.quota("k 10 2")[..3], [1, 2, 0]);
    clock.advance_ms(-YEAR_MS);
    assert_full_for_10_s_at_most(&mut con, &clock, "k 10 2");
    assert_eq!(con.quota("long 3650d 2")[..4], [0, 2, 0, ten_years_ms - 10_000]);
}

#[test]
fn a_far_future_score_put_in_by_hand_counts_one_unit_for_one_window() {
    for score in ["4102444800000000", "9007199254740991", "9223372036854775807", "1e300", "inf"] {
        for member in ["foreign", "12345:", "-1"] {
            let (_server, mut con, clock) = Server::frozen();
            assert_eq!(con.check("k 10 5"), 1);
            clock.advance_ms(1_000);
            assert_eq!(con.check("k 10 5"), 1);
            con.call::<()>(&format!("ZADD k {score} {member}"));
            clock.advance_ms(1_000);
            let what = format!("{score} {member}");
            assert_eq!(con.peek("k 10 5")[..3], [1, 5, 2], "{what}");
            assert_eq!(con.quota("k 10 5")[..3], [1, 5, 1], "{what}");
            assert_eq!(con.quota("k 10 5"), [1, 5, 0, 8_000, 10_000 + 1, 8_000], "{what}");
            assert_full_for_10_s_at_most(&mut con, &clock, "k 10 5");
            clock.advance_ms(10_000);
            assert_eq!(con.peek("k 10 5"), [1, 5, 5, 0, 0, 0], "{what}");
        }
    }
}

#[test]
fn another_clock_after_a_restart() {
    // What a clock may be like when the server is up again, ms.
    for step_ms in [-YEAR_MS, -HOUR_MS, -3_000, 3_000, HOUR_MS, YEAR_MS] {
        for options in ["--appendonly yes", "--appendonly no"] {
            let clock = Clock::frozen();
            let server = Server::builder().clock(&clock).args(options).start();
            let mut con = server.connect();
            for _ in 0..5 {
                assert_eq!(con.check("k 10 5"), 1);
                clock.advance_ms(1_000);
            }
            for hour in 0..3 {
                clock.at_ms((hour - 3) * HOUR_MS + 5_000);
                assert_eq!(con.check("day 24h 3"), 1);
            }
            clock.at_ms(5_000);
            con.call::<()>("SAVE");
            clock.advance_ms(step_ms);
            let server = server.restart(|builder| builder);
            let mut con = server.connect();
            let what = format!("{step_ms} ms, {options}");
            if step_ms < 10_000 {
                assert_eq!(con.peek("k 10 5")[..3], [0, 5, 0], "{what}");
                assert_full_for_10_s_at_most(&mut con, &clock, "k 10 5");
            } else {
                assert_eq!(con.call::<i64>("EXISTS k"), 0, "{what}");
                assert_eq!(con.quota("k 10 5")[..3], [1, 5, 4], "{what}");
            }
            let day = con.quota("day 24h 3");
            match step_ms {
                YEAR_MS => assert_eq!(day[..3], [1, 3, 2], "{what}"),
                _ => {
                    assert_eq!(day[..3], [0, 3, 0], "{what}");
                    let first_leaves_ms = 21 * HOUR_MS - step_ms;
                    assert!(day[3] <= first_leaves_ms.min(27 * HOUR_MS), "{what}: {day:?}");
                }
            }
        }
    }
}
