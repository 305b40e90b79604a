//! The naive model: keeps every admission for ever and counts by scanning. So simple that it is unlikely to
//! be wrong: it has no running totals, trims nothing and seeks nothing.

use slidewin_core::{Admitted, Id, Refund, Request, Standing, Window};

#[derive(Clone, Copy, Debug)]
pub struct Admission {
    pub at_us: i64,
    pub units: u64,
    pub shared: bool,
    pub id: Option<Id>,
    /// How long before its time it was taken, where that time had not come: a place in line.
    pub ahead_us: i64,
}

impl Admission {
    pub fn is(&self, named: Admitted) -> bool {
        match named {
            Admitted::Receipt(receipt) => self.at_us == receipt && !self.shared,
            Admitted::Id(id) => self.id == Some(id),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Oldest first.
    pub admissions: Vec<Admission>,
}

impl Model {
    fn last_us(&self) -> Option<i64> {
        self.admissions.last().map(|last| last.at_us)
    }

    pub fn used(&self, now_us: i64, length_us: i64) -> u64 {
        self.admissions.iter().filter(|unit| unit.at_us > now_us - length_us).map(|unit| unit.units).sum()
    }

    /// Whether every window has room, and no line stands.
    pub fn fits(&self, now_us: i64, request: &Request) -> bool {
        self.line_us(now_us).is_none() && self.has_room(now_us, request)
    }

    fn has_room(&self, now_us: i64, request: &Request) -> bool {
        let fits = |window: &Window| self.used(now_us, window.length_us) + request.cost <= window.limit;
        request.windows.as_slice().iter().all(fits)
    }

    /// The end of the line.
    pub fn line_us(&self, now_us: i64) -> Option<i64> {
        let last = self.admissions.last().filter(|last| last.ahead_us > 0 && last.at_us > now_us)?;
        Some(last.at_us)
    }

    /// The earliest time from now on at which the request fits, after all places that were taken before.
    pub fn earliest_us(&self, now_us: i64, request: &Request) -> Option<i64> {
        let from_us = self.line_us(now_us).unwrap_or(now_us);
        let mut times_us = vec![from_us];
        for window in request.windows.as_slice() {
            times_us.extend(self.admissions.iter().map(|unit| unit.at_us + window.length_us));
        }
        times_us.retain(|at_us| *at_us >= from_us && self.has_room(*at_us, request));
        times_us.into_iter().min()
    }

    pub fn is_ahead(&self, now_us: i64, request: &Request) -> bool {
        let taken_us = self.admissions.last().map(|last| last.at_us - last.ahead_us);
        taken_us.is_some_and(|taken_us| taken_us > now_us + request.windows.shortest_us() / 8)
    }

    /// Where a repair brings what lies ahead of the clock.
    fn repaired_us(&self, now_us: i64) -> i64 {
        now_us + self.admissions.last().filter(|last| last.at_us > now_us).map_or(0, |last| last.ahead_us)
    }

    /// The receipt of the admission that is remembered by the ID of this request.
    pub fn repeated(&self, now_us: i64, request: &Request) -> Option<i64> {
        let since_us = now_us - request.windows.longest_us();
        let named = self.admissions.iter().find(|unit| request.id.is_some() && unit.id == request.id);
        named.map(|unit| unit.at_us).filter(|at_us| *at_us > since_us)
    }

    /// How long the admission that this request repeats has to wait.
    pub fn wait_us(&self, now_us: i64, request: &Request) -> i64 {
        let named = self.admissions.iter().find(|unit| request.id.is_some() && unit.id == request.id);
        named.map_or(0, |unit| (unit.at_us - now_us).min(unit.ahead_us).max(0))
    }

    /// Merges what a clock that has stepped back has left ahead of it.
    pub fn step_back(&mut self, now_us: i64, request: &Request) {
        if self.is_ahead(now_us, request) {
            let repaired_us = self.repaired_us(now_us);
            let (ahead, older): (Vec<_>, Vec<_>) =
                self.admissions.iter().partition(|unit| unit.at_us > now_us);
            self.admissions = older;
            let at_us = self.last_us().map_or(repaired_us, |last_us| repaired_us.max(last_us + 1));
            let units = ahead.iter().map(|unit| unit.units).sum();
            self.admissions.push(Admission {
                at_us,
                units,
                shared: true,
                id: None,
                ahead_us: repaired_us - now_us,
            });
        }
    }

    /// The receipt, or `None` where the call is refused.
    pub fn check(&mut self, now_us: i64, request: &Request) -> Option<i64> {
        if let Some(receipt) = self.repeated(now_us, request) {
            if request.force || self.wait_us(now_us, request) == 0 {
                return Some(receipt);
            }
            if !self.is_ahead(now_us, request) {
                return None;
            }
        }
        self.step_back(now_us, request);
        if !request.force && !self.fits(now_us, request) {
            return None;
        }
        let fit_us = self.line_us(now_us).unwrap_or(now_us);
        if let (Some(resolution_us), Some(last)) = (request.resolution_us, self.admissions.last_mut()) {
            let is_shared = last.shared && last.ahead_us == 0;
            if is_shared && last.at_us / resolution_us >= now_us / resolution_us {
                last.at_us = last.at_us.max(now_us);
                last.units += request.cost;
                return Some(last.at_us);
            }
        }
        Some(self.record(now_us, fit_us, request))
    }

    /// The receipt, or `None` where the wait is too long; and how long it is, or `None` for never.
    pub fn reserve(
        &mut self,
        now_us: i64,
        request: &Request,
        max_wait_us: i64,
    ) -> (Option<i64>, Option<i64>) {
        if let Some(receipt) = self.repeated(now_us, request) {
            return (Some(receipt), Some(self.wait_us(now_us, request)));
        }
        self.step_back(now_us, request);
        let Some(fit_us) = self.earliest_us(now_us, request) else { return (None, None) };
        let wait_us = fit_us - now_us;
        let receipt = (wait_us <= max_wait_us).then(|| self.record(now_us, fit_us, request));
        (receipt, Some(wait_us))
    }

    /// Records an admission that may go at `fit_us`: its receipt.
    fn record(&mut self, now_us: i64, fit_us: i64, request: &Request) -> i64 {
        let at_us = self.last_us().map_or(fit_us, |last_us| fit_us.max(last_us + 1));
        for unit in self.admissions.iter_mut().filter(|unit| unit.id == request.id) {
            unit.id = None;
        }
        self.admissions.push(Admission {
            at_us,
            units: request.cost,
            // Behind a line nothing is shared.
            shared: request.resolution_us.is_some() && fit_us == now_us,
            id: request.id,
            ahead_us: if fit_us > now_us { at_us - now_us } else { 0 },
        });
        at_us
    }

    pub fn refund(&mut self, refund: &Refund) -> u64 {
        let Some(index) = self.admissions.iter().position(|unit| unit.is(refund.of)) else { return 0 };
        let left = &mut self.admissions[index].units;
        let units = refund.units.unwrap_or(*left).min(*left);
        *left -= units;
        if *left == 0 {
            self.admissions.remove(index);
        }
        units
    }

    pub fn standing(&self, now_us: i64, request: &Request, window: &Window) -> Standing {
        let ahead = self.is_ahead(now_us, request);
        let moved_us = |at_us: i64| if ahead && at_us > now_us { self.repaired_us(now_us) } else { at_us };
        let leaves_ms = |unit: &Admission| after_ms(moved_us(unit.at_us) + window.length_us - now_us);
        let live: Vec<_> =
            self.admissions.iter().filter(|unit| unit.at_us > now_us - window.length_us).collect();
        let used: u64 = live.iter().map(|unit| unit.units).sum();
        // Lets one after the other go until there is room.
        let mut left = used;
        let mut retry_after_ms = 0;
        for unit in &live {
            if left + request.cost > window.limit {
                left -= unit.units;
                retry_after_ms = leaves_ms(unit);
            }
        }
        if let Some(line_us) = self.line_us(now_us) {
            retry_after_ms = retry_after_ms.max(after_ms(moved_us(line_us) - now_us));
        }
        Standing {
            limit: window.limit,
            remaining: window.limit.saturating_sub(used),
            retry_after_ms: (request.cost <= window.limit).then_some(retry_after_ms),
            reset_after_ms: live.last().map_or(0, |unit| leaves_ms(unit)),
            oldest_after_ms: live.first().map_or(0, |unit| leaves_ms(unit)),
        }
    }
}

/// µs in ms, rounded up.
pub fn after_ms(us: i64) -> i64 {
    us / 1_000 + i64::from(us % 1_000 > 0)
}

/// A call that is one decision over several keys, with a request for each: those without room, where it is refused.
pub fn check_all(keys: &mut [(&mut Model, Request)], now_us: i64) -> Vec<usize> {
    let mut full = Vec::new();
    for (nth, (model, request)) in keys.iter_mut().enumerate() {
        let waits = !request.force && model.wait_us(now_us, request) > 0;
        if model.repeated(now_us, request).is_some() && !(waits && model.is_ahead(now_us, request)) {
            full.extend(waits.then_some(nth));
        } else {
            model.step_back(now_us, request);
            if !request.force && !model.fits(now_us, request) {
                full.push(nth);
            }
        }
    }
    if full.is_empty() {
        for (model, request) in keys {
            model.check(now_us, request);
        }
    }
    full
}

/// The times that an element spells, newest first: that of its score, and of a bundle the others, which are so many µs
/// earlier, in base 64 from the character `0` on.
pub fn times_us(score_us: i64, member: &[u8]) -> Vec<i64> {
    let mut times_us = vec![score_us];
    let text = String::from_utf8_lossy(member);
    if let Some((head, offsets)) = text.split_once(';') {
        let parts: usize = head.split_once(':').unwrap().1.parse().unwrap();
        for offset in offsets.as_bytes().chunks(offsets.len() / (parts - 1)) {
            let us = offset.iter().fold(0_i64, |us, digit| us * 64 + i64::from(digit - b'0'));
            times_us.push(score_us - us);
        }
    }
    times_us
}
