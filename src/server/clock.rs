//! The server's clock: the only one there is.

/// CLOCK_REALTIME in µs since the epoch.
pub fn now_us() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is ours, and clock_gettime writes nothing else. It cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000)
}

/// Runs `call` with the ms in which it runs, and again where that ms ended meanwhile: for a call of the server that reads
/// the clock by itself. A process that is interrupted each time gets what it has in the end.
pub fn within_one_ms<T>(mut call: impl FnMut(i64) -> T) -> (T, i64) {
    const TRIES: usize = 100;
    let mut now_ms = now_us().div_euclid(1_000);
    let mut tries = 1;
    loop {
        let result = call(now_ms);
        let after_ms = now_us().div_euclid(1_000);
        if after_ms == now_ms || tries == TRIES {
            return (result, now_ms);
        }
        (now_ms, tries) = (after_ms, tries.saturating_add(1));
    }
}
