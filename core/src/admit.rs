//! Admission: removes what has expired, adds an entry, and moves the expiry.

use crate::ends::Ends;
use crate::entry::{Entry, Kind, MAX_WEIGHT};
use crate::horizon::{floor_ms, fresh_expiry_ms, longest_promise_ms};
use crate::log::{Element, Record};
use crate::outcome::Outcome;
use crate::{Error, Request};

/// The most expired elements that one admission removes.
const MAX_TRIM: usize = 64;
/// A new log starts its totals below this, so that a member does not name an entry of another life of the key, and so
/// that a listpack stores it as a small integer.
const BASE_BELOW: u64 = 1 << 22;

/// The total that a new log starts from. The lower bits of `random` choose.
pub(crate) fn base(random: u64) -> u64 {
    random & BASE_BELOW.wrapping_sub(1)
}

/// Records an admission of the request's cost, whatever the limits say. Answers the new ends of the log: the last score
/// is that of the admission. Says in `outcome` what was trimmed and whether the log was begun anew.
pub(crate) fn admit(
    log: &mut impl Record,
    ends: Option<Ends>,
    now_us: i64,
    request: &Request,
    random: u64,
    outcome: &mut Outcome,
) -> Result<Ends, Error> {
    let longest_us = request.windows.longest_us();
    let expiry_ms = ends.as_ref().and_then(|_| log.expiry_ms());
    // Where the key is used with a longer window as well: keep what the units of that window need.
    let longer_ms = ends
        .as_ref()
        .and_then(|ends| ends.promised_ms(expiry_ms))
        .filter(|&promised_ms| promised_ms > longest_promise_ms(longest_us));
    let horizon_us = longer_ms.map_or(longest_us, |ms| ms.saturating_mul(1_000));
    let expired_us = now_us.saturating_sub(horizon_us);

    let kind = if request.resolution_us.is_some() { Kind::Shared } else { Kind::Single };
    let mut entry = Entry { total: request.cost, weight: request.cost, kind };
    let Some(ends) = ends.as_ref().filter(|ends| ends.last_us > expired_us) else {
        if ends.is_some() {
            log.unlink();
            outcome.restarted = true;
        }
        entry.total = entry.total.wrapping_add(base(random));
        log.add(now_us, entry)?;
        log.expire_at(fresh_expiry_ms(now_us, longest_us, random));
        let oldest = [Some(Element { score_us: now_us, entry: Some(entry) }), None];
        return Ok(Ends::with_last(now_us, entry, oldest));
    };

    let mut oldest = trim(log, ends, expired_us, outcome);

    entry.total = entry.total.wrapping_add(ends.total().unwrap_or_else(|| base(random)));
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
            log.expire_at(fresh_expiry_ms(score_us, longest_us, random));
        }
    }
    Ok(Ends::with_last(score_us, entry, oldest))
}

/// Removes the oldest elements that have expired. Answers the oldest ones that are left, as far as they are known.
fn trim(log: &mut impl Record, ends: &Ends, expired_us: i64, outcome: &mut Outcome) -> [Option<Element>; 2] {
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
        _ => (log.trim(expired_us, MAX_TRIM), [None; 2]),
    };
    outcome.trimmed = trimmed;
    oldest
}

/// The last entry and its score, where this call may add to it.
fn shareable(ends: &Ends, now_us: i64, request: &Request) -> Option<(i64, Entry)> {
    let resolution_us = request.resolution_us?;
    let (last_us, last) =
        ends.last_entry.filter(|(_, last)| ends.foreign_after_it == 0 && last.kind == Kind::Shared)?;
    let same_slot_or_ahead = last_us.checked_div(resolution_us)? >= now_us.checked_div(resolution_us)?;
    let has_room = last.weight.checked_add(request.cost)? <= MAX_WEIGHT;
    (same_slot_or_ahead && has_room).then_some((last_us, last))
}
