//! The repair of a log that a clock which stepped back has left ahead of it.
//!
//! Who waits for a place in line was told how long, and waits by a clock of his own. A place that was taken `ahead` µs
//! before its time is reached at most that long from now, and each place before it earlier. So nobody goes after
//! `now + ahead` of the newest, which is where they are all merged.

use crate::admit::base;
use crate::bundle;
use crate::count::{first_entry_after, Live};
use crate::ends::Ends;
use crate::entry::{Entry, Kind, MAX_WEIGHT};
use crate::horizon::{expiry_ms, fresh_promise_ms, is_enough};
use crate::log::{Element, Record};
use crate::{Error, Request};

/// Brings the elements ahead of the clock back to it, as one entry. So each unit counts at most the step and the line too
/// long and never too short, and nobody waits longer than the line and a window. Answers the new ends of the log.
pub(crate) fn step_back<L: Record>(
    log: &mut L,
    ends: &Ends<L::Member>,
    now_us: i64,
    request: &Request,
    random: u64,
    summed: &mut u64,
) -> Result<Ends<L::Member>, Error> {
    let longest_us = request.windows.longest_us();
    let promise_ms = ends.promise_ms(log.expiry_ms()).filter(|&promise_ms| is_enough(promise_ms, longest_us));
    let ahead = Live::count(log, ends, now_us, summed);
    // What continues the log counts the foreign members after its last entry; those before it come on top.
    let leading = ends.last_entry.filter(|(last_us, _)| *last_us > now_us).map_or(0, |_| ahead.leading);
    let continued = ends.total().map(|total| total.wrapping_add(leading));
    let total = continued.unwrap_or_else(|| ahead.units.saturating_add(base(random)));

    keep_parts_up_to(log, now_us)?;
    let mut score_us = ends.repaired_us(now_us);
    let kind = match score_us.saturating_sub(now_us) {
        0 => Kind::Shared,
        ahead_us => Kind::Place { ahead_us, is_shared: true },
    };
    let merged = Entry { total, weight: ahead.units.clamp(1, MAX_WEIGHT), kind };
    if let Some(Element { score_us: before_us, .. }) = log.last_up_to(now_us) {
        log.remove_after(now_us);
        score_us = score_us.max(before_us.saturating_add(1));
    } else {
        log.unlink();
    }
    log.add(score_us, merged.encode().as_bytes(), None)?;
    let promise_ms = promise_ms.unwrap_or_else(|| fresh_promise_ms(longest_us, random));
    log.expire_at(expiry_ms(score_us, promise_ms));
    Ok(Ends::with_last(score_us, merged, [None, None]))
}

/// Adds the parts up to `now_us` of a bundle that reaches beyond it as an element of their own.
fn keep_parts_up_to(log: &mut impl Record, now_us: i64) -> Result<(), Error> {
    let (Some(element), _) = first_entry_after(log, now_us) else { return Ok(()) };
    let times_us = element.times_us();
    let ahead = times_us.iter().take_while(|&&time_us| time_us > now_us).count();
    let Some(entry) = element.entry else { return Ok(()) };
    let total = entry.total.wrapping_sub(ahead as u64);
    match bundle::spell(total, times_us.get(ahead..).unwrap_or_default()) {
        Some((score_us, member)) => log.add(score_us, &member, None),
        None => Ok(()),
    }
}
