//! The two ends of a log: what a decision reads before it counts.

use crate::entry::{Entry, Kind};
use crate::horizon::{floor_ms, longest_promise_ms};
use crate::log::{past_marks, Element, Log};
use crate::{Request, MAX_WINDOW_US};

/// What is known of a log that has elements. Marks are not among them.
#[derive(Clone, Debug)]
pub(crate) struct Ends<M> {
    /// The oldest element and, if it has expired or is a mark, its successor; `None`: not read yet. If neither is live,
    /// counting seeks the first live one.
    pub oldest: [Option<Element<M>>; 2],
    /// Whether the log is known to have no other element than the last one, the mark of that one's ID left out.
    pub is_single: bool,
    /// The score of the last element.
    pub last_us: i64,
    /// The last element that is an entry, with its score.
    pub last_entry: Option<(i64, Entry)>,
    /// How many foreign members come after that entry.
    pub foreign_after_it: u64,
}

/// Where counting begins: the oldest admission of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    /// The score of its element.
    pub score_us: i64,
    /// What the element says, expired parts included.
    pub entry: Entry,
    /// The units of the element that are live.
    pub live: u64,
    /// When the oldest of these was admitted.
    pub time_us: i64,
}

impl First {
    /// The first admission after `since_us`, where `element` is an entry that is newer.
    pub fn of<M: AsRef<[u8]>>(element: &Element<M>, since_us: i64) -> Option<Self> {
        let (live, time_us) = element.live_after(since_us)?;
        Some(First { score_us: element.score_us, entry: element.entry?, live, time_us })
    }
}

impl<M: AsRef<[u8]>> Ends<M> {
    /// Reads the new end of the log; `None` where the log is empty.
    pub fn read<L: Log<Member = M>>(log: &mut L) -> Option<Self> {
        let newest = log.last_up_to(i64::MAX);
        let mut at = past_marks(log, newest, L::prev, 0)?;
        let (last_us, mut foreign) = (at.score_us, 0_u64);
        let last_entry = loop {
            if let Some(entry) = at.entry {
                break Some((at.score_us, entry));
            }
            foreign = foreign.saturating_add(1);
            let before = log.prev();
            let Some(before) = past_marks(log, before, L::prev, 0) else { break None };
            at = before;
        };
        let oldest = [None, None];
        Some(Ends { oldest, is_single: false, last_us, last_entry, foreign_after_it: foreign })
    }

    /// The ends of a log whose newest element is this entry.
    pub fn with_last(score_us: i64, entry: Entry, oldest: [Option<Element<M>>; 2]) -> Self {
        Ends {
            oldest,
            is_single: false,
            last_us: score_us,
            last_entry: Some((score_us, entry)),
            foreign_after_it: 0,
        }
    }

    /// Reads the old end as well: the oldest element, and the next one if the first has expired or is a mark. A key that
    /// is full admits whenever one entry expires, so that these two are the entry to trim and the first live one.
    pub fn read_oldest(&mut self, log: &mut impl Log<Member = M>, expired_us: i64) {
        self.is_single = log.len() == 1;
        if !self.is_single {
            let oldest = log.first_after(i64::MIN);
            let goes_on = oldest.as_ref().is_some_and(|it| it.score_us <= expired_us || it.is_mark);
            self.oldest = [oldest, if goes_on { log.next() } else { None }];
        }
    }

    /// Whether an element may lie at that score or below: yes, unless the oldest is known to be newer.
    pub fn reach_back_to(&self, score_us: i64) -> bool {
        let [oldest, _] = &self.oldest;
        let oldest_us =
            if self.is_single { Some(self.last_us) } else { oldest.as_ref().map(|it| it.score_us) };
        oldest_us.is_none_or(|oldest_us| oldest_us <= score_us)
    }

    /// The oldest element with a higher score that is no mark, where it has been read.
    ///
    /// It asks for the mark first: the other way round the compiler compares the score of what has not been read as well,
    /// which changes nothing, but valgrind reports it.
    pub fn known_after(&self, since_us: i64) -> Option<&Element<M>> {
        self.oldest.iter().flatten().find(|element| !element.is_mark && element.score_us > since_us)
    }

    /// The only element, where it is known to be a live entry whose parts need not be looked at.
    pub fn single_after(&self, since_us: i64) -> Option<First> {
        let (score_us, entry) = self.last_entry.filter(|_| self.is_single)?;
        let is_plain = !matches!(entry.kind, Kind::Bundle { .. });
        let first = First { score_us, entry, live: entry.weight, time_us: score_us };
        (is_plain && score_us > since_us).then_some(first)
    }

    /// The total that continues this log, before the cost of a new entry. `None` where no element is an entry.
    pub fn total(&self) -> Option<u64> {
        self.last_entry.map(|(_, entry)| entry.total.wrapping_add(self.foreign_after_it))
    }

    /// Until when a line stands: the time of the newest entry, where it is a place in line and lies above `now_us`.
    pub fn line_us(&self, now_us: i64) -> Option<i64> {
        self.last_entry
            .filter(|(last_us, last)| *last_us > now_us && last.ahead_us() > 0)
            .map(|(last_us, _)| last_us)
    }

    /// Where a repair moves what lies above `now_us`: as far ahead as the newest place there was when it was taken, so
    /// that nobody who waits for a place goes ahead of it.
    pub fn repaired_us(&self, now_us: i64) -> i64 {
        let newest = self.last_entry.filter(|(last_us, _)| *last_us > now_us);
        now_us.saturating_add(newest.map_or(0, |(_, last)| last.ahead_us()))
    }

    /// When the newest element was recorded: at its score, unless it is a place in line.
    pub fn recorded_us(&self) -> i64 {
        let last = self.last_entry.filter(|_| self.foreign_after_it == 0);
        self.last_us.saturating_sub(last.map_or(0, |(_, last)| last.ahead_us()))
    }

    /// Whether the clock has stepped back so far behind the log that a check repairs it: by more than 1/8 of the
    /// shortest window.
    pub fn is_ahead(&self, now_us: i64, request: &Request) -> bool {
        self.recorded_us() > now_us.saturating_add(request.windows.shortest_us() / 8)
    }

    /// How long the newest unit of the log was promised to be kept, in whole ms: the distance of the expiry from it.
    /// `None` where no window can have asked for that: no expiry, or scores that are no time of ours.
    pub fn promise_ms(&self, expiry_ms: Option<i64>) -> Option<i64> {
        let promise_ms = expiry_ms?.saturating_sub(floor_ms(self.last_us));
        (1..=longest_promise_ms(MAX_WINDOW_US)).contains(&promise_ms).then_some(promise_ms)
    }
}
