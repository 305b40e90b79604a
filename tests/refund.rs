//! REFUND gives back what one admission took, once, and nobody else's.

use crate::harness::{spelled, Clock, Server};

#[test]
fn an_admission_is_given_back_once() {
    let (_server, mut con, clock) = Server::frozen();
    let mut receipts = Vec::new();
    for at_ms in [0, 1_000, 2_000] {
        clock.at_ms(at_ms);
        receipts.push(con.check("k 60 3 RECEIPT"));
    }
    let given: Vec<i64> = (0..10).map(|_| con.refund(&format!("k {}", receipts[1]))).collect();
    assert_eq!(given, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(con.peek("k 60 3"), [1, 3, 1, 0, 60_000, 58_000]);
    let times: Vec<i64> = con.log("k").iter().map(|(_, score)| *score).collect();
    assert_eq!(times, [receipts[0], receipts[2]], "the others' times do not move");
    assert_eq!(con.check("k 60 3"), 1);
    clock.at_ms(60_000);
    assert_eq!(con.peek("k 60 3")[2], 1, "the first unit leaves at its own time");
}

#[test]
fn a_receipt_is_a_positive_integer_and_each_is_another() {
    let (_server, mut con, _clock) = Server::frozen();
    let receipts: Vec<i64> = (0..100).map(|_| con.check("k 60 1000 RECEIPT")).collect();
    assert!(receipts.iter().all(|receipt| (1..1 << 53).contains(receipt)), "{receipts:?}");
    assert!(receipts.windows(2).all(|pair| pair[0] < pair[1]), "{receipts:?}");
    assert_eq!(con.quota("k 60 1000 RECEIPT")[0], receipts[99] + 1);
    assert_eq!(con.check("k 60 50 RECEIPT"), 0);
}

#[test]
fn what_was_not_admitted_here_gives_nothing_back_and_makes_nothing() {
    let (_server, mut con, clock) = Server::frozen();
    for receipt in [1, Clock::START_US, (1 << 53) - 1, i64::MAX] {
        assert_eq!(con.refund(&format!("missing {receipt}")), 0);
        assert_eq!(con.refund(&format!("missing {receipt} COST 5")), 0);
    }
    assert_eq!(con.call::<i64>("DBSIZE"), 0);
    let receipt = con.check("k 60 5 RECEIPT");
    for other in [receipt - 1, receipt + 1, 1, i64::MAX] {
        assert_eq!(con.refund(&format!("k {other}")), 0);
    }
    assert_eq!(con.refund(&format!("other {receipt}")), 0);
    // The receipt of a log that is gone.
    con.call::<i64>("DEL k");
    clock.advance_ms(1);
    assert_eq!(con.check("k 60 5"), 1);
    assert_eq!(con.refund(&format!("k {receipt}")), 0);
    assert_eq!(con.peek("k 60 5")[2], 4);
}

#[test]
fn a_part_is_given_back_until_nothing_is_left() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 200 COST 7"), 1);
    clock.advance_ms(10);
    let receipt = con.check("k 60 200 COST 100 RECEIPT");
    clock.advance_ms(10);
    assert_eq!(con.check("k 60 200 COST 9"), 1);
    // Refunded, given back, remaining. An entry of weight 1 is spelled like one that never had more.
    for (cost, given, remaining) in
        [("COST 60", 60, 144), ("COST 39", 39, 183), ("COST 1", 1, 184), ("COST 1", 0, 184), ("", 0, 184)]
    {
        assert_eq!(con.refund(&format!("k {receipt} {cost}")), given, "{cost}");
        assert_eq!(con.peek("k 60 200")[2], remaining, "{cost}");
    }
}

#[test]
fn never_more_than_that_admission_took() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 200 COST 50"), 1);
    clock.advance_ms(10);
    let receipt = con.check("k 60 200 COST 40 RECEIPT");
    assert_eq!(con.refund(&format!("k {receipt} COST 9007199254740991")), 40);
    assert_eq!(con.peek("k 60 200")[2], 150);
    assert_eq!(con.refund(&format!("k {receipt}")), 0);
}

#[test]
fn the_only_unit_given_back_leaves_no_key() {
    let (_server, mut con, clock) = Server::frozen();
    let receipt = con.check("k 60 1 RECEIPT");
    assert_eq!(con.refund(&format!("k {receipt}")), 1);
    assert_eq!(con.call::<i64>("EXISTS k"), 0);
    clock.advance_ms(5);
    assert_eq!(con.quota("k 60 1"), [1, 1, 0, 60_000, 60_000, 60_000]);
}

#[test]
fn the_only_entry_given_back_in_part_keeps_its_key_and_ttl() {
    let (_server, mut con, clock) = Server::frozen();
    let receipt = con.check("k 60 10 COST 10 RECEIPT");
    clock.advance_ms(5_000);
    let pttl: i64 = con.call("PTTL k");
    assert_eq!(con.refund(&format!("k {receipt} COST 4")), 4);
    assert_eq!(con.call::<i64>("PTTL k"), pttl);
    assert_eq!(con.peek("k 60 10"), [1, 10, 4, 0, 55_000, 55_000]);
}

#[test]
fn every_position_of_a_log_can_be_given_back() {
    let (_server, mut con, clock) = Server::frozen();
    for position in 0..20_usize {
        for cost in ["", "COST 1", "COST 3"] {
            con.call::<()>("FLUSHALL");
            let mut receipts = Vec::new();
            for nth in 0..20 {
                clock.advance_ms(100);
                receipts.push(con.check(&format!("k 60 1000 COST {} RECEIPT", 1 + nth % 4)));
            }
            let weight = 1 + position as i64 % 4;
            let given = if cost.is_empty() { weight } else { weight.min(cost[5..].parse().unwrap()) };
            assert_eq!(con.refund(&format!("k {} {cost}", receipts[position])), given, "{position} {cost}");
            let left: Vec<i64> = con.log("k").iter().map(|(_, score)| *score).collect();
            let mut expected = receipts.clone();
            if given == weight {
                expected.remove(position);
            }
            assert_eq!(left, expected, "{position} {cost}");
            assert_eq!(con.peek("k 60 1000")[2], 1_000 - 50 + given, "{position} {cost}");
            // What is counted at every later moment: units leave one by one.
            let end_us = clock.now_us();
            let mut units = 50 - given;
            for (nth, receipt) in receipts.iter().enumerate() {
                clock.freeze(receipt + 60_000_000);
                units -= 1 + nth as i64 % 4 - if nth == position { given } else { 0 };
                assert_eq!(con.peek("k 60 1000")[2], 1_000 - units, "{position} {cost}, {nth} have left");
            }
            clock.freeze(end_us);
        }
    }
}

#[test]
fn the_newest_given_back_does_not_let_the_key_live_longer() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 10"), 1);
    for _ in 0..100 {
        clock.advance_ms(5_000);
        let receipt = con.check("k 60 10 FORCE RECEIPT");
        assert_eq!(con.refund(&format!("k {receipt}")), 1);
        if con.call::<i64>("EXISTS k") == 1 {
            let pttl: i64 = con.call("PTTL k");
            assert!(pttl <= 67_502, "{pttl}");
        }
    }
    assert_eq!(con.peek("k 60 10"), [1, 10, 10, 0, 0, 0]);
}

#[test]
fn shared_entries_have_no_receipt() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 10 RESOLUTION 1"), 1);
    assert_eq!(con.refund(&format!("k {}", clock.now_us())), 0);
    assert_eq!(con.peek("k 60 10")[2], 9);
}

#[test]
fn more_than_a_thousand_entries_on_both_sides_are_too_many() {
    let (_server, mut con, clock) = Server::frozen();
    let mut receipts = Vec::new();
    for _ in 0..2_003 {
        clock.advance_us(10);
        // An admission of two units is always an entry of its own.
        receipts.push(con.check("k 60 5000 COST 2 RECEIPT"));
    }
    let log = con.log("k");
    assert_eq!(log.len(), 2_003);
    let error = con.error(&format!("SLIDEWIN.REFUND k {}", receipts[1_001]));
    assert!(error.starts_with("ERR ") && error.contains("1000"), "{error}");
    assert_eq!(con.log("k"), log, "nothing changed");
    // 1,000 on the older side, and on the newer one.
    assert_eq!(con.refund(&format!("k {}", receipts[1_000])), 2);
    assert_eq!(con.refund(&format!("k {}", receipts[1_002])), 2);
    receipts.remove(1_002);
    receipts.remove(1_000);
    assert_eq!(con.admissions("k"), receipts.into_iter().map(|receipt| (receipt, 2)).collect::<Vec<_>>());
    assert_eq!(con.peek("k 60 5000")[2], 5_000 - 4_002);
}

#[test]
fn a_bundle_is_one_entry_however_many_admissions_it_holds() {
    let (_server, mut con, clock) = Server::frozen();
    for (calls, cost) in [(1_000, 2), (300, 1), (1_000, 2)] {
        for _ in 0..calls {
            clock.advance_us(10);
            assert_eq!(con.check(&format!("k 60 5000 COST {cost}")), 1);
        }
    }
    let log = con.log("k");
    let bundles = log.len() - 2_000;
    assert!((10..100).contains(&bundles), "{bundles}");
    // The receipt in the middle of the nth entry.
    let receipt_of = |nth: usize| {
        let (_, admissions) = spelled(&log[nth].0, log[nth].1).unwrap();
        admissions[admissions.len() / 2].time_us
    };
    for nth in [1_001, 998 + bundles] {
        let error = con.error(&format!("SLIDEWIN.REFUND k {}", receipt_of(nth)));
        assert!(error.contains("1000"), "{error}");
    }
    assert_eq!(con.log("k"), log, "nothing changed");
    let mut admissions = con.admissions("k");
    for receipt in [1_000, 999 + bundles].map(receipt_of) {
        assert_eq!(con.refund(&format!("k {receipt}")), 1);
        admissions.retain(|(time_us, _)| *time_us != receipt);
        assert_eq!(con.admissions("k"), admissions, "its neighbours keep their times");
    }
    assert_eq!(con.peek("k 60 5000")[2], 5_000 - 4_298);
}

#[test]
fn every_part_of_a_bundle_can_be_given_back() {
    let (_server, mut con, clock) = Server::frozen();
    for step in [1, 3, 7, 99] {
        con.call::<()>("FLUSHALL");
        let mut receipts = Vec::new();
        for nth in 0..100_i64 {
            clock.advance_us(nth * nth);
            receipts.push(con.check("k 60 1000 RECEIPT"));
        }
        assert!(con.call::<usize>("ZCARD k") < 50, "most of them are in bundles");
        // Each comes, since 100 and the step have no common divisor.
        let order: Vec<i64> = (0..100).map(|nth| receipts[nth * step % 100]).collect();
        for (nth, receipt) in order.into_iter().enumerate() {
            assert_eq!(con.refund(&format!("k {receipt}")), 1);
            assert_eq!(con.refund(&format!("k {receipt}")), 0);
            receipts.retain(|left| *left != receipt);
            assert_eq!(con.times_us("k"), receipts, "every {step}th, {nth} before it");
            assert_eq!(con.peek("k 60 1000")[2], 1_000 - receipts.len() as i64);
        }
        assert_eq!(con.call::<i64>("EXISTS k"), 0);
    }
}

#[test]
fn reserve_then_settle() {
    let (_server, mut con, clock) = Server::frozen();
    let receipt = con.check("model 60 1000 COST 100 RECEIPT");
    clock.advance_ms(2_000);
    assert_eq!(con.refund(&format!("model {receipt} COST 60")), 60, "used 40 of 100");
    assert_eq!(con.peek("model 60 1000")[2], 960);
    let receipt = con.check("model 60 1000 COST 100 RECEIPT");
    assert!(receipt > 0);
    assert_eq!(con.check("model 60 1000 COST 50 FORCE"), 1, "used 150 of 100");
    assert_eq!(con.peek("model 60 1000")[2], 810);
}
