//! Several windows: in one call, decided as one; and in several calls that share a key.

use crate::harness::Server;

#[test]
fn a_refusal_by_one_window_spends_nothing_in_another() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.quota("m 1 2 60 5"), [1, 2, 1, 0, 1_000, 1_000, 5, 4, 0, 60_000, 60_000]);
    clock.advance_ms(10);
    assert_eq!(con.quota("m 1 2 60 5"), [1, 2, 0, 990, 1_000, 990, 5, 3, 0, 60_000, 59_990]);
    clock.advance_ms(10);
    // It is the second that is full: only there a caller has to wait.
    assert_eq!(con.quota("m 1 2 60 5"), [0, 2, 0, 980, 990, 980, 5, 3, 0, 59_990, 59_980]);
    assert_eq!(con.peek("m 60 5")[..3], [1, 5, 3]);
    for at_ms in [2_000, 4_000, 6_000] {
        clock.at_ms(at_ms);
        assert_eq!(con.check("m 1 2 60 5"), 1);
    }
    clock.at_ms(10_000);
    assert_eq!(
        con.quota("m 1 2 60 5"),
        [0, 2, 2, 0, 0, 0, 5, 0, 50_000, 56_000, 50_000],
        "now it is the minute"
    );
}

#[test]
fn the_order_of_the_windows_is_that_of_the_answer_only() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..4 {
        clock.advance_ms(300);
        con.check("k 1 3 60 10 24h 20");
    }
    let ascending = con.peek("k 1 3 60 10 24h 20 COST 3");
    let descending = con.peek("k 24h 20 60 10 1 3 COST 3");
    assert_eq!(ascending[0], descending[0]);
    let reversed: Vec<&[i64]> = descending[1..].chunks(5).rev().collect();
    assert_eq!(ascending[1..].chunks(5).collect::<Vec<_>>(), reversed);
}

#[test]
fn one_that_can_never_hold_refuses_all() {
    let (_server, mut con, _clock) = Server::frozen();
    assert_eq!(con.quota("k 1 2 60 0"), [0, 2, 2, 0, 0, 0, 0, 0, -1, 0, 0]);
    assert_eq!(con.quota("k 1 2 60 5 COST 3"), [0, 2, 2, -1, 0, 0, 5, 5, 0, 0, 0]);
    assert_eq!(con.call::<i64>("EXISTS k"), 0);
}

#[test]
fn eight_windows_hold_at_once() {
    let (_server, mut con, clock) = Server::frozen();
    let windows: String = (1..=8).map(|nth| format!("{} {} ", 10 * nth, 2 * nth)).collect();
    // Two each 10 s satisfy all eight of them.
    for second in 0..200 {
        clock.at_ms(second * 1_000);
        assert_eq!(con.check(&format!("k {windows}")), i64::from(second % 10 < 2), "second {second}");
    }
}

#[test]
fn a_call_with_a_shorter_window_does_not_forget_what_a_longer_one_counts() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..10 {
        assert_eq!(con.check("k 80 10"), 1);
    }
    clock.at_ms(79_000);
    assert_eq!(con.check("k 10 100"), 1);
    clock.at_ms(79_500);
    assert_eq!(con.quota("k 80 10")[..3], [0, 10, 0]);
    clock.at_ms(80_001);
    assert_eq!(con.quota("k 80 10")[..3], [1, 10, 8]);
}

#[test]
fn units_of_a_shorter_window_count_for_a_longer_one() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 80 10"), 1);
    clock.at_ms(70_000);
    for _ in 0..9 {
        assert_eq!(con.check("k 1 100"), 1);
    }
    clock.at_ms(95_000);
    assert_eq!(con.quota("k 80 10")[..3], [1, 10, 0]);
    assert_eq!(con.quota("k 80 10")[..4], [0, 10, 0, 55_000]);
    clock.at_ms(150_000);
    assert_eq!(con.peek("k 80 10")[..3], [1, 10, 1], "the first of the nine has left");
    clock.at_ms(150_001);
    assert_eq!(con.peek("k 80 10")[..3], [1, 10, 9], "the others, µs later, too");
}

#[test]
fn a_longer_window_survives_years_of_calls_with_a_shorter_one() {
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..3 {
        clock.advance_ms(1_000);
        assert_eq!(con.check("k 24h 10"), 1);
    }
    // Ten times a day one call of a second: each finds an expired second and must keep the day.
    for _ in 0..100 {
        clock.advance_ms(8_640_000);
        assert_eq!(con.check("k 1 5"), 1);
        let remaining = con.peek("k 24h 100")[2];
        assert!((87..=96).contains(&remaining), "{remaining}");
    }
    assert_eq!(con.peek("k 24h 100")[2], 90, "the last ten calls");
    assert!(con.call::<i64>("ZCARD k") <= 12);
}
