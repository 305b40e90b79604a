//! Random sequences of all commands with random options at exact times: every field of every reply is that of
//! the naive model, and the promises hold whatever happens.

use super::naive::{after_ms, times_us, Admission, Model};
use super::{check, peek, reserve, START_US};
use proptest::prelude::*;
use slidewin_core::{newest, refund, Admitted, Id, MemoryLog, Refund, Request, Window, MAX_UNITS};

#[derive(Clone, Debug)]
enum Op {
    Check(Request),
    Peek(Request),
    /// A place in line, and how many ‰ of the longest window the caller waits at most.
    Reserve(Request, i64),
    /// The receipt of the admission that many back, or an ID.
    Refund(Result<usize, Id>, Option<u64>),
    /// Time passes, or steps back.
    Pass(i64),
}

pub const MS: i64 = 1_000;
/// Each more than an eighth longer than the one before: shorter distances count as one window.
pub const LENGTHS_US: [i64; 9] =
    [MS, 1_500, 2 * MS, 16 * MS, 18_100, 100 * MS, 1_000 * MS, 1_500_500, 60_000 * MS];
pub const LONGEST_US: i64 = LENGTHS_US[LENGTHS_US.len() - 1];

pub fn id() -> impl Strategy<Value = Id> {
    prop::sample::select(&[b"a" as &[u8], b"b", b"0", b"#", &[b'z'; 63]][..])
        .prop_map(|token| Id::new(token).unwrap())
}

fn request() -> impl Strategy<Value = Request> {
    let limit = prop_oneof![8 => 0..12_u64, 1 => 100..1_000_u64, 1 => Just((1 << 53) - 1)];
    let window = (prop::sample::select(&LENGTHS_US[..]), limit)
        .prop_map(|(length_us, limit)| Window { length_us, limit });
    let cost = prop_oneof![6 => Just(1), 3 => 1..6_u64, 1 => Just((1 << 53) - 1)];
    let resolution = prop::option::weighted(0.3, 0..4_i64);
    let id = prop::option::weighted(0.4, id());
    (prop::collection::vec(window, 1..4), cost, resolution, prop::bool::weighted(0.1), id).prop_map(
        |(list, cost, resolution, force, id)| {
            let plain = Request::new(&list).unwrap();
            let resolution_us = resolution
                .map(|part| (plain.windows.shortest_us() >> part).max(MS))
                .filter(|_| !force || cost < 6);
            let cost = if force { cost.min(1_000) } else { cost };
            let id = id.filter(|_| resolution_us.is_none());
            Request { cost, resolution_us, force, id, with_standings: true, ..plain }
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let step_us = prop_oneof![
        4 => 0..3_i64,
        4 => 0..2_000 * MS,
        4 => prop::sample::select(&LENGTHS_US[..]),
        2 => (prop::sample::select(&LENGTHS_US[..]), -2..3_i64).prop_map(|(length_us, by)| length_us + by),
        1 => 0..2 * LONGEST_US,
        1 => (0..80 * MS).prop_map(|us| -us),
        1 => (0..2 * LONGEST_US).prop_map(|us| -us),
    ];
    prop_oneof![
        8 => request().prop_map(Op::Check),
        2 => request().prop_map(Op::Peek),
        4 => (request(), prop_oneof![0..1_001_i64, Just(0), Just(1_000)])
            .prop_map(|(request, wait)| Op::Reserve(Request { resolution_us: None, force: false, ..request }, wait)),
        2 => (prop::result::maybe_ok_weighted(0.6, 0..12_usize, id()), prop::option::of(1..6_u64))
            .prop_map(|(of, units)| Op::Refund(of, units)),
        8 => step_us.prop_map(Op::Pass),
    ]
}

/// A request with the longest window, which the key is known to be used with from its first admission.
fn longest(limit: u64) -> Request {
    Request { force: true, ..Request::new(&[Window { length_us: LONGEST_US, limit }]).unwrap() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn every_reply_is_that_of_the_naive_model(ops in prop::collection::vec(op(), 1..60)) {
        let (mut log, mut model) = (MemoryLog::default(), Model::default());
        let mut now_us = START_US;
        let mut receipts = Vec::new();
        for op in &ops {
            // Idle keys forget what they were used with: the longest window is the first to ask again.
            if model.used(now_us, LONGEST_US) == 0 {
                let request = longest(10);
                prop_assert_eq!(check(&mut log, now_us, &request).receipt, model.check(now_us, &request));
            }
            // Who does not ask how the windows stand may be refused by what left no room for an earlier call.
            if let Op::Check(request) | Op::Peek(request) = op {
                let plain = Request { with_standings: false, ..*request };
                prop_assert_eq!(peek(&mut log, now_us, &plain).has_room, model.fits(now_us, request), "{:?}", request);
            }
            match op {
                Op::Pass(us) if *us >= 0 => now_us += us,
                Op::Pass(us) => {
                    // What has left every window may be trimmed or not; a step back must not revive it.
                    let expired_us = now_us - LONGEST_US;
                    let oldest_us = |(at_us, member)| *times_us(at_us, member).last().unwrap();
                    if log.elements().map(oldest_us).all(|at_us| at_us > expired_us) {
                        model.admissions.retain(|unit| unit.at_us > expired_us);
                        now_us += us;
                    }
                }
                Op::Check(request) => {
                    let before = log.clone();
                    let wait_us = if request.force { 0 } else { model.wait_us(now_us, request) };
                    let ahead = model.is_ahead(now_us, request);
                    let repeated = model.repeated(now_us, request).filter(|_| wait_us == 0 || !ahead);
                    let stepped_back = repeated.is_none() && ahead;
                    let outcome = check(&mut log, now_us, request);
                    prop_assert_eq!(outcome.receipt, model.check(now_us, request), "{:?}", request);
                    prop_assert_eq!(outcome.stepped_back_us.is_some(), stepped_back);
                    prop_assert_eq!(outcome.is_repeat, repeated.is_some());
                    for (standing, window) in outcome.standings.iter().zip(request.windows.as_slice()) {
                        let mut expected = model.standing(now_us, request, window);
                        if repeated.is_some() && wait_us > 0 {
                            expected.retry_after_ms = Some(after_ms(wait_us));
                        }
                        prop_assert_eq!(*standing, expected, "{:?}", request);
                        let line_us = model.line_us(now_us).map_or(0, |line_us| line_us - now_us);
                        let most_us = if stepped_back { window.length_us } else { window.length_us / 8 * 9 };
                        prop_assert!(standing.retry_after_ms.unwrap_or(-1) <= (most_us + line_us) / MS + 1);
                    }
                    if let Some(receipt) = outcome.receipt.filter(|_| !outcome.is_repeat) {
                        receipts.push(receipt);
                        let kept_us = log.expires_at_ms().unwrap() * MS - receipt;
                        prop_assert!(kept_us >= request.windows.longest_us());
                        prop_assert!(kept_us <= LONGEST_US / 8 * 9 + 2 * MS);
                    } else if !stepped_back {
                        prop_assert!(log.elements().eq(before.elements()));
                        prop_assert_eq!((before.expires_at_ms(), before.writes()), (log.expires_at_ms(), log.writes()));
                    }
                }
                Op::Peek(request) => {
                    let writes = log.writes();
                    let forecast = peek(&mut log, now_us, request);
                    prop_assert_eq!(forecast.has_room, model.fits(now_us, request));
                    for (standing, window) in forecast.standings.iter().zip(request.windows.as_slice()) {
                        prop_assert_eq!(*standing, model.standing(now_us, request, window), "{:?}", request);
                    }
                    prop_assert_eq!(log.writes(), writes);
                }
                Op::Reserve(request, permille) => {
                    let before = log.clone();
                    let repeated = model.repeated(now_us, request);
                    let stepped_back = repeated.is_none() && model.is_ahead(now_us, request);
                    let max_wait_us = request.windows.longest_us() * permille / 1_000;
                    let reservation = reserve(&mut log, now_us, request, max_wait_us);
                    let (receipt, wait_us) = model.reserve(now_us, request, max_wait_us);
                    prop_assert_eq!(reservation.outcome.receipt, receipt, "{:?}", request);
                    prop_assert_eq!(reservation.wait_ms, wait_us.map(after_ms), "{:?}", request);
                    prop_assert_eq!(reservation.outcome.is_repeat, repeated.is_some());
                    prop_assert_eq!(reservation.outcome.stepped_back_us.is_some(), stepped_back);
                    if let Some(receipt) = receipt.filter(|_| repeated.is_none()) {
                        receipts.push(receipt);
                        let kept_us = log.expires_at_ms().unwrap() * MS - receipt;
                        prop_assert!(kept_us >= request.windows.longest_us());
                        prop_assert!(kept_us <= LONGEST_US / 8 * 9 + 2 * MS);
                    } else if !stepped_back {
                        prop_assert!(log.elements().eq(before.elements()));
                        prop_assert_eq!((before.expires_at_ms(), before.writes()), (log.expires_at_ms(), log.writes()));
                    }
                }
                Op::Refund(of, units) => {
                    let back = |back: &usize| receipts.len().checked_sub(back + 1).map(|index| receipts[index]);
                    let of = match of {
                        Ok(by) => back(by).map(Admitted::Receipt),
                        Err(id) => Some(Admitted::Id(*id)),
                    };
                    let Some(of) = of else { continue };
                    let refunded = Refund { of, units: *units };
                    log.pass(now_us);
                    let units = refund(&mut log, &refunded).unwrap();
                    let expired_us = now_us - LONGEST_US;
                    let may_be_trimmed = |unit: &Admission| unit.is(of) && unit.at_us <= expired_us;
                    if units == 0 && model.admissions.iter().any(may_be_trimmed) {
                        // To the model it no longer matters.
                        model.admissions.retain(|unit| !may_be_trimmed(unit));
                    } else {
                        prop_assert_eq!(units, model.refund(&refunded));
                    }
                }
            }
        }
        // What is listed is what the model remembers. More units than the largest limit make no difference.
        log.pass(now_us);
        let expired_us = now_us - LONGEST_US;
        let listed = newest(&mut log, 1_000).into_iter();
        let listed = listed.map(|it| (it.time_us, it.units.min(MAX_UNITS), it.receipt.is_none(), it.id));
        let kept = model.admissions.iter().rev();
        let kept = kept.map(|unit| (unit.at_us, unit.units.min(MAX_UNITS), unit.shared, unit.id));
        let is_live = |it: &(i64, u64, bool, Option<Id>)| it.0 > expired_us;
        prop_assert_eq!(Vec::from_iter(listed.filter(is_live)), Vec::from_iter(kept.filter(is_live)));
    }

    #[test]
    fn no_interval_admits_more_than_the_limit(
        length_us in prop::sample::select(&LENGTHS_US[..]),
        limit in 1..20_u64,
        calls in prop::collection::vec((0..1_000_i64, 1..4_u64, prop::bool::ANY), 1..200),
    ) {
        let plain = Request::new(&[Window { length_us, limit }]).unwrap();
        let mut log = MemoryLog::default();
        let mut now_us = START_US;
        let mut units = Vec::new();
        for (step, cost, shares) in calls {
            now_us += step * length_us / 5_000;
            let resolution_us = shares.then_some((length_us / 10).max(MS));
            let request = Request { cost, resolution_us, ..plain };
            if check(&mut log, now_us, &request).receipt.is_some() {
                units.push((now_us, cost));
            }
        }
        for (from_us, _) in &units {
            let within = units.iter().filter(|(at_us, _)| (*from_us..from_us + length_us).contains(at_us));
            prop_assert!(within.map(|(_, cost)| cost).sum::<u64>() <= limit);
        }
    }

    #[test]
    fn refused_at_every_instant_before_the_promised_time_and_admitted_at_it(
        length_us in prop::sample::select(&LENGTHS_US[..]),
        limit in 1..20_u64,
        steps in prop::collection::vec(0..1_000_i64, 0..30),
        cost in 1..6_u64,
        part in 0..100_i64,
    ) {
        let plain = Request::new(&[Window { length_us, limit }]).unwrap();
        let mut request = Request { with_standings: true, ..plain };
        let mut log = MemoryLog::default();
        let mut now_us = START_US;
        for step in steps {
            now_us += step * length_us / 10_000;
            check(&mut log, now_us, &request);
        }
        request.cost = cost.min(limit);
        let wait_us = peek(&mut log, now_us, &request).standings[0].retry_after_ms.unwrap() * MS;
        prop_assert!(wait_us >= 0);
        for early_us in [wait_us - MS, wait_us * part / 100 - MS, 0] {
            if wait_us > 0 && (0..=wait_us - MS).contains(&early_us) {
                prop_assert!(!peek(&mut log.clone(), now_us + early_us, &request).has_room);
            }
        }
        prop_assert!(peek(&mut log, now_us + wait_us, &request).has_room);
    }
}
