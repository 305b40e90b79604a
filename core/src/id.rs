//! The ID of a request: a call that comes twice is admitted once.
//!
//! ```text
//! #4f1c0e2a     the admission at this score was asked for with the ID 4f1c0e2a
//! ```
//!
//! The log remembers an ID by a mark, an element at the score of its admission that was written together with it. It
//! weighs nothing, and every count passes over it. A `#` sorts before digits, so the entry comes after its mark.

use crate::log::Log;

const SIGN: u8 = b'#';
/// The longest member that a listpack takes by default.
const MAX_MARK: usize = 64;

/// What a caller calls one request: 1 to 63 bytes, any. It is kept as the mark that the log has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    mark: [u8; MAX_MARK],
    length: usize,
}

impl Id {
    /// The ID of these bytes; `None` where there are none, or more than 63.
    pub fn new(token: &[u8]) -> Option<Self> {
        let mut mark = [SIGN; MAX_MARK];
        let length = token.len().checked_add(1).filter(|length| *length > 1)?;
        mark.get_mut(1..length)?.copy_from_slice(token);
        Some(Id { mark, length })
    }

    /// The member that marks an admission with this ID.
    pub fn mark(&self) -> &[u8] {
        self.mark.get(..self.length).unwrap_or_default()
    }

    /// The ID that a mark is of.
    pub(crate) fn of_mark(member: &[u8]) -> Option<Self> {
        Id::new(member.strip_prefix(&[SIGN])?)
    }

    /// The bytes that the caller gave.
    pub fn token(&self) -> &[u8] {
        self.mark().get(1..).unwrap_or_default()
    }

    /// The receipt of the latest admission with this ID, where it was made after `since_us`.
    pub(crate) fn admitted_after(&self, log: &mut impl Log, since_us: i64) -> Option<i64> {
        log.score_of(self.mark()).filter(|&receipt| receipt > since_us)
    }
}

/// Whether a member is the mark of an ID.
pub(crate) fn is_mark(member: &[u8]) -> bool {
    member.first() == Some(&SIGN) && (2..=MAX_MARK).contains(&member.len())
}
