//! Who is refused: the keys with the most refusals lately, in a summary of fixed size.
//!
//! Space-Saving (Metwally, Agrawal, El Abbadi 2005): a key that is not tracked takes the place of one with the
//! least count, and starts from that count, which is then how much its own may be too high. Every key with
//! more than 1/256 of all refusals is in it. Counts halve every minute, so that it shows now, not history.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// How many keys are tracked.
pub const TRACKED: usize = 256;
/// Longer keys are counted by a prefix of this length.
const PREFIX: usize = 256;
const HALVE_EVERY_US: i64 = 60_000_000;

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

/// The summary.
#[derive(Debug, Default)]
pub struct Offenders {
    slots: Vec<Offender>,
    places: HashMap<Vec<u8>, usize>,
    /// No count is lower.
    least: u64,
    /// Where the search for a slot with the least count goes on.
    hand: usize,
    halved_us: i64,
}

impl Offenders {
    /// The summary of this node, since the module was loaded.
    pub fn here() -> MutexGuard<'static, Self> {
        static HERE: LazyLock<Mutex<Offenders>> = LazyLock::new(Mutex::default);
        HERE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal of `key`.
    pub fn refused(&mut self, key: &[u8], now_us: i64) {
        self.age(now_us);
        let key = key.get(..PREFIX).unwrap_or(key);
        if let Some(slot) = self.places.get(key).and_then(|&place| self.slots.get_mut(place)) {
            slot.count = slot.count.saturating_add(1);
        } else if self.slots.len() < TRACKED {
            self.places.insert(key.to_vec(), self.slots.len());
            self.slots.push(Offender { key: key.to_vec(), count: 1, error: 0 });
            self.least = 0;
        } else {
            self.replace_least(key);
        }
    }

    /// The heaviest `count` offenders, heaviest first.
    pub fn heaviest(&mut self, count: usize, now_us: i64) -> Vec<Offender> {
        self.age(now_us);
        let mut heaviest: Vec<_> = self.slots.iter().filter(|slot| slot.count > 0).cloned().collect();
        heaviest.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        heaviest.truncate(count);
        heaviest
    }

    /// Forgets them all.
    pub fn reset(&mut self) {
        *self = Offenders::default();
    }

    fn replace_least(&mut self, key: &[u8]) {
        let Some(place) = self.next_least() else { return };
        let Some(slot) = self.slots.get_mut(place) else { return };
        let mut name = self.places.remove_entry(&slot.key).map(|(name, _)| name).unwrap_or_default();
        name.clear();
        name.extend_from_slice(key);
        slot.key.clone_from(&name);
        slot.error = slot.count;
        slot.count = slot.count.saturating_add(1);
        self.places.insert(name, place);
    }

    /// A slot with the least count. Counts only rise between halvings, so one turn of the hand finds all slots
    /// of one count: a search costs little when shared among them.
    fn next_least(&mut self) -> Option<usize> {
        let ahead = self.slots.iter().skip(self.hand).position(|slot| slot.count <= self.least);
        let place = match ahead {
            Some(steps) => self.hand.saturating_add(steps),
            None => {
                self.least = self.slots.iter().map(|slot| slot.count).min()?;
                self.slots.iter().position(|slot| slot.count <= self.least)?
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
        for slot in &mut self.slots {
            slot.count = slot.count.checked_shr(halvings).unwrap_or(0);
            slot.error = slot.error.checked_shr(halvings).unwrap_or(0);
        }
        (self.least, self.hand) = (0, 0);
        self.halved_us = now_us.saturating_sub(passed_us.max(0) % HALVE_EVERY_US);
    }
}

#[cfg(test)]
mod tests;
