//! Forced costs that add up to more than 2^64: decisions, what remains and when to retry are those of a model that counts
//! in 128 bits, and no count is ever summed one by one.

use super::{check, peek, START_US};
use proptest::prelude::*;
use slidewin_core::{MemoryLog, Request, Window, MAX_UNITS};

const WINDOW_US: i64 = 1_000_000;

#[derive(Clone, Debug)]
enum Op {
    /// So many forced calls of this cost, one each µs.
    Force(u32, u64),
    Check(u64),
    Pass(i64),
}

fn op() -> impl Strategy<Value = Op> {
    let cost = prop_oneof![Just(MAX_UNITS), Just(1 << 52), Just(1 << 21), Just(1)];
    prop_oneof![
        3 => (1..1_300_u32, cost).prop_map(|(calls, cost)| Op::Force(calls, cost)),
        3 => prop_oneof![Just(1), Just(MAX_UNITS), 1..1_000_u64].prop_map(Op::Check),
        3 => (0..WINDOW_US).prop_map(Op::Pass),
    ]
}

fn request(limit: u64, cost: u64) -> Request {
    let windows = [Window { length_us: WINDOW_US, limit }];
    Request { cost, with_standings: true, ..Request::new(&windows).unwrap() }
}

/// Admissions by their times, oldest first.
#[derive(Default)]
struct Model(Vec<(i64, u128)>);

impl Model {
    fn used(&self, now_us: i64) -> u128 {
        self.0.iter().filter(|(at_us, _)| *at_us > now_us - WINDOW_US).map(|(_, units)| units).sum()
    }

    /// When so many units are left that this cost fits, in ms, rounded up; 0: they are.
    fn retry_after_ms(&self, now_us: i64, limit: u64, cost: u64) -> i64 {
        let mut left = self.used(now_us) + u128::from(cost);
        let mut live = self.0.iter().filter(|(at_us, _)| *at_us > now_us - WINDOW_US);
        let mut ms = 0;
        while left > u128::from(limit) {
            let (at_us, units) = live.next().unwrap();
            left -= units;
            ms = (at_us + WINDOW_US - now_us + 999).div_euclid(1_000);
        }
        ms
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn fill_every_limit_for_as_long_as_they_count(
        base in prop::option::of(prop_oneof![Just(u64::MAX), Just(1 << 63), Just((1 << 63) - 5)]),
        limit in prop_oneof![Just(MAX_UNITS), 1..2_000_u64],
        ops in prop::collection::vec(op(), 1..8),
    ) {
        let (mut log, mut model, mut now_us) = (MemoryLog::default(), Model::default(), START_US);
        if let Some(base) = base {
            // What a log of a long life has come to.
            log.zadd(START_US - 1, base.to_string().as_bytes());
            model.0.push((START_US - 1, 1));
        }
        for op in &ops {
            match *op {
                Op::Pass(us) => now_us += us,
                Op::Force(calls, cost) => for _ in 0..calls {
                    now_us += 1;
                    let forced = Request { force: true, with_standings: false, ..request(limit, cost) };
                    let outcome = check(&mut log, now_us, &forced);
                    prop_assert_eq!(outcome.summed, 0);
                    model.0.push((outcome.receipt.unwrap(), cost.into()));
                },
                Op::Check(cost) => {
                    let asked = request(limit, cost.min(limit));
                    let standing = peek(&mut log, now_us, &asked).standings[0];
                    let used = model.used(now_us);
                    prop_assert_eq!(standing.remaining, u64::try_from(u128::from(limit).saturating_sub(used)).unwrap());
                    prop_assert_eq!(standing.retry_after_ms, Some(model.retry_after_ms(now_us, limit, asked.cost)));
                    let outcome = check(&mut log, now_us, &asked);
                    prop_assert_eq!(outcome.receipt.is_some(), used + u128::from(asked.cost) <= limit.into());
                    prop_assert_eq!(outcome.summed, 0);
                    model.0.extend(outcome.receipt.map(|receipt| (receipt, asked.cost.into())));
                }
            }
        }
    }
}

#[test]
fn a_shared_entry_fills_every_limit_and_no_more() {
    let (mut log, limit) = (MemoryLog::default(), MAX_UNITS);
    let forced = Request { force: true, resolution_us: Some(WINDOW_US), ..request(limit, MAX_UNITS) };
    for call in 0..3_000 {
        let outcome = check(&mut log, START_US + call, &forced);
        assert_eq!((outcome.standings[0].remaining, outcome.summed), (0, 0));
    }
    assert!(log.elements().count() <= 2);
    let later_us = START_US + 3_000 + WINDOW_US;
    assert_eq!(peek(&mut log, later_us, &request(limit, 1)).standings[0].remaining, limit);
}
