//! Random calls with places in line and IDs at exact times, on a real server and in the naive model of the core: each reply,
//! each element that counts, and in the end the replica.
//!
//! `PROPTEST_CASES=10000 cargo test differential_lines` looks longer.

use crate::harness::{caught_up, Client, Clock, Server};
use crate::naive::{after_ms, times_us, Admission, Model};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::Value;
use slidewin_core::{Admitted, Id, Refund, Request, Window};
use std::cell::RefCell;
use std::fmt::Write;

const MS: i64 = 1_000;
const LENGTHS_US: [i64; 7] = [MS, 1_500, 16 * MS, 100 * MS, 1_000 * MS, 1_500_500, 60_000 * MS];
const LONGEST_US: i64 = LENGTHS_US[LENGTHS_US.len() - 1];

#[derive(Clone, Debug)]
enum Step {
    Check(Request),
    Peek(Request),
    /// The longest wait is in thousandths of the longest window.
    Reserve(Request, i64),
    /// The receipt of the admission that many back, or an ID.
    Refund(Result<usize, Id>, Option<u64>),
    Pass(i64),
}

fn id() -> impl Strategy<Value = Id> {
    prop::sample::select(&["a", "b", "0", "#"][..]).prop_map(|token| Id::new(token.as_bytes()).unwrap())
}

fn request() -> impl Strategy<Value = Request> {
    let window = (prop::sample::select(&LENGTHS_US[..]), prop_oneof![8 => 0..9_u64, 1 => 20..90_u64])
        .prop_map(|(length_us, limit)| Window { length_us, limit });
    let resolution = prop::option::weighted(0.2, 0..4_i64);
    let options = (resolution, prop::bool::weighted(0.1), prop::option::weighted(0.4, id()));
    let cost = prop_oneof![6 => Just(1), 3 => 1..6_u64];
    (prop::collection::vec(window, 1..4), cost, options).prop_map(
        |(windows, cost, (resolution, force, id))| {
            let plain = Request::new(&windows).unwrap();
            let resolution_us = resolution.map(|part| (plain.windows.shortest_us() >> part).max(MS));
            let id = id.filter(|_| resolution_us.is_none());
            Request { cost, resolution_us, force, id, with_standings: true, ..plain }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let us = prop_oneof![
        4 => 0..3_i64,
        4 => 0..2_000 * MS,
        4 => (prop::sample::select(&LENGTHS_US[..]), -2..3_i64).prop_map(|(length_us, by)| length_us + by),
        1 => 0..2 * LONGEST_US,
        1 => (0..80 * MS).prop_map(|us| -us),
        1 => (0..2 * LONGEST_US).prop_map(|us| -us),
    ];
    let plain = |request| Request { resolution_us: None, force: false, ..request };
    prop_oneof![
        6 => request().prop_map(Step::Check),
        2 => request().prop_map(move |request| Step::Peek(Request { id: None, ..plain(request) })),
        6 => (request(), prop_oneof![0..1_001_i64, Just(0), Just(1_000)])
            .prop_map(move |(request, wait)| Step::Reserve(plain(request), wait)),
        2 => (prop::result::maybe_ok_weighted(0.6, 0..12_usize, id()), prop::option::of(1..6_u64))
            .prop_map(|(of, units)| Step::Refund(of, units)),
        8 => us.prop_map(Step::Pass),
    ]
}

fn duration(us: i64) -> String {
    format!("{}.{:03}ms", us / MS, us % MS)
}

/// The words of a request behind the key.
fn words(request: &Request) -> String {
    let mut words = String::new();
    for window in request.windows.as_slice() {
        write!(words, " {} {}", duration(window.length_us), window.limit).unwrap();
    }
    write!(words, " COST {}", request.cost).unwrap();
    if let Some(resolution_us) = request.resolution_us {
        write!(words, " RESOLUTION {}", duration(resolution_us)).unwrap();
    }
    if let Some(id) = request.id {
        write!(words, " ID {}", token(&id)).unwrap();
    }
    words + if request.force { " FORCE" } else { "" }
}

fn token(id: &Id) -> &str {
    std::str::from_utf8(&id.mark()[1..]).unwrap()
}

/// The times of the elements that a log has, oldest first, marks left out.
fn times(con: &mut Client) -> Vec<i64> {
    let log = con.log("k");
    let entries = log.iter().filter(|(member, _)| !member.starts_with('#'));
    entries.flat_map(|(member, at_us)| times_us(*at_us, member.as_bytes()).into_iter().rev()).collect()
}

/// One sequence under way.
struct Run<'a> {
    con: &'a mut Client,
    clock: &'a Clock,
    model: Model,
    receipts: Vec<i64>,
    story: String,
}

impl Run<'_> {
    fn call(&mut self, line: &str) -> Value {
        let reply = self.con.call(line);
        writeln!(self.story, "{} us: {line} -> {reply:?}", self.clock.now_us() - Clock::START_US).unwrap();
        reply
    }

    fn same(&mut self, line: &str, expected: &[i64]) -> Result<(), TestCaseError> {
        let reply = self.call(line);
        let expected = Value::Array(expected.iter().copied().map(Value::Int).collect());
        prop_assert_eq!(reply, expected, "the model is on the right\n{}", self.story);
        let known_us = self.clock.now_us() - LONGEST_US;
        let mut found = times(self.con);
        found.retain(|at_us| *at_us > known_us);
        let live = self.model.admissions.iter().map(|unit| unit.at_us).filter(|at_us| *at_us > known_us);
        prop_assert_eq!(found, live.collect::<Vec<_>>(), "times\n{}", self.story);
        Ok(())
    }

    fn standings(&self, request: &Request) -> Vec<i64> {
        let now_us = self.clock.now_us();
        let standings =
            request.windows.as_slice().iter().map(|window| self.model.standing(now_us, request, window));
        let fields = standings.flat_map(|standing| {
            let retry_after_ms = standing.retry_after_ms.unwrap_or(-1);
            let (limit, remaining) = (standing.limit as i64, standing.remaining as i64);
            [limit, remaining, retry_after_ms, standing.reset_after_ms, standing.oldest_after_ms]
        });
        fields.collect()
    }

    fn check(&mut self, request: &Request) -> Result<(), TestCaseError> {
        let now_us = self.clock.now_us();
        let wait_us = self.model.wait_us(now_us, request);
        let asks = wait_us > 0 && !request.force && self.model.repeated(now_us, request).is_some();
        let asks = asks && !self.model.is_ahead(now_us, request);
        let receipt = self.model.check(now_us, request);
        self.receipts.extend(receipt);
        let mut standings = self.standings(request);
        if asks {
            standings.chunks_exact_mut(5).for_each(|standing| standing[2] = after_ms(wait_us));
        }
        let with_receipt = if request.resolution_us.is_none() { " RECEIPT" } else { "" };
        let admitted = receipt.map_or(0, |receipt| if with_receipt.is_empty() { 1 } else { receipt });
        let line = format!("SLIDEWIN.CHECK k{}{with_receipt} WITHQUOTA", words(request));
        self.same(&line, &[&[admitted], &standings[..]].concat())
    }

    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let now_us = self.clock.now_us();
        // Idle keys forget what they were used with: the longest window is the first to ask again.
        if self.model.used(now_us, LONGEST_US) == 0 {
            let longest = Request::new(&[Window { length_us: LONGEST_US, limit: 10 }]).unwrap();
            self.check(&Request { force: true, with_standings: true, ..longest })?;
        }
        match step {
            Step::Check(request) => self.check(request),
            Step::Peek(request) => {
                let has_room = i64::from(self.model.fits(now_us, request));
                let expected = [&[has_room], &self.standings(request)[..]].concat();
                self.same(&format!("SLIDEWIN.PEEK k{} WITHQUOTA", words(request)), &expected)
            }
            Step::Reserve(request, thousandths) => {
                let max_wait_us = request.windows.longest_us() * thousandths / 1_000;
                let max_wait_us = if max_wait_us < MS { 0 } else { max_wait_us };
                let max_wait = if max_wait_us == 0 { "0".to_owned() } else { duration(max_wait_us) };
                let (receipt, wait_us) = self.model.reserve(now_us, request, max_wait_us);
                self.receipts.extend(receipt);
                let expected = [receipt.unwrap_or(0), wait_us.map_or(-1, after_ms)];
                self.same(&format!("SLIDEWIN.RESERVE k {max_wait}{}", words(request)), &expected)
            }
            Step::Refund(of, units) => {
                let back = |back: &usize| self.receipts.iter().rev().nth(*back).copied();
                let (named, of) = match of {
                    Ok(by) => match back(by) {
                        Some(receipt) => (receipt.to_string(), Admitted::Receipt(receipt)),
                        None => return Ok(()),
                    },
                    Err(id) => (format!("ID {}", token(id)), Admitted::Id(*id)),
                };
                let cost = units.map_or(String::new(), |units| format!(" COST {units}"));
                let expired_us = now_us - LONGEST_US;
                let may_be_trimmed = |unit: &Admission| unit.is(of) && unit.at_us <= expired_us;
                let reply = self.call(&format!("SLIDEWIN.REFUND k {named}{cost}"));
                if reply == Value::Int(0) && self.model.admissions.iter().any(may_be_trimmed) {
                    self.model.admissions.retain(|unit| !may_be_trimmed(unit));
                    return Ok(());
                }
                let expected = self.model.refund(&Refund { of, units: *units });
                prop_assert_eq!(reply, Value::Int(expected as i64), "{}", self.story);
                Ok(())
            }
            Step::Pass(us) if *us >= 0 => {
                self.clock.advance_us(*us);
                // The server looks for an expired key, too, before the clock may step back again.
                self.con.call::<i64>("EXISTS k");
                Ok(())
            }
            Step::Pass(us) => {
                // What has left every window may be trimmed or not; a step back must not revive it.
                let expired_us = now_us - LONGEST_US;
                if times(self.con).iter().all(|at_us| *at_us > expired_us) {
                    self.model.admissions.retain(|unit| unit.at_us > expired_us);
                    self.clock.advance_us(*us);
                }
                Ok(())
            }
        }
    }
}

#[test]
fn every_answer_is_that_of_the_naive_model_and_the_replica_follows() {
    let clock = Clock::frozen();
    let primary = Server::builder().clock(&clock).start();
    let replica = Server::builder().clock(&clock).start_replica_of(&primary);
    let connections = RefCell::new((primary.connect(), replica.connect()));
    connections.borrow_mut().0.keep_expired();
    let config = Config { max_shrink_iters: 20_000, failure_persistence: None, ..Config::default() };
    let places = RefCell::new(0);
    let result = TestRunner::new(config).run(&prop::collection::vec(step(), 1..60), |steps| {
        let (con, on_replica) = &mut *connections.borrow_mut();
        con.call::<()>("FLUSHALL");
        clock.freeze(Clock::START_US);
        let (model, receipts, story) = (Model::default(), Vec::new(), String::new());
        let mut run = Run { con, clock: &clock, model, receipts, story };
        for step in &steps {
            run.play(step)?;
        }
        *places.borrow_mut() += run.model.admissions.iter().filter(|unit| unit.ahead_us > 0).count();
        let story = run.story;
        caught_up(con, on_replica);
        for command in ["DEBUG DIGEST-VALUE k", "PTTL k"] {
            let both = (con.call::<Value>(command), on_replica.call::<Value>(command));
            prop_assert_eq!(both.0, both.1, "{} on primary and replica\n{}", command, story);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(places.into_inner() > 100, "too few places in line to tell anything");
}
