//! The limiter against a naive model: a table of stories, random sequences, foreign members.
// A test may panic: that is how it fails.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod corpus;
mod foreign;
mod huge_costs;
mod lines;
mod naive;
mod pairs;
mod properties;
mod seeds;
mod several;

use slidewin_core::{duration_us, Forecast, Id, MemoryLog, Outcome, Request, Reservation, Window};

/// A time like today's: not a multiple of anything.
pub const START_US: i64 = 1_796_055_348_902_155;

/// A check as a server makes it: the log may have expired, and the random numbers are anything.
pub fn check(log: &mut MemoryLog, now_us: i64, request: &Request) -> Outcome {
    log.pass(now_us);
    let random = || (now_us as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    slidewin_core::check(log, now_us, request, random).unwrap()
}

/// A reservation, likewise.
pub fn reserve(log: &mut MemoryLog, now_us: i64, request: &Request, max_wait_us: i64) -> Reservation {
    log.pass(now_us);
    let random = || (now_us as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    slidewin_core::reserve(log, now_us, request, max_wait_us, random).unwrap()
}

/// A peek.
pub fn peek(log: &mut MemoryLog, now_us: i64, request: &Request) -> Forecast {
    log.pass(now_us);
    slidewin_core::peek(log, now_us, request)
}

/// The request that these words ask, as they follow the key: `1 2 60 5 COST 3 RESOLUTION 10ms FORCE`.
pub fn ask(line: &str) -> Request {
    let mut words = line.split(' ').peekable();
    let duration = |word: &str| duration_us(word.as_bytes()).unwrap();
    let mut windows = Vec::new();
    while let Some(word) = words.next_if(|word| word.starts_with(|first: char| first.is_ascii_digit())) {
        windows.push(Window { length_us: duration(word), limit: words.next().unwrap().parse().unwrap() });
    }
    let mut request = Request { with_standings: true, ..Request::new(&windows).unwrap() };
    while let Some(word) = words.next() {
        match word {
            "COST" => request.cost = words.next().unwrap().parse().unwrap(),
            "RESOLUTION" => request.resolution_us = words.next().map(duration),
            "FORCE" => request.force = true,
            "ID" => request.id = Id::new(words.next().unwrap().as_bytes()),
            _ => panic!("{word} in {line}"),
        }
    }
    request
}
