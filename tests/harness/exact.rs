//! The promise itself, from what was admitted.

/// No interval of `window_us` holds more than `limit` of these times of admission, each of one unit.
pub fn within_limit(mut admitted_us: Vec<i64>, window_us: i64, limit: usize) {
    admitted_us.sort_unstable();
    for (nth, pair) in admitted_us.windows(limit + 1).enumerate() {
        let apart_us = pair[limit] - pair[0];
        assert!(apart_us >= window_us, "{} units within {apart_us} us, from the {nth}th on", limit + 1);
    }
}

#[test]
fn it_sees_one_unit_too_many() {
    within_limit(vec![0, 10, 20, 100, 110, 120], 100, 3);
    for wrong in [vec![0, 10, 20, 99], vec![0, 50, 60, 100, 149, 300]] {
        assert!(std::panic::catch_unwind(|| within_limit(wrong, 100, 3)).is_err());
    }
}
