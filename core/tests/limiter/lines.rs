//! A place in line: it is the earliest that fits, nobody goes before it, and a clock that steps back lets nobody go too
//! early.

use super::{ask, check, peek, reserve, START_US};
use proptest::prelude::*;
use slidewin_core::{newest, refund, Admitted, Id, MemoryLog, Refund, Request, Window};

const MS: i64 = 1_000;
const LENGTHS_US: [i64; 5] = [MS, 16 * MS, 100 * MS, 1_000 * MS, 60_000 * MS];

/// A call with its receipt, or 0, and the wait in ms.
fn place(log: &mut MemoryLog, at_ms: i64, max_wait_ms: i64, line: &str) -> (i64, i64) {
    let reservation = reserve(log, START_US + at_ms * MS, &ask(line), max_wait_ms * MS);
    let receipt = reservation.outcome.receipt.map_or(0, |receipt| receipt - START_US);
    (receipt, reservation.wait_ms.unwrap_or(-1))
}

/// Whether a check is admitted, and when to try again.
fn checked(log: &mut MemoryLog, at_ms: i64, line: &str) -> (bool, i64) {
    let outcome = check(log, START_US + at_ms * MS, &ask(line));
    (outcome.receipt.is_some(), outcome.standings[0].retry_after_ms.unwrap())
}

#[test]
fn two_a_second_in_line() {
    let mut log = MemoryLog::default();
    let mut next = || place(&mut log, 0, 3_000, "1 2");
    assert_eq!([next(), next()], [(0, 0), (1, 0)], "at once");
    assert_eq!([next(), next()], [(1_000_000, 1_000), (1_000_001, 1_001)], "as the first two leave");
    assert_eq!([next(), next()], [(2_000_000, 2_000), (2_000_001, 2_001)]);
    assert_eq!(next(), (3_000_000, 3_000));
    assert_eq!(next(), (0, 3_001), "longer than it waits");
    let members: Vec<_> =
        log.elements().map(|(_, member)| String::from_utf8_lossy(member).into_owned()).collect();
    let ahead = |member: &String| member.split_once('>').map(|(_, ahead)| ahead.to_owned());
    let expected =
        ["1000000", "1000001", "2000000", "2000001", "3000000"].map(|ahead| Some(ahead.to_owned()));
    assert_eq!(members[2..].iter().map(ahead).collect::<Vec<_>>(), expected);
    assert!(members[..2].iter().all(|member| ahead(member).is_none()), "at once is a plain entry");
}

#[test]
fn the_line_goes_first() {
    let mut log = MemoryLog::default();
    assert_eq!(place(&mut log, 0, 0, "1 2 COST 2"), (0, 0));
    assert_eq!(place(&mut log, 0, 1_000, "1 2"), (1_000_000, 1_000));
    let before: Vec<_> = log.clone().elements().map(|(at_us, _)| at_us).collect();
    assert_eq!(checked(&mut log, 500, "1 9"), (false, 500), "room, but it would go before");
    assert!(!peek(&mut log, START_US + 999_999, &ask("1 9")).has_room);
    assert_eq!(place(&mut log, 500, 0, "1 9"), (0, 500), "a check is a place that does not wait");
    assert!(log.elements().map(|(at_us, _)| at_us).eq(before));
    assert_eq!(checked(&mut log, 1_000, "1 2"), (true, 1_000), "once the line has come");
    assert_eq!(checked(&mut log, 1_000, "1 2"), (false, 1_000));
}

#[test]
fn force_goes_behind_the_line_and_is_never_shared() {
    let mut log = MemoryLog::default();
    place(&mut log, 0, 0, "1 1");
    place(&mut log, 0, 1_000, "1 1");
    for _ in 0..2 {
        assert!(check(&mut log, START_US + 400 * MS, &ask("1 1 FORCE COST 3 RESOLUTION 1"))
            .receipt
            .is_some());
    }
    let listed: Vec<_> =
        newest(&mut log, 9).iter().map(|it| (it.time_us - START_US, it.units, it.receipt)).collect();
    let entry = |at_us, units| (at_us, units, Some(START_US + at_us));
    assert_eq!(listed, [entry(1_000_002, 3), entry(1_000_001, 3), entry(1_000_000, 1), entry(0, 1)]);
    assert_eq!(place(&mut log, 400, 9_000, "1 1").1, 1_601, "until all of it has left");
}

#[test]
fn a_place_is_given_back_and_those_behind_keep_theirs() {
    let mut log = MemoryLog::default();
    let places: Vec<i64> = (0..4).map(|_| place(&mut log, 0, 9_000, "1 1 COST 1").0).collect();
    assert_eq!(places, [0, 1_000_000, 2_000_000, 3_000_000]);
    let back = |log: &mut MemoryLog, receipt: i64| {
        refund(log, &Refund { of: Admitted::Receipt(START_US + receipt), units: None }).unwrap()
    };
    assert_eq!([back(&mut log, 1_000_000), back(&mut log, 1_000_000)], [1, 0]);
    assert_eq!(place(&mut log, 0, 9_000, "1 1"), (4_000_000, 4_000), "behind the others");
    assert_eq!([back(&mut log, 4_000_000), back(&mut log, 3_000_000)], [1, 1]);
    assert_eq!(place(&mut log, 0, 9_000, "1 1"), (3_000_000, 3_000), "the end of the line is free again");
    assert_eq!(place(&mut log, 0, 9_000, "2 9 COST 4"), (3_000_001, 3_000));
    let part = Refund { of: Admitted::Receipt(START_US + 3_000_001), units: Some(3) };
    assert_eq!(refund(&mut log, &part).unwrap(), 3);
    let (at_us, member) = log.elements().next_back().unwrap();
    assert_eq!(at_us, START_US + 3_000_001);
    assert!(String::from_utf8_lossy(member).ends_with(">3000001"), "a part of a place is a place");
    assert!(!peek(&mut log, START_US, &ask("1 99")).has_room);
}

#[test]
fn never_and_an_id() {
    let mut log = MemoryLog::default();
    assert_eq!(place(&mut log, 0, 9_000, "1 1 COST 2"), (0, -1));
    assert_eq!(place(&mut log, 0, 9_000, "1 0"), (0, -1));
    assert_eq!(place(&mut log, 0, 9_000, "1 1 ID a"), (0, 0));
    assert_eq!(place(&mut log, 0, 9_000, "1 1 ID b"), (1_000_000, 1_000));
    assert_eq!(place(&mut log, 0, 9_000, "1 1"), (2_000_000, 2_000));
    assert_eq!(place(&mut log, 300, 0, "1 1 ID b"), (1_000_000, 700), "the same place, whatever it waits");
    assert_eq!(checked(&mut log, 300, "1 1 ID b"), (false, 700), "not yet: its own wait, not the line's");
    assert_eq!(checked(&mut log, 999, "1 1 ID b COST 5"), (false, 1));
    assert_eq!(checked(&mut log, 300, "1 1 ID c"), (false, 2_700));
    assert!(check(&mut log, START_US + 300 * MS, &ask("1 1 ID b FORCE")).is_repeat);
    assert!(checked(&mut log, 1_000, "1 1 ID b").0, "it has come");
    assert_eq!(log.elements().count(), 5, "three entries, two marks");
    assert!(log.elements().all(|(at_us, _)| at_us <= START_US + 2_000 * MS));
    let outcome = check(&mut log, START_US + 1_500 * MS, &ask("1 1 ID b"));
    assert_eq!((outcome.receipt, outcome.is_repeat), (Some(START_US + 1_000 * MS), true));
}

#[test]
fn a_step_back_of_an_hour_costs_the_line_and_a_window() {
    let mut log = MemoryLog::default();
    for line in ["2 1", "2 1 ID a", "2 1", "2 1", "2 1"] {
        place(&mut log, 0, 9_000, line);
    }
    let back = -3_600_000;
    // The last one waits for 8 s, by its own clock. A second has passed.
    assert_eq!(newest(&mut log, 1)[0].time_us, START_US + 8_000_000);
    let peeked = peek(&mut log, START_US + (back + 1_000) * MS, &ask("2 1"));
    assert_eq!((peeked.has_room, peeked.standings[0].retry_after_ms), (false, Some(10_000)));
    assert_eq!(
        place(&mut log, back + 1_000, 0, "2 1 ID a").1,
        2_000,
        "before a repair its ID is known, and it waits no longer"
    );
    assert_eq!(checked(&mut log, back + 1_000, "2 1 ID a"), (false, 10_000), "which repairs");
    assert_eq!(log.elements().count(), 1);
    let merged = newest(&mut log, 1)[0];
    assert_eq!((merged.time_us, merged.receipt), (START_US + (back + 9_000) * MS, None));
    assert_eq!(checked(&mut log, back + 10_999, "2 1"), (false, 1));
    assert_eq!(checked(&mut log, back + 11_000, "2 1"), (true, 2_000));
}

#[derive(Clone, Debug)]
enum Op {
    Check(u64),
    Reserve(u64),
    /// Gives back the admission that many back.
    Refund(usize),
    /// Time passes, by so many ‰ of the window.
    Pass(i64),
    /// The clock steps back, by so many ‰ of it.
    Back(i64),
    /// The caller that many back asks whether its place has come.
    Ask(usize),
}

fn ops(steps_back: bool) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (1..4_u64).prop_map(Op::Check),
        6 => (1..4_u64).prop_map(Op::Reserve),
        1 => (0..6_usize).prop_map(Op::Refund),
        1 => (0..6_usize).prop_map(Op::Ask),
        4 => prop_oneof![0..20_i64, 0..400_i64, 0..2_000_i64].prop_map(Op::Pass),
        u32::from(steps_back) => prop_oneof![0..140_i64, 0..3_000_i64, Just(3_600_000)].prop_map(Op::Back),
    ];
    prop::collection::vec(op, 1..80)
}

/// What one admission became: when it goes, by a clock that never steps, and its units.
#[derive(Clone, Copy, Debug)]
struct Gone {
    at_us: i64,
    units: u64,
    receipt: i64,
    id: Option<Id>,
}

/// Calls with these windows; each caller waits until its place comes, by its own clock, and then goes.
fn play(windows: &[Window], ops: &[Op]) -> Result<Vec<Gone>, TestCaseError> {
    let plain = Request::new(windows).unwrap();
    let longest_us = plain.windows.longest_us();
    let mut log = MemoryLog::default();
    let (mut real_us, mut step_us) = (START_US, 0);
    let mut gone: Vec<Gone> = Vec::new();
    for (nth, op) in ops.iter().enumerate() {
        real_us += 1;
        let now_us = real_us - step_us;
        let id = Id::new(nth.to_string().as_bytes()).filter(|_| nth % 3 == 0);
        match *op {
            Op::Pass(permille) => real_us += longest_us * permille / 1_000,
            Op::Back(permille) => step_us += longest_us * permille / 1_000,
            Op::Check(cost) => {
                if let Some(receipt) = check(&mut log, now_us, &Request { cost, id, ..plain }).receipt {
                    gone.push(Gone { at_us: real_us, units: cost, receipt, id });
                }
            }
            Op::Reserve(cost) => {
                let request = Request { cost, id, ..plain };
                let before_us = newest(&mut log, 1).first().map(|newest| newest.time_us);
                let reservation = reserve(&mut log, now_us, &request, longest_us);
                let Some(wait_ms) = reservation.wait_ms else {
                    prop_assert!(windows.iter().any(|window| window.limit < cost));
                    continue;
                };
                if let Some(receipt) = reservation.outcome.receipt {
                    // By its receipt it goes as early as it may, which is less than a ms before it was told to.
                    let wait_us = if wait_ms == 0 { 0 } else { receipt - now_us };
                    // 1 µs later where the line ends at that very time.
                    prop_assert!(
                        wait_ms == 0 || (wait_ms * MS - wait_us >= -1 && wait_ms * MS - wait_us < MS)
                    );
                    prop_assert!(wait_us <= longest_us + 1);
                    if reservation.outcome.stepped_back_us.is_none() {
                        prop_assert!(before_us.is_none_or(|before_us| receipt > before_us));
                    }
                    gone.push(Gone { at_us: real_us + wait_us, units: cost, receipt, id });
                } else {
                    prop_assert!(wait_ms * MS > longest_us);
                }
            }
            Op::Refund(back) => {
                let Some(index) = gone.len().checked_sub(back + 1) else { continue };
                // A receipt may be that of somebody else after a step back; an ID is not.
                let of = match gone[index].id {
                    Some(id) => Admitted::Id(id),
                    None if step_us == 0 => Admitted::Receipt(gone[index].receipt),
                    None => continue,
                };
                let units = refund(&mut log, &Refund { of, units: None }).unwrap();
                prop_assert!(units == 0 || units == gone[index].units);
                if units > 0 {
                    gone.remove(index);
                }
            }
            Op::Ask(back) => {
                let Some(Gone { at_us, id: Some(id), .. }) =
                    gone.len().checked_sub(back + 1).map(|index| gone[index])
                else {
                    continue;
                };
                let outcome =
                    check(&mut log, now_us, &Request { id: Some(id), with_standings: true, ..plain });
                if step_us == 0 && outcome.is_repeat {
                    prop_assert_eq!(outcome.receipt.is_some(), at_us <= real_us);
                    let retry_ms = outcome.standings[0].retry_after_ms.unwrap();
                    prop_assert!(at_us <= real_us || (retry_ms - 1) * MS < at_us - real_us);
                } else if !outcome.is_repeat {
                    // An ID names its latest admission.
                    let again = outcome.receipt.map(|receipt| Gone {
                        at_us: real_us,
                        units: 1,
                        receipt,
                        id: Some(id),
                    });
                    gone.iter_mut()
                        .filter(|gone| again.is_some() && gone.id == Some(id))
                        .for_each(|gone| gone.id = None);
                    gone.extend(again);
                }
            }
        }
    }
    Ok(gone)
}

/// No interval of these times admits more than the limit.
fn within_limits(windows: &[Window], times: &[(i64, u64)]) -> Result<(), TestCaseError> {
    for window in windows {
        for (from_us, _) in times {
            let within =
                times.iter().filter(|(at_us, _)| (*from_us..from_us + window.length_us).contains(at_us));
            let units: u64 = within.map(|(_, units)| units).sum();
            prop_assert!(units <= window.limit, "{} of {:?} from {} in {:?}", units, window, from_us, times);
        }
    }
    Ok(())
}

fn windows() -> impl Strategy<Value = Vec<Window>> {
    let window = (prop::sample::select(&LENGTHS_US[..]), 1..8_u64);
    prop::collection::vec(window.prop_map(|(length_us, limit)| Window { length_us, limit }), 1..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

    #[test]
    fn no_interval_of_recorded_times_admits_more_than_the_limit(windows in windows(), ops in ops(false)) {
        let gone = play(&windows, &ops)?;
        within_limits(&windows, &gone.iter().map(|gone| (gone.receipt, gone.units)).collect::<Vec<_>>())?;
        within_limits(&windows, &gone.iter().map(|gone| (gone.at_us, gone.units)).collect::<Vec<_>>())?;
    }

    #[test]
    fn whatever_the_clock_steps_back_no_interval_sees_more_go(windows in windows(), ops in ops(true)) {
        let gone = play(&windows, &ops)?;
        within_limits(&windows, &gone.iter().map(|gone| (gone.at_us, gone.units)).collect::<Vec<_>>())?;
    }

    #[test]
    fn a_place_is_the_earliest_time_at_which_a_check_is_admitted(
        windows in windows(), ops in ops(false), cost in 1..4_u64, part in 0..1_000_i64,
    ) {
        let plain = Request::new(&windows).unwrap();
        let longest_us = plain.windows.longest_us();
        let (mut log, mut now_us) = (MemoryLog::default(), START_US);
        for op in &ops {
            match op {
                Op::Pass(permille) => now_us += longest_us * permille / 1_000,
                Op::Reserve(cost) => {
                    reserve(&mut log, now_us, &Request { cost: *cost, ..plain }, longest_us);
                }
                _ => now_us += 1,
            }
        }
        let request = Request { cost, with_standings: true, ..plain };
        let reservation = reserve(&mut log.clone(), now_us, &request, 2 * longest_us);
        let Some(wait_ms) = reservation.wait_ms else { return Ok(()) };
        let fit_us = match reservation.outcome.receipt {
            Some(receipt) if wait_ms > 0 => receipt,
            _ => now_us + wait_ms * MS,
        };
        // Behind the end of the line, 1 µs.
        prop_assert!(peek(&mut log, fit_us, &request).has_room);
        for early_us in [fit_us - 2, now_us + (fit_us - now_us) * part / 1_000 - 2, now_us] {
            if (now_us..=fit_us - 2).contains(&early_us) && reservation.outcome.receipt.is_some() {
                prop_assert!(!peek(&mut log, early_us, &request).has_room);
            }
        }
        let standings = peek(&mut log, now_us, &request).standings;
        let retries = standings.iter().map(|standing| standing.retry_after_ms.unwrap());
        prop_assert_eq!(retries.max().unwrap(), wait_ms, "PEEK sees the line");
    }
}
