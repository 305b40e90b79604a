//! The server's clock: the only one there is.

/// CLOCK_REALTIME in µs since the epoch.
pub fn now_us() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is ours, and clock_gettime writes nothing else. It cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000)
}
