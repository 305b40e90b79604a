//! Members that somebody else wrote: counted as the design says, never a crash.

use super::{check, parse, peek, MemoryLog, START_US};
use crate::entry::{Entry, Kind, MAX_WEIGHT};
use crate::log::Element;
use crate::refund::refund;
use crate::request::Refund;
use crate::window::{Ends, Live};
use proptest::prelude::*;

/// Units above `since_us`, straight from section 3: foreign members count one at the ends and nothing between;
/// where the difference is impossible every element counts by itself.
fn naive_units(log: &MemoryLog, since_us: i64) -> u64 {
    let live: Vec<Option<Entry>> = log
        .elements
        .iter()
        .filter(|(at, _)| *at > since_us)
        .map(|(at, member)| Element::new(*at, member).entry)
        .collect();
    let alone =
        live.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.map_or(1, |entry| entry.weight)));
    let Some(first) = live.iter().position(Option::is_some) else { return live.len() as u64 };
    let last = live.iter().rposition(Option::is_some).unwrap();
    let ends = (first + live.len() - 1 - last) as u64;
    let (oldest, newest) = (live[first].unwrap(), live[last].unwrap());
    if first == last {
        return ends.saturating_add(oldest.weight);
    }
    let between = u128::from(newest.total.wrapping_sub(oldest.total));
    let units = between + u128::from(oldest.weight);
    if between < u128::from(newest.weight) || units >= 1 << 63 {
        return alone;
    }
    ends.saturating_add(units as u64)
}

fn member() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![0..50_u64, Just(u64::MAX), Just(1 << 63), any::<u64>()];
    let entry = (number.clone(), number, prop::bool::ANY).prop_map(|(total, weight, shared)| {
        let kind = if shared { Kind::Shared } else { Kind::Single };
        Entry { total, weight: (weight & MAX_WEIGHT).max(1), kind }.encode().as_bytes().to_vec()
    });
    prop_oneof![3 => entry, 1 => prop::collection::vec(any::<u8>(), 0..6)]
}

fn any_log() -> impl Strategy<Value = MemoryLog> {
    let score = prop_oneof![
        8 => (-2_000_000..2_000_000_i64).prop_map(|us| START_US + us),
        1 => Just(i64::MAX), 1 => Just(i64::MIN), 1 => 0..100_i64,
    ];
    let expiry =
        prop::option::of(prop_oneof![(0..100_000_i64).prop_map(|ms| START_US / 1_000 + ms), Just(i64::MAX)]);
    (prop::collection::vec((score, member()), 0..12), expiry).prop_map(|(elements, expiry_ms)| {
        let mut log = MemoryLog::default();
        for (score_us, member) in elements {
            log.zadd(score_us, &member);
        }
        log.expiry_ms = expiry_ms.filter(|_| !log.elements.is_empty());
        log
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn foreign_members_count_as_the_design_says(mut log in any_log(), back_us in 0..3_000_000_i64) {
        let since_us = START_US - back_us;
        let units = Ends::of(&mut log).map_or(0, |ends| Live::count(&mut log, &ends, since_us).units);
        prop_assert_eq!(units, naive_units(&log, since_us));
    }

    #[test]
    fn no_content_of_a_key_is_a_crash(
        mut log in any_log(),
        lines in prop::collection::vec(prop::sample::select(&[
            "1 5 WITHQUOTA", "1 5 COST 3 WITHQUOTA", "1 1000000 RESOLUTION 10ms", "1ms 2 1 9007199254740991",
            "60 3 FORCE COST 9007199254740991", "3650d 10 RESOLUTION 1d FORCE COST 9007199254740991", "1 0",
        ][..]), 1..6),
        receipt in 0..30_usize,
        step_us in -3_000_000..3_000_000_i64,
    ) {
        let mut now_us = START_US;
        for line in lines {
            let request = parse(line);
            let ahead = Ends::of(&mut log).is_some_and(|ends| ends.is_ahead(now_us, &request));
            let peeked = peek(&mut log, now_us, &request);
            let (admitted, quotas) = check(&mut log, now_us, &request);
            // A repair makes one honest entry of whatever was there, so it may end a miscount.
            if !ahead {
                prop_assert_eq!(peeked.0 || request.force, admitted.is_some());
            }
            for (quota, window) in quotas.iter().zip(request.windows.as_slice()) {
                prop_assert!(quota.remaining <= window.limit);
                prop_assert!((-1..=window.length_us / 8 * 9 / 1_000 + 1).contains(&quota.retry_after_ms));
                prop_assert!((0..=window.length_us / 8 * 9 / 1_000 + 1).contains(&quota.reset_after_ms));
            }
            if admitted.is_some() {
                let longest_ms = request.windows.longest_us() / 1_000;
                prop_assert!(log.expiry_ms.unwrap() > now_us / 1_000 + longest_ms);
            }
            now_us += step_us;
        }
        let receipt = log.elements.get(receipt).map_or(1, |(at, _)| (*at).max(1));
        let refunded = refund(&mut log, &Refund { receipt, units: None });
        prop_assert!(refunded.is_ok());
    }
}

#[test]
fn stale_members_are_trimmed_and_live_ones_count() {
    let mut log = MemoryLog::default();
    log.zadd(1, b"a");
    log.zadd(2, b"b");
    let (receipt, quotas) = check(&mut log, START_US, &parse("60 5"));
    assert_eq!((receipt, quotas[0].remaining, log.elements.len()), (Some(START_US), 4, 1));

    log.zadd(START_US - 5, b"before");
    log.zadd(START_US + 5, b"after");
    let (_, quotas) = check(&mut log, START_US + 10, &parse("60 5"));
    assert_eq!(quotas[0].remaining, 1, "two of ours and two of theirs");

    let mut log = MemoryLog::default();
    check(&mut log, START_US, &parse("10 5"));
    check(&mut log, START_US + 1_000_000, &parse("10 5"));
    log.zadd(i64::MAX, b"far ahead");
    let (_, quotas) = check(&mut log, START_US + 2_000_000, &parse("10 5"));
    assert_eq!(
        quotas[0].remaining, 1,
        "a member of the far future is one unit, also when it is brought back"
    );

    let mut log = MemoryLog::default();
    for at_us in [START_US - 2_000_000, START_US - 1_000_000, START_US] {
        log.zadd(at_us, at_us.to_string().as_bytes());
    }
    let (_, quotas) = check(&mut log, START_US + 1, &parse("60 5"));
    assert_eq!(quotas[0].remaining, 1, "three calls of a limiter whose members are times, and ours");
}
