//! How a window stands: what a caller is told besides yes and no.

use crate::count::Live;
use crate::ends::Ends;
use crate::horizon::ceil_ms;
use crate::log::Log;
use crate::{Request, Window};

/// How one window stands after a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The limit that was asked for.
    pub limit: u64,
    /// The units that are left.
    pub remaining: u64,
    /// The ms until a call of the same cost fits, and no line stands, rounded up. 0: now; `None`: never, the cost is above
    /// the limit.
    pub retry_after_ms: Option<i64>,
    /// The ms until the window is empty, rounded up. 0: it is empty.
    pub reset_after_ms: i64,
    /// The ms until the oldest unit leaves the window, rounded up. 0: it is empty.
    pub oldest_after_ms: i64,
}

impl Standing {
    /// How `window` stands at `now_us` for a call of the request's cost. An element
    /// that is ahead of a clock which has stepped back leaves the window as if it had been brought back to it.
    pub(crate) fn of<L: Log>(
        log: &mut L,
        ends: Option<&Ends<L::Member>>,
        now_us: i64,
        request: &Request,
        window: &Window,
        summed: &mut u64,
    ) -> Self {
        let is_possible = request.cost <= window.limit;
        let mut standing = Standing {
            limit: window.limit,
            remaining: window.limit,
            retry_after_ms: is_possible.then_some(0),
            ..Standing::default()
        };
        let since_us = now_us.saturating_sub(window.length_us);
        let live = ends.map(|ends| (ends, Live::count(log, ends, since_us, summed)));
        if let Some((ends, live)) = live.filter(|(_, live)| live.units > 0) {
            let is_ahead = ends.is_ahead(now_us, request);
            let after_ms = |time_us: i64, length_us| {
                let time_us = if is_ahead && time_us > now_us { ends.repaired_us(now_us) } else { time_us };
                ceil_ms(time_us.saturating_add(length_us).saturating_sub(now_us))
            };
            let leaves_ms = |time_us| after_ms(time_us, window.length_us);
            standing.remaining = window.limit.saturating_sub(live.units);
            standing.reset_after_ms = leaves_ms(ends.last_us);
            standing.oldest_after_ms = leaves_ms(live.time_of_unit(log, 1));
            let too_many = live.units.saturating_add(request.cost).saturating_sub(window.limit);
            if too_many > 0 && is_possible {
                standing.retry_after_ms = Some(leaves_ms(live.time_of_unit(log, too_many)));
            }
            if let Some(line_us) = ends.line_us(now_us) {
                let line_ms = after_ms(line_us, 0);
                standing.retry_after_ms = standing.retry_after_ms.map(|retry_ms| retry_ms.max(line_ms));
            }
        }
        standing
    }
}
