//! Counting: how many units a window holds, and when it holds fewer. Pure; `now` is an argument.
//!
//! Each entry carries the running total of units, so the units of a window are a difference:
//!
//! ```text
//! used = last.total - first.total + first.weight        first: the oldest entry with score > now - window
//! ```
//!
//! Two seeks, however many entries or units there are. A foreign member counts as one unit at either end of
//! the window, and as nothing between two entries of ours. Where the totals cannot be right (somebody edited
//! the set), the live elements are summed instead.

use crate::entry::{Entry, Kind};
use crate::log::{Element, Log};
use crate::request::{Request, Window};
use crate::stats;

/// Differences from here on are no counts: totals wrap.
const IMPOSSIBLE: u64 = 1 << 63;

/// The ends of a log.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The oldest element and the one after it, as far as they have been read: without the first live one a
    /// count seeks it.
    pub oldest: [Option<Element>; 2],
    /// Score of the last element.
    pub last_us: i64,
    /// The last element that is an entry, with its score.
    pub entry: Option<(i64, Entry)>,
    /// Foreign members after it.
    pub foreign: u64,
}

impl Ends {
    /// Reads the new end of the log; `None` where it is empty.
    pub fn of(log: &mut impl Log) -> Option<Self> {
        let last = log.last_up_to(i64::MAX)?;
        let mut ends = Ends { oldest: [None; 2], last_us: last.score_us, entry: None, foreign: 0 };
        let mut at = Some(last);
        while let Some(element) = at {
            if let Some(entry) = element.entry {
                ends.entry = Some((element.score_us, entry));
                break;
            }
            ends.foreign = ends.foreign.saturating_add(1);
            at = log.prev();
        }
        Some(ends)
    }

    /// Reads the old end as well: the oldest element, and the next one where the first has expired. A key that
    /// is full admits whenever one entry expires, so that these are the one to trim and the first live one.
    pub fn find_oldest(&mut self, log: &mut impl Log, expired_us: i64) {
        let last = Element { score_us: self.last_us, entry: self.entry.map(|(_, entry)| entry) };
        let oldest = if log.len() == 1 { Some(last) } else { log.first_after(i64::MIN) };
        let has_expired = oldest.is_some_and(|oldest| oldest.score_us <= expired_us);
        self.oldest = [oldest, if has_expired { log.next() } else { None }];
    }

    /// Whether anything lies up to that score, as far as the oldest element is known.
    pub fn reach_back_to(&self, score_us: i64) -> bool {
        let [oldest, _] = self.oldest;
        oldest.is_none_or(|oldest| oldest.score_us <= score_us)
    }

    /// The oldest element with a higher score, where it has been read.
    fn known_after(&self, score_us: i64) -> Option<Element> {
        self.oldest.into_iter().flatten().find(|element| element.score_us > score_us)
    }

    /// The total that continues this log, before the cost of the new entry.
    pub fn total(&self) -> Option<u64> {
        self.entry.map(|(_, entry)| entry.total.wrapping_add(self.foreign))
    }

    /// Whether the clock has stepped back so far that CHECK re-stamps the log.
    pub fn is_ahead(&self, now_us: i64, request: &Request) -> bool {
        self.last_us > now_us.saturating_add(request.windows.shortest_us() / 8)
    }
}

/// The units above one score.
#[derive(Clone, Copy, Debug)]
pub struct Live {
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
    None,
    /// From the first entry to the last one, `units` in all.
    Entries { first: (i64, Entry), last_us: i64, units: u64 },
    /// The totals are impossible: every element counts by itself.
    Summed,
}

impl Live {
    /// Counts the units with a score above `since_us`.
    pub fn count(log: &mut impl Log, ends: &Ends, since_us: i64) -> Self {
        let mut live = Live { since_us, units: 0, leading: 0, span: Span::None };
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
        if let (Some(first), Some(last)) = (first, ends.entry) {
            if let Some(units) = difference(first, last) {
                live.span = Span::Entries { first, last_us: last.0, units };
                live.units = live.units.saturating_add(units).saturating_add(ends.foreign);
            } else {
                stats::FOREIGN_SUMS.add(1);
                live.span = Span::Summed;
                live.units = sum_until(log, since_us, u64::MAX).0;
            }
        }
        live
    }

    /// The score of the element that holds the `nth` of these units, counted from the oldest.
    fn score_of(&self, log: &mut impl Log, nth: u64) -> i64 {
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

/// The score of the entry that holds the `nth` unit from the `first` entry on, by halving the time between:
/// about 40 seeks for a window of days, whatever the number of entries.
fn bisect(log: &mut impl Log, first: (i64, Entry), last_us: i64, nth: u64) -> i64 {
    if nth <= first.1.weight {
        return first.0;
    }
    // Fewer than `nth` units lie up to `low_us`, at least as many up to `high_us`.
    let (mut low_us, mut high_us) = (first.0, last_us);
    while low_us < high_us {
        let middle_us = low_us.midpoint(high_us);
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

/// Whether some window is full, as far as one look-up tells: a flood of refusals needs no more. The total of an
/// entry that leaves no room is known, and so is its name if it weighs 1; if it is live, so are all after it.
fn is_surely_full(log: &mut impl Log, ends: &Ends, now_us: i64, request: &Request) -> bool {
    let Some((last_us, last)) = ends.entry.filter(|_| ends.foreign == 0) else { return false };
    let elements = log.len();
    request.windows.as_slice().iter().any(|window| {
        let room = window.limit.checked_sub(request.cost).filter(|&room| room < elements);
        room.is_some_and(|room| {
            let total = last.total.wrapping_sub(room);
            let score_us = log.score_of(Entry { total, weight: 1, kind: Kind::Single });
            let since_us = now_us.saturating_sub(window.length_us);
            score_us.is_some_and(|score_us| score_us > since_us && score_us <= last_us)
        })
    })
}

/// Whether every window of the request has room for its cost. Reads the old end of the log where it has to.
pub fn has_room(log: &mut impl Log, ends: &mut Option<Ends>, now_us: i64, request: &Request) -> bool {
    if let Some(ends) = ends {
        if is_surely_full(log, ends, now_us, request) {
            return false;
        }
        ends.find_oldest(log, now_us.saturating_sub(request.windows.longest_us()));
    }
    request.windows.as_slice().iter().all(|window| {
        let since_us = now_us.saturating_sub(window.length_us);
        let used = ends.as_ref().map_or(0, |ends| Live::count(log, ends, since_us).units);
        used.checked_add(request.cost).is_some_and(|used| used <= window.limit)
    })
}

/// How one window stands, as the reply has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The limit that was asked for.
    pub limit: u64,
    /// Units left.
    pub remaining: u64,
    /// Until a call of the same cost fits. 0: now; -1: never.
    pub retry_after_ms: i64,
    /// Until the window is empty. 0: it is.
    pub reset_after_ms: i64,
}

impl Quota {
    /// How `window` stands at `now_us` for a call of the request's cost. An element that is ahead of a clock
    /// which has stepped back leaves the window as if it had been re-stamped.
    pub fn of(
        log: &mut impl Log,
        ends: Option<&Ends>,
        now_us: i64,
        request: &Request,
        window: &Window,
    ) -> Self {
        let cost = request.cost;
        let mut quota = Quota { limit: window.limit, remaining: window.limit, ..Quota::default() };
        let leaves_ms = |score_us: i64, ends: &Ends| {
            let score_us = if ends.is_ahead(now_us, request) { score_us.min(now_us) } else { score_us };
            ceil_ms(score_us.saturating_add(window.length_us).saturating_sub(now_us))
        };
        let live = ends.map(|ends| (ends, Live::count(log, ends, now_us.saturating_sub(window.length_us))));
        if let Some((ends, live)) = live.filter(|(_, live)| live.units > 0) {
            quota.remaining = window.limit.saturating_sub(live.units);
            quota.reset_after_ms = leaves_ms(ends.last_us, ends);
            let too_many = live.units.saturating_add(cost).saturating_sub(window.limit);
            if too_many > 0 && cost <= window.limit {
                quota.retry_after_ms = leaves_ms(live.score_of(log, too_many), ends);
            }
        }
        if cost > window.limit {
            quota.retry_after_ms = -1;
        }
        quota
    }
}

/// Rounded up: a caller who waits that long is not early.
fn ceil_ms(us: i64) -> i64 {
    us.saturating_add(999).div_euclid(1_000)
}
