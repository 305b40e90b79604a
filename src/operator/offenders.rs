//! Who is refused: the keys with the most refusals lately, in a summary of fixed size.
//!
//! Space-Saving (Metwally, Agrawal, El Abbadi 2005): a key that is not tracked takes the place of one with the
//! least count, and starts from that count, which is then how much its own may be too high. Every key with
//! more than 1/256 of all refusals is in it. Counts halve every minute, so that it shows now, not history.
//!
//! The table of hash chains is our own: with the standard library's map a refused call takes 17 % more instructions
//! where refusals come from more keys than are tracked (6,966 against 5,934, `bench/instructions.sh`).

use crate::hash::hash;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// How many keys are tracked.
pub const TRACKED: usize = 256;
/// Longer keys are counted by a prefix of this length.
const PREFIX: usize = 256;
const HALVE_EVERY_US: i64 = 60_000_000;
/// Chains of slots with the same end of their hash. Keys that are made to collide cost a walk over 256 slots at most.
const CHAINS: usize = 512;
const NO_SLOT: usize = usize::MAX;

/// A tracked key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offender {
    /// The key, or its prefix.
    pub key: Vec<u8>,
    /// Its refusals, never too few.
    pub count: u64,
    /// By how much `count` may be too high.
    pub error: u64,
}

#[derive(Debug)]
struct Slot {
    offender: Offender,
    hash: u64,
    /// The next slot of its chain.
    next: usize,
}

/// The summary.
#[derive(Debug, Default)]
pub struct Offenders {
    slots: Vec<Slot>,
    /// The first slot of each chain; none before the first refusal.
    chains: Vec<usize>,
    /// No count is lower.
    least: u64,
    /// Where the search for a slot with the least count goes on.
    hand: usize,
    halved_us: i64,
}

impl Offenders {
    /// The summary of this node, since the module was loaded. Whoever holds it must not call the server.
    pub fn here() -> MutexGuard<'static, Self> {
        static HERE: LazyLock<Mutex<Offenders>> = LazyLock::new(Mutex::default);
        HERE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal of `key`.
    pub fn refused(&mut self, key: &[u8], now_us: i64) {
        self.age(now_us);
        let key = key.get(..PREFIX).unwrap_or(key);
        let hash = hash(key);
        if let Some(slot) = self.find(key, hash) {
            slot.offender.count = slot.offender.count.saturating_add(1);
        } else if self.slots.len() < TRACKED {
            self.chains.resize(CHAINS, NO_SLOT);
            let offender = Offender { key: key.to_vec(), count: 1, error: 0 };
            self.slots.push(Slot { offender, hash, next: NO_SLOT });
            self.link(self.slots.len().saturating_sub(1));
            self.least = 0;
        } else if let Some(place) = self.next_least() {
            self.unlink(place);
            if let Some(Slot { offender, hash: of_slot, .. }) = self.slots.get_mut(place) {
                *of_slot = hash;
                offender.key.clear();
                offender.key.extend_from_slice(key);
                offender.error = offender.count;
                offender.count = offender.count.saturating_add(1);
            }
            self.link(place);
        }
    }

    /// The heaviest `count` offenders, heaviest first.
    pub fn heaviest(&mut self, count: usize, now_us: i64) -> Vec<Offender> {
        self.age(now_us);
        let mut heaviest: Vec<_> =
            self.slots.iter().map(|slot| &slot.offender).filter(|slot| slot.count > 0).cloned().collect();
        heaviest.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        heaviest.truncate(count);
        heaviest
    }

    /// Forgets them all, and gives their memory back.
    pub fn reset(&mut self) {
        *self = Offenders::default();
    }

    fn find(&mut self, key: &[u8], hash: u64) -> Option<&mut Slot> {
        let mut place = *self.chain(hash)?;
        while let Some(slot) = self.slots.get(place) {
            if slot.hash == hash && slot.offender.key == key {
                return self.slots.get_mut(place);
            }
            place = slot.next;
        }
        None
    }

    fn chain(&mut self, hash: u64) -> Option<&mut usize> {
        self.chains.get_mut(hash as usize % CHAINS)
    }

    fn link(&mut self, place: usize) {
        let Some(hash) = self.slots.get(place).map(|slot| slot.hash) else { return };
        let Some(first) = self.chain(hash).map(|first| std::mem::replace(first, place)) else { return };
        if let Some(slot) = self.slots.get_mut(place) {
            slot.next = first;
        }
    }

    fn unlink(&mut self, place: usize) {
        let Some((hash, next)) = self.slots.get(place).map(|slot| (slot.hash, slot.next)) else { return };
        let Some(first) = self.chain(hash) else { return };
        if *first == place {
            *first = next;
            return;
        }
        let mut at = *first;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.next == place {
                slot.next = next;
                return;
            }
            at = slot.next;
        }
    }

    /// A slot with the least count. Counts only rise between halvings, so one turn of the hand finds all slots
    /// of one count: a search costs little when shared among them.
    fn next_least(&mut self) -> Option<usize> {
        let ahead = self.slots.iter().skip(self.hand).position(|slot| slot.offender.count <= self.least);
        let place = match ahead {
            Some(steps) => self.hand.saturating_add(steps),
            None => {
                self.least = self.slots.iter().map(|slot| slot.offender.count).min()?;
                self.slots.iter().position(|slot| slot.offender.count <= self.least)?
            }
        };
        self.hand = place.saturating_add(1);
        Some(place)
    }

    /// Halves the counts once for every minute that has passed. A clock that steps back starts the minute anew.
    fn age(&mut self, now_us: i64) {
        if self.slots.is_empty() {
            self.halved_us = now_us;
        }
        let passed_us = now_us.saturating_sub(self.halved_us);
        if (0..HALVE_EVERY_US).contains(&passed_us) {
            return;
        }
        let minutes = (passed_us / HALVE_EVERY_US).max(0);
        let halvings = u32::try_from(minutes).unwrap_or(u32::MAX);
        for Slot { offender, .. } in &mut self.slots {
            offender.count = offender.count.checked_shr(halvings).unwrap_or(0);
            offender.error = offender.error.checked_shr(halvings).unwrap_or(0);
        }
        (self.least, self.hand) = (0, 0);
        self.halved_us = now_us.saturating_sub(passed_us.max(0) % HALVE_EVERY_US);
    }
}

#[cfg(test)]
mod tests;
