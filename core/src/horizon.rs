//! How long a log is kept: the arithmetic of its expiry, in whole milliseconds.

/// Expiry counts in ms, by a clock that the server read before the module read its own.
const LEAST_SLACK_MS: i64 = 2;

/// The longest that an expiry set for this window lies after the newest unit, rounding included.
pub(crate) fn longest_promise_ms(window_us: i64) -> i64 {
    floor_ms(window_us.saturating_add(window_us / 8)).saturating_add(LEAST_SLACK_MS)
}

/// An expiry for a unit at `score_us`: the window and 1/16 to 1/8 of it. So a busy key seldom sets its expiry, and
/// keys that were born together do not die together. The upper half of `random` chooses.
pub(crate) fn fresh_expiry_ms(score_us: i64, window_us: i64, random: u64) -> i64 {
    let window_ms = floor_ms(window_us);
    let (least_ms, most_ms) = (window_ms / 16, window_ms / 8);
    let choices = most_ms.saturating_sub(least_ms).saturating_add(1);
    // Multiply and shift: a choice below `choices`, without a division.
    let chosen_ms = (i128::from(random >> 32).saturating_mul(i128::from(choices)) >> 32) as i64;
    let slack_ms = least_ms.saturating_add(chosen_ms).max(LEAST_SLACK_MS);
    floor_ms(score_us.saturating_add(window_us)).saturating_add(slack_ms)
}

/// The ms in which a time lies.
pub(crate) fn floor_ms(us: i64) -> i64 {
    us.div_euclid(1_000)
}

/// µs in ms, rounded up: a caller who waits that long is not early.
pub(crate) fn ceil_ms(us: i64) -> i64 {
    us.saturating_add(999).div_euclid(1_000)
}
