//! Random calls with all options at exact times, each answer compared with that of the naive model.
//!
//! What is random in the server, the slack of an expiry, the model is told after each call; it checks that it
//! lies where it may. A replica is attached, and there is an AOF: in the end all sides must hold the same.
//!
//! `PROPTEST_CASES=10000 cargo test differential` looks longer.

mod foreign;
mod key;
mod steps;

use crate::harness::{caught_up, decode, packed, sized, Builder, Client, Clock, Server};
use key::Key;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::{from_redis_value_ref, ConnectionLike, Value};
use slidewin_core::{Admitted, Refund, Request};
use std::cell::RefCell;
use std::fmt::Write;
use steps::{step, Step, KEYS, LENGTHS};

/// One sequence under way: both sides, and what was called so far.
struct Run<'a> {
    con: &'a mut Client,
    clock: &'a Clock,
    keys: [Key; KEYS],
    receipts: [Vec<i64>; KEYS],
    story: String,
}

impl Run<'_> {
    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Advance { us } => self.move_clock(*us),
            Step::Boundary { key, nth, length, off_us } => {
                let at_us = self.time_of(*key, nth).map(|at_us| at_us + LENGTHS[*length].1 + off_us);
                self.move_clock(at_us.map_or(0, |at_us| at_us - self.clock.now_us()).max(0))
            }
            Step::Back { us } => self.move_clock(-us),
            Step::BackInto { key, nth, off_us } => {
                let at_us = self.time_of(*key, nth).map(|at_us| at_us + off_us);
                self.move_clock(at_us.map_or(0, |at_us| at_us - self.clock.now_us()).min(0))
            }
            Step::Check { key, call, resolution, force, receipt } => {
                let plain = call.request();
                let shortest_us = plain.windows.shortest_us();
                let resolution = resolution.map(|nth| LENGTHS[nth]).filter(|(_, us)| *us <= shortest_us);
                let request = Request { resolution_us: resolution.map(|(_, us)| us), force: *force, ..plain };
                let mut line = call.words();
                if *force {
                    line.push_str(" FORCE");
                }
                if let Some((text, _)) = resolution {
                    write!(line, " RESOLUTION {text}").unwrap();
                }
                self.check(*key, line, &request, *receipt && resolution.is_none(), call.quota)
            }
            Step::Burst { key, calls, every_us, call } => {
                for _ in 0..*calls {
                    self.move_clock(*every_us)?;
                    self.check(*key, call.words(), &call.request(), true, call.quota)?;
                }
                Ok(())
            }
            Step::Peek { key, call } => {
                let expected = self.keys[*key].peek(self.clock.now_us(), &call.request());
                self.compare(*key, &format!("SLIDEWIN.PEEK k{key} {}", call.words()), call.quota, &expected)
            }
            Step::Refund { key, nth, cost } => {
                let receipts = &self.receipts[*key];
                let receipt = if receipts.is_empty() { 1 } else { *nth.get(receipts) };
                let cost_words = cost.map_or(String::new(), |cost| format!(" COST {cost}"));
                let refund = Refund { of: Admitted::Receipt(receipt), units: *cost };
                let expected = self.keys[*key].refund(self.clock.now_us(), &refund);
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
                self.keys[*key] = Key::default();
                Ok(())
            }
        }
    }

    /// The time of one of its admissions, if there is one.
    fn time_of(&self, key: usize, nth: &prop::sample::Index) -> Option<i64> {
        let admissions = &self.keys[key].model.admissions;
        (!admissions.is_empty()).then(|| nth.get(admissions).at_us)
    }

    fn move_clock(&mut self, us: i64) -> Result<(), TestCaseError> {
        self.clock.advance_us(us);
        writeln!(self.story, "# {} us", self.clock.now_us() - Clock::START_US).unwrap();
        // The server looks for expired keys too, before the clock may step back again.
        let existing = self.con.call::<usize>("EXISTS k0 k1");
        self.keys.iter_mut().for_each(|key| key.expire(self.clock.now_us()));
        let expected = self.keys.iter().filter(|key| key.exists()).count();
        prop_assert_eq!(existing, expected, "keys that have not expired\n{}", self.story);
        Ok(())
    }

    fn check(
        &mut self,
        key: usize,
        mut line: String,
        request: &Request,
        receipt: bool,
        quota: bool,
    ) -> Result<(), TestCaseError> {
        if receipt {
            line.push_str(" RECEIPT");
        }
        let mut expected = self.keys[key].check(self.clock.now_us(), request);
        if expected[0] > 0 {
            self.receipts[key].push(expected[0]);
            expected[0] = if receipt { expected[0] } else { 1 };
        }
        self.compare(key, &format!("SLIDEWIN.CHECK k{key} {line}"), quota, &expected)
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
        let batch = [
            line.clone(),
            format!("ZRANGE k{key} 0 -1 WITHSCORES"),
            format!("PTTL k{key}"),
            format!("SLIDEWIN.LOG k{key} COUNT 50"),
        ];
        let packed: Vec<u8> = batch.iter().flat_map(|line| packed(line)).collect();
        let replies = self.con.0.req_packed_commands(&packed, 0, batch.len()).unwrap();
        writeln!(self.story, "{line}\n  -> {:?}", replies[0]).unwrap();
        let answer: Vec<i64> = match &replies[0] {
            Value::Array(_) => from_redis_value_ref(&replies[0]).unwrap(),
            single => vec![from_redis_value_ref(single).unwrap()],
        };
        prop_assert_eq!(&answer[..], expected, "the answer of the model is on the right\n{}", self.story);

        let log: Vec<(String, f64)> = from_redis_value_ref(&replies[1]).unwrap();
        let log: Vec<_> = log.into_iter().map(|(member, score)| (member, score as i64)).collect();
        let pttl: i64 = from_redis_value_ref(&replies[2]).unwrap();
        let now_us = self.clock.now_us();
        let expiry_ms = (pttl >= 0).then_some(now_us.div_euclid(1_000) + pttl);
        if let Err(reason) = self.keys[key].learn(now_us, &decode(&log), expiry_ms) {
            prop_assert!(false, "{}\n{:?}\n{}", reason, log, self.story);
        }
        let listed: Vec<(i64, u64, i64, String)> = from_redis_value_ref(&replies[3]).unwrap();
        let newest = self.keys[key].model.admissions.iter().rev().take(50);
        let newest =
            newest.map(|one| (one.at_us, one.units, if one.shared { 0 } else { one.at_us }, String::new()));
        prop_assert_eq!(listed, newest.collect::<Vec<_>>(), "SLIDEWIN.LOG of {:?}\n{}", log, self.story);
        Ok(())
    }
}

/// A primary on a frozen clock, with its replica and its AOF.
struct Sides {
    clock: Clock,
    primary: Client,
    replica: Client,
    _servers: (Server, Server),
}

impl Sides {
    fn start(change: impl Fn(Builder) -> Builder) -> Self {
        let clock = Clock::frozen();
        let builder = change(Server::builder().clock(&clock));
        let primary = builder.clone().args("--appendonly yes --appendfsync no --aof-use-rdb-preamble no");
        let primary = primary.start();
        let replica = builder.start_replica_of(&primary);
        let mut con = primary.connect();
        con.keep_expired();
        Sides { clock, primary: con, replica: replica.connect(), _servers: (primary, replica) }
    }

    /// Empties them for the next sequence.
    fn begin(&mut self) {
        self.primary.call::<()>("FLUSHALL");
        self.clock.freeze(Clock::START_US);
    }

    /// All of them hold the same; the AOF, which grows, is loaded only where it is asked for.
    fn agree(&mut self, with_aof: bool, story: &str) -> Result<(), TestCaseError> {
        caught_up(&mut self.primary, &mut self.replica);
        let commands = ["DEBUG DIGEST-VALUE k0 k1", "PTTL k0", "PTTL k1"];
        let held = |con: &mut Client| commands.map(|command| con.call::<Value>(command));
        let (ours, its) = (held(&mut self.primary), held(&mut self.replica));
        prop_assert_eq!(&ours, &its, "{:?} on primary and replica\n{}", commands, story);
        if with_aof {
            self.primary.call::<()>("DEBUG LOADAOF");
            prop_assert_eq!(ours, held(&mut self.primary), "{:?} out of the AOF\n{}", commands, story);
        }
        Ok(())
    }
}

/// Plays random sequences; `PROPTEST_CASES` tells how many, if it is set.
fn sequences<S: Strategy>(count: usize, strategy: S, play: impl Fn(S::Value) -> Result<(), TestCaseError>)
where
    S::Value: std::fmt::Debug,
{
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = count as u32;
    }
    TestRunner::new(config).run(&strategy, play).unwrap_or_else(|error| panic!("{error}"));
}

fn differ(count: usize, change: impl Fn(Builder) -> Builder) {
    let sides = RefCell::new(Sides::start(change));
    let strategy = (prop::collection::vec(step(), 1..80), prop::bool::weighted(0.05));
    sequences(count, strategy, |(steps, with_aof)| {
        let sides = &mut *sides.borrow_mut();
        sides.begin();
        let mut run = Run {
            con: &mut sides.primary,
            clock: &sides.clock,
            keys: Default::default(),
            receipts: Default::default(),
            story: String::new(),
        };
        for step in &steps {
            run.play(step)?;
        }
        let story = run.story;
        sides.agree(with_aof, &story)
    });
}

#[test]
fn every_answer_is_that_of_a_naive_model_and_the_replica_follows() {
    differ(sized(256, 4_000), |builder| builder);
}

/// With bundles of two to four admissions, wherever there can be one.
#[test]
fn also_where_all_that_can_be_bundled_is() {
    differ(sized(64, 4_000), Builder::tiny_bundles);
}
