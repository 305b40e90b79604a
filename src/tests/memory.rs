//! A log in memory: the semantics of the seven commands that a log is written with, and nothing else.

use crate::entry::Entry;
use crate::log::{Element, Log, Record};
use crate::request::Error;
use std::ops::Bound;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    /// Sorted by score, then member, as a sorted set is.
    pub elements: Vec<(i64, Vec<u8>)>,
    pub expiry_ms: Option<i64>,
    /// How many commands were written.
    pub writes: usize,
    cursor: usize,
}

impl MemoryLog {
    /// `ZADD`: a member has one score.
    pub fn zadd(&mut self, score_us: i64, member: &[u8]) {
        self.elements.retain(|(_, known)| known != member);
        self.elements.push((score_us, member.to_vec()));
        self.elements.sort();
    }

    /// What the server does with the key as time passes.
    pub fn pass(&mut self, now_us: i64) {
        if self.expiry_ms.is_some_and(|at_ms| now_us.div_euclid(1_000) > at_ms) {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.elements.clear();
        self.expiry_ms = None;
    }

    fn remove(&mut self, (from, to): (Bound<i64>, Bound<i64>), at_most: usize) -> usize {
        let mut removed = 0;
        self.elements.retain(|(score_us, _)| {
            let gone = removed < at_most && std::ops::RangeBounds::contains(&(from, to), score_us);
            removed += usize::from(gone);
            !gone
        });
        if self.elements.is_empty() {
            self.clear();
        }
        removed
    }

    fn at(&mut self, index: Option<usize>) -> Option<Element> {
        self.cursor = index?;
        let (score_us, member) = self.elements.get(self.cursor)?;
        Some(Element::new(*score_us, member))
    }
}

impl Log for MemoryLog {
    fn first_after(&mut self, score_us: i64) -> Option<Element> {
        let after = |(score, _): &(i64, Vec<u8>)| *score > score_us || score_us == i64::MIN;
        self.at(self.elements.iter().position(after))
    }

    fn next(&mut self) -> Option<Element> {
        self.at(self.cursor.checked_add(1))
    }

    fn last_up_to(&mut self, score_us: i64) -> Option<Element> {
        self.at(self.elements.iter().rposition(|(score, _)| *score <= score_us))
    }

    fn prev(&mut self) -> Option<Element> {
        self.at(self.cursor.checked_sub(1))
    }

    fn len(&mut self) -> u64 {
        self.elements.len() as u64
    }

    fn score_of(&mut self, entry: Entry) -> Option<i64> {
        let member = entry.encode();
        self.elements.iter().find(|(_, known)| known == member.as_bytes()).map(|(score_us, _)| *score_us)
    }

    fn expiry_ms(&mut self) -> Option<i64> {
        self.expiry_ms
    }
}

impl Record for MemoryLog {
    fn add(&mut self, score_us: i64, entry: Entry) -> Result<(), Error> {
        self.writes += 1;
        self.zadd(score_us, entry.encode().as_bytes());
        Ok(())
    }

    fn replace(&mut self, new: &[(i64, Entry)], gone: &[Entry]) {
        self.writes += 2;
        for (score_us, entry) in new {
            self.zadd(*score_us, entry.encode().as_bytes());
        }
        for entry in gone {
            self.elements.retain(|(_, known)| known != entry.encode().as_bytes());
        }
        if self.elements.is_empty() {
            self.clear();
        }
    }

    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize {
        self.writes += 1;
        self.remove((Bound::Unbounded, Bound::Included(up_to_us)), at_most)
    }

    fn trim_one(&mut self, oldest: Entry) {
        self.writes += 1;
        let (_, removed) = self.elements.remove(0);
        assert_eq!(removed, oldest.encode().as_bytes(), "what is trimmed is the oldest");
        assert!(!self.elements.is_empty(), "the key and its expiry stay");
    }

    fn remove_after(&mut self, score_us: i64) {
        self.writes += 1;
        self.remove((Bound::Excluded(score_us), Bound::Unbounded), usize::MAX);
    }

    fn unlink(&mut self) {
        self.writes += 1;
        self.clear();
    }

    fn expire_at(&mut self, at_ms: i64) {
        self.writes += 1;
        assert!(!self.elements.is_empty(), "PEXPIREAT of a key that is not there");
        self.expiry_ms = Some(at_ms);
    }
}
