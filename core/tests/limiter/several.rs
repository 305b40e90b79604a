//! Several keys in one decision: random sequences against the naive model.

use super::naive::{self, Model};
use super::properties::{id, LENGTHS_US, LONGEST_US, MS};
use super::START_US;
use proptest::prelude::*;
use slidewin_core::{check_all, newest, refund, Admitted, Id, MemoryLog, Refund, Request, Window};

const KEYS: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    /// Windows by key, and what is common to them.
    Check {
        windows: [Vec<Window>; KEYS],
        cost: u64,
        force: bool,
        id: Option<Id>,
    },
    /// A place in the line of one key, for somebody who waits for as long as a window.
    Reserve(usize, Window, Option<Id>),
    Refund(usize, Id, Option<u64>),
    /// Time passes, or steps back.
    Pass(i64),
}

fn op() -> impl Strategy<Value = Op> {
    let limit = prop_oneof![8 => 0..8_u64, 1 => Just((1 << 53) - 1)];
    let window = (prop::sample::select(&LENGTHS_US[..]), limit)
        .prop_map(|(length_us, limit)| Window { length_us, limit });
    let reserved = window.clone();
    let windows = prop_oneof![
        1 => Just(Vec::new()),
        2 => prop::collection::vec(window.clone(), 1),
        1 => prop::collection::vec(window, 2..4),
    ];
    let cost = prop_oneof![4 => Just(1), 2 => 1..4_u64];
    let step_us = prop_oneof![
        4 => 0..3_i64,
        4 => 0..2_000 * MS,
        4 => (prop::sample::select(&LENGTHS_US[..]), -2..3_i64).prop_map(|(length_us, by)| length_us + by),
        1 => (0..2 * LONGEST_US).prop_map(|us| -us),
    ];
    prop_oneof![
        8 => (prop::array::uniform(windows), cost, prop::bool::weighted(0.1), prop::option::weighted(0.5, id()))
            .prop_map(|(windows, cost, force, id)| Op::Check { windows, cost, force, id }),
        2 => (0..KEYS, reserved, prop::option::weighted(0.5, id()))
            .prop_map(|(key, window, id)| Op::Reserve(key, window, id)),
        1 => (0..KEYS, id(), prop::option::of(1..4_u64)).prop_map(|(key, id, units)| Op::Refund(key, id, units)),
        6 => step_us.prop_map(Op::Pass),
    ]
}

/// A request with the longest window, which each key is known to be used with from its first admission.
fn longest() -> Request {
    let window = Window { length_us: LONGEST_US, limit: 10 };
    Request { force: true, ..Request::new(&[window]).unwrap() }
}

/// One call: the keys that it names, with their requests.
fn requests(windows: &[Vec<Window>; KEYS], common: &Request) -> Vec<(usize, Request)> {
    let named = windows.iter().enumerate().filter(|(_, windows)| !windows.is_empty());
    named
        .map(|(key, windows)| (key, Request { windows: Request::new(windows).unwrap().windows, ..*common }))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn one_decision_over_several_keys(ops in prop::collection::vec(op(), 1..40)) {
        let mut logs: [MemoryLog; KEYS] = Default::default();
        let mut models: [Model; KEYS] = Default::default();
        let mut now_us = START_US;
        for op in &ops {
            for (log, model) in logs.iter_mut().zip(&mut models) {
                log.pass(now_us);
                if model.used(now_us, LONGEST_US) == 0 {
                    model.check(now_us, &longest());
                    super::check(log, now_us, &longest());
                }
            }
            match op {
                Op::Pass(us) if *us >= 0 => now_us += us,
                Op::Pass(us) => {
                    // What has left every window may be trimmed or not; a step back must not revive it.
                    let expired_us = now_us - LONGEST_US;
                    let elements = logs.iter().flat_map(MemoryLog::elements);
                    let oldest_us = |(at_us, member)| *naive::times_us(at_us, member).last().unwrap();
                    if elements.map(oldest_us).all(|at_us| at_us > expired_us) {
                        for model in &mut models {
                            model.admissions.retain(|unit| unit.at_us > expired_us);
                        }
                        now_us += us;
                    }
                }
                Op::Reserve(key, window, id) => {
                    let request = Request { id: *id, ..Request::new(&[*window]).unwrap() };
                    let reservation = super::reserve(&mut logs[*key], now_us, &request, window.length_us);
                    let (receipt, _) = models[*key].reserve(now_us, &request, window.length_us);
                    prop_assert_eq!(reservation.outcome.receipt, receipt);
                }
                Op::Refund(key, id, units) => {
                    let refunded = Refund { of: Admitted::Id(*id), units: *units };
                    let live = |model: &Model| {
                        let named = model.admissions.iter().find(|unit| unit.is(refunded.of));
                        named.is_none_or(|unit| unit.at_us > now_us - LONGEST_US)
                    };
                    // An expired one may be there or not.
                    if live(&models[*key]) {
                        let units = refund(&mut logs[*key], &refunded).unwrap();
                        prop_assert_eq!(units, models[*key].refund(&refunded));
                    }
                }
                Op::Check { windows, cost, force, id } => {
                    let common = Request { cost: *cost, force: *force, id: *id, with_standings: true, ..longest() };
                    let named = requests(windows, &common);
                    let writes = logs.each_ref().map(MemoryLog::writes);
                    let keys: Vec<usize> = named.iter().map(|(key, _)| *key).collect();
                    let asked: Vec<Request> = named.iter().map(|(_, request)| *request).collect();
                    let mut opened: Vec<&mut MemoryLog> = logs
                        .iter_mut()
                        .enumerate()
                        .filter_map(|(key, log)| keys.contains(&key).then_some(log))
                        .collect();
                    let random = || (now_us as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let outcomes = check_all(&mut opened[..], now_us, &asked, random).unwrap();

                    let ahead: Vec<bool> =
                        named.iter().map(|(key, request)| models[*key].is_ahead(now_us, request)).collect();
                    let waits_us = |(key, request): &(usize, Request)| if *force { 0 } else { models[*key].wait_us(now_us, request) };
                    let waits_us: Vec<i64> = named.iter().map(waits_us).collect();
                    let is_repeat = |nth: usize, (key, request): &(usize, Request)| {
                        models[*key].repeated(now_us, request).is_some() && !(ahead[nth] && waits_us[nth] > 0)
                    };
                    let repeats: Vec<bool> = named.iter().enumerate().map(|(nth, it)| is_repeat(nth, it)).collect();
                    let mut of_models: Vec<(&mut Model, Request)> = models
                        .iter_mut()
                        .enumerate()
                        .filter_map(|(key, model)| Some((model, named.iter().find(|(of, _)| *of == key)?.1)))
                        .collect();
                    let full = naive::check_all(&mut of_models, now_us);
                    prop_assert_eq!(&outcomes.full, &full);
                    for (nth, ((key, request), outcome)) in named.iter().zip(&outcomes.each).enumerate() {
                        let model = &models[*key];
                        prop_assert_eq!(outcome.is_repeat, repeats[nth]);
                        let waits = repeats[nth] && waits_us[nth] > 0;
                        prop_assert_eq!(outcome.receipt.is_some(), if repeats[nth] { !waits } else { full.is_empty() });
                        prop_assert_eq!(outcome.stepped_back_us.is_some(), ahead[nth] && !repeats[nth]);
                        for (standing, window) in outcome.standings.iter().zip(request.windows.as_slice()) {
                            let mut expected = model.standing(now_us, request, window);
                            if waits {
                                expected.retry_after_ms = Some(naive::after_ms(waits_us[nth]));
                            }
                            prop_assert_eq!(*standing, expected, "{:?}", request);
                        }
                        prop_assert_eq!(outcome.standings.len(), request.windows.as_slice().len());
                        if repeats[nth] || !(full.is_empty() || ahead[nth]) {
                            prop_assert_eq!(logs[*key].writes(), writes[*key], "written without need");
                        }
                    }
                }
            }
        }
        for (log, model) in logs.iter_mut().zip(&models) {
            let listed = newest(log, 1_000).into_iter().map(|it| (it.time_us, it.units, it.id));
            let kept = model.admissions.iter().rev().map(|unit| (unit.at_us, unit.units, unit.id));
            let is_live = |it: &(i64, u64, Option<Id>)| it.0 > now_us - LONGEST_US;
            prop_assert_eq!(Vec::from_iter(listed.filter(is_live)), Vec::from_iter(kept.filter(is_live)));
        }
    }
}
