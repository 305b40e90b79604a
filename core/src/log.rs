//! What the limiter needs of a log: seeks to read it, and one write for each command that is replicated.

use crate::bundle::Parts;
use crate::entry::{Entry, Kind};
use crate::id;
use crate::Error;

/// One element of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element<M> {
    /// The score in µs, rounded up where somebody else wrote a fraction.
    pub score_us: i64,
    /// What the member says, or `None` for a mark or a foreign member.
    pub entry: Option<Entry>,
    /// Whether it is the mark of an ID, which weighs nothing. Without it an element that is no entry is foreign.
    pub is_mark: bool,
    /// The member itself.
    pub member: M,
}

impl<M: AsRef<[u8]>> Element<M> {
    /// The element with this score and member. A member that equals its own score is what other limiters write, and
    /// no total of ours: it is foreign, so that their calls count as calls and not as the µs between them.
    pub fn new(score_us: i64, member: M) -> Self {
        let entry = Entry::decode(member.as_ref()).filter(|entry| entry.total != score_us as u64);
        let is_mark = entry.is_none() && id::is_mark(member.as_ref());
        Element { score_us, entry, is_mark, member }
    }

    /// An element that counts as foreign, whatever its member says.
    pub fn foreign(score_us: i64, member: M) -> Self {
        Element { score_us, entry: None, is_mark: false, member }
    }

    /// The times of its admissions, where it is a bundle.
    fn parts(&self) -> Option<Parts<'_>> {
        let Entry { weight, kind: Kind::Bundle { width }, .. } = self.entry? else { return None };
        Some(Parts { score_us: self.score_us, count: weight, width, member: self.member.as_ref() })
    }

    /// How many of its units are newer than `since_us`, and the time of the oldest of these; `None` where it is no
    /// entry. The element itself is newer.
    pub(crate) fn live_after(&self, since_us: i64) -> Option<(u64, i64)> {
        let entry = self.entry?;
        let Some(parts) = self.parts() else { return Some((entry.weight, self.score_us)) };
        let live = parts.count_after(since_us);
        Some((live, parts.time_us(live.saturating_sub(1))))
    }

    /// The time of the unit that has `newer` units of this element after it.
    pub(crate) fn time_of_unit(&self, newer: u64) -> i64 {
        self.parts().map_or(self.score_us, |parts| parts.time_us(newer))
    }

    /// The times of its admissions, newest first: one, unless it is a bundle.
    pub(crate) fn times_us(&self) -> Vec<i64> {
        let count = self.parts().map_or(1, |parts| parts.count);
        (0..count).map(|newer| self.time_of_unit(newer)).collect()
    }
}

/// A member with its score: what `ZADD` is given.
pub type Scored = (i64, Vec<u8>);

/// A log that can be read: elements in the order of their scores, as in a sorted set.
///
/// Every seek is expected to take O(log N). A write ends the walk that a seek began.
#[allow(clippy::len_without_is_empty)] // the ends of a log say whether it is empty
pub trait Log {
    /// A member of the log.
    type Member: AsRef<[u8]>;

    /// The oldest element with a higher score; every score is higher than `i64::MIN`. [`Log::next`] goes on
    /// from it.
    fn first_after(&mut self, score_us: i64) -> Option<Element<Self::Member>>;
    /// The element after the one given last.
    fn next(&mut self) -> Option<Element<Self::Member>>;
    /// The newest element with that score or a lower one. [`Log::prev`] goes on from it.
    fn last_up_to(&mut self, score_us: i64) -> Option<Element<Self::Member>>;
    /// The element before the one given last.
    fn prev(&mut self) -> Option<Element<Self::Member>>;
    /// The number of elements. O(1).
    fn len(&mut self) -> u64;
    /// The score of this member in µs; `None` where the log does not have it.
    fn score_of(&mut self, member: &[u8]) -> Option<i64>;
    /// When the log expires, in ms since the epoch; `None`: never.
    fn expiry_ms(&mut self) -> Option<i64>;
    /// Keeps in mind an entry that leaves no room for a call: it will leave none for the next calls either.
    fn remember(&mut self, element: &Element<Self::Member>);
    /// The entry that was given to [`Log::remember`] last, where the log has it now, with that score. To forget it is
    /// always right: it only makes a refusal faster.
    fn remembered(&mut self) -> Option<Element<Self::Member>>;
}

/// The element that is `steps` after `at` in a walk, where marks are passed over.
pub(crate) fn past_marks<L: Log>(
    log: &mut L,
    at: Option<Element<L::Member>>,
    step: fn(&mut L) -> Option<Element<L::Member>>,
    steps: u64,
) -> Option<Element<L::Member>> {
    let mut left = steps;
    let mut at = at?;
    while left > 0 || at.is_mark {
        left = left.saturating_sub(u64::from(!at.is_mark));
        at = step(log)?;
    }
    Some(at)
}

/// A log that can be written. Each function is one ordinary command with absolute values, or two.
pub trait Record: Log {
    /// `ZADD`: a new member, and in the same command the mark of its ID. This is the only write that can fail:
    /// [`Error::WrongType`] where the key holds a value of another type.
    fn add(&mut self, score_us: i64, member: &[u8], mark: Option<&[u8]>) -> Result<(), Error>;
    /// `ZADD` of all `new` members, then `ZREM` of those that are `gone`. The set is never empty in between, so that
    /// the key and its TTL stay.
    fn replace(&mut self, new: &[Scored], gone: &[Vec<u8>]);
    /// `ZREMRANGEBYSCORE` from the first of these members to the last, which are all that lie there, oldest first; then
    /// `ZADD` of the `bundles` that hold them. A newer element keeps the key and its TTL.
    fn bundle(&mut self, singles: &[Scored], bundles: &[Scored]);
    /// `ZREMRANGEBYRANK`: removes the oldest elements up to that score, no more than `at_most`. Answers how many
    /// there were.
    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize;
    /// The same for one element: the oldest, which has this member.
    fn trim_one(&mut self, oldest: &Self::Member);
    /// `ZREMRANGEBYSCORE`: removes every element with a higher score.
    fn remove_after(&mut self, score_us: i64);
    /// `UNLINK`: removes the whole log and its expiry.
    fn unlink(&mut self);
    /// `PEXPIREAT`.
    fn expire_at(&mut self, at_ms: i64);
}
