//! What an operator sees: counters in INFO, the keys that are refused, lines in the server's log.

pub mod counters;
pub mod log_lines;
mod offenders;

pub use offenders::{Offender, Offenders, TRACKED};

use counters::Counter;
use slidewin_core::{Forecast, Outcome, Outcomes};

/// Counts what a CHECK of `cost` units decided and did, remembers the key of a refused one, and writes a line to the log
/// where the clock has stepped back.
pub fn checked(key: &[u8], now_us: i64, cost: u64, outcome: &Outcome) {
    decided(key, now_us, cost, outcome, [&counters::CHECKS_ADMITTED, &counters::CHECKS_REFUSED]);
}

/// The same for a RESERVE.
pub fn reserved(key: &[u8], now_us: i64, cost: u64, outcome: &Outcome) {
    decided(key, now_us, cost, outcome, [&counters::RESERVATIONS, &counters::RESERVATIONS_REFUSED]);
}

fn decided(key: &[u8], now_us: i64, cost: u64, outcome: &Outcome, [admitted, refused]: [&Counter; 2]) {
    if outcome.is_repeat {
        counters::REPEATS.add(1);
    } else if outcome.receipt.is_some() {
        admitted.add(1);
        counters::UNITS_ADMITTED.add(cost);
    } else {
        refused.add(1);
        Offenders::here().refused(key, now_us);
    }
    happened(now_us, outcome);
}

/// The same for an MCHECK, which is one call, with the keys that had no room for it.
pub fn checked_all<'a>(
    full: impl Iterator<Item = &'a [u8]>,
    now_us: i64,
    cost: u64,
    Outcomes { each, full: indexes }: &Outcomes,
) {
    if each.iter().all(|outcome| outcome.is_repeat) {
        counters::REPEATS.add(1);
    } else if indexes.is_empty() {
        counters::CHECKS_ADMITTED.add(1);
        counters::UNITS_ADMITTED.add(cost);
    } else {
        counters::CHECKS_REFUSED.add(1);
        full.for_each(|key| Offenders::here().refused(key, now_us));
    }
    each.iter().for_each(|outcome| happened(now_us, outcome));
}

/// Counts what happened in one log besides the answer.
fn happened(now_us: i64, outcome: &Outcome) {
    counters::ENTRIES_TRIMMED.add(outcome.trimmed as u64);
    counters::LOGS_RESTARTED.add(u64::from(outcome.restarted));
    if let Some(ahead_us) = outcome.stepped_back_us {
        counters::CLOCK_STEP_BACKS.add(1);
        log_lines::step_back(now_us, ahead_us);
    }
    counters::FOREIGN_SUMS.add(outcome.summed);
}

/// Counts a PEEK.
pub fn peeked(forecast: &Forecast) {
    counters::PEEKS.add(1);
    counters::FOREIGN_SUMS.add(forecast.summed);
}

/// Counts a REFUND that gave back that many units.
pub fn refunded(units: u64) {
    counters::REFUNDS.add(1);
    counters::UNITS_REFUNDED.add(units);
}
