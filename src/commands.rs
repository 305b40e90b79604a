//! The commands. One way through each: parse, clock, open, decide, write, signal, count, reply.

use crate::call::{Call, Reply};
use crate::request::{self, Error, Request};
use crate::window::{fits, Quota, Tail};
use crate::zset::{Key, Mode};
use crate::{admit, clock, random, refund, stats};

/// `SLIDEWIN.CHECK key window limit [window limit ...] [COST units] [RESOLUTION duration] [FORCE] [RECEIPT]
/// [WITHQUOTA]`: admits the call and records it, or refuses it and changes nothing.
pub fn check(call: &Call) -> Result<Reply, Error> {
    let request = request::check(call.args())?;
    let now_us = clock::now_us();
    let mut key = Key::open(call, Mode::Write)?;
    let mut tail = Tail::of(&mut key);
    if let Some(ahead) = tail.filter(|tail| tail.is_ahead(now_us, &request)) {
        tail = Some(admit::step_back(&mut key, &ahead, now_us, &request, &mut *random::rng())?);
    }

    let mut admitted = 0;
    if request.force || fits(&mut key, tail.as_ref(), now_us, &request) {
        let receipt = admit::admit(&mut key, tail.as_ref(), now_us, &request, &mut *random::rng())?;
        admitted = if request.receipt { receipt } else { 1 };
        stats::CHECKS_ADMITTED.add(1);
        stats::UNITS_ADMITTED.add(request.cost);
        if request.quota {
            tail = Tail::of(&mut key);
        }
    } else {
        stats::CHECKS_REFUSED.add(1);
    }
    key.signal();
    Ok(answer(&mut key, tail.as_ref(), now_us, &request, admitted))
}

/// `SLIDEWIN.PEEK key window limit [window limit ...] [COST units] [WITHQUOTA]`: what CHECK would decide.
/// Never writes.
pub fn peek(call: &Call) -> Result<Reply, Error> {
    let request = request::peek(call.args())?;
    let now_us = clock::now_us();
    let mut key = Key::open(call, Mode::Read)?;
    let tail = Tail::of(&mut key);
    let admitted = fits(&mut key, tail.as_ref(), now_us, &request);
    stats::PEEKS.add(1);
    Ok(answer(&mut key, tail.as_ref(), now_us, &request, i64::from(admitted)))
}

/// `SLIDEWIN.REFUND key receipt [COST units]`: gives back what one admission took.
pub fn refund(call: &Call) -> Result<Reply, Error> {
    let request = request::refund(call.args())?;
    let mut key = Key::open(call, Mode::Write)?;
    let units = refund::refund(&mut key, &request)?;
    key.signal();
    stats::REFUNDS.add(u64::from(units > 0));
    stats::UNITS_REFUNDED.add(units);
    Ok(Reply::Integer(units as i64))
}

fn answer(key: &mut Key, tail: Option<&Tail>, now_us: i64, request: &Request, admitted: i64) -> Reply {
    if !request.quota {
        return Reply::Integer(admitted);
    }
    let windows = request.windows.as_slice().iter();
    Reply::Quotas(admitted, windows.map(|window| Quota::of(key, tail, now_us, request, window)).collect())
}
