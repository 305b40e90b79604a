//! What the limiter needs of a log: seeks to read it, and one write for each command that is replicated.

use crate::entry::Entry;
use crate::Error;

/// One element of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The score in µs, rounded up where somebody else wrote a fraction.
    pub score_us: i64,
    /// What the member says, or `None` for a foreign member.
    pub entry: Option<Entry>,
}

impl Element {
    /// The element with this score and member. A member that equals its own score is what other limiters write, and
    /// no total of ours: it is foreign, so that their calls count as calls and not as the µs between them.
    pub fn new(score_us: i64, member: &[u8]) -> Self {
        let entry = Entry::decode(member).filter(|entry| entry.total != score_us as u64);
        Element { score_us, entry }
    }
}

/// A log that can be read: elements in the order of their scores, as in a sorted set.
///
/// Every seek is expected to take O(log N). A write ends the walk that a seek began.
#[allow(clippy::len_without_is_empty)] // the ends of a log say whether it is empty
pub trait Log {
    /// The oldest element with a higher score; every score is higher than `i64::MIN`. [`Log::next`] goes on
    /// from it.
    fn first_after(&mut self, score_us: i64) -> Option<Element>;
    /// The element after the one given last.
    fn next(&mut self) -> Option<Element>;
    /// The newest element with that score or a lower one. [`Log::prev`] goes on from it.
    fn last_up_to(&mut self, score_us: i64) -> Option<Element>;
    /// The element before the one given last.
    fn prev(&mut self) -> Option<Element>;
    /// The number of elements. O(1).
    fn len(&mut self) -> u64;
    /// The score of exactly this entry, in µs; `None` where the log does not have it.
    fn score_of(&mut self, entry: Entry) -> Option<i64>;
    /// When the log expires, in ms since the epoch; `None`: never.
    fn expiry_ms(&mut self) -> Option<i64>;
}

/// A log that can be written. Each function is one ordinary command with absolute values.
pub trait Record: Log {
    /// `ZADD`: a new entry. This is the only write that can fail: [`Error::WrongType`] where the key holds a value of
    /// another type.
    fn add(&mut self, score_us: i64, entry: Entry) -> Result<(), Error>;
    /// `ZADD` of all `new` entries, then `ZREM` of those that are `gone`. The set is never empty in between, so that
    /// the key and its TTL stay.
    fn replace(&mut self, new: &[(i64, Entry)], gone: &[Entry]);
    /// `ZREMRANGEBYRANK`: removes the oldest elements up to that score, no more than `at_most`. Answers how many
    /// there were.
    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize;
    /// The same for one element: the oldest, which is this entry.
    fn trim_one(&mut self, oldest: Entry);
    /// `ZREMRANGEBYSCORE`: removes every element with a higher score.
    fn remove_after(&mut self, score_us: i64);
    /// `UNLINK`: removes the whole log and its expiry.
    fn unlink(&mut self);
    /// `PEXPIREAT`.
    fn expire_at(&mut self, at_ms: i64);
}
