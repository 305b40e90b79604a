//! Admission: trim, add, expiry. Also the repair of a log that a clock which stepped back left ahead of it.

use crate::entry::{Entry, Kind, MAX_WEIGHT};
use crate::log::{Element, Record};
use crate::request::{Error, Request, MAX_WINDOW_US};
use crate::stats;
use crate::window::{Ends, Live};
use rand::{Rng, RngExt};

/// The most expired elements that one admission removes.
const TRIM_AT_MOST: usize = 64;
/// A new log starts its totals below this, so that a member does not name an entry of another life of the key.
const BASE_BELOW: u64 = 1 << 22;
/// Expiry counts in ms, by a clock that the server read before we read ours.
const LEAST_SLACK_MS: i64 = 2;

/// Records an admission of the request's cost, whatever the limits say. Answers its score, which is its
/// receipt, and the new ends of the log.
pub fn admit(
    log: &mut impl Record,
    ends: Option<&Ends>,
    now_us: i64,
    request: &Request,
    rng: &mut impl Rng,
) -> Result<(i64, Ends), Error> {
    let longest_us = request.windows.longest_us();
    let expiry_ms = ends.and_then(|_| log.expiry_ms());
    // Somebody uses the key with a longer window: keep what his units need.
    let longer_ms =
        ends.and_then(|ends| promised_ms(ends, expiry_ms)).filter(|&ms| ms > nine_eighths_ms(longest_us));
    let horizon_us = longer_ms.map_or(longest_us, |ms| ms.saturating_mul(1_000));
    let expired_us = now_us.saturating_sub(horizon_us);

    let kind = if request.resolution_us.is_some() { Kind::Shared } else { Kind::Single };
    let mut entry = Entry { total: request.cost, weight: request.cost, kind };
    let Some(ends) = ends.filter(|ends| ends.last_us > expired_us) else {
        if ends.is_some() {
            log.unlink();
            stats::LOGS_RESTARTED.add(1);
        }
        entry.total = entry.total.wrapping_add(rng.random_range(0..BASE_BELOW));
        log.add(now_us, entry)?;
        log.expire_at(fresh_expiry_ms(now_us, longest_us, rng));
        let oldest = [Some(Element { score_us: now_us, entry: Some(entry) }), None];
        return Ok((now_us, Ends { oldest, last_us: now_us, entry: Some((now_us, entry)), foreign: 0 }));
    };

    let mut oldest = trim(log, ends, expired_us);

    let base = ends.total().unwrap_or_else(|| rng.random_range(0..BASE_BELOW));
    entry.total = entry.total.wrapping_add(base);
    let score_us = if let Some((last_us, last)) = shareable(ends, now_us, request) {
        entry.weight = entry.weight.saturating_add(last.weight);
        let score_us = now_us.max(last_us);
        log.replace(&[(score_us, entry)], &[last]);
        if oldest.iter().flatten().any(|known| known.entry == Some(last)) {
            oldest = [None; 2];
        }
        score_us
    } else {
        let score_us = now_us.max(ends.last_us.saturating_add(1));
        log.add(score_us, entry)?;
        score_us
    };

    if let Some(promised_ms) = longer_ms {
        let at_ms = floor_ms(score_us).saturating_add(promised_ms);
        if expiry_ms != Some(at_ms) {
            log.expire_at(at_ms);
        }
    } else {
        // 1 ms above the window, since a call with a shorter one moves the expiry by whole ms.
        let least_us = score_us.saturating_add(longest_us).saturating_add(1_000);
        if expiry_ms.is_none_or(|at_ms| at_ms.saturating_mul(1_000) < least_us) {
            log.expire_at(fresh_expiry_ms(score_us, longest_us, rng));
        }
    }
    Ok((score_us, Ends { oldest, last_us: score_us, entry: Some((score_us, entry)), foreign: 0 }))
}

/// Removes the oldest elements that have expired. Answers the oldest ones that are left, as far as known.
fn trim(log: &mut impl Record, ends: &Ends, expired_us: i64) -> [Option<Element>; 2] {
    if !ends.reach_back_to(expired_us) {
        return ends.oldest;
    }
    let (trimmed, oldest) = match ends.oldest {
        [Some(Element { entry: Some(expired), .. }), live @ Some(Element { score_us, .. })]
            if score_us > expired_us =>
        {
            log.trim_one(expired);
            (1, [live, None])
        }
        _ => (log.trim(expired_us, TRIM_AT_MOST), [None; 2]),
    };
    stats::ENTRIES_TRIMMED.add(trimmed as u64);
    oldest
}

/// The last entry and its score, where this call may add to it.
fn shareable(ends: &Ends, now_us: i64, request: &Request) -> Option<(i64, Entry)> {
    let resolution_us = request.resolution_us?;
    let (last_us, last) = ends.entry.filter(|(_, last)| ends.foreign == 0 && last.kind == Kind::Shared)?;
    let same_slot_or_ahead = last_us.checked_div(resolution_us)? >= now_us.checked_div(resolution_us)?;
    let has_room = last.weight.checked_add(request.cost)? <= MAX_WEIGHT;
    (same_slot_or_ahead && has_room).then_some((last_us, last))
}

/// Brings the elements ahead of the clock back to it, as one entry. So each unit counts at most the step too
/// long and never too short, and nobody waits longer than a window. Answers the new end of the log.
pub fn step_back(
    log: &mut impl Record,
    ends: &Ends,
    now_us: i64,
    request: &Request,
    rng: &mut impl Rng,
) -> Result<Ends, Error> {
    let longest_us = request.windows.longest_us();
    let promised_ms = promised_ms(ends, log.expiry_ms()).filter(|ms| ms.saturating_mul(1_000) > longest_us);
    let ahead = Live::count(log, ends, now_us);
    // What continues the log counts the foreign members after its last entry; those before it come on top.
    let leading = ends.entry.filter(|(last_us, _)| *last_us > now_us).map_or(0, |_| ahead.leading);
    let base = ends.total().map(|total| total.wrapping_add(leading));
    let total = base.unwrap_or_else(|| ahead.units.saturating_add(rng.random_range(0..BASE_BELOW)));
    let merged = Entry { total, weight: ahead.units.clamp(1, MAX_WEIGHT), kind: Kind::Shared };

    let score_us = if let Some(Element { score_us, .. }) = log.last_up_to(now_us) {
        log.remove_after(now_us);
        now_us.max(score_us.saturating_add(1))
    } else {
        log.unlink();
        now_us
    };
    log.add(score_us, merged)?;
    log.expire_at(match promised_ms {
        Some(promised_ms) => floor_ms(score_us).saturating_add(promised_ms),
        None => fresh_expiry_ms(score_us, longest_us, rng),
    });
    Ok(Ends { oldest: [None; 2], last_us: score_us, entry: Some((score_us, merged)), foreign: 0 })
}

/// How long the newest unit of the log was promised to be kept: the distance of the expiry from it. `None`
/// where nobody can have asked for that: no expiry, or scores that are no time of ours.
pub fn promised_ms(ends: &Ends, expiry_ms: Option<i64>) -> Option<i64> {
    let promised_ms = expiry_ms?.saturating_sub(floor_ms(ends.last_us));
    (1..=nine_eighths_ms(MAX_WINDOW_US)).contains(&promised_ms).then_some(promised_ms)
}

/// The longest that an expiry set for this window lies ahead, rounding included.
fn nine_eighths_ms(window_us: i64) -> i64 {
    floor_ms(window_us.saturating_add(window_us / 8)).saturating_add(LEAST_SLACK_MS)
}

/// An expiry for a unit at `score_us`: the window and 1/16 to 1/8 of it, so that a busy key sets it seldom
/// and keys born together do not die together.
fn fresh_expiry_ms(score_us: i64, window_us: i64, rng: &mut impl Rng) -> i64 {
    let window_ms = floor_ms(window_us);
    let slack_ms = rng.random_range(window_ms / 16..=window_ms / 8).max(LEAST_SLACK_MS);
    floor_ms(score_us.saturating_add(window_us)).saturating_add(slack_ms)
}

/// The ms in which a time lies.
pub fn floor_ms(us: i64) -> i64 {
    us.div_euclid(1_000)
}
