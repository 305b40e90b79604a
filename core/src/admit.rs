//! Admission: removes what has expired, adds an entry, and moves the expiry.

use crate::bundle;
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
pub(crate) fn admit<L: Record>(
    log: &mut L,
    ends: Option<Ends<L::Member>>,
    now_us: i64,
    request: &Request,
    random: u64,
    outcome: &mut Outcome,
) -> Result<Ends<L::Member>, Error> {
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
    let is_expired = ends.as_ref().is_some_and(|ends| ends.last_us <= expired_us);
    let Some(ends) = ends.filter(|_| !is_expired) else {
        if is_expired {
            log.unlink();
            outcome.restarted = true;
        }
        entry.total = entry.total.wrapping_add(base(random));
        log.add(now_us, entry.encode().as_bytes(), request.mark())?;
        log.expire_at(fresh_expiry_ms(now_us, longest_us, random));
        return Ok(Ends { is_single: true, ..Ends::with_last(now_us, entry, [None, None]) });
    };

    let shared = shareable(&ends, now_us, request);
    entry.total = entry.total.wrapping_add(ends.total().unwrap_or_else(|| base(random)));
    let next_us = now_us.max(ends.last_us.saturating_add(1));
    let mut oldest = trim(log, ends, expired_us, outcome);
    let score_us = if let Some((last_us, last)) = shared {
        entry.weight = entry.weight.saturating_add(last.weight);
        let score_us = now_us.max(last_us);
        let new = (score_us, entry.encode().as_bytes().to_vec());
        log.replace(&[new], &[last.encode().as_bytes().to_vec()]);
        if oldest.iter().flatten().any(|known| known.entry == Some(last)) {
            oldest = [None, None];
        }
        score_us
    } else {
        log.add(next_us, entry.encode().as_bytes(), request.mark())?;
        if bundle::bundle(log, next_us, entry) {
            oldest = [None, None];
        }
        next_us
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
fn trim<L: Record>(
    log: &mut L,
    ends: Ends<L::Member>,
    expired_us: i64,
    outcome: &mut Outcome,
) -> [Option<Element<L::Member>>; 2] {
    if !ends.reach_back_to(expired_us) {
        return ends.oldest;
    }
    match ends.oldest {
        [Some(expired), Some(live)] if live.score_us > expired_us => {
            log.trim_one(&expired.member);
            outcome.trimmed = 1;
            [Some(live), None]
        }
        _ => {
            outcome.trimmed = log.trim(expired_us, MAX_TRIM);
            [None, None]
        }
    }
}

/// The last entry and its score, where this call may add to it.
fn shareable<M: AsRef<[u8]>>(ends: &Ends<M>, now_us: i64, request: &Request) -> Option<(i64, Entry)> {
    let resolution_us = request.resolution_us?;
    let (last_us, last) =
        ends.last_entry.filter(|(_, last)| ends.foreign_after_it == 0 && last.kind == Kind::Shared)?;
    let same_slot_or_ahead = last_us.checked_div(resolution_us)? >= now_us.checked_div(resolution_us)?;
    let has_room = last.weight.checked_add(request.cost)? <= MAX_WEIGHT;
    (same_slot_or_ahead && has_room).then_some((last_us, last))
}
