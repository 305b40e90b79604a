//! Windows that are no whole ms, in pairs on one key, at every offset of 50 µs within a ms. The judge knows the promise
//! only: a unit counts for each call before its time and the window, and has left then.

use super::{check, START_US};
use slidewin_core::{MemoryLog, Request, Window};

const STEP_US: i64 = 50;
const LENGTHS_US: [i64; 14] =
    [1_000, 1_050, 1_500, 1_950, 2_000, 2_550, 5_050, 7_900, 8_950, 16_000, 18_100, 20_400, 24_950, 28_150];

fn ask(length_us: i64, limit: u64) -> Request {
    Request::new(&[Window { length_us, limit }]).unwrap()
}

/// A log at a time of this offset within a ms, filled up for the longer window.
fn filled(offset_us: i64, longer_us: i64) -> (MemoryLog, i64) {
    let (mut log, now_us) = (MemoryLog::default(), START_US / 1_000 * 1_000 + offset_us);
    for _ in 0..2 {
        assert!(check(&mut log, now_us, &ask(longer_us, 2)).receipt.is_some());
    }
    (log, now_us)
}

fn is_admitted(log: &MemoryLog, now_us: i64, request: &Request) -> bool {
    check(&mut log.clone(), now_us, request).receipt.is_some()
}

/// Pairs whose longer window is not within an eighth of the shorter one: those are treated as one.
fn pairs() -> impl Iterator<Item = (i64, i64)> {
    let pairs =
        LENGTHS_US.into_iter().flat_map(|shorter_us| LENGTHS_US.map(|longer_us| (shorter_us, longer_us)));
    pairs.filter(|(shorter_us, longer_us)| *longer_us > shorter_us + shorter_us / 8)
}

/// Calls with the shorter window at these distances from the first unit do not make the longer window forget it.
fn remembers(shorter_us: i64, longer_us: i64, offset_us: i64, calls_us: impl IntoIterator<Item = i64>) {
    let (mut log, first_us) = filled(offset_us, longer_us);
    let (mut last_us, mut units) = (0, 2);
    for after_us in calls_us {
        assert!(check(&mut log, first_us + after_us, &ask(shorter_us, 1_000)).receipt.is_some());
        (last_us, units) = (after_us, units + 1);
    }
    let story =
        format!("{longer_us} us after {shorter_us} us, at offset {offset_us}, calls up to {last_us} us");
    // The first two units are 1 µs apart: both are live until the first has left.
    let asked = ask(longer_us, units);
    for at_us in [last_us, (last_us + longer_us) / 2, longer_us - 1] {
        assert!(!is_admitted(&log, first_us + at_us, &asked), "admitted at {at_us} us: {story}");
    }
    assert!(is_admitted(&log, first_us + longer_us, &asked), "refused when the first has left: {story}");
}

#[test]
fn a_longer_window_is_remembered_at_every_offset() {
    for (shorter_us, longer_us) in pairs() {
        for offset_us in (0..1_000).step_by(STEP_US as usize) {
            for after_us in (0..longer_us).step_by(STEP_US as usize) {
                remembers(shorter_us, longer_us, offset_us, [after_us]);
            }
            remembers(shorter_us, longer_us, offset_us, (0..longer_us).step_by(7 * STEP_US as usize));
            remembers(shorter_us, longer_us, offset_us, (0..longer_us).step_by(1_000 + STEP_US as usize));
        }
    }
}
