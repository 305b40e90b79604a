//! Random calls with all options at exact times, each answer compared with that of a naive model.
//!
//! What is random in the server, the slack of an expiry, the model is told after each call; it checks that it
//! lies where it may. A replica is attached: in the end both sides must hold the same.
//!
//! `PROPTEST_CASES=10000 cargo test differential` looks longer.

mod model;

use crate::harness::{caught_up, packed, Client, Clock, Server};
use model::{Model, Request};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::{from_redis_value_ref, ConnectionLike, Value};
use std::cell::RefCell;
use std::fmt::Write;

/// Lengths by their spelling: some within an eighth of each other, some far apart, some no whole ms.
const LENGTHS: [(&str, i64); 8] = [
    ("1ms", 1_000),
    ("1.5ms", 1_500),
    ("10ms", 10_000),
    ("0.25", 250_000),
    ("1", 1_000_000),
    ("1.1", 1_100_000),
    ("9.9999", 9_999_900),
    ("1m", 60_000_000),
];
const KEYS: usize = 2;

#[derive(Clone, Debug)]
enum Step {
    Advance {
        us: i64,
    },
    /// To the moment at which the nth unit of a window is gone, or 1 µs before or after.
    Boundary {
        key: usize,
        nth: usize,
        length: usize,
        off_us: i64,
    },
    Back {
        us: i64,
    },
    Check {
        key: usize,
        windows: Vec<(usize, i64)>,
        cost: Option<i64>,
        resolution: Option<usize>,
        force: bool,
        receipt: bool,
        quota: bool,
    },
    Peek {
        key: usize,
        windows: Vec<(usize, i64)>,
        cost: Option<i64>,
        quota: bool,
    },
    Refund {
        key: usize,
        nth: usize,
        cost: Option<i64>,
    },
    Delete {
        key: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS;
    let us = prop_oneof![
        0..3_i64,
        0..2_000_i64,
        0..20_000_i64,
        0..500_000_i64,
        0..5_000_000_i64,
        0..80_000_000_i64
    ];
    let back = prop_oneof![1..3_i64, 1..2_000_i64, 1..200_000_i64, 1..2_000_000_i64, 1..100_000_000_i64];
    let limit = prop_oneof![4 => 1..6_i64, 2 => 5..30_i64, 1 => Just(0), 1 => Just((1 << 53) - 1)];
    let windows = prop_oneof![
        4 => prop::collection::vec((0..LENGTHS.len(), limit.clone()), 1),
        1 => prop::collection::vec((0..LENGTHS.len(), limit.clone()), 2),
        1 => prop::collection::vec((0..LENGTHS.len(), limit), 1..=8),
    ];
    let cost = prop_oneof![3 => Just(None), 2 => (1..4_i64).prop_map(Some), 1 => (1..40_i64).prop_map(Some)];
    let resolution = prop_oneof![2 => Just(None), 1 => (0..5_usize).prop_map(Some)];
    prop_oneof![
        4 => us.prop_map(|us| Step::Advance { us }),
        3 => (key.clone(), 0..6_usize, 0..LENGTHS.len(), -1..=1_i64)
            .prop_map(|(key, nth, length, off_us)| Step::Boundary { key, nth, length, off_us }),
        1 => back.prop_map(|us| Step::Back { us }),
        12 => (key.clone(), windows.clone(), cost.clone(), resolution, prop::bool::weighted(0.2), any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(key, windows, cost, resolution, force, receipt, quota)|
                Step::Check { key, windows, cost, resolution, force, receipt, quota }),
        4 => (key.clone(), windows, cost.clone(), prop::bool::weighted(0.8))
            .prop_map(|(key, windows, cost, quota)| Step::Peek { key, windows, cost, quota }),
        3 => (key.clone(), 0..8_usize, cost).prop_map(|(key, nth, cost)| Step::Refund { key, nth, cost }),
        1 => key.prop_map(|key| Step::Delete { key }),
    ]
}

/// One sequence under way: both sides, and what was called so far.
struct Run<'a> {
    con: &'a mut Client,
    clock: &'a Clock,
    models: [Model; KEYS],
    receipts: [Vec<i64>; KEYS],
    story: String,
}

impl Run<'_> {
    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Advance { us } => self.move_clock(*us),
            Step::Boundary { key, nth, length, off_us } => {
                let at_us = self.models[*key]
                    .entries
                    .get(*nth)
                    .map(|entry| entry.time_us + LENGTHS[*length].1 + off_us);
                self.move_clock(at_us.map_or(0, |at_us| at_us - self.clock.now_us()).max(0))
            }
            Step::Back { us } => self.move_clock(-us),
            Step::Check { key, windows, cost, resolution, force, receipt, quota } => {
                let shortest_us = windows.iter().map(|window| LENGTHS[window.0].1).min().unwrap();
                let resolution = resolution.map(|nth| LENGTHS[nth]).filter(|(_, us)| *us <= shortest_us);
                let request = request(windows, *cost, resolution.map(|(_, us)| us), *force);
                let mut line = format!("SLIDEWIN.CHECK k{key} {}", spelled(windows, *cost));
                let mut option = |is_given: bool, text: &str| {
                    if is_given {
                        line.push_str(text)
                    }
                };
                option(*force, " FORCE");
                option(
                    resolution.is_some(),
                    &format!(" RESOLUTION {}", resolution.map_or("", |(text, _)| text)),
                );
                let receipt = *receipt && resolution.is_none();
                option(receipt, " RECEIPT");
                let mut expected = self.models[*key].check(self.clock.now_us(), &request);
                if expected[0] > 0 {
                    self.receipts[*key].push(expected[0]);
                    expected[0] = if receipt { expected[0] } else { 1 };
                }
                self.compare(*key, &line, *quota, &expected)
            }
            Step::Peek { key, windows, cost, quota } => {
                let expected =
                    self.models[*key].peek(self.clock.now_us(), &request(windows, *cost, None, false));
                self.compare(
                    *key,
                    &format!("SLIDEWIN.PEEK k{key} {}", spelled(windows, *cost)),
                    *quota,
                    &expected,
                )
            }
            Step::Refund { key, nth, cost } => {
                let receipt = self.receipts[*key].iter().rev().nth(*nth).copied().unwrap_or(1);
                let cost_words = cost.map_or(String::new(), |cost| format!(" COST {cost}"));
                let expected =
                    self.models[*key].refund(self.clock.now_us(), receipt, cost.unwrap_or(i64::MAX));
                self.compare(
                    *key,
                    &format!("SLIDEWIN.REFUND k{key} {receipt}{cost_words}"),
                    false,
                    &[expected],
                )
            }
            Step::Delete { key } => {
                writeln!(self.story, "DEL k{key}").unwrap();
                self.con.call::<i64>(&format!("DEL k{key}"));
                self.models[*key] = Model::default();
                Ok(())
            }
        }
    }

    fn move_clock(&mut self, us: i64) -> Result<(), TestCaseError> {
        self.clock.advance_us(us);
        writeln!(self.story, "# {} us", self.clock.now_us() - Clock::START_US).unwrap();
        // The server looks for expired keys too, before the clock may step back again.
        let existing = self.con.call::<usize>("EXISTS k0 k1");
        self.models.iter_mut().for_each(|model| model.expire(self.clock.now_us()));
        let expected = self.models.iter().filter(|model| !model.entries.is_empty()).count();
        prop_assert_eq!(existing, expected, "keys that have not expired\n{}", self.story);
        Ok(())
    }

    /// Calls the server: its answer, the times and units of its log, and its expiry are those of the model.
    fn compare(
        &mut self,
        key: usize,
        line: &str,
        quota: bool,
        expected: &[i64],
    ) -> Result<(), TestCaseError> {
        let (line, expected) =
            if quota { (format!("{line} WITHQUOTA"), expected) } else { (line.to_owned(), &expected[..1]) };
        let batch = [line.clone(), format!("ZRANGE k{key} 0 -1 WITHSCORES"), format!("PTTL k{key}")];
        let packed: Vec<u8> = batch.iter().flat_map(|line| packed(line)).collect();
        let replies = self.con.0.req_packed_commands(&packed, 0, batch.len()).unwrap();
        writeln!(self.story, "{line}\n  -> {:?}", replies[0]).unwrap();
        let answer: Vec<i64> = match &replies[0] {
            Value::Array(_) => from_redis_value_ref(&replies[0]).unwrap(),
            single => vec![from_redis_value_ref(single).unwrap()],
        };
        prop_assert_eq!(&answer[..], expected, "the answer of the model is on the right\n{}", self.story);

        let model = &mut self.models[key];
        let log: Vec<(String, f64)> = from_redis_value_ref(&replies[1]).unwrap();
        prop_assert_eq!(&model::decode(&log), &model.entries, "log {:?}\n{}", log, self.story);
        let pttl: i64 = from_redis_value_ref(&replies[2]).unwrap();
        let now_ms = self.clock.now_us().div_euclid(1_000);
        let expiry_ms = (pttl >= 0).then_some(now_ms + pttl);
        if let Err(allowed) = model.learn_expiry(expiry_ms) {
            prop_assert!(false, "PTTL {}, allowed is {} from now on\n{}", pttl, allowed - now_ms, self.story);
        }
        Ok(())
    }
}

fn spelled(windows: &[(usize, i64)], cost: Option<i64>) -> String {
    let pairs: Vec<String> =
        windows.iter().map(|(length, limit)| format!("{} {limit}", LENGTHS[*length].0)).collect();
    pairs.join(" ") + &cost.map_or(String::new(), |cost| format!(" COST {cost}"))
}

fn request(windows: &[(usize, i64)], cost: Option<i64>, resolution_us: Option<i64>, force: bool) -> Request {
    let windows = windows.iter().map(|(length, limit)| (LENGTHS[*length].1, *limit)).collect();
    Request { windows, cost: cost.unwrap_or(1), resolution_us, force }
}

#[test]
fn every_answer_is_that_of_a_naive_model_and_the_replica_follows() {
    let clock = Clock::frozen();
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let connections = RefCell::new((primary.connect(), replica.connect()));
    let mut runner =
        TestRunner::new(Config { max_shrink_iters: 20_000, failure_persistence: None, ..Config::default() });
    let result = runner.run(&prop::collection::vec(step(), 1..80), |steps| {
        let (con, on_replica) = &mut *connections.borrow_mut();
        con.call::<()>("FLUSHALL");
        clock.freeze(Clock::START_US);
        let mut run = Run {
            con,
            clock: &clock,
            models: Default::default(),
            receipts: Default::default(),
            story: String::new(),
        };
        for step in &steps {
            run.play(step)?;
        }
        let story = run.story;
        caught_up(con, on_replica);
        for key in 0..KEYS {
            let mut on_both = |line: &str| (con.call::<Value>(line), on_replica.call::<Value>(line));
            for command in ["DEBUG DIGEST-VALUE", "PTTL"] {
                let (ours, its) = on_both(&format!("{command} k{key}"));
                prop_assert_eq!(ours, its, "{} on primary and replica\n{}", command, story);
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
