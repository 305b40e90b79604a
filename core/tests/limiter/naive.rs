//! The naive model: keeps every admission for ever and counts by scanning. So simple that it is unlikely to
//! be wrong: it has no running totals, trims nothing and seeks nothing.

use slidewin_core::{Admitted, Id, Refund, Request, Standing, Window};

#[derive(Clone, Copy, Debug)]
pub struct Admission {
    pub at_us: i64,
    pub units: u64,
    pub shared: bool,
    pub id: Option<Id>,
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

    pub fn fits(&self, now_us: i64, request: &Request) -> bool {
        let fits = |window: &Window| self.used(now_us, window.length_us) + request.cost <= window.limit;
        request.windows.as_slice().iter().all(fits)
    }

    pub fn is_ahead(&self, now_us: i64, request: &Request) -> bool {
        self.last_us().is_some_and(|last_us| last_us > now_us + request.windows.shortest_us() / 8)
    }

    /// The receipt of the admission that is remembered by the ID of this request.
    pub fn repeated(&self, now_us: i64, request: &Request) -> Option<i64> {
        let since_us = now_us - request.windows.longest_us();
        let named = self.admissions.iter().find(|unit| request.id.is_some() && unit.id == request.id);
        named.map(|unit| unit.at_us).filter(|at_us| *at_us > since_us)
    }

    /// Merges what a clock that has stepped back has left ahead of it.
    pub fn step_back(&mut self, now_us: i64, request: &Request) {
        if self.is_ahead(now_us, request) {
            let (ahead, older): (Vec<_>, Vec<_>) =
                self.admissions.iter().partition(|unit| unit.at_us > now_us);
            self.admissions = older;
            let at_us = self.last_us().map_or(now_us, |last_us| now_us.max(last_us + 1));
            let units = ahead.iter().map(|unit| unit.units).sum();
            self.admissions.push(Admission { at_us, units, shared: true, id: None });
        }
    }

    /// The receipt, or `None` where the call is refused.
    pub fn check(&mut self, now_us: i64, request: &Request) -> Option<i64> {
        if let Some(receipt) = self.repeated(now_us, request) {
            return Some(receipt);
        }
        self.step_back(now_us, request);
        if !request.force && !self.fits(now_us, request) {
            return None;
        }
        if let (Some(resolution_us), Some(last)) = (request.resolution_us, self.admissions.last_mut()) {
            if last.shared && last.at_us / resolution_us >= now_us / resolution_us {
                last.at_us = last.at_us.max(now_us);
                last.units += request.cost;
                return Some(last.at_us);
            }
        }
        let at_us = self.last_us().map_or(now_us, |last_us| now_us.max(last_us + 1));
        for unit in self.admissions.iter_mut().filter(|unit| unit.id == request.id) {
            unit.id = None;
        }
        self.admissions.push(Admission {
            at_us,
            units: request.cost,
            shared: request.resolution_us.is_some(),
            id: request.id,
        });
        Some(at_us)
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
        let leaves_ms = |unit: &Admission| {
            let at_us = if ahead { unit.at_us.min(now_us) } else { unit.at_us };
            let us = at_us + window.length_us - now_us;
            us / 1_000 + i64::from(us % 1_000 > 0)
        };
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
        Standing {
            limit: window.limit,
            remaining: window.limit.saturating_sub(used),
            retry_after_ms: (request.cost <= window.limit).then_some(retry_after_ms),
            reset_after_ms: live.last().map_or(0, |unit| leaves_ms(unit)),
            oldest_after_ms: live.first().map_or(0, |unit| leaves_ms(unit)),
        }
    }
}

/// A call that is one decision over several keys, with a request for each: those without room, where it is refused.
pub fn check_all(keys: &mut [(&mut Model, Request)], now_us: i64) -> Vec<usize> {
    let mut full = Vec::new();
    for (nth, (model, request)) in keys.iter_mut().enumerate() {
        if model.repeated(now_us, request).is_none() {
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
