//! A log in memory, with the semantics of the commands that a sorted set is written with.

use crate::log::{Element, Log, Record, Scored};
use crate::{Error, Logs};
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound::{Excluded, Unbounded};

/// A log in memory: for tests, and for programs that limit in their own process.
///
/// It is a sorted set as Redis has it, ordered by score and then by member, with an expiry. Time does not pass by
/// itself: [`MemoryLog::pass`] forgets a log that has expired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    order: BTreeSet<Scored>,
    scores: HashMap<Vec<u8>, i64>,
    expiry_ms: Option<i64>,
    writes: usize,
    cursor: Scored,
    remembered: Option<Element<Vec<u8>>>,
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

    fn go_to(&mut self, found: Option<Scored>) -> Option<Element<Vec<u8>>> {
        self.cursor = found?;
        let (score_us, member) = self.cursor.clone();
        Some(Element::new(score_us, member))
    }
}

impl Log for MemoryLog {
    type Member = Vec<u8>;

    fn first_after(&mut self, score_us: i64) -> Option<Element<Vec<u8>>> {
        let found = match score_us.checked_add(1).filter(|_| score_us != i64::MIN) {
            Some(from_us) => self.order.range((from_us, Vec::new())..).next(),
            None if score_us == i64::MIN => self.order.first(),
            None => None,
        };
        self.go_to(found.cloned())
    }

    fn next(&mut self) -> Option<Element<Vec<u8>>> {
        let found = self.order.range((Excluded(self.cursor.clone()), Unbounded)).next();
        self.go_to(found.cloned())
    }

    fn last_up_to(&mut self, score_us: i64) -> Option<Element<Vec<u8>>> {
        let found = match score_us.checked_add(1) {
            Some(end_us) => self.order.range(..(end_us, Vec::new())).next_back(),
            None => self.order.last(),
        };
        self.go_to(found.cloned())
    }

    fn prev(&mut self) -> Option<Element<Vec<u8>>> {
        let found = self.order.range(..self.cursor.clone()).next_back();
        self.go_to(found.cloned())
    }

    fn len(&mut self) -> u64 {
        self.order.len() as u64
    }

    fn score_of(&mut self, member: &[u8]) -> Option<i64> {
        self.scores.get(member).copied()
    }

    fn expiry_ms(&mut self) -> Option<i64> {
        self.expiry_ms
    }

    fn remember(&mut self, element: &Element<Vec<u8>>) {
        self.remembered = Some(element.clone());
    }

    fn remembered(&mut self) -> Option<Element<Vec<u8>>> {
        let is_there = |it: &Element<Vec<u8>>| self.scores.get(&it.member) == Some(&it.score_us);
        self.remembered.clone().filter(is_there)
    }
}

impl Record for MemoryLog {
    fn add(&mut self, score_us: i64, member: &[u8], mark: Option<&[u8]>) -> Result<(), Error> {
        self.writes = self.writes.saturating_add(1);
        self.zadd(score_us, member);
        mark.into_iter().for_each(|mark| self.zadd(score_us, mark));
        Ok(())
    }

    fn replace(&mut self, new: &[Scored], gone: &[Vec<u8>]) {
        self.writes = self.writes.saturating_add(2);
        new.iter().for_each(|(score_us, member)| self.zadd(*score_us, member));
        gone.iter().for_each(|member| self.zrem(member));
        self.expire_if_empty();
    }

    // By the range of scores, as a replica does it: a member too many in it would be missed.
    fn bundle(&mut self, singles: &[Scored], bundles: &[Scored]) {
        self.writes = self.writes.saturating_add(2);
        let (Some((from_us, _)), Some((to_us, _))) = (singles.first(), singles.last()) else { return };
        let range = (*from_us, Vec::new())..(to_us.saturating_add(1), Vec::new());
        let removed: Vec<_> = self.order.range(range).map(|(_, member)| member.clone()).collect();
        removed.iter().for_each(|member| self.zrem(member));
        bundles.iter().for_each(|(score_us, member)| self.zadd(*score_us, member));
    }

    fn trim(&mut self, up_to_us: i64, at_most: usize) -> usize {
        self.writes = self.writes.saturating_add(1);
        let expired: Vec<_> =
            self.order.iter().take(at_most).take_while(|(at_us, _)| *at_us <= up_to_us).cloned().collect();
        expired.iter().for_each(|(_, member)| self.zrem(member));
        self.expire_if_empty();
        expired.len()
    }

    fn trim_one(&mut self, oldest: &Vec<u8>) {
        self.writes = self.writes.saturating_add(1);
        debug_assert_eq!(self.order.first().map(|(_, member)| member), Some(oldest));
        self.zrem(oldest);
    }

    fn remove_after(&mut self, score_us: i64) {
        self.writes = self.writes.saturating_add(1);
        let Some(from_us) = score_us.checked_add(1) else { return };
        self.order.split_off(&(from_us, Vec::new()));
        self.scores.retain(|_, at_us| *at_us <= score_us);
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

/// An index that is none of theirs is no log: [`Error::WrongType`].
impl Logs for [&mut MemoryLog] {
    type Log = MemoryLog;

    fn read<T>(&mut self, nth: usize, look: impl FnOnce(&mut MemoryLog) -> T) -> Result<T, Error> {
        self.get_mut(nth).map(|log| look(log)).ok_or(Error::WrongType)
    }

    fn write<T>(&mut self, nth: usize, change: impl FnOnce(&mut MemoryLog) -> T) -> Result<T, Error> {
        self.read(nth, change)
    }
}
