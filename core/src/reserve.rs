//! A place in line: who cannot go now is told when, and nobody goes before.
//!
//! ```text
//! fit = max(now, the end of the line, for each window the time at which the unit leaves that makes room)
//! ```
//!
//! All units of the log lie up to the end of the line. So at `fit` a window holds what it holds now, less what has left it
//! by then, and one pass over the windows is enough. A place is an entry like any other, recorded at the time at which it
//! may go. It is marked with how far that lay ahead of the clock: its score less this is when it was taken, which tells a
//! line from a log that a clock has left ahead of it.

use crate::admit::admit;
use crate::check::repair;
use crate::count::Live;
use crate::ends::Ends;
use crate::horizon::ceil_ms;
use crate::log::{Log, Record};
use crate::outcome::Outcome;
use crate::{Error, Request};

/// What [`reserve()`] decided and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    /// The ms until the call may go, rounded up. 0: now; `None`: never, its cost is above a limit.
    pub wait_ms: Option<i64>,
    /// Everything else. Its receipt is the time of the place; `None`: the wait is too long, and nothing was recorded.
    pub outcome: Outcome,
}

/// Takes the earliest time from now on at which the call fits, after all places that were taken before. If that is at most
/// `max_wait_us` away it is recorded at that time; otherwise nothing is.
///
/// `now_us` and `random` are those of [`crate::check`], and a log is repaired as there. A request that is remembered by its
/// ID keeps its place, whatever the wait. A resolution and force are of no account.
pub fn reserve(
    log: &mut impl Record,
    now_us: i64,
    request: &Request,
    max_wait_us: i64,
    random: impl Fn() -> u64,
) -> Result<Reservation, Error> {
    let request = &Request { resolution_us: None, ..*request };
    let mut outcome = Outcome { receipt: request.repeated(log, now_us), ..Outcome::default() };
    if let Some(receipt) = outcome.receipt {
        outcome.is_repeat = true;
        return Ok(Reservation { wait_ms: Some(ceil_ms(wait_us(log, receipt, now_us))), outcome });
    }
    let mut ends = Ends::read(log);
    repair(log, &mut ends, now_us, request, &random, &mut outcome)?;
    let fit_us = fit_us(log, &mut ends, now_us, request, &mut outcome.summed);
    let wait_us = fit_us.map(|fit_us| fit_us.saturating_sub(now_us));
    if let Some(fit_us) = fit_us.filter(|_| wait_us <= Some(max_wait_us)) {
        let after = admit(log, ends, now_us, fit_us, request, &random, &mut outcome)?;
        outcome.receipt = Some(after.last_us);
    }
    Ok(Reservation { wait_ms: wait_us.map(ceil_ms), outcome })
}

/// The earliest time from `now_us` on at which every window has room for the cost; `None` where one never has.
fn fit_us<L: Log>(
    log: &mut L,
    ends: &mut Option<Ends<L::Member>>,
    now_us: i64,
    request: &Request,
    summed: &mut u64,
) -> Option<i64> {
    let windows = request.windows.as_slice();
    if windows.iter().any(|window| request.cost > window.limit) {
        return None;
    }
    let Some(ends) = ends else { return Some(now_us) };
    ends.read_oldest(log, now_us.saturating_sub(request.windows.longest_us()));
    let mut fit_us = ends.line_us(now_us).unwrap_or(now_us);
    for window in windows {
        let live = Live::count(log, ends, now_us.saturating_sub(window.length_us), summed);
        let too_many = live.units.saturating_add(request.cost).saturating_sub(window.limit);
        if too_many > 0 {
            fit_us = fit_us.max(live.time_of_unit(log, too_many).saturating_add(window.length_us));
        }
    }
    Some(fit_us)
}

/// How long the admission with this receipt has to wait: 0, unless it is a place in line that has not come. After a step
/// back it is not longer than when it was taken.
pub(crate) fn wait_us(log: &mut impl Log, receipt: i64, now_us: i64) -> i64 {
    let mut at = log.first_after(receipt.saturating_sub(1));
    while let Some(element) = at.filter(|element| element.score_us == receipt) {
        if let Some(entry) = element.entry {
            return receipt.saturating_sub(now_us).clamp(0, entry.ahead_us());
        }
        at = log.next();
    }
    0
}
