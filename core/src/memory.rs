//! A log in memory, with the semantics of the commands that a sorted set is written with.

use crate::entry::Entry;
use crate::log::{Element, Log, Record};
use crate::Error;
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound::{Excluded, Unbounded};

/// A log in memory: for tests, and for programs that limit in their own process.
///
/// It is a sorted set as Redis has it, ordered by score and then by member, with an expiry. Time does not pass by
/// itself: [`MemoryLog::pass`] forgets a log that has expired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    order: BTreeSet<(i64, Vec<u8>)>,
    scores: HashMap<Vec<u8>, i64>,
    expiry_ms: Option<i64>,
    writes: usize,
    cursor: (i64, Vec<u8>),
}

impl MemoryLog {
    /// `ZADD`: a member has one score. Also what another program would write.
    pub fn zadd(&mut self, score_us: i64, member: &[u8]) {
        self.zrem(member);
        self.order.insert((score_us, member.to_vec()));
        self.scores.insert(member.to_vec(), score_us);
    }

    /// Scores and members, oldest first.
    pub fn elements(&self) -> impl DoubleEndedIterator<Item = (i64, &[u8])> {
        self.order.iter().map(|(score_us, member)| (*score_us, member.as_slice()))
    }

    /// Whether the log holds nothing, so that a program may drop it.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// When the log expires, in ms since the epoch; `None`: never.
    pub fn expires_at_ms(&self) -> Option<i64> {
        self.expiry_ms
    }

    /// Sets the expiry as another program would.
    pub fn set_expiry_ms(&mut self, expiry_ms: Option<i64>) {
        self.expiry_ms = expiry_ms.filter(|_| !self.is_empty());
    }

    /// How many commands the limiter has written.
    pub fn writes(&self) -> usize {
        self.writes
    }

    /// What the server does with a key as time passes: forgets everything once the expiry lies behind `now_us`.
    pub fn pass(&mut self, now_us: i64) {
        if self.expiry_ms.is_some_and(|at_ms| now_us.div_euclid(1_000) > at_ms) {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.order.clear();
        self.scores.clear();
        self.expiry_ms = None;
    }

    fn zrem(&mut self, member: &[u8]) {
        if let Some((member, score_us)) = self.scores.remove_entry(member) {
            self.order.remove(&(score_us, member));
        }
    }

    /// A set without elements is no longer there, and neither is its expiry.
    fn expire_if_empty(&mut self) {
        if self.is_empty() {
            self.expiry_ms = None;
        }
    }

    fn go_to(&mut self, found: Option<(i64, Vec<u8>)>) -> Option<Element> {
        self.cursor = found?;
        let (score_us, member) = &self.cursor;
        Some(Element::new(*score_us, member))
    }
}

impl Log for MemoryLog {
    fn first_after(&mut self, score_us: i64) -> Option<Element> {
        let found = match score_us.checked_add(1).filter(|_| score_us != i64::MIN) {
            Some(from_us) => self.order.range((from_us, Vec::new())..).next(),
            None if score_us == i64::MIN => self.order.first(),
            None => None,
        };
        self.go_to(found.cloned())
    }

    fn next(&mut self) -> Option<Element> {
        let found = self.order.range((Excluded(self.cursor.clone()), Unbounded)).next();
        self.go_to(found.cloned())
    }

    fn last_up_to(&mut self, score_us: i64) -> Option<Element> {
        let found = match score_us.checked_add(1) {
            Some(end_us) => self.order.range(..(end_us, Vec::new())).next_back(),
            None => self.order.last(),
        };
        self.go_to(found.cloned())
    }

    fn prev(&mut self) -> Option<Element> {
        let found = self.order.range(..self.cursor.clone()).next_back();
        self.go_to(found.cloned())
    }

    fn len(&mut self) -> u64 {
        self.order.len() as u64
    }

    fn score_of(&mut self, entry: Entry) -> Option<i64> {
        self.scores.get(entry.encode().as_bytes()).copied()
    }

    fn expiry_ms(&mut self) -> Option<i64> {
        self.expiry_ms
    }
}

impl Record for MemoryLog {
    fn add(&mut self, score_us: i64, entry: Entry) -> Result<(), Error> {
        self.writes = self.writes.saturating_add(1);
        self.zadd(score_us, entry.encode().as_bytes());
        Ok(())
    }

    fn replace(&mut self, new: &[(i64, Entry)], gone: &[Entry]) {
        self.writes = self.writes.saturating_add(2);
        new.iter().for_each(|(score_us, entry)| self.zadd(*score_us, entry.encode().as_bytes()));
        gone.iter().for_each(|entry| self.zrem(entry.encode().as_bytes()));
        self.expire_if_empty();
    }

    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize {
        self.writes = self.writes.saturating_add(1);
        let expired: Vec<_> =
            self.order.iter().take(at_most).take_while(|(at_us, _)| *at_us <= up_to_us).cloned().collect();
        expired.iter().for_each(|(_, member)| self.zrem(member));
        self.expire_if_empty();
        expired.len()
    }

    fn trim_one(&mut self, oldest: Entry) {
        self.writes = self.writes.saturating_add(1);
        debug_assert_eq!(
            self.order.first().map(|(_, member)| member.as_slice()),
            Some(oldest.encode().as_bytes())
        );
        self.zrem(oldest.encode().as_bytes());
    }

    fn remove_after(&mut self, score_us: i64) {
        self.writes = self.writes.saturating_add(1);
        let Some(from_us) = score_us.checked_add(1) else { return };
        let removed = self.order.split_off(&(from_us, Vec::new()));
        for (_, member) in &removed {
            self.scores.remove(member);
        }
        self.expire_if_empty();
    }

    fn unlink(&mut self) {
        self.writes = self.writes.saturating_add(1);
        self.clear();
    }

    fn expire_at(&mut self, at_ms: i64) {
        self.writes = self.writes.saturating_add(1);
        debug_assert!(!self.is_empty(), "PEXPIREAT of a key that is not there");
        self.expiry_ms = Some(at_ms);
    }
}
