//! The decision: whether every window has room, and what is recorded if so.

use crate::ends::Ends;
use crate::log::{Log, Record};
use crate::outcome::{Forecast, Outcome};
use crate::standing::Standing;
use crate::{admit, count, horizon, repair, reserve, Error, Request};

/// Admits a call and records it, or refuses it and changes nothing.
///
/// `now_us` is the time in µs since the epoch. `random` gives 64 random bits; they spread totals and expiries, and guard
/// nothing. The log is written only where the call is admitted, or where it must be repaired first because the clock
/// has stepped back behind it. A repeat of an admission that is remembered by its ID is admitted before anything else is
/// looked at, so that the first repeat after a failover to a clock that is behind does not pay twice. While a line stands,
/// see [`crate::reserve()`], a call is refused, or goes to its end where it is forced.
///
/// Fails with [`Error::WrongType`] where the log cannot take entries.
pub fn check(
    log: &mut impl Record,
    now_us: i64,
    request: &Request,
    random: impl Fn() -> u64,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut ends = Ends::read(log);
    if repeat(log, ends.as_ref(), now_us, request, &mut outcome) {
        return Ok(outcome);
    }
    repair(log, &mut ends, now_us, request, &random, &mut outcome)?;
    if request.force || has_room(log, &mut ends, now_us, request, &mut outcome.summed) {
        let fit_us = ends.as_ref().and_then(|ends| ends.line_us(now_us)).unwrap_or(now_us);
        let after = admit::admit(log, ends, now_us, fit_us, request, &random, &mut outcome)?;
        outcome.receipt = Some(after.last_us);
        ends = Some(after);
    }
    outcome.standings = standings(log, ends.as_ref(), now_us, request, &mut outcome.summed);
    Ok(outcome)
}

/// Answers a call whose ID the log remembers as the first one was answered, or not yet where its place in line has not
/// come. Says whether it is one. Who asks for a place again and again must not be told to wait until a wrong clock has
/// caught up: on a log that has to be repaired such a place is lost.
pub(crate) fn repeat<L: Log>(
    log: &mut L,
    ends: Option<&Ends<L::Member>>,
    now_us: i64,
    request: &Request,
    outcome: &mut Outcome,
) -> bool {
    let Some(receipt) = request.repeated(log, now_us) else { return false };
    let wait_us = if request.force { 0 } else { reserve::wait_us(log, receipt, now_us) };
    if wait_us > 0 && ends.is_some_and(|ends| ends.is_ahead(now_us, request)) {
        return false;
    }
    outcome.is_repeat = true;
    outcome.receipt = Some(receipt).filter(|_| wait_us == 0);
    outcome.standings = standings(log, ends, now_us, request, &mut outcome.summed);
    if wait_us > 0 {
        let wait_ms = horizon::ceil_ms(wait_us);
        outcome.standings.iter_mut().for_each(|standing| standing.retry_after_ms = Some(wait_ms));
    }
    true
}

/// Repairs a log that the clock has left ahead of it.
pub(crate) fn repair<L: Record>(
    log: &mut L,
    ends: &mut Option<Ends<L::Member>>,
    now_us: i64,
    request: &Request,
    random: impl Fn() -> u64,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    if let Some(ahead) = ends.as_ref().filter(|ends| ends.is_ahead(now_us, request)) {
        outcome.stepped_back_us = Some(ahead.recorded_us().saturating_sub(now_us));
        *ends = Some(repair::step_back(log, ahead, now_us, request, random(), &mut outcome.summed)?);
    }
    Ok(())
}

/// Foresees what [`check`] would decide, without FORCE. Writes nothing.
pub fn peek(log: &mut impl Log, now_us: i64, request: &Request) -> Forecast {
    let mut summed = 0;
    let mut ends = Ends::read(log);
    let has_room = has_room(log, &mut ends, now_us, request, &mut summed);
    let standings = standings(log, ends.as_ref(), now_us, request, &mut summed);
    Forecast { has_room, standings, summed }
}

/// Whether every window of the request has room for its cost, and no line stands. Reads the old end of the log where it
/// has to.
pub(crate) fn has_room<L: Log>(
    log: &mut L,
    ends: &mut Option<Ends<L::Member>>,
    now_us: i64,
    request: &Request,
    summed: &mut u64,
) -> bool {
    // How the windows stand takes the old end of the log in any case.
    let remember = !request.with_standings;
    if let Some(ends) = ends {
        let is_line = ends.line_us(now_us).is_some();
        if is_line || (remember && is_still_full(log, ends, now_us, request)) {
            return false;
        }
        ends.read_oldest(log, now_us.saturating_sub(request.windows.longest_us()));
    }
    request.windows.as_slice().iter().all(|window| {
        let since_us = now_us.saturating_sub(window.length_us);
        let Some(room) = window.limit.checked_sub(request.cost) else { return false };
        ends.as_ref().is_none_or(|ends| count::has_room(log, ends, since_us, room, remember, summed))
    })
}

/// Whether the element that left no room for an earlier call is still there, and leaves none for this one. True only if
/// a window is certainly full: a flood of refusals then needs one look-up besides the newest element.
fn is_still_full<L: Log>(log: &mut L, ends: &Ends<L::Member>, now_us: i64, request: &Request) -> bool {
    log.remembered().is_some_and(|element| {
        request.windows.as_slice().iter().any(|window| {
            let since_us = now_us.saturating_sub(window.length_us);
            let room = window.limit.checked_sub(request.cost).filter(|_| element.score_us > since_us);
            room.is_some_and(|room| count::has_room_from(&element, ends, since_us, room) == Some(false))
        })
    })
}

/// How each window stands, where the request asks.
pub(crate) fn standings<L: Log>(
    log: &mut L,
    ends: Option<&Ends<L::Member>>,
    now_us: i64,
    request: &Request,
    summed: &mut u64,
) -> Vec<Standing> {
    if !request.with_standings {
        return Vec::new();
    }
    let windows = request.windows.as_slice().iter();
    let standing = |window| Standing::of(log, ends, now_us, request, window, summed);
    windows.map(standing).collect()
}
