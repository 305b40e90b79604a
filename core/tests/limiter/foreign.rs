//! Members that somebody else wrote: counted as the design says, never a crash.

use super::{ask, check, naive, peek, reserve, START_US};
use proptest::prelude::*;
use slidewin_core::entry::{Entry, Kind, MAX_WEIGHT};
use slidewin_core::{refund, Admitted, Element, MemoryLog, Record, Refund, Request, Window, MAX_WINDOW_US};

/// Units above `since_us`, as docs/design.md says: foreign members count one at the ends and nothing between;
/// where the difference is impossible every element counts by itself.
fn naive_units(log: &MemoryLog, since_us: i64) -> u64 {
    let live: Vec<Option<((i64, Entry), u64)>> = log
        .elements()
        .filter(|(at_us, _)| *at_us > since_us)
        // The mark of an ID weighs nothing, wherever it lies.
        .filter(|(_, member)| !(member.starts_with(b"#") && (2..=64).contains(&member.len())))
        .map(|(at_us, member)| {
            let entry = Element::new(at_us, member).entry?;
            let is_live = |at_us: &&i64| **at_us > since_us;
            Some((
                (at_us, entry),
                match naive::times_us(at_us, member).as_slice() {
                    [_] => entry.weight,
                    times_us => times_us.iter().filter(is_live).count() as u64,
                },
            ))
        })
        .collect();
    let alone = live.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.map_or(1, |(_, live)| live)));
    let Some(first) = live.iter().position(Option::is_some) else { return live.len() as u64 };
    let last = live.iter().rposition(Option::is_some).unwrap();
    let ends = (first + live.len() - 1 - last) as u64;
    let ((oldest, oldest_units), (newest, _)) = (live[first].unwrap(), live[last].unwrap());
    // Two bundles that somebody made with the same score and the same total are taken for one.
    if oldest == newest {
        return ends.saturating_add(oldest_units);
    }
    let between = u128::from(newest.1.total.wrapping_sub(oldest.1.total));
    let units = between + u128::from(oldest_units);
    if between < u128::from(newest.1.weight) || units >= 1 << 63 {
        return alone;
    }
    ends.saturating_add(units as u64)
}

fn member() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![0..50_u64, Just(u64::MAX), Just(1 << 63), any::<u64>()];
    let ahead = prop::option::weighted(0.3, prop_oneof![1..3_000_000_i64, Just(i64::MAX)]);
    let entry =
        (number.clone(), number, prop::bool::ANY, ahead).prop_map(|(total, weight, is_shared, ahead)| {
            let kind = match ahead {
                Some(ahead_us) => Kind::Place { ahead_us, is_shared },
                None => {
                    if is_shared {
                        Kind::Shared
                    } else {
                        Kind::Single
                    }
                }
            };
            Entry { total, weight: (weight & MAX_WEIGHT).max(1), kind }.encode().as_bytes().to_vec()
        });
    // The second offset begins with a later character than the first.
    let bundle = (0..50_u64, "[0-7][0-o]{0,9}").prop_map(|(total, offset)| {
        let later: String = offset.replacen(|_: char| true, "k", 1);
        format!("{total}:3;{offset}{later}").into_bytes()
    });
    let mark = prop_oneof!["#[a-d]", "#{64}", "#{65}", "#"].prop_map(String::into_bytes);
    prop_oneof![3 => entry, 1 => bundle, 1 => mark, 1 => prop::collection::vec(any::<u8>(), 0..6)]
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
        log.set_expiry_ms(expiry_ms);
        log
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

    #[test]
    fn foreign_members_count_as_the_design_says(mut log in any_log(), back_us in 0..3_000_000_i64) {
        let since_us = START_US - back_us;
        // Without a limit to speak of, what remains of it tells the units.
        let window = Window { length_us: back_us, limit: u64::MAX };
        let request = Request { with_standings: true, ..Request::new(&[window]).unwrap() };
        let standing = slidewin_core::peek(&mut log, START_US, &request).standings[0];
        let units = naive_units(&log, since_us);
        prop_assert_eq!(u64::MAX - standing.remaining, units);
        // So does the decision alone: by the oldest element, by one that is sought, and by what left no room before.
        let units_of = |(at_us, member)| Element::new(at_us, member).entry.map_or(1, |entry| entry.weight);
        if log.elements().all(|element| units_of(element) < 1 << 56) {
            let longer = Window { length_us: 5_000_000, limit: u64::MAX };
            let mut has_room = |windows: &[Window]| {
                slidewin_core::peek(&mut log, START_US, &Request::new(windows).unwrap()).has_room
            };
            let is_line = !has_room(&[longer]);
            for limit in [units, units, units + 1] {
                for windows in [&[Window { limit, ..window }][..], &[longer, Window { limit, ..window }]] {
                    prop_assert_eq!(has_room(windows), units < limit && !is_line, "{:?}", windows);
                }
            }
        }
    }

    #[test]
    fn no_content_of_a_key_is_a_crash(
        mut log in any_log(),
        lines in prop::collection::vec(prop::sample::select(&[
            "1 5", "1 5 COST 3", "1 1000000 RESOLUTION 10ms", "1ms 2 1 9007199254740991",
            "60 3 FORCE COST 9007199254740991", "60 3 ID a", "1 9 ID b FORCE", "3650d 10 RESOLUTION 1d FORCE COST 9007199254740991", "1 0",
        ][..]), 1..6),
        receipt in 0..30_usize,
        step_us in -3_000_000..3_000_000_i64,
    ) {
        let mut now_us = START_US;
        for line in lines {
            let request = ask(line);
            let peeked = peek(&mut log, now_us, &request);
            let outcome = check(&mut log, now_us, &request);
            // A repair makes one honest entry of whatever was there, so it may end a miscount.
            if outcome.stepped_back_us.is_none() && !outcome.is_repeat {
                prop_assert_eq!(peeked.has_room || request.force, outcome.receipt.is_some());
            }
            // A line may stand, of any length.
            let ahead_us = |(at_us, member)| {
                let element = Element::new(at_us, member);
                at_us.saturating_sub(now_us).max(element.entry.map_or(0, Entry::ahead_us))
            };
            let line_us = log.elements().map(ahead_us).max().unwrap_or(0).max(0);
            for (standing, window) in outcome.standings.iter().zip(request.windows.as_slice()) {
                prop_assert!(standing.remaining <= window.limit);
                let waits = 0..=(window.length_us / 8 * 9).saturating_add(line_us) / 1_000 + 1;
                prop_assert!(standing.retry_after_ms.is_none_or(|ms| waits.contains(&ms)));
                prop_assert!(waits.contains(&standing.reset_after_ms));
                prop_assert!((0..=standing.reset_after_ms).contains(&standing.oldest_after_ms));
            }
            if outcome.receipt.is_some() && !outcome.is_repeat {
                let longest_ms = request.windows.longest_us() / 1_000;
                prop_assert!(log.expires_at_ms().unwrap() > now_us / 1_000 + longest_ms);
            }
            let reservation = reserve(&mut log, now_us, &Request { resolution_us: None, force: false, ..request }, MAX_WINDOW_US);
            prop_assert!(reservation.wait_ms.is_none_or(|wait_ms| wait_ms >= 0));
            now_us += step_us;
        }
        let receipt = log.elements().nth(receipt).map_or(1, |(at_us, _)| at_us.max(1));
        let refunded = refund(&mut log, &Refund { of: Admitted::Receipt(receipt), units: None });
        prop_assert!(refunded.is_ok());
    }
}

/// What remains of `60 5` or the like after one more call.
fn remaining(log: &mut MemoryLog, now_us: i64, line: &str) -> u64 {
    check(log, now_us, &ask(line)).standings[0].remaining
}

#[test]
fn stale_members_are_trimmed_and_live_ones_count() {
    let mut log = MemoryLog::default();
    log.zadd(1, b"a");
    log.zadd(2, b"b");
    assert_eq!(remaining(&mut log, START_US, "60 5"), 4);
    assert_eq!(log.elements().map(|(at_us, _)| at_us).collect::<Vec<_>>(), [START_US]);

    log.zadd(START_US - 5, b"before");
    log.zadd(START_US + 5, b"after");
    assert_eq!(remaining(&mut log, START_US + 10, "60 5"), 1, "two of ours and two of theirs");

    let mut log = MemoryLog::default();
    check(&mut log, START_US, &ask("10 5"));
    check(&mut log, START_US + 1_000_000, &ask("10 5"));
    log.zadd(i64::MAX, b"far ahead");
    let left = remaining(&mut log, START_US + 2_000_000, "10 5");
    assert_eq!(left, 1, "a member of the far future is one unit, also when it is brought back");

    let mut log = MemoryLog::default();
    for at_us in [START_US - 2_000_000, START_US - 1_000_000, START_US] {
        log.zadd(at_us, at_us.to_string().as_bytes());
    }
    let left = remaining(&mut log, START_US + 1, "60 5");
    assert_eq!(left, 1, "three calls of a limiter whose members are times, and ours");
}

#[test]
fn a_bundle_hides_no_gap_that_somebody_left() {
    for gone in 2..40 {
        let mut log = MemoryLog::default();
        for nth in 1..100 {
            let now_us = START_US + nth * 7;
            assert_eq!(
                remaining(&mut log, now_us, "60 1000"),
                1_000 - nth as u64,
                "call {nth}, {gone} is gone"
            );
            if nth == gone + 1 {
                // Neither the oldest element nor the newest one: what lies between is counted by totals.
                let (_, member) = log.elements().rev().nth(1).unwrap();
                if log.elements().next().unwrap().1 != member {
                    let member = member.to_vec();
                    log.replace(&[], &[member]);
                }
            }
        }
    }
}

#[test]
fn what_is_remembered_proves_nothing_once_the_totals_cannot_be_right() {
    let plain = |line| Request { with_standings: false, ..ask(line) };
    let mut log = MemoryLog::default();
    for nth in 0..3 {
        assert!(check(&mut log, START_US + nth, &plain("60 3")).receipt.is_some());
    }
    assert!(!peek(&mut log, START_US + 3, &plain("60 3")).has_room);
    log.zadd(START_US + 4, b"1"); // each element now counts by itself
    assert!(peek(&mut log, START_US + 5, &plain("60 5")).has_room);
    assert!(!peek(&mut log, START_US + 5, &plain("60 4")).has_room);
}
