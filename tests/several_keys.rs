//! Random calls on several keys, with IDs and places in line, at exact times: each answer is that of the naive model, on
//! primary and replica.
//!
//! Each key is used with the longest window from its first admission on, so that the model need not know what a server
//! may forget. `PROPTEST_CASES=20000 cargo test several_keys` looks longer.

use crate::harness::{caught_up, packed, sized, Builder, Client, Clock, Server};
use crate::naive::{after_ms, check_all, times_us, Model};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::{from_redis_value_ref, ConnectionLike, Value};
use slidewin_core::{Admitted, Id, Refund, Request, Standing, Window};
use std::cell::RefCell;
use std::fmt::Write;

const LENGTHS: [(&str, i64); 5] =
    [("2ms", 2_000), ("16ms", 16_000), ("0.25", 250_000), ("1.5005", 1_500_500), ("1m", 60_000_000)];
const LONGEST_US: i64 = 60_000_000;
const KEYS: usize = 3;
const TOKENS: [&str; 4] = ["a", "b", "7", "#"];

/// What CHECK and MCHECK have in common.
#[derive(Clone, Debug)]
struct Options {
    cost: u64,
    force: bool,
    token: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Time passes, or steps back.
    Pass(i64),
    /// To the moment at which an admission of a key leaves a window, or 1 µs before or after.
    Boundary(usize, prop::sample::Index, usize, i64),
    /// Triples of key, place in [`LENGTHS`] and limit.
    Mcheck(Vec<(usize, usize, u64)>, Options),
    Check(usize, usize, u64, Options),
    Peek(usize, usize, u64),
    /// Waits for as long as the window.
    Reserve(usize, usize, u64, Options),
    Refund(usize, &'static str, Option<u64>),
}

fn step() -> impl Strategy<Value = Step> {
    let (key, length) = (0..KEYS, 0..LENGTHS.len());
    let limit = prop_oneof![8 => 1..6_u64, 2 => 5..30_u64, 1 => Just(0), 1 => Just((1 << 53) - 1)];
    let token = prop::option::weighted(0.5, prop::sample::select(&TOKENS[..]));
    let options = (prop_oneof![4 => Just(1), 2 => 1..4_u64], prop::bool::weighted(0.1), token)
        .prop_map(|(cost, force, token)| Options { cost, force, token });
    let triple = (key.clone(), length.clone(), limit.clone());
    let us = prop_oneof![
        4 => 0..3_i64,
        3 => 0..20_000_i64,
        3 => 0..2_000_000_i64,
        1 => 0..100_000_000_i64,
        1 => -100_000..0_i64,
        1 => -100_000_000..0_i64,
    ];
    prop_oneof![
        4 => us.prop_map(Step::Pass),
        3 => (key.clone(), any::<prop::sample::Index>(), length.clone(), -1..=1_i64)
            .prop_map(|(key, nth, length, off_us)| Step::Boundary(key, nth, length, off_us)),
        8 => (prop::collection::vec(triple, 1..=5), options.clone())
            .prop_map(|(triples, options)| Step::Mcheck(triples, options)),
        3 => (key.clone(), length.clone(), limit.clone(), options.clone())
            .prop_map(|(key, length, limit, options)| Step::Check(key, length, limit, options)),
        2 => (key.clone(), length.clone(), limit.clone(), options)
            .prop_map(|(key, length, limit, options)| Step::Reserve(key, length, limit, Options { force: false, ..options })),
        1 => (key.clone(), length, limit).prop_map(|(key, length, limit)| Step::Peek(key, length, limit)),
        1 => (key, prop::sample::select(&TOKENS[..]), prop::option::of(1..4_u64))
            .prop_map(|(key, token, units)| Step::Refund(key, token, units)),
    ]
}

fn request(windows: &[(usize, u64)], options: &Options) -> Request {
    let window = |&(length, limit): &(usize, u64)| Window { length_us: LENGTHS[length].1, limit };
    let windows: Vec<Window> = windows.iter().map(window).collect();
    let id = options.token.and_then(|token| Id::new(token.as_bytes()));
    Request { cost: options.cost, force: options.force, id, ..Request::new(&windows).unwrap() }
}

fn words(Options { cost, force, token }: &Options) -> String {
    let mut words = format!(" COST {cost}");
    if *force {
        words.push_str(" FORCE");
    }
    if let Some(token) = token {
        write!(words, " ID {token}").unwrap();
    }
    words
}

fn fields(
    Standing { limit, remaining, retry_after_ms, reset_after_ms, oldest_after_ms }: Standing,
) -> [i64; 5] {
    [limit as i64, remaining as i64, retry_after_ms.unwrap_or(-1), reset_after_ms, oldest_after_ms]
}

/// How long a call has to wait that asks for its place in line.
fn waits_us(model: &Model, now_us: i64, request: &Request) -> Option<i64> {
    let asks =
        !request.force && model.repeated(now_us, request).is_some() && !model.is_ahead(now_us, request);
    Some(model.wait_us(now_us, request)).filter(|wait_us| asks && *wait_us > 0)
}

/// How a window stands to such a call.
fn waiting(standing: Standing, waits_us: Option<i64>) -> Standing {
    Standing { retry_after_ms: waits_us.map(after_ms).or(standing.retry_after_ms), ..standing }
}

/// One sequence under way: both sides, and what was called so far.
struct Run<'a> {
    con: &'a mut Client,
    clock: &'a Clock,
    models: [Model; KEYS],
    story: String,
}

impl Run<'_> {
    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.begin()?;
        let now_us = self.clock.now_us();
        match step {
            Step::Pass(us) => self.pass(*us),
            Step::Boundary(key, nth, length, off_us) => {
                let leaves_us = nth.get(&self.models[*key].admissions).at_us + LENGTHS[*length].1 + off_us;
                self.pass((leaves_us - now_us).max(0));
            }
            Step::Mcheck(triples, options) => {
                let mut windows: [Vec<(usize, u64)>; KEYS] = Default::default();
                let mut line = format!("SLIDEWIN.MCHECK {}", triples.len());
                // The nth triple is that window of its key.
                let mut places = Vec::new();
                for &(key, length, limit) in triples {
                    places.push((key, windows[key].len()));
                    windows[key].push((length, limit));
                    write!(line, " k{key} {} {limit}", LENGTHS[length].0).unwrap();
                }
                let named: Vec<usize> = (0..KEYS).filter(|key| !windows[*key].is_empty()).collect();
                let requests: Vec<Request> =
                    named.iter().map(|key| request(&windows[*key], options)).collect();
                let models = self.models.iter_mut().enumerate().filter(|(key, _)| named.contains(key));
                let mut asked: Vec<(&mut Model, Request)> =
                    models.zip(&requests).map(|((_, model), request)| (model, *request)).collect();
                let waits: Vec<Option<i64>> =
                    asked.iter().map(|(model, request)| waits_us(model, now_us, request)).collect();
                let is_admitted = check_all(&mut asked, now_us).is_empty();
                let standings = places.iter().flat_map(|&(key, window)| {
                    let nth = named.iter().position(|named| *named == key).unwrap();
                    let (request, model) = (requests[nth], &self.models[key]);
                    let standing = model.standing(now_us, &request, &request.windows.as_slice()[window]);
                    fields(waiting(standing, waits[nth]))
                });
                let expected: Vec<i64> = [i64::from(is_admitted)].into_iter().chain(standings).collect();
                self.compare(&format!("{line}{} WITHQUOTA", words(options)), &expected)?;
            }
            Step::Check(key, length, limit, options) => {
                let request = request(&[(*length, *limit)], options);
                let waits_us = waits_us(&self.models[*key], now_us, &request);
                let receipt = self.models[*key].check(now_us, &request).unwrap_or(0);
                let standing = self.models[*key].standing(now_us, &request, &request.windows.as_slice()[0]);
                let standing = waiting(standing, waits_us);
                let line = format!("SLIDEWIN.CHECK k{key} {} {limit}{}", LENGTHS[*length].0, words(options));
                let expected: Vec<i64> = [receipt].into_iter().chain(fields(standing)).collect();
                self.compare(&format!("{line} RECEIPT WITHQUOTA"), &expected)?;
            }
            Step::Peek(key, length, limit) => {
                let request = request(&[(*length, *limit)], &Options { cost: 1, force: false, token: None });
                let model = &self.models[*key];
                let standing = model.standing(now_us, &request, &request.windows.as_slice()[0]);
                let has_room = i64::from(model.fits(now_us, &request));
                let expected: Vec<i64> = [has_room].into_iter().chain(fields(standing)).collect();
                self.compare(
                    &format!("SLIDEWIN.PEEK k{key} {} {limit} WITHQUOTA", LENGTHS[*length].0),
                    &expected,
                )?;
            }
            Step::Reserve(key, length, limit, options) => {
                let request = request(&[(*length, *limit)], options);
                let (name, length_us) = LENGTHS[*length];
                let (receipt, wait_us) = self.models[*key].reserve(now_us, &request, length_us);
                let line = format!("SLIDEWIN.RESERVE k{key} {name} {name} {limit}{}", words(options));
                self.compare(&line, &[receipt.unwrap_or(0), wait_us.map_or(-1, after_ms)])?;
            }
            Step::Refund(key, token, units) => {
                let of = Admitted::Id(Id::new(token.as_bytes()).unwrap());
                let named = self.models[*key].admissions.iter().find(|unit| unit.is(of));
                // One that has left every window may be there or not.
                if named.is_none_or(|unit| unit.at_us > now_us - LONGEST_US) {
                    let expected = self.models[*key].refund(&Refund { of, units: *units }) as i64;
                    let cost = units.map_or(String::new(), |units| format!(" COST {units}"));
                    self.compare(&format!("SLIDEWIN.REFUND k{key} ID {token}{cost}"), &[expected])?;
                }
            }
        }
        Ok(())
    }

    /// A key whose units have all left is used with the longest window anew.
    fn begin(&mut self) -> Result<(), TestCaseError> {
        let now_us = self.clock.now_us();
        for key in 0..KEYS {
            if self.models[key].used(now_us, LONGEST_US) == 0 {
                let options = Options { cost: 1, force: true, token: None };
                let receipt = self.models[key].check(now_us, &request(&[(LENGTHS.len() - 1, 9)], &options));
                self.compare(&format!("SLIDEWIN.CHECK k{key} 1m 9 FORCE RECEIPT"), &[receipt.unwrap()])?;
            }
        }
        Ok(())
    }

    fn pass(&mut self, us: i64) {
        let expired_us = self.clock.now_us() - LONGEST_US;
        if us < 0 {
            // What has left every window may be trimmed or not; a step back must not revive it.
            let mut elements = (0..KEYS).flat_map(|key| self.con.log(&format!("k{key}")));
            if elements
                .any(|(member, at_us)| *times_us(at_us, member.as_bytes()).last().unwrap() <= expired_us)
            {
                return;
            }
            for model in &mut self.models {
                model.admissions.retain(|unit| unit.at_us > expired_us);
            }
        }
        self.clock.advance_us(us);
        writeln!(self.story, "# {} us", self.clock.now_us() - Clock::START_US).unwrap();
        // The server looks for expired keys too, before the clock may step back again.
        self.con.call::<i64>("EXISTS k0 k1 k2");
    }

    /// Calls the server: its answer is that of the model, and each key lists the admissions of the model.
    fn compare(&mut self, line: &str, expected: &[i64]) -> Result<(), TestCaseError> {
        let lists = (0..KEYS).map(|key| format!("SLIDEWIN.LOG k{key} COUNT 50"));
        let batch: Vec<u8> =
            [line.to_owned()].into_iter().chain(lists).flat_map(|line| packed(&line)).collect();
        let replies = self.con.0.req_packed_commands(&batch, 0, 1 + KEYS).unwrap();
        writeln!(self.story, "{line}\n  -> {:?}", replies[0]).unwrap();
        let answer: Vec<i64> = match &replies[0] {
            Value::Array(_) => from_redis_value_ref(&replies[0]).unwrap(),
            single => vec![from_redis_value_ref(single).unwrap()],
        };
        prop_assert_eq!(&answer[..], expected, "the answer of the model is on the right\n{}", self.story);
        let expired_us = self.clock.now_us() - LONGEST_US;
        for (model, listed) in self.models.iter().zip(&replies[1..]) {
            let listed: Vec<(i64, u64, i64, String)> = from_redis_value_ref(listed).unwrap();
            let kept = model.admissions.iter().rev().map(|unit| {
                let id = unit.id.map_or(String::new(), |id| String::from_utf8(id.token().to_vec()).unwrap());
                (unit.at_us, unit.units, if unit.shared { 0 } else { unit.at_us }, id)
            });
            let kept: Vec<_> = kept.take(50).collect();
            let live = kept.iter().filter(|unit| unit.0 > expired_us).count();
            prop_assert!(listed.len() >= live, "{:?} lacks some of {:?}\n{}", listed, kept, self.story);
            prop_assert_eq!(&listed[..], &kept[..listed.len().min(kept.len())], "\n{}", self.story);
        }
        Ok(())
    }
}

fn differ(count: usize, change: impl Fn(Builder) -> Builder) {
    let clock = Clock::frozen();
    let primary = change(Server::builder().clock(&clock)).start();
    let replica = Server::builder().clock(&clock).without_module().start_replica_of(&primary);
    let connections = RefCell::new((primary.connect(), replica.connect()));
    connections.borrow_mut().0.keep_expired();
    let mut config = Config { max_shrink_iters: 2_000, failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = count as u32;
    }
    let result = TestRunner::new(config).run(&prop::collection::vec(step(), 1..50), |steps| {
        let (con, on_replica) = &mut *connections.borrow_mut();
        con.call::<()>("FLUSHALL");
        clock.freeze(Clock::START_US);
        let mut run = Run { con, clock: &clock, models: Default::default(), story: String::new() };
        for step in &steps {
            run.play(step)?;
        }
        let story = run.story;
        caught_up(con, on_replica);
        for command in ["DEBUG DIGEST-VALUE k0 k1 k2", "PTTL k0", "PTTL k1", "PTTL k2"] {
            let (ours, its) = (con.call::<Value>(command), on_replica.call::<Value>(command));
            prop_assert_eq!(ours, its, "{} on primary and replica\n{}", command, story);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_answer_is_that_of_the_naive_model() {
    differ(sized(256, 20_000), |builder| builder);
}

/// With bundles of two to four admissions, wherever there can be one.
#[test]
fn also_where_all_that_can_be_bundled_is() {
    differ(sized(64, 4_000), Builder::tiny_bundles);
}
