//! What the algorithm needs of a log: seeks to read it, and one write for each command that is replicated.

use crate::entry::Entry;
use crate::request::Error;

/// One element of the sorted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The score, rounded up where somebody else wrote a fraction.
    pub score_us: i64,
    /// What the member says, or `None` for a foreign member.
    pub entry: Option<Entry>,
}

impl Element {
    /// The element with this score and member. A member that is its own score is what other limiters write, and
    /// no total of ours: it is foreign, so that their calls count as calls and not as the µs between them.
    pub fn new(score_us: i64, member: &[u8]) -> Self {
        let entry = Entry::decode(member).filter(|entry| entry.total != score_us as u64);
        Element { score_us, entry }
    }
}

/// Reading. Every seek is O(log N); a write ends the walk that a seek began.
pub trait Log {
    /// The oldest element with a higher score; above `i64::MIN` lie all. [`Log::next`] goes on from it.
    fn first_after(&mut self, score_us: i64) -> Option<Element>;
    /// The element after the one last given.
    fn next(&mut self) -> Option<Element>;
    /// The newest element with that score or a lower one. [`Log::prev`] goes on from it.
    fn last_up_to(&mut self, score_us: i64) -> Option<Element>;
    /// The element before the one last given.
    fn prev(&mut self) -> Option<Element>;
    /// How many elements there are. O(1).
    fn len(&mut self) -> u64;
    /// The score of exactly this entry.
    fn score_of(&mut self, entry: Entry) -> Option<i64>;
    /// When the key expires, in ms since the epoch.
    fn expiry_ms(&mut self) -> Option<i64>;
}

/// Writing. Each function is one ordinary command with absolute values.
pub trait Record: Log {
    /// `ZADD`: a new entry. The only write that can fail, and only where the key is of another type.
    fn add(&mut self, score_us: i64, entry: Entry) -> Result<(), Error>;
    /// `ZADD` of all `new`, then `ZREM` of those that are `gone`: the set is never empty in between, so that
    /// the key and its TTL stay.
    fn replace(&mut self, new: &[(i64, Entry)], gone: &[Entry]);
    /// `ZREMRANGEBYRANK`: the oldest `at_most` elements up to that score. Answers how many there were.
    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize;
    /// The same for one: the oldest element, which is this entry.
    fn trim_one(&mut self, oldest: Entry);
    /// `ZREMRANGEBYSCORE`: every element with a higher score.
    fn remove_after(&mut self, score_us: i64);
    /// `UNLINK`: the whole log and its expiry.
    fn unlink(&mut self);
    /// `PEXPIREAT`.
    fn expire_at(&mut self, at_ms: i64);
}
