//! Counting: how many units a window holds, and when the nth of them leaves.
//!
//! Each entry carries the running total of units, so that the units of a window are a difference:
//!
//! ```text
//! used = last.total - first.total + first.weight        first: the oldest entry with score > now - window
//! ```
//!
//! That takes two seeks, however many entries or units there are. A foreign member counts as one unit at either end of
//! the window, and as nothing between two entries of ours. Where the totals cannot be right, because somebody edited
//! the set, the live elements are summed instead.

use crate::ends::Ends;
use crate::entry::Entry;
use crate::log::{Element, Log};

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
    Entries { first: (i64, Entry), last_us: i64, units: u64 },
    /// The totals are impossible: every element counts by itself.
    Summed,
}

impl Live {
    /// Counts the units with a score above `since_us`. Where it has to sum them one by one it says so in `summed`.
    pub fn count(log: &mut impl Log, ends: &Ends, since_us: i64, summed: &mut u64) -> Self {
        let mut live = Live { since_us, units: 0, leading: 0, span: Span::Foreign };
        if ends.last_us <= since_us {
            return live;
        }
        // The walk goes on only from a foreign member, so an entry of ours needs no seek.
        let known = ends.known_after(since_us).filter(|known| known.entry.is_some());
        let mut at = known.or_else(|| log.first_after(since_us));
        let first = loop {
            match at {
                None => break None,
                Some(Element { score_us, entry: Some(entry) }) => break Some((score_us, entry)),
                Some(_) => live.leading = live.leading.saturating_add(1),
            }
            at = log.next();
        };
        live.units = live.leading;
        if let (Some(first), Some(last)) = (first, ends.last_entry) {
            if let Some(units) = difference(first, last) {
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
    pub fn time_of_unit(&self, log: &mut impl Log, nth: u64) -> i64 {
        let after_leading = nth.saturating_sub(self.leading);
        match self.span {
            Span::Summed => sum_until(log, self.since_us, nth).1,
            Span::Entries { first, last_us, units } if after_leading > 0 => {
                if after_leading <= units {
                    bisect(log, first, last_us, after_leading)
                } else {
                    let newer = self.units.saturating_sub(nth);
                    (0..newer)
                        .fold(log.last_up_to(i64::MAX), |_, _| log.prev())
                        .map_or(last_us, |at| at.score_us)
                }
            }
            _ => {
                let oldest = log.first_after(self.since_us);
                (1..nth).fold(oldest, |_, _| log.next()).map_or(self.since_us, |at| at.score_us)
            }
        }
    }
}

/// Units from the `first` entry to the `last`, where their totals can be right.
fn difference(first: (i64, Entry), last: (i64, Entry)) -> Option<u64> {
    if first == last {
        return Some(first.1.weight);
    }
    let after_first = last.1.total.wrapping_sub(first.1.total);
    let units = after_first.checked_add(first.1.weight)?;
    (after_first >= last.1.weight && units < IMPOSSIBLE).then_some(units)
}

/// Adds up single elements until they hold `enough` units: the sum, and the score of the last one added.
fn sum_until(log: &mut impl Log, since_us: i64, enough: u64) -> (u64, i64) {
    let (mut units, mut score_us) = (0_u64, since_us);
    let mut at = log.first_after(since_us);
    while let Some(element) = at {
        units = units.saturating_add(element.entry.map_or(1, |entry| entry.weight));
        score_us = element.score_us;
        if units >= enough {
            break;
        }
        at = log.next();
    }
    (units, score_us)
}

/// The time of the `nth` unit from the `first` entry on, by halving the time between: about 40 seeks for a window of
/// days, whatever the number of entries.
fn bisect(log: &mut impl Log, first: (i64, Entry), last_us: i64, nth: u64) -> i64 {
    if nth <= first.1.weight {
        return first.0;
    }
    // Fewer than `nth` units lie up to `low_us`, at least as many up to `high_us`.
    let (mut low_us, mut high_us) = (first.0, last_us);
    while low_us < high_us {
        let middle_us = low_us.saturating_add(high_us.saturating_sub(low_us) / 2);
        let mut at = log.first_after(middle_us);
        let (score_us, entry) = loop {
            match at {
                None => return high_us,
                Some(Element { score_us, entry: Some(entry) }) => break (score_us, entry),
                Some(_) => at = log.next(),
            }
        };
        let up_to = entry.total.wrapping_sub(first.1.total).wrapping_add(first.1.weight);
        if up_to < nth {
            low_us = score_us;
        } else if up_to.wrapping_sub(entry.weight) < nth {
            return score_us;
        } else {
            high_us = middle_us;
        }
    }
    high_us
}
