//! How long a log is kept: the arithmetic of its expiry.
//!
//! The distance from the newest unit to the expiry is a promise: so long that unit is kept. It is in whole milliseconds,
//! and says which is the longest window that the key is used with. Let `c` be a window, rounded up to whole ms. The promise
//! of its calls is never below `c + 2` and never above `c + max(2, c / 8)`. So a promise above that of the window at hand
//! was made to a longer window. A promise that is not tells that the longer window is at most `c`, which is how long
//! the units of the window at hand are kept, or that it is within an eighth.

/// The least that a promise exceeds its window, in ms. Servers compare expiries with a clock of whole ms that they may
/// have read earlier.
const LEAST_SLACK_MS: i64 = 2;

/// The window, rounded up to whole ms: how long its units are kept at least.
pub(crate) fn kept_ms(window_us: i64) -> i64 {
    ceil_ms(window_us)
}

/// The longest promise that is made to calls with this window.
pub(crate) fn longest_promise_ms(window_us: i64) -> i64 {
    let kept_ms = kept_ms(window_us);
    kept_ms.saturating_add((kept_ms / 8).max(LEAST_SLACK_MS))
}

/// Whether a promise is enough for this window.
pub(crate) fn is_enough(promise_ms: i64, window_us: i64) -> bool {
    promise_ms >= kept_ms(window_us).saturating_add(LEAST_SLACK_MS)
}

/// A new promise for this window: the window and 1/16 to 1/8 of it. So a busy key seldom sets its expiry, and keys that
/// were born together do not die together. The upper half of `random` chooses.
pub(crate) fn fresh_promise_ms(window_us: i64, random: u64) -> i64 {
    let kept_ms = kept_ms(window_us);
    let (least_ms, most_ms) = (kept_ms / 16, kept_ms / 8);
    let choices = most_ms.saturating_sub(least_ms).saturating_add(1);
    // Multiply and shift: a choice below `choices`, without a division.
    let chosen_ms = (i128::from(random >> 32).saturating_mul(i128::from(choices)) >> 32) as i64;
    kept_ms.saturating_add(least_ms.saturating_add(chosen_ms).max(LEAST_SLACK_MS))
}

/// The expiry that keeps a promise to a unit at `score_us`.
pub(crate) fn expiry_ms(score_us: i64, promise_ms: i64) -> i64 {
    floor_ms(score_us).saturating_add(promise_ms)
}

/// The ms in which a time lies.
pub(crate) fn floor_ms(us: i64) -> i64 {
    us.div_euclid(1_000)
}

/// µs in ms, rounded up: a caller who waits that long is not early.
pub(crate) fn ceil_ms(us: i64) -> i64 {
    us.saturating_add(999).div_euclid(1_000)
}
