//! Random numbers for bases and slacks: they spread, they guard nothing, so a small generator does.

use rand::rngs::SmallRng;
use rand::SeedableRng;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The generator, seeded from the clock.
pub fn rng() -> MutexGuard<'static, SmallRng> {
    static RNG: LazyLock<Mutex<SmallRng>> = LazyLock::new(|| {
        let seed = crate::clock::now_us() as u64 ^ u64::from(std::process::id()).rotate_left(32);
        Mutex::new(SmallRng::seed_from_u64(seed))
    });
    RNG.lock().unwrap_or_else(PoisonError::into_inner)
}
