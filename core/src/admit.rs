//! Admission: removes what has expired, adds an entry, and moves the expiry.

use crate::bundle;
use crate::count::Live;
use crate::ends::Ends;
use crate::entry::{Entry, Kind};
use crate::horizon::{expiry_ms, floor_ms, fresh_promise_ms, is_enough, kept_ms, longest_promise_ms};
use crate::log::{Element, Record, Scored};
use crate::outcome::Outcome;
use crate::{Error, Request, MAX_UNITS};

/// The most expired elements that one admission removes.
const MAX_TRIM: usize = 64;
/// A new log starts its totals below this, so that a member does not name an entry of another life of the key, and so
/// that a listpack stores it as a small integer.
const BASE_BELOW: u64 = 1 << 22;

/// Costs up to this do not add up to [`MOST_UNITS`] in any log that fits into memory.
const LIGHT: u64 = 1 << 20;
/// About as many units as a log may hold.
const MOST_UNITS: u64 = 1 << 62;

/// The total that a new log starts from. The lower bits of `random` choose.
pub(crate) fn base(random: u64) -> u64 {
    random & BASE_BELOW.wrapping_sub(1)
}

/// Records an admission of the request's cost, whatever the limits say: now, or as a place in line where `fit_us`, the
/// time at which it may go, is later. Answers the new ends of the log: the last score is that of the admission. Says in
/// `outcome` what was trimmed and whether the log was begun anew.
pub(crate) fn admit<L: Record>(
    log: &mut L,
    ends: Option<Ends<L::Member>>,
    now_us: i64,
    fit_us: i64,
    request: &Request,
    random: impl Fn() -> u64,
    outcome: &mut Outcome,
) -> Result<Ends<L::Member>, Error> {
    let longest_us = request.windows.longest_us();
    let promise_ms = ends.as_ref().and_then(|ends| ends.promise_ms(log.expiry_ms()));
    // Where the key is used with a longer window as well: keep what the units of that window need.
    let longer_ms = promise_ms.filter(|&promise_ms| promise_ms > longest_promise_ms(longest_us));
    let horizon_us = longer_ms.unwrap_or_else(|| kept_ms(longest_us)).saturating_mul(1_000);
    let expired_us = now_us.saturating_sub(horizon_us);

    let kind = if request.resolution_us.is_some() { Kind::Shared } else { Kind::Single };
    let mut entry = Entry { total: request.cost, weight: request.cost, kind };
    let is_expired = ends.as_ref().is_some_and(|ends| ends.last_us <= expired_us);
    let Some(mut ends) = ends.filter(|_| !is_expired) else {
        if is_expired {
            log.unlink();
            outcome.restarted = true;
        }
        entry.total = entry.total.wrapping_add(base(random()));
        log.add(now_us, entry.encode().as_bytes(), request.mark())?;
        log.expire_at(expiry_ms(now_us, fresh_promise_ms(longest_us, random())));
        return Ok(Ends { is_single: true, ..Ends::with_last(now_us, entry, [None, None]) });
    };

    let is_place = fit_us > now_us;
    let shared = shareable(&ends, now_us, request);
    let total = ends.total().unwrap_or_else(|| base(random()));
    let last_us = ends.last_us;
    drop_what_cannot_matter(log, &mut ends, request.cost, &mut outcome.summed)?;
    let mut oldest = trim(log, ends, expired_us, outcome);
    let score_us = if let Some((last_us, last)) = shared {
        // More units than the largest limit make no difference.
        entry.weight = last.weight.max(last.weight.saturating_add(request.cost).min(MAX_UNITS));
        entry.total = last.total.wrapping_add(entry.weight.saturating_sub(last.weight));
        let score_us = now_us.max(last_us);
        let gone = if entry == last { vec![] } else { vec![last.encode().as_bytes().to_vec()] };
        log.replace(&[(score_us, entry.encode().as_bytes().to_vec())], &gone);
        if oldest.iter().flatten().any(|known| known.entry == Some(last)) {
            oldest = [None, None];
        }
        score_us
    } else {
        let score_us = fit_us.max(last_us.saturating_add(1));
        if is_place {
            entry.kind = Kind::Place { ahead_us: score_us.saturating_sub(now_us), is_shared: false };
        }
        entry.total = entry.total.wrapping_add(total);
        log.add(score_us, entry.encode().as_bytes(), request.mark())?;
        if bundle::bundle(log, score_us, entry) {
            oldest = [None, None];
        }
        score_us
    };

    let passed_ms = floor_ms(score_us).saturating_sub(floor_ms(last_us));
    let left_ms = promise_ms.map(|promise_ms| promise_ms.saturating_sub(passed_ms));
    if let Some(promise_ms) = longer_ms {
        if passed_ms != 0 {
            log.expire_at(expiry_ms(score_us, promise_ms));
        }
    } else if !left_ms.is_some_and(|left_ms| is_enough(left_ms, longest_us)) {
        log.expire_at(expiry_ms(score_us, fresh_promise_ms(longest_us, random())));
    }
    Ok(Ends::with_last(score_us, entry, oldest))
}

/// Keeps the units of a log below 2^62 and the cost of one call, so that no difference of two totals ever comes near
/// 2^63, where it could not be told from that of an edited set. What has [`MAX_UNITS`] newer units, those of this call
/// included, is removed, although it may be live: in each window that holds it the newer ones leave no room, whatever
/// the limit. Only calls that are forced, or have huge limits, get there.
fn drop_what_cannot_matter<L: Record>(
    log: &mut L,
    ends: &mut Ends<L::Member>,
    cost: u64,
    summed: &mut u64,
) -> Result<(), Error> {
    if cost <= LIGHT {
        return Ok(());
    }
    // From 1970 on: no time of ours is older.
    let live = Live::count(log, ends, 0, summed);
    let units = live.units.saturating_add(cost);
    if units <= MOST_UNITS {
        return Ok(());
    }
    ends.oldest = [None, None];
    let newest = live.units.saturating_sub(MAX_UNITS.saturating_sub(cost));
    let first_us = live.time_of_unit(log, newest);
    if let Some(kept) = newest_from(log, first_us) {
        // The server frees the others in another thread.
        let expiry_ms = log.expiry_ms();
        log.unlink();
        for (score_us, member) in kept {
            log.add(score_us, &member, None)?;
        }
        if let Some(expiry_ms) = expiry_ms {
            log.expire_at(expiry_ms);
        }
        return Ok(());
    }
    let is_urgent = units > MOST_UNITS.saturating_mul(2).saturating_sub(MAX_UNITS);
    log.trim(first_us.saturating_sub(1), if is_urgent { usize::MAX } else { MAX_TRIM });
    Ok(())
}

/// The elements from this time on, oldest first, where these are few and the others are not.
fn newest_from<L: Record>(log: &mut L, first_us: i64) -> Option<Vec<Scored>> {
    let few = MAX_TRIM.min(usize::try_from(log.len()).ok()?.checked_sub(MAX_TRIM)?);
    let mut found = Vec::new();
    let mut at = log.last_up_to(i64::MAX);
    while let Some(element) = at.filter(|element| element.score_us >= first_us) {
        found.push((element.score_us, element.member.as_ref().to_vec()));
        if found.len() > few {
            return None;
        }
        at = log.prev();
    }
    found.reverse();
    Some(found)
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
    same_slot_or_ahead.then_some((last_us, last))
}
