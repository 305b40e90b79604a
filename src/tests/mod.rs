//! Tests of the pure core: a table of seeds, the naive model, properties.

mod foreign;
mod memory;
mod naive;
mod properties;
mod seeds;

use crate::admit::{admit, step_back};
use crate::request::{self, Request};
use crate::window::{has_room, Ends, Quota};
use memory::MemoryLog;
use rand::rngs::SmallRng;
use rand::SeedableRng;

/// A CHECK as `commands.rs` makes it, on a log in memory.
pub fn check(log: &mut MemoryLog, now_us: i64, request: &Request) -> (Option<i64>, Vec<Quota>) {
    let mut rng = SmallRng::seed_from_u64(now_us as u64);
    log.pass(now_us);
    let mut ends = Ends::of(log);
    if let Some(ahead) = ends.filter(|ends| ends.is_ahead(now_us, request)) {
        ends = Some(step_back(log, &ahead, now_us, request, &mut rng).unwrap());
    }
    let mut receipt = None;
    if request.force || has_room(log, &mut ends, now_us, request) {
        let (score_us, after) = admit(log, ends.as_ref(), now_us, request, &mut rng).unwrap();
        (receipt, ends) = (Some(score_us), Some(after));
    }
    (receipt, quotas(log, ends.as_ref(), now_us, request))
}

/// A PEEK.
pub fn peek(log: &mut MemoryLog, now_us: i64, request: &Request) -> (bool, Vec<Quota>) {
    log.pass(now_us);
    let mut ends = Ends::of(log);
    (has_room(log, &mut ends, now_us, request), quotas(log, ends.as_ref(), now_us, request))
}

fn quotas(log: &mut MemoryLog, ends: Option<&Ends>, now_us: i64, request: &Request) -> Vec<Quota> {
    let windows = request.windows.as_slice().iter();
    windows.map(|window| Quota::of(log, ends, now_us, request, window)).collect()
}

/// What follows the key.
pub fn parse(line: &str) -> Request {
    request::check(line.split(' ').map(str::as_bytes)).unwrap()
}

/// A time like today's: not a multiple of anything.
pub const START_US: i64 = 1_796_055_348_902_155;
