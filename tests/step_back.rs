//! After a step back of the clock: callers who look before they call, how long keys live, and what receipts still name.

use crate::harness::{Client, Clock, Server};

const HOUR_MS: i64 = 3_600_000;

/// A window of 10 s that two units have just filled, and a clock that has then stepped back an hour.
fn full_and_an_hour_back() -> (Server, Client, Clock) {
    let (server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 10 2 COST 2"), 1);
    clock.advance_ms(-HOUR_MS);
    (server, con, clock)
}

#[test]
fn who_only_looks_sees_a_full_window_for_the_step_longer_and_not_a_ms_more() {
    let (_server, mut con, clock) = full_and_an_hour_back();
    for _ in 0..359 {
        assert_eq!(con.peek("k 10 2"), [0, 2, 0, 10_000, 10_000, 10_000]);
        clock.advance_ms(10_000);
    }
    clock.at_ms(9_999);
    assert_eq!(con.peek("k 10 2"), [0, 2, 0, 1, 1, 1]);
    clock.at_ms(10_000);
    assert_eq!(con.peek("k 10 2"), [1, 2, 2, 0, 0, 0]);
}

#[test]
fn who_calls_check_when_the_wait_that_peek_told_is_over_waits_at_most_two_windows() {
    let (_server, mut con, clock) = full_and_an_hour_back();
    let told_ms = con.peek("k 10 2")[3];
    clock.advance_ms(told_ms);
    assert_eq!(con.peek("k 10 2")[0], 0, "PEEK has repaired nothing");
    let told_again_ms = con.quota("k 10 2")[3];
    assert_eq!((told_ms, told_again_ms), (10_000, 10_000));
    clock.advance_ms(told_again_ms - 1);
    assert_eq!(con.peek("k 10 2")[..4], [0, 2, 0, 1], "after a CHECK, PEEK counts down");
    clock.advance_ms(1);
    assert_eq!(con.peek("k 10 2")[0], 1);
    assert_eq!(con.check("k 10 2"), 1);
}

#[test]
fn who_calls_check_at_once_waits_a_window() {
    let (_server, mut con, clock) = full_and_an_hour_back();
    assert_eq!(con.quota("k 10 2")[..4], [0, 2, 0, 10_000]);
    clock.advance_ms(10_000);
    assert_eq!(con.peek("k 10 2")[0], 1);
}

#[test]
fn a_window_with_room_has_room_for_who_looks_first_too() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 10 2"), 1);
    clock.advance_ms(-HOUR_MS);
    assert_eq!(con.peek("k 10 2"), [1, 2, 1, 0, 10_000, 10_000]);
}

#[test]
fn a_key_outlives_its_promise_by_a_small_step_only() {
    for nth in 0..50 {
        let (window_ms, step_ms) = (80_000, 9_900);
        let (_server, mut con, clock) = Server::frozen();
        clock.advance_us(nth);
        assert_eq!(con.check("k 80 10"), 1);
        clock.advance_ms(-step_ms);
        assert_eq!(con.check("k 80 10"), 1);
        let pttl: i64 = con.call("PTTL k");
        let promised_ms = window_ms / 16 * 17..=window_ms / 8 * 9 + 2;
        assert!(promised_ms.contains(&(pttl - step_ms)), "{pttl}");
        // A large one is repaired.
        clock.advance_ms(-window_ms);
        assert_eq!(con.check("k 80 10"), 1);
        let pttl: i64 = con.call("PTTL k");
        assert!(promised_ms.contains(&pttl), "{pttl}");
    }
}

/// Receipts of admissions 100 ms apart, the last one at the clock's time.
fn receipts(con: &mut Client, clock: &Clock, count: usize) -> Vec<i64> {
    let mut admit = |_| {
        clock.advance_ms(100);
        con.check("k 60 1000 RECEIPT")
    };
    (0..count).map(&mut admit).collect()
}

#[test]
fn receipts_up_to_the_clock_stay_and_those_ahead_are_forgotten() {
    // 5 lie ahead; some logs have bundles, of which the step takes a part.
    for count in [10, 40, 50, 70, 300] {
        let (_server, mut con, clock) = Server::frozen();
        let receipts = receipts(&mut con, &clock, count);
        clock.advance_ms(-500 + 20);
        // Not far enough for a minute: nothing is repaired, and each receipt holds.
        assert_eq!(con.check("k 60 1000"), 1);
        assert_eq!(con.refund(&format!("k {}", receipts[count - 1])), 1);
        // Far enough for a second.
        assert_eq!(con.check("k 60 1000 1 1000"), 1);
        let used = count as i64 + 1;
        assert_eq!(con.peek("k 60 1000")[2], 1_000 - used);
        for (nth, receipt) in receipts.iter().enumerate().rev() {
            let is_ahead = *receipt > clock.now_us();
            assert_eq!(is_ahead, nth >= count - 5);
            assert_eq!(con.refund(&format!("k {receipt}")), i64::from(!is_ahead), "{nth} of {count}");
        }
        assert_eq!(con.peek("k 60 1000")[2], 1_000 - used + count as i64 - 5);
    }
}

#[test]
fn the_clock_passes_a_receipt_twice_and_then_it_names_the_later_admission() {
    // Given back while the clock is behind it, or merged by the repair.
    for forget in ["SLIDEWIN.REFUND k RECEIPT", "SLIDEWIN.CHECK k 60 10"] {
        let (_server, mut con, clock) = Server::frozen();
        let receipt = con.check("k 60 10 RECEIPT");
        clock.advance_ms(-10_000);
        assert_eq!(con.call::<i64>(&forget.replace("RECEIPT", &receipt.to_string())), 1);
        assert_eq!(con.refund(&format!("k {receipt}")), 0, "{forget}");
        clock.freeze(receipt);
        let used = 10 - con.peek("k 60 10")[2];
        assert_eq!(con.check("k 60 10 RECEIPT"), receipt, "{forget}");
        assert_eq!(con.refund(&format!("k {receipt}")), 1, "{forget}");
        assert_eq!(10 - con.peek("k 60 10")[2], used, "no more was given back than was taken");
    }
}

#[test]
fn an_id_names_no_other_admission() {
    for forget in ["SLIDEWIN.REFUND k ID first", "SLIDEWIN.CHECK k 60 10"] {
        let (_server, mut con, clock) = Server::frozen();
        let receipt = con.check("k 60 10 ID first RECEIPT");
        clock.advance_ms(-10_000);
        assert_eq!(con.call::<i64>(forget), 1);
        clock.freeze(receipt);
        assert_eq!(con.check("k 60 10 ID second RECEIPT"), receipt, "{forget}");
        assert_eq!(con.refund("k ID first"), 0, "{forget}");
        assert_eq!(con.refund("k ID second"), 1, "{forget}");
    }
}
