//! What has happened since the module was loaded. Counters only rise.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter.
#[derive(Debug)]
pub struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Counter(AtomicU64::new(0))
    }

    /// Counts `more`. Commands run one at a time, under the server's lock: no need for one of ours.
    pub fn add(&self, more: u64) {
        self.0.store(self.get().wrapping_add(more), Ordering::Relaxed);
    }

    /// What has been counted.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $field:literal;)*) => {
        $($(#[$doc])* pub static $name: Counter = Counter::new();)*

        /// Every counter with its name in INFO.
        pub static ALL: &[(&std::ffi::CStr, &Counter)] = &[$(($field, &$name)),*];
    };
}

counters! {
    /// CHECK calls that were admitted.
    CHECKS_ADMITTED = c"checks_admitted";
    /// CHECK calls that were refused.
    CHECKS_REFUSED = c"checks_refused";
    /// Units that the admitted calls took.
    UNITS_ADMITTED = c"units_admitted";
    /// Calls that were admitted already, by their ID, and took nothing.
    REPEATS = c"repeats";
    /// RESERVE calls that took a place.
    RESERVATIONS = c"reservations";
    /// RESERVE calls that did not: the wait was too long.
    RESERVATIONS_REFUSED = c"reservations_refused";
    /// PEEK calls that were answered.
    PEEKS = c"peeks";
    /// REFUND calls that gave something back.
    REFUNDS = c"refunds";
    /// Units that were given back.
    UNITS_REFUNDED = c"units_refunded";
    /// Calls that ended in an error reply: arguments, WRONGTYPE, a refund that lies too deep.
    ARGUMENT_ERRORS = c"argument_errors";
    /// Expired elements that admissions removed.
    ENTRIES_TRIMMED = c"entries_trimmed";
    /// Logs that had expired whole and were begun anew.
    LOGS_RESTARTED = c"logs_restarted";
    /// Logs that were re-stamped because the clock had stepped back.
    CLOCK_STEP_BACKS = c"clock_step_backs";
    /// Counts by summing, because somebody edited the set.
    FOREIGN_SUMS = c"foreign_sums";
    /// Panics that were caught.
    INTERNAL_ERRORS = c"internal_errors";
}
