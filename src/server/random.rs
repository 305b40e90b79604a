//! Random numbers for totals and expiries: they spread and guard nothing, so that a small generator will do.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::sync::atomic::{AtomicU64, Ordering};

/// 64 random bits: a generator for each call, seeded by the time and by how many there were before. There is no state to
/// lock: other modules may call us while we call the server.
pub fn bits(now_us: i64) -> u64 {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let drawn = DRAWN.load(Ordering::Relaxed);
    DRAWN.store(drawn.wrapping_add(1), Ordering::Relaxed);
    SmallRng::seed_from_u64((now_us as u64).wrapping_add(drawn.rotate_left(40))).next_u64()
}
