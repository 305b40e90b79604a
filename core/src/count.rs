//! Counting: how many units a window holds, and when the nth of them leaves.
//!
//! Each entry carries the running total of units, so that the units of a window are a difference:
//!
//! ```text
//! used = last.total - first.total + first.weight        first: the oldest entry with score > now - window
//! ```
//!
//! Of a bundle only the live parts count. That takes two seeks, however many entries or units there are. A foreign member
//! counts as one unit at either end of the window, and as nothing between two entries of ours; the mark of an ID never
//! counts. Where the totals cannot be right, because somebody edited the set, the live elements are summed instead.

use crate::ends::{Ends, First};
use crate::entry::Entry;
use crate::log::{past_marks, Element, Log};

/// Differences from here on are no counts: totals wrap.
const IMPOSSIBLE: u64 = 1 << 63;

/// The units above one score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    since_us: i64,
    /// All of them.
    pub units: u64,
    /// Foreign members before the first entry.
    pub leading: u64,
    span: Span,
}

#[derive(Clone, Copy, Debug)]
enum Span {
    /// No entry of ours.
    Foreign,
    /// From the first entry to the last one, `units` in all.
    Entries { first: First, last_us: i64, units: u64 },
    /// The totals are impossible: every element counts by itself.
    Summed,
}

impl Live {
    /// Counts the units with a score above `since_us`. Where it has to sum them one by one it says so in `summed`.
    pub fn count<L: Log>(log: &mut L, ends: &Ends<L::Member>, since_us: i64, summed: &mut u64) -> Self {
        let mut live = Live { since_us, units: 0, leading: 0, span: Span::Foreign };
        if ends.last_us <= since_us {
            return live;
        }
        let known = || First::of(ends.known_after(since_us)?, since_us);
        let first = ends.single_after(since_us).or_else(known).or_else(|| {
            let (first, leading) = first_entry_after(log, since_us);
            live.leading = leading;
            First::of(&first?, since_us)
        });
        live.units = live.leading;
        if let (Some(first), Some(last)) = (first, ends.last_entry) {
            if let Some(units) = difference(&first, last) {
                live.span = Span::Entries { first, last_us: last.0, units };
                live.units = live.units.saturating_add(units).saturating_add(ends.foreign_after_it);
            } else {
                *summed = summed.saturating_add(1);
                live.span = Span::Summed;
                live.units = sum_until(log, since_us, u64::MAX).0;
            }
        }
        live
    }

    /// The time of the `nth` of these units, counted from the oldest.
    pub fn time_of_unit<L: Log>(&self, log: &mut L, nth: u64) -> i64 {
        let after_leading = nth.saturating_sub(self.leading);
        match self.span {
            Span::Summed => sum_until(log, self.since_us, nth).1,
            Span::Entries { first, last_us, units } if after_leading > 0 => {
                if after_leading <= units {
                    bisect(log, &first, last_us, after_leading)
                } else {
                    let newer = self.units.saturating_sub(nth);
                    let newest = log.last_up_to(i64::MAX);
                    past_marks(log, newest, L::prev, newer).map_or(last_us, |at| at.score_us)
                }
            }
            _ => {
                let oldest = log.first_after(self.since_us);
                let at = past_marks(log, oldest, L::next, nth.saturating_sub(1));
                at.map_or(self.since_us, |at| at.score_us)
            }
        }
    }
}

/// Whether at most `room` units have a score above `since_us`. If not, the log remembers why, where it is asked to.
pub(crate) fn has_room<L: Log>(
    log: &mut L,
    ends: &Ends<L::Member>,
    since_us: i64,
    room: u64,
    remember: bool,
    summed: &mut u64,
) -> bool {
    if ends.last_us <= since_us {
        return true;
    }
    let known = ends.known_after(since_us);
    let sought =
        if known.is_none() && !ends.is_single { first_entry_after(log, since_us) } else { (None, 0) };
    let first = known.or(sought.0.as_ref().filter(|_| sought.1 == 0));
    if let Some((first, has_room)) = first.and_then(|it| Some((it, has_room_from(it, ends, since_us, room)?)))
    {
        if remember && !has_room {
            log.remember(first);
        }
        return has_room;
    }
    Live::count(log, ends, since_us, summed).units <= room
}

/// Whether at most `room` units are newer than `since_us`, of this element and those after it. One look at one of its
/// units tells: it is the unit that leaves no room, and all after it are newer. `None` where the element is no entry or the
/// totals cannot be right. The element itself is newer.
pub(crate) fn has_room_from<M: AsRef<[u8]>>(
    element: &Element<M>,
    ends: &Ends<M>,
    since_us: i64,
    room: u64,
) -> Option<bool> {
    let (entry, (last_us, last)) = (element.entry?, ends.last_entry?);
    let newer = last.total.wrapping_sub(entry.total);
    let is_possible =
        (newer >= last.weight && newer < IMPOSSIBLE / 2) || (element.score_us, entry) == (last_us, last);
    if !is_possible || entry.weight >= IMPOSSIBLE / 2 {
        return None;
    }
    let room = room.checked_sub(newer.saturating_add(ends.foreign_after_it));
    Some(room.is_some_and(|room| entry.weight <= room || element.time_of_unit(room) <= since_us))
}

/// The oldest element above a score that is an entry, and the number of foreign members before it.
pub(crate) fn first_entry_after<L: Log>(log: &mut L, since_us: i64) -> (Option<Element<L::Member>>, u64) {
    let mut at = log.first_after(since_us);
    let mut foreign = 0_u64;
    while let Some(element) = at.as_ref().filter(|at| at.entry.is_none()) {
        foreign = foreign.saturating_add(u64::from(!element.is_mark));
        at = log.next();
    }
    (at, foreign)
}

/// Units from the `first` admission to the `last` entry, where their totals can be right.
fn difference(first: &First, last: (i64, Entry)) -> Option<u64> {
    if (first.score_us, first.entry) == last {
        return Some(first.live);
    }
    let after_first = last.1.total.wrapping_sub(first.entry.total);
    let units = after_first.checked_add(first.live)?;
    (after_first >= last.1.weight && units < IMPOSSIBLE).then_some(units)
}

/// Adds up single elements until they hold `enough` units: the sum, and the time of the last unit added.
fn sum_until<L: Log>(log: &mut L, since_us: i64, enough: u64) -> (u64, i64) {
    let (mut units, mut time_us) = (0_u64, since_us);
    let mut at = log.first_after(since_us);
    while let Some(element) = past_marks(log, at, L::next, 0) {
        let (live, _) = element.live_after(since_us).unwrap_or((1, element.score_us));
        let missing = enough.saturating_sub(units);
        units = units.saturating_add(live);
        time_us = element.time_of_unit(live.saturating_sub(missing));
        if units >= enough {
            break;
        }
        at = log.next();
    }
    (units, time_us)
}

/// The time of the `nth` unit from the `first` admission on, by halving the time between: about 40 seeks for a window
/// of days, whatever the number of entries.
fn bisect(log: &mut impl Log, first: &First, last_us: i64, nth: u64) -> i64 {
    if nth <= 1 || (nth <= first.live && first.time_us == first.score_us) {
        return first.time_us;
    }
    // Fewer than `nth` units lie up to `low_us`, at least as many up to `high_us`.
    let (mut low_us, mut high_us) = (first.time_us, last_us);
    while low_us < high_us {
        let middle_us = low_us.saturating_add(high_us.saturating_sub(low_us) / 2);
        let (Some(element), _) = first_entry_after(log, middle_us) else { return high_us };
        let Some(entry) = element.entry else { return high_us };
        let up_to = entry.total.wrapping_sub(first.entry.total).wrapping_add(first.live);
        if up_to < nth {
            low_us = element.score_us;
        } else if up_to.saturating_sub(entry.weight) < nth {
            // A hand-made bundle may reach further back than the first admission.
            return element.time_of_unit(up_to.saturating_sub(nth)).max(first.time_us);
        } else {
            high_us = middle_us;
        }
    }
    high_us
}
