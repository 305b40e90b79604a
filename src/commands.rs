//! The commands. One way through each: parse, clock, open, decide, write, signal, notify, count, reply.

use crate::call::{Call, Reply};
use crate::offenders::Offenders;
use crate::request::{self, Error, Request};
use crate::window::{has_room, Ends, Quota};
use crate::zset::{Key, Mode};
use crate::{admit, clock, random, refund, stats, warn};

/// `SLIDEWIN.CHECK key window limit [window limit ...] [COST units] [RESOLUTION duration] [FORCE] [RECEIPT]
/// [WITHQUOTA]`: admits the call and records it, or refuses it and changes nothing.
pub fn check(call: &Call) -> Result<Reply, Error> {
    let request = request::check(call.args_from(2))?;
    let now_us = clock::now_us();
    let mut key = Key::open(call, Mode::Write)?;
    let mut ends = Ends::of(&mut key);
    if let Some(ahead) = ends.filter(|ends| ends.is_ahead(now_us, &request)) {
        ends = Some(admit::step_back(&mut key, &ahead, now_us, &request, &mut *random::rng())?);
        stats::CLOCK_STEP_BACKS.add(1);
        warn::step_back(now_us, ahead.last_us);
    }

    let mut admitted = 0;
    if request.force || has_room(&mut key, &mut ends, now_us, &request) {
        let (receipt, after) = admit::admit(&mut key, ends.as_ref(), now_us, &request, &mut *random::rng())?;
        ends = Some(after);
        admitted = if request.receipt { receipt } else { 1 };
    }
    let reply = answer(&mut key, ends.as_ref(), now_us, &request, admitted);
    key.signal();
    if admitted > 0 {
        key.notify(c"slidewin.admitted");
        stats::CHECKS_ADMITTED.add(1);
        stats::UNITS_ADMITTED.add(request.cost);
    } else {
        key.notify(c"slidewin.refused");
        stats::CHECKS_REFUSED.add(1);
        Offenders::here().refused(key.name_bytes(), now_us);
    }
    Ok(reply)
}

/// `SLIDEWIN.PEEK key window limit [window limit ...] [COST units] [WITHQUOTA]`: what CHECK would decide.
/// Never writes.
pub fn peek(call: &Call) -> Result<Reply, Error> {
    let request = request::peek(call.args_from(2))?;
    let now_us = clock::now_us();
    let mut key = Key::open(call, Mode::Read)?;
    let mut ends = Ends::of(&mut key);
    let admitted = has_room(&mut key, &mut ends, now_us, &request);
    stats::PEEKS.add(1);
    Ok(answer(&mut key, ends.as_ref(), now_us, &request, i64::from(admitted)))
}

/// `SLIDEWIN.REFUND key receipt [COST units]`: gives back what one admission took.
pub fn refund(call: &Call) -> Result<Reply, Error> {
    let request = request::refund(call.args_from(2))?;
    let mut key = Key::open(call, Mode::Write)?;
    let units = refund::refund(&mut key, &request)?;
    key.signal();
    if units > 0 {
        key.notify(c"slidewin.refunded");
        stats::REFUNDS.add(1);
        stats::UNITS_REFUNDED.add(units);
    }
    Ok(Reply::Integer(units as i64))
}

/// `SLIDEWIN.OFFENDERS [COUNT n] [RESET]`: who was refused most lately, on this node.
pub fn offenders(call: &Call) -> Result<Reply, Error> {
    let request = request::offenders(call.args_from(1))?;
    let mut offenders = Offenders::here();
    let heaviest = offenders.heaviest(request.count, clock::now_us());
    if request.reset {
        offenders.reset();
    }
    Ok(Reply::Offenders(heaviest))
}

/// The reply, as things stand after the call.
fn answer(key: &mut Key, ends: Option<&Ends>, now_us: i64, request: &Request, admitted: i64) -> Reply {
    if !request.quota {
        return Reply::Integer(admitted);
    }
    let windows = request.windows.as_slice().iter();
    let quotas = windows.map(|window| Quota::of(key, ends, now_us, request, window));
    Reply::Quotas(admitted, quotas.collect())
}
