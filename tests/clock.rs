//! The server's clock only, and what happens when it steps. No unit ever counts too short, and nobody waits for
//! the hour that a clock was wrong by.

use crate::harness::{Clock, Server};

const HOUR_MS: i64 = 3_600_000;

#[test]
fn a_step_back_of_an_hour_costs_at_most_a_window() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..5 {
        clock.advance_ms(1_000);
        assert_eq!(con.check("k 10 5"), 1);
    }
    clock.advance_ms(-HOUR_MS);
    let answer = con.quota("k 10 5");
    assert_eq!(answer, [0, 5, 0, 10_000, 10_000, 10_000], "re-stamped to now");
    let pttl: i64 = con.call("PTTL k");
    assert!((10_000..=11_252).contains(&pttl), "{pttl}");
    clock.advance_ms(9_999);
    assert_eq!(con.quota("k 10 5"), [0, 5, 0, 1, 1, 1]);
    clock.advance_ms(1);
    assert_eq!(con.quota("k 10 5"), [1, 5, 4, 0, 10_000, 10_000]);
}

#[test]
fn a_small_step_back_within_a_burst_admits_no_more() {
    let (_server, mut con, clock) = Server::frozen();
    let mut admitted: Vec<i64> = Vec::new();
    for nth in 0..1_000 {
        clock.advance_us(if nth == 50 { -50_000 } else { 100 });
        let time_us = admitted.last().map_or(0, |last_us| last_us + 1).max(clock.now_us());
        if con.check("k 60 100") == 1 {
            admitted.push(time_us);
        }
    }
    assert_eq!(admitted.len(), 100);
    assert_eq!(con.times_us("k"), admitted);
}

#[test]
fn any_step_back_within_a_burst_admits_no_more() {
    for step_ms in [1, 50, 900, 7_000, 8_000, 59_000, 61_000, HOUR_MS, 24 * HOUR_MS] {
        let (_server, mut con, clock) = Server::frozen();
        let mut admitted = 0;
        for nth in 0..300 {
            clock.advance_us(if nth == 50 { -step_ms * 1_000 } else { 100 });
            admitted += con.check("k 60 100");
        }
        assert_eq!(admitted, 100, "{step_ms} ms back");
    }
}

#[test]
fn a_small_step_back_leaves_old_units_their_times() {
    let (_server, mut con, clock) = Server::frozen();
    for hour in 0..20 {
        clock.at_ms(hour * HOUR_MS);
        assert_eq!(con.check("k 24h 21"), 1);
    }
    clock.advance_ms(-2_000);
    assert_eq!(con.quota("k 24h 21")[..3], [1, 21, 0]);
    assert_eq!(con.check("k 24h 21"), 0);
    clock.at_ms(24 * HOUR_MS - 1);
    assert_eq!(con.quota("k 24h 21")[..4], [0, 21, 0, 1]);
    clock.at_ms(25 * HOUR_MS);
    assert_eq!(con.peek("k 24h 21")[..4], [1, 21, 2, 0], "those of hours 0 and 1 have left, no other");
}

#[test]
fn a_step_of_almost_a_second_delays_a_window_of_10_ms_by_two() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 10ms 1"), 1);
    clock.advance_ms(-900);
    assert_eq!(con.quota("k 10ms 1"), [0, 1, 0, 10, 10, 10]);
    clock.advance_ms(20);
    assert_eq!(con.check("k 10ms 1"), 1);
}

#[test]
fn the_shortest_window_decides_whether_a_step_is_large() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 24h 5 10ms 1"), 1);
    clock.advance_ms(-900);
    assert_eq!(con.quota("k 24h 5 10ms 1"), [0, 5, 4, 0, 86_400_000, 86_400_000, 1, 0, 10, 10, 10]);
    clock.advance_ms(10);
    assert_eq!(con.check("k 24h 5 10ms 1"), 1);
}

#[test]
fn units_before_the_step_stay_and_those_ahead_become_one_entry() {
    let (_server, mut con, clock) = Server::frozen();
    for at_ms in [0, 1_000, 30_000, 31_000, 32_000] {
        clock.at_ms(at_ms);
        assert_eq!(con.check("k 60 10 COST 2"), 1);
    }
    clock.at_ms(5_000);
    assert_eq!(con.quota("k 60 10 COST 2"), [0, 10, 0, 55_000, 60_000, 55_000]);
    let times: Vec<i64> = con.log("k").iter().map(|(_, score)| (score - Clock::START_US) / 1_000).collect();
    assert_eq!(times, [0, 1_000, 5_000]);
    clock.at_ms(60_000);
    assert_eq!(con.peek("k 60 10")[..3], [1, 10, 2]);
    clock.at_ms(61_000);
    assert_eq!(con.peek("k 60 10")[..3], [1, 10, 4]);
    clock.at_ms(64_999);
    assert_eq!(con.peek("k 60 10")[..3], [1, 10, 4]);
    clock.at_ms(65_000);
    assert_eq!(con.peek("k 60 10"), [1, 10, 10, 0, 0, 0]);
}

#[test]
fn peek_writes_nothing_after_a_step_back() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 10 1"), 1);
    let (log, dirty) = (con.log("k"), con.info("rdb_changes_since_last_save"));
    clock.advance_ms(-HOUR_MS);
    assert_eq!(con.peek("k 10 1"), [0, 1, 0, 10_000, 10_000, 10_000]);
    assert_eq!(con.log("k"), log);
    assert_eq!(con.info("rdb_changes_since_last_save"), dirty);
}

#[test]
fn a_longer_window_is_kept_through_a_step_back() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..9 {
        assert_eq!(con.check("k 80 10"), 1);
    }
    clock.advance_ms(-HOUR_MS);
    assert_eq!(con.check("k 1 100"), 1, "re-stamps, by a call that knows nothing of the 80 seconds");
    clock.advance_ms(79_000);
    assert_eq!(con.check("k 1 100"), 1);
    assert_eq!(con.quota("k 80 10")[..3], [0, 10, 0]);
    clock.advance_ms(1_001);
    assert_eq!(con.quota("k 80 10")[..3], [1, 10, 8]);
}

#[test]
fn no_argument_carries_a_time() {
    // The same calls at another date: the same answers.
    let answers = [0, 200 * 365 * 24 * HOUR_MS, -40 * 365 * 24 * HOUR_MS].map(|date_ms| {
        let (_server, mut con, clock) = Server::frozen();
        clock.at_ms(date_ms);
        (0..20)
            .map(|nth| {
                clock.advance_ms(nth * 30);
                con.quota("k 1 3 60 10 COST 2")
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}
