//! The repair of a log that a clock which stepped back has left ahead of it.

use crate::admit::base;
use crate::bundle;
use crate::count::{first_entry_after, Live};
use crate::ends::Ends;
use crate::entry::{Entry, Kind, MAX_WEIGHT};
use crate::horizon::{expiry_ms, fresh_promise_ms, is_enough};
use crate::log::{Element, Record};
use crate::{Error, Request};

/// Brings the elements ahead of the clock back to it, as one entry. So each unit counts at most the step too long and
/// never too short, and nobody waits longer than a window. Answers the new ends of the log.
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
    let merged = Entry { total, weight: ahead.units.clamp(1, MAX_WEIGHT), kind: Kind::Shared };

    keep_parts_up_to(log, now_us)?;
    let score_us = if let Some(Element { score_us, .. }) = log.last_up_to(now_us) {
        log.remove_after(now_us);
        now_us.max(score_us.saturating_add(1))
    } else {
        log.unlink();
        now_us
    };
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
