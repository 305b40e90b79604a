//! Lines in the server's log for what should not happen. Each kind is limited: one a minute, or one in all.

use redis_module::logging::log_warning;
use std::ffi::CStr;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Once;

const AT_MOST_EVERY_US: i64 = 60_000_000;

/// A clock that stepped back behind a log.
pub fn step_back(now_us: i64, ahead_us: i64) {
    static LAST_US: AtomicI64 = AtomicI64::new(i64::MIN);
    let before_us = LAST_US.load(Ordering::Relaxed);
    if now_us.abs_diff(before_us) >= AT_MOST_EVERY_US as u64 {
        LAST_US.store(now_us, Ordering::Relaxed);
        let ahead_ms = ahead_us / 1_000;
        log_warning(format!(
            "the clock has stepped back: a log was {ahead_ms} ms ahead of it and was re-stamped"
        ));
    }
}

/// A command that replicas and the AOF do not know.
pub fn not_replicated(command: &CStr) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let command = command.to_string_lossy();
        log_warning(format!(
            "{command} cannot be replicated, was it renamed? Replicas and the AOF miss what slidewin writes"
        ));
    });
}

/// A panic, before it is caught.
pub fn panicked(panic: &PanicHookInfo) {
    log_warning(format!("internal error, please report it: {panic}"));
}
