//! One key: the naive model, and what a server may forget of it.

use crate::harness::Admission;
use crate::naive::Model;
use slidewin_core::{Refund, Request};

/// The model keeps everything for ever. A server may forget what has left every window that the key is used with, and
/// chooses the expiry within bounds; so both are learnt after each call, and must lie where the promise allows them.
#[derive(Default)]
pub struct Key {
    pub model: Model,
    /// The window that all units are kept for, and the longest one that the key was used with. They differ where a
    /// window is used that is shorter by at most an eighth: the two then count as one.
    kept_us: i64,
    longest_us: i64,
    expiry_ms: Option<i64>,
    /// Where the expiry must lie after the last call: from, to.
    allowed_ms: Option<(i64, i64)>,
    /// How many admissions there were before the last call, and the longest window that it asked.
    before: usize,
    asked_us: i64,
}

impl Key {
    pub fn exists(&self) -> bool {
        !self.model.admissions.is_empty()
    }

    /// What time does: an expired key is gone.
    pub fn expire(&mut self, now_us: i64) {
        if self.expiry_ms.is_some_and(|expiry_ms| now_us.div_euclid(1_000) > expiry_ms) {
            *self = Key::default();
        }
    }

    /// The receipt, or 0, and five numbers for each window.
    pub fn check(&mut self, now_us: i64, request: &Request) -> Vec<i64> {
        let asked_us = request.windows.longest_us();
        (self.before, self.asked_us) = (self.model.admissions.len(), asked_us);
        let is_repaired = self.model.is_ahead(now_us, request);
        if is_repaired {
            self.kept_us = self.kept_us.max(asked_us);
        }
        let receipt = self.model.check(now_us, request);
        if receipt.is_some() && self.kept_us <= asked_us / 8 * 9 {
            self.kept_us = asked_us;
        }
        if receipt.is_some() || is_repaired {
            self.longest_us = self.longest_us.max(asked_us);
            self.allow();
        }
        self.answer(now_us, request, receipt.unwrap_or(0))
    }

    pub fn peek(&mut self, now_us: i64, request: &Request) -> Vec<i64> {
        self.before = usize::MAX;
        self.answer(now_us, request, i64::from(self.model.fits(now_us, request)))
    }

    pub fn refund(&mut self, now_us: i64, refund: &Refund) -> i64 {
        let before_ms = self.last_ms();
        self.before = usize::MAX;
        let units = self.model.refund(refund);
        if let (Some(before_ms), Some(last_ms), Some(expiry_ms)) = (before_ms, self.last_ms(), self.expiry_ms)
        {
            // The newest unit that is left is promised what the newest unit was promised, and may be gone with that.
            let at_ms = expiry_ms + last_ms - before_ms;
            (self.expiry_ms, self.allowed_ms) = (Some(at_ms), Some((at_ms, at_ms)));
            self.expire(now_us);
        }
        units as i64
    }

    /// Takes the log that the server keeps after a call, oldest first, and the expiry that it chose.
    pub fn learn(&mut self, now_us: i64, log: &[Admission], expiry_ms: Option<i64>) -> Result<(), String> {
        let mine = &self.model.admissions;
        let forgotten = mine.len().checked_sub(log.len()).ok_or("too many are in the log")?;
        for (mine, its) in mine[forgotten..].iter().zip(log) {
            if (mine.at_us, mine.units, mine.shared) != (its.time_us, its.units, its.is_shared) {
                return Err(format!("{its:?} is in the log, right is {mine:?}"));
            }
        }
        if let Some(live) = mine[..forgotten].iter().find(|unit| unit.at_us > now_us - self.kept_us) {
            return Err(format!("{live:?} is no longer in the log"));
        }
        if forgotten > 0 && forgotten == self.before {
            // The log was begun anew: what it was used with before is forgotten, too.
            (self.kept_us, self.longest_us) = (self.asked_us, self.asked_us);
            self.allow();
        }
        let (from_ms, to_ms) = self.allowed_ms.unwrap_or_default();
        let is_right = match expiry_ms {
            Some(expiry_ms) => self.exists() && (from_ms..=to_ms).contains(&expiry_ms),
            None => log.is_empty(),
        };
        if !is_right {
            return Err(format!("it expires at {expiry_ms:?} ms, right is {from_ms} to {to_ms}"));
        }
        self.model.admissions.drain(..forgotten);
        if log.is_empty() {
            *self = Key::default();
        }
        self.expiry_ms = expiry_ms;
        self.allowed_ms = expiry_ms.map(|expiry_ms| (expiry_ms, expiry_ms));
        Ok(())
    }

    fn last_ms(&self) -> Option<i64> {
        self.model.admissions.last().map(|last| last.at_us.div_euclid(1_000))
    }

    /// The newest unit is kept for that window, in whole ms, and at most an eighth more, and 2 ms for rounding.
    fn allow(&mut self) {
        let last_us = self.model.admissions.last().unwrap().at_us;
        let longest_ms = (self.longest_us + 999) / 1_000;
        let to_us = last_us + longest_ms * 1_000 * 9 / 8 + 2_000;
        self.allowed_ms = Some(((last_us + self.kept_us + 999).div_euclid(1_000), to_us.div_euclid(1_000)));
    }

    fn answer(&self, now_us: i64, request: &Request, admitted: i64) -> Vec<i64> {
        let mut answer = vec![admitted];
        for window in request.windows.as_slice() {
            let standing = self.model.standing(now_us, request, window);
            answer.extend([standing.limit as i64, standing.remaining as i64]);
            answer.extend([standing.retry_after_ms.unwrap_or(-1), standing.reset_after_ms]);
            answer.push(standing.oldest_after_ms);
        }
        answer
    }
}
