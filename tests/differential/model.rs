//! The contract (docs/reference.md) as naively as it can be written: a list of admissions with their times,
//! counted by going through it.

/// What CHECK and PEEK are asked.
pub struct Request {
    /// Length in µs, and limit.
    pub windows: Vec<(i64, i64)>,
    pub cost: i64,
    pub resolution_us: Option<i64>,
    pub force: bool,
}

impl Request {
    fn longest_us(&self) -> i64 {
        self.windows.iter().map(|window| window.0).max().unwrap()
    }

    fn shortest_us(&self) -> i64 {
        self.windows.iter().map(|window| window.0).min().unwrap()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub time_us: i64,
    pub units: i64,
    /// Several admissions in one, which no receipt names.
    pub is_shared: bool,
}

/// One key.
#[derive(Default)]
pub struct Model {
    /// In the order of their times.
    pub entries: Vec<Entry>,
    expiry_ms: Option<i64>,
    /// Where the expiry must lie after the last call.
    allowed_ms: Option<(i64, i64)>,
}

impl Model {
    /// What time does: an expired key is gone.
    pub fn expire(&mut self, now_us: i64) {
        if self.expiry_ms.is_some_and(|expiry_ms| now_us.div_euclid(1_000) > expiry_ms) {
            *self = Model::default();
        }
    }

    /// Takes the expiry that the server chose. An error where it must not lie: the least that it may be.
    pub fn learn_expiry(&mut self, expiry_ms: Option<i64>) -> Result<(), i64> {
        let (least_ms, most_ms) = self.allowed_ms.unwrap_or_default();
        let is_right = match expiry_ms {
            Some(expiry_ms) => !self.entries.is_empty() && (least_ms..=most_ms).contains(&expiry_ms),
            None => self.entries.is_empty(),
        };
        self.expiry_ms = expiry_ms;
        self.allowed_ms = expiry_ms.map(|expiry_ms| (expiry_ms, expiry_ms));
        if is_right {
            Ok(())
        } else {
            Err(least_ms)
        }
    }

    /// The answer with its quotas. The first number is the receipt if the call is admitted.
    pub fn check(&mut self, now_us: i64, request: &Request) -> Vec<i64> {
        if self.is_ahead(now_us, request) {
            self.step_back(now_us, request);
        }
        let receipt =
            if request.force || self.fits(now_us, request) { self.admit(now_us, request) } else { 0 };
        self.answer(now_us, request, receipt)
    }

    pub fn peek(&self, now_us: i64, request: &Request) -> Vec<i64> {
        self.answer(now_us, request, i64::from(self.fits(now_us, request)))
    }

    pub fn refund(&mut self, now_us: i64, receipt: i64, units: i64) -> i64 {
        let Some(place) = self.entries.iter().position(|entry| entry.time_us == receipt && !entry.is_shared)
        else {
            return 0;
        };
        let kept_ms = self.kept_ms();
        let last_us = self.last_us();
        let entry = &mut self.entries[place];
        let units = units.min(entry.units);
        entry.units -= units;
        self.entries.retain(|entry| entry.units > 0);
        if !self.entries.is_empty() && self.last_us() < last_us {
            self.allow_kept(kept_ms.unwrap());
            // What is left may be so old that it expires with this.
            self.expiry_ms = self.allowed_ms.map(|(at_ms, _)| at_ms);
            self.expire(now_us);
        }
        units
    }

    fn last_us(&self) -> i64 {
        self.entries.last().map_or(i64::MIN, |entry| entry.time_us)
    }

    /// H: what the newest unit was promised.
    fn kept_ms(&self) -> Option<i64> {
        self.expiry_ms
            .filter(|_| !self.entries.is_empty())
            .map(|at_ms| at_ms - self.last_us().div_euclid(1_000))
    }

    /// The expiry must lie exactly so long after the newest entry.
    fn allow_kept(&mut self, kept_ms: i64) {
        let at_ms = self.last_us().div_euclid(1_000) + kept_ms;
        self.allowed_ms = Some((at_ms, at_ms));
    }

    /// The expiry must lie between the window and 9/8 of it, and 2 ms for rounding, after the newest entry.
    fn allow_fresh(&mut self, request: &Request) {
        let longest_us = request.longest_us();
        let (least_us, most_us) = (self.last_us() + longest_us, self.last_us() + longest_us * 9 / 8 + 2_000);
        self.allowed_ms = Some(((least_us + 999).div_euclid(1_000), most_us.div_euclid(1_000)));
    }

    fn is_ahead(&self, now_us: i64, request: &Request) -> bool {
        !self.entries.is_empty() && self.last_us() > now_us + request.shortest_us() / 8
    }

    fn step_back(&mut self, now_us: i64, request: &Request) {
        let kept_ms = self.kept_ms();
        let (older, ahead): (Vec<Entry>, Vec<Entry>) =
            self.entries.iter().partition(|entry| entry.time_us <= now_us);
        let time_us = older.last().map_or(now_us, |last| now_us.max(last.time_us + 1));
        let units = ahead.iter().map(|entry| entry.units).sum();
        self.entries = older;
        self.entries.push(Entry { time_us, units, is_shared: true });
        match kept_ms.filter(|kept_ms| kept_ms * 1_000 > request.longest_us()) {
            Some(kept_ms) => self.allow_kept(kept_ms),
            None => self.allow_fresh(request),
        }
        self.expiry_ms = self.allowed_ms.map(|(at_ms, _)| at_ms);
    }

    fn admit(&mut self, now_us: i64, request: &Request) -> i64 {
        let longest_us = request.longest_us();
        let longer_ms = self.kept_ms().filter(|kept_ms| *kept_ms > longest_us * 9 / 8 / 1_000 + 2);
        let horizon_us = longer_ms.map_or(longest_us, |kept_ms| kept_ms * 1_000);
        let is_new = self.last_us() <= now_us - horizon_us;
        if is_new {
            self.entries.clear();
        }
        let expired = self.entries.iter().filter(|entry| entry.time_us <= now_us - horizon_us).count();
        self.entries.drain(..expired.min(64));

        let slot = |time_us: i64| request.resolution_us.map(|resolution_us| time_us / resolution_us);
        let is_shared = request.resolution_us.is_some();
        let mut entry = Entry { time_us: now_us, units: request.cost, is_shared };
        match self.entries.last() {
            Some(last) if is_shared && last.is_shared && slot(last.time_us) >= slot(now_us) => {
                entry.time_us = now_us.max(last.time_us);
                entry.units += last.units;
                self.entries.pop();
            }
            Some(last) => entry.time_us = now_us.max(last.time_us + 1),
            None => {}
        }
        self.entries.push(entry);
        match longer_ms.filter(|_| !is_new) {
            Some(kept_ms) => self.allow_kept(kept_ms),
            None => self.allow_fresh(request),
        }
        entry.time_us
    }

    fn used(&self, now_us: i64, length_us: i64) -> i64 {
        self.live(now_us, length_us).map(|entry| entry.units).sum()
    }

    fn live(&self, now_us: i64, length_us: i64) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| now_us < entry.time_us + length_us)
    }

    fn fits(&self, now_us: i64, request: &Request) -> bool {
        request
            .windows
            .iter()
            .all(|(length_us, limit)| self.used(now_us, *length_us) + request.cost <= *limit)
    }

    fn answer(&self, now_us: i64, request: &Request, admitted: i64) -> Vec<i64> {
        let mut answer = vec![admitted];
        for &(length_us, limit) in &request.windows {
            // What was not re-stamped is read as if it had been.
            let newest_us = if self.is_ahead(now_us, request) { now_us } else { i64::MAX };
            let leaves_ms =
                |entry: &Entry| (entry.time_us.min(newest_us) + length_us - now_us + 999).div_euclid(1_000);
            let used = self.used(now_us, length_us);
            let must_leave = used + request.cost - limit;
            let mut left = 0;
            let retry_after_ms = if request.cost > limit {
                -1
            } else if must_leave <= 0 {
                0
            } else {
                let mut live = self.live(now_us, length_us);
                leaves_ms(
                    live.find(|entry| {
                        left += entry.units;
                        left >= must_leave
                    })
                    .unwrap(),
                )
            };
            let reset_after_ms = self.live(now_us, length_us).last().map_or(0, leaves_ms);
            let oldest_after_ms = self.live(now_us, length_us).next().map_or(0, leaves_ms);
            let remaining = (limit - used).max(0);
            answer.extend([limit, remaining, retry_after_ms, reset_after_ms, oldest_after_ms]);
        }
        answer
    }
}

/// The entries that a log spells, whose totals must run on from one to the next.
pub fn decode(log: &[(String, f64)]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut running: Option<u64> = None;
    for (member, score) in log {
        let place = member.find([':', '~']).unwrap_or(member.len());
        let total: u64 = member[..place].parse().unwrap();
        let units: i64 = member.get(place + 1..).map_or(1, |weight| weight.parse().unwrap());
        assert!(running.is_none_or(|running| total == running + units as u64), "the totals of {log:?}");
        running = Some(total);
        entries.push(Entry { time_us: *score as i64, units, is_shared: member.contains('~') });
    }
    entries
}
