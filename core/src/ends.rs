//! The two ends of a log: what a decision reads before it counts.

use crate::entry::Entry;
use crate::log::{Element, Log};
use crate::{Request, MAX_WINDOW_US};

/// What is known of a log that has elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// The oldest element and, if it has expired, its successor; `None`: not read yet. If neither is live, counting
    /// seeks the first live one.
    pub oldest: [Option<Element>; 2],
    /// The score of the last element.
    pub last_us: i64,
    /// The last element that is an entry, with its score.
    pub last_entry: Option<(i64, Entry)>,
    /// How many foreign members come after that entry.
    pub foreign_after_it: u64,
}

impl Ends {
    /// Reads the new end of the log; `None` where the log is empty.
    pub fn read(log: &mut impl Log) -> Option<Self> {
        let last = log.last_up_to(i64::MAX)?;
        let mut ends =
            Ends { oldest: [None; 2], last_us: last.score_us, last_entry: None, foreign_after_it: 0 };
        let mut at = Some(last);
        while let Some(element) = at {
            if let Some(entry) = element.entry {
                ends.last_entry = Some((element.score_us, entry));
                break;
            }
            ends.foreign_after_it = ends.foreign_after_it.saturating_add(1);
            at = log.prev();
        }
        Some(ends)
    }

    /// The ends of a log whose newest element is this entry.
    pub fn with_last(score_us: i64, entry: Entry, oldest: [Option<Element>; 2]) -> Self {
        Ends { oldest, last_us: score_us, last_entry: Some((score_us, entry)), foreign_after_it: 0 }
    }

    /// Reads the old end as well: the oldest element, and the next one if the first has expired. A key that is full
    /// admits whenever one entry expires, so that these two are the entry to trim and the first live one.
    pub fn read_oldest(&mut self, log: &mut impl Log, expired_us: i64) {
        let last = Element { score_us: self.last_us, entry: self.last_entry.map(|(_, entry)| entry) };
        let oldest = if log.len() == 1 { Some(last) } else { log.first_after(i64::MIN) };
        let has_expired = oldest.is_some_and(|oldest| oldest.score_us <= expired_us);
        self.oldest = [oldest, if has_expired { log.next() } else { None }];
    }

    /// Whether an element may lie at that score or below: yes, unless the oldest is known to be newer.
    pub fn reach_back_to(&self, score_us: i64) -> bool {
        let [oldest, _] = self.oldest;
        oldest.is_none_or(|oldest| oldest.score_us <= score_us)
    }

    /// The oldest element with a higher score, where it has been read.
    pub fn known_after(&self, score_us: i64) -> Option<Element> {
        self.oldest.into_iter().flatten().find(|element| element.score_us > score_us)
    }

    /// The total that continues this log, before the cost of a new entry. `None` where no element is an entry.
    pub fn total(&self) -> Option<u64> {
        self.last_entry.map(|(_, entry)| entry.total.wrapping_add(self.foreign_after_it))
    }

    /// Whether the clock has stepped back so far behind the log that a check repairs it: by more than 1/8 of the
    /// shortest window.
    pub fn is_ahead(&self, now_us: i64, request: &Request) -> bool {
        self.last_us > now_us.saturating_add(request.windows.shortest_us() / 8)
    }

    /// How long the newest unit of the log was promised to be kept, in whole ms: the distance of the expiry from it.
    /// `None` where no window can have asked for that: no expiry, or scores that are no time of ours.
    pub fn promised_ms(&self, expiry_ms: Option<i64>) -> Option<i64> {
        let promised_ms = expiry_ms?.saturating_sub(crate::horizon::floor_ms(self.last_us));
        (1..=crate::horizon::longest_promise_ms(MAX_WINDOW_US)).contains(&promised_ms).then_some(promised_ms)
    }
}
