//! The numbers of an answer: what they say, and that a caller can rely on them.

use crate::harness::{version, Clock, Server};
use rand::{rngs::SmallRng, RngExt, SeedableRng};

#[test]
fn a_hundred_are_admitted_and_no_more() {
    let (_server, mut con) = Server::start();
    let receipts: Vec<i64> = (0..100).map(|_| con.check("ip:10.0.0.1 60 100 RECEIPT")).collect();
    assert!(!receipts.contains(&0), "{receipts:?}");
    assert_eq!(con.check("ip:10.0.0.1 60 100"), 0);
    assert_eq!(con.times_us("ip:10.0.0.1"), receipts);
    let pttl: i64 = con.call("PTTL ip:10.0.0.1");
    assert!((60_000..=67_502).contains(&pttl), "{pttl}");
    let compact = if version() < (7, 0, 0) { "ziplist" } else { "listpack" };
    assert_eq!(con.call::<String>("OBJECT ENCODING ip:10.0.0.1"), compact);
}

#[test]
fn every_field_of_an_answer() {
    let (server, mut con, clock) = Server::frozen();
    let mut resp3 = server.connect_resp3();
    // When it is called, ms; the call; its answer.
    let table: &[(i64, &str, &[i64])] = &[
        (0, "seven 60 5", &[1, 5, 4, 0, 60_000, 60_000]),
        (100, "seven 60 5", &[1, 5, 3, 0, 60_000, 59_900]),
        (200, "seven 60 5", &[1, 5, 2, 0, 60_000, 59_800]),
        (300, "seven 60 5", &[1, 5, 1, 0, 60_000, 59_700]),
        (1_000, "seven 60 5", &[1, 5, 0, 59_000, 60_000, 59_000]), // the last unit: the next one must wait
        (1_000, "seven 60 5", &[0, 5, 0, 59_000, 60_000, 59_000]),
        (2_000, "seven 60 5", &[0, 5, 0, 58_000, 59_000, 58_000]),
        (10_000, "third 1 3", &[1, 3, 2, 0, 1_000, 1_000]),
        (10_400, "third 1 3", &[1, 3, 1, 0, 1_000, 600]),
        (10_800, "third 1 3", &[1, 3, 0, 200, 1_000, 200]),
        (10_900, "third 1 3", &[0, 3, 0, 100, 900, 100]),
        (10_900, "third 1 3 COST 2", &[0, 3, 0, 500, 900, 100]),
        (10_900, "third 1 3 COST 3", &[0, 3, 0, 900, 900, 100]),
        (10_900, "third 1 3 COST 4", &[0, 3, 0, -1, 900, 100]),
        (11_000, "third 1 3", &[1, 3, 0, 400, 1_000, 400]),
        (11_000, "third 1 3 FORCE", &[1, 3, 0, 800, 1_001, 400]), // same instant: one µs later, so one ms up
        (20_000, "two 1 2 60 5", &[1, 2, 1, 0, 1_000, 1_000, 5, 4, 0, 60_000, 60_000]),
        (20_000, "zero 60 0", &[0, 0, 0, -1, 0, 0]),
        (20_000, "zero 60 0 FORCE", &[1, 0, 0, -1, 60_000, 60_000]),
        (
            20_000,
            "large 60 9007199254740991",
            &[1, 9_007_199_254_740_991, 9_007_199_254_740_990, 0, 60_000, 60_000],
        ),
    ];
    for &(at_ms, call, answer) in table {
        clock.at_ms(at_ms);
        if answer[0] == 0 {
            // A refused call changes nothing, so that it can be asked in every way.
            assert_eq!(con.peek(&call.replace(" FORCE", "")), answer, "PEEK {call} at {at_ms} ms");
            assert_eq!(resp3.quota(call), answer, "{call} at {at_ms} ms, RESP3");
            assert_eq!(con.check(call), 0, "{call} at {at_ms} ms, no quota");
        }
        assert_eq!(con.quota(call), answer, "{call} at {at_ms} ms");
    }
}

#[test]
fn a_unit_is_gone_at_exactly_its_time_and_ms_are_rounded_up() {
    let (_server, mut con, clock) = Server::frozen();
    assert_eq!(con.check("k 60 1"), 1);
    // µs after the admission, and what is left, ms.
    for (elapsed_us, left_ms) in [
        (0, 60_000),
        (1, 60_000),
        (999, 60_000),
        (1_000, 59_999),
        (1_001, 59_999),
        (59_998_999, 2),
        (59_999_000, 1),
        (59_999_999, 1),
    ] {
        clock.freeze(Clock::START_US + elapsed_us);
        assert_eq!(con.quota("k 60 1"), [0, 1, 0, left_ms, left_ms, left_ms], "{elapsed_us} us later");
    }
    clock.freeze(Clock::START_US + 60_000_000);
    assert_eq!(con.peek("k 60 1"), [1, 1, 1, 0, 0, 0]);
    assert_eq!(con.quota("k 60 1"), [1, 1, 0, 60_000, 60_000, 60_000]);
}

/// The promise of governor's property test: refused at every moment before, admitted exactly then.
#[test]
fn who_waits_as_long_as_told_is_admitted_and_2_ms_sooner_is_not() {
    let mut random = SmallRng::seed_from_u64(1);
    for window_ms in [250, 1_000, 2_500] {
        let (_server, mut con, clock) = Server::frozen();
        let window = format!("{}", f64::from(window_ms) / 1_000.0);
        let mut waits = 0;
        while waits < 200 {
            clock.advance_us(random.random_range(0..i64::from(window_ms) * 300));
            let call = format!("k {window} 5 COST {}", random.random_range(1..=3));
            let answer = con.quota(&call);
            let (retry_ms, reset_ms) = (answer[3], answer[4]);
            if answer[0] == 1 && retry_ms == 0 {
                continue;
            }
            assert!((1..=i64::from(window_ms) + 1).contains(&retry_ms), "{call}: {answer:?}");
            assert!(reset_ms >= retry_ms, "{call}: {answer:?}");
            if retry_ms > 2 {
                clock.advance_ms(retry_ms - 2);
                assert_eq!(con.check(&call), 0, "{call}, 2 ms before {answer:?} has passed");
                clock.advance_ms(2);
            } else {
                clock.advance_ms(retry_ms);
            }
            assert_eq!(con.check(&call), 1, "{call}, when {answer:?} has passed");
            waits += 1;
        }
    }
}

#[test]
fn who_waits_for_the_reset_finds_the_window_empty_and_2_ms_sooner_does_not() {
    let mut random = SmallRng::seed_from_u64(2);
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..200 {
        for _ in 0..random.random_range(1..6) {
            clock.advance_us(random.random_range(1..400_000));
            con.check("k 1 3");
        }
        let reset_ms = con.peek("k 1 3")[4];
        if reset_ms > 2 {
            clock.advance_ms(reset_ms - 2);
            assert!(con.peek("k 1 3")[4] > 0);
            clock.advance_ms(2);
        } else {
            clock.advance_ms(reset_ms);
        }
        assert_eq!(con.peek("k 1 3"), [1, 3, 3, 0, 0, 0]);
    }
}

#[test]
fn when_the_oldest_unit_has_left_one_more_remains_and_2_ms_sooner_not() {
    let mut random = SmallRng::seed_from_u64(3);
    let (_server, mut con, clock) = Server::frozen();
    for _ in 0..200 {
        clock.advance_ms(random.random_range(10..600));
        con.check("k 1 3");
        let before = con.peek("k 1 3");
        let oldest_ms = before[5];
        assert!((1..=before[4]).contains(&oldest_ms), "{before:?}");
        clock.advance_ms((oldest_ms - 2).max(0));
        assert_eq!(con.peek("k 1 3")[2], before[2], "2 ms before {before:?} has passed");
        clock.advance_ms(oldest_ms.min(2));
        assert_eq!(con.peek("k 1 3")[2], before[2] + 1, "when {before:?} has passed");
    }
}

#[test]
fn a_thousand_in_the_same_instant_all_count() {
    let (_server, mut con, clock) = Server::frozen();
    let script: &[u8] = b"local admitted = 0
        for i = 1, 1000 do admitted = admitted + redis.call('SLIDEWIN.CHECK', KEYS[1], 60, 1000) end
        return admitted";
    assert_eq!(con.raw(&[b"EVAL", script, b"1", b"k"]), Ok(redis::Value::Int(1_000)));
    assert_eq!(con.times_us("k"), Vec::from_iter(clock.now_us()..clock.now_us() + 1_000));
    assert_eq!(con.check("k 60 1000"), 0);
}

#[test]
fn a_changed_limit_holds_at_once() {
    let (_server, mut con, clock) = Server::frozen();
    for at_ms in [0, 1_000, 2_000, 3_000, 4_000] {
        clock.at_ms(at_ms);
        assert_eq!(con.check("k 60 5"), 1);
    }
    clock.at_ms(5_000);
    assert_eq!(con.quota("k 60 5"), [0, 5, 0, 55_000, 59_000, 55_000]);
    assert_eq!(con.quota("k 60 10"), [1, 10, 4, 0, 60_000, 55_000]);
    // Six units; two of three may stay: until the fourth-oldest, of 3 s, leaves.
    assert_eq!(con.quota("k 60 3"), [0, 3, 0, 58_000, 60_000, 55_000]);
    clock.at_ms(62_999);
    assert_eq!(con.check("k 60 3"), 0);
    clock.at_ms(63_000);
    assert_eq!(con.quota("k 60 3"), [1, 3, 0, 1_000, 60_000, 1_000]);
}
