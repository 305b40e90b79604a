//! One line a case: at which ms which call gets which answer.

use super::{ask, check, peek, START_US};
use slidewin_core::{MemoryLog, Standing};

/// `[admitted, limit, remaining, retry_after_ms, reset_after_ms, ...]` as the reply has it.
fn answer(admitted: bool, standings: &[Standing]) -> Vec<i64> {
    let fields = |standing: &Standing| {
        let retry_after_ms = standing.retry_after_ms.unwrap_or(-1);
        [standing.limit as i64, standing.remaining as i64, retry_after_ms, standing.reset_after_ms]
    };
    std::iter::once(i64::from(admitted)).chain(standings.iter().flat_map(fields)).collect()
}

fn play(story: &str, steps: &[(i64, &str, &[i64])]) {
    let mut log = MemoryLog::default();
    for (ms, line, expected) in steps {
        let now_us = START_US + ms * 1_000;
        let answered = match line.strip_prefix("PEEK ") {
            None => {
                let outcome = check(&mut log, now_us, &ask(line));
                answer(outcome.receipt.is_some(), &outcome.standings)
            }
            Some(line) => {
                let before = log.clone();
                let forecast = peek(&mut log, now_us, &ask(line));
                assert!(log.elements().eq(before.elements()), "{story}: PEEK wrote");
                answer(forecast.has_room, &forecast.standings)
            }
        };
        assert_eq!(answered, *expected, "{story}: at {ms} ms, {line}");
    }
}

#[test]
fn stories() {
    play(
        "up to the limit and back",
        &[
            (0, "60 3", &[1, 3, 2, 0, 60_000]),
            (10, "60 3", &[1, 3, 1, 0, 60_000]),
            (20, "60 3", &[1, 3, 0, 59_980, 60_000]),
            (30, "60 3", &[0, 3, 0, 59_970, 59_990]),
            (59_999, "60 3", &[0, 3, 0, 1, 21]),
            (60_000, "60 3", &[1, 3, 0, 10, 60_000]),
        ],
    );
    play(
        "units at 0, 400 and 800 ms",
        &[
            (0, "1 3", &[1, 3, 2, 0, 1_000]),
            (400, "1 3", &[1, 3, 1, 0, 1_000]),
            (800, "1 3", &[1, 3, 0, 200, 1_000]),
            (900, "1 3", &[0, 3, 0, 100, 900]),
            (900, "1 3 COST 2", &[0, 3, 0, 500, 900]),
            (900, "1 3 COST 3", &[0, 3, 0, 900, 900]),
            (900, "1 3 COST 4", &[0, 3, 0, -1, 900]),
        ],
    );
    play(
        "a caller above the rate recovers",
        &[
            (0, "4 2", &[1, 2, 1, 0, 4_000]),
            (1_000, "4 2", &[1, 2, 0, 3_000, 4_000]),
            (2_000, "4 2", &[0, 2, 0, 2_000, 3_000]),
            (3_000, "4 2", &[0, 2, 0, 1_000, 2_000]),
            (4_000, "4 2", &[1, 2, 0, 1_000, 4_000]),
            (5_000, "4 2", &[1, 2, 0, 3_000, 4_000]),
        ],
    );
    play(
        "a cost that does not fit is not charged",
        &[
            (0, "60 10 COST 4", &[1, 10, 6, 0, 60_000]),
            (0, "60 10 COST 4", &[1, 10, 2, 60_000, 60_001]),
            (1, "60 10 COST 3", &[0, 10, 2, 59_999, 60_000]),
            (1, "60 10 COST 2", &[1, 10, 0, 59_999, 60_000]),
        ],
    );
    play("never", &[(0, "60 10 COST 11", &[0, 10, 10, -1, 0]), (0, "60 0", &[0, 0, 0, -1, 0])]);
    play(
        "a changed limit",
        &[
            (0, "60 5 COST 5", &[1, 5, 0, 60_000, 60_000]),
            (1, "60 10", &[1, 10, 4, 0, 60_000]),
            (2, "60 3", &[0, 3, 0, 59_998, 59_999]),
        ],
    );
    play(
        "forced over the limit",
        &[
            (0, "60 10 COST 8", &[1, 10, 2, 60_000, 60_000]),
            (1, "60 10 COST 8 FORCE", &[1, 10, 0, 60_000, 60_000]),
            (2, "60 10 COST 1", &[0, 10, 0, 59_998, 59_999]),
            (60_000, "60 10 COST 2", &[1, 10, 0, 1, 60_000]),
        ],
    );
    play(
        "two windows, one decision",
        &[
            (0, "1 2 60 5", &[1, 2, 1, 0, 1_000, 5, 4, 0, 60_000]),
            (1, "1 2 60 5", &[1, 2, 0, 999, 1_000, 5, 3, 0, 60_000]),
            (2, "1 2 60 5", &[0, 2, 0, 998, 999, 5, 3, 0, 59_999]),
        ],
    );
    play(
        "a longer window keeps its units when a shorter one shares the key",
        &[
            (0, "80 10 COST 10", &[1, 10, 0, 80_000, 80_000]),
            (79_000, "10 100", &[1, 100, 99, 0, 10_000]),
            (79_500, "80 10", &[0, 10, 0, 500, 79_500]),
        ],
    );
    play(
        "units of the shorter window count for the longer one",
        &[
            (0, "80 10", &[1, 10, 9, 0, 80_000]),
            (70_000, "1 100 COST 9", &[1, 100, 91, 0, 1_000]),
            (95_000, "PEEK 80 10", &[1, 10, 1, 0, 55_000]),
            (95_000, "80 10 COST 2", &[0, 10, 1, 55_000, 55_000]),
        ],
    );
    play(
        "an hour back with a full window",
        &[
            (0, "10 2 COST 2", &[1, 2, 0, 10_000, 10_000]),
            (-3_600_000, "PEEK 10 2", &[0, 2, 0, 10_000, 10_000]),
            (-3_600_000, "10 2", &[0, 2, 0, 10_000, 10_000]),
            (-3_590_001, "10 2", &[0, 2, 0, 1, 1]),
            (-3_590_000, "10 2", &[1, 2, 1, 0, 10_000]),
        ],
    );
    play(
        "two seconds back in a day",
        &[
            (0, "24h 2", &[1, 2, 1, 0, 86_400_000]),
            (10_000, "24h 2", &[1, 2, 0, 86_390_000, 86_400_000]),
            (8_000, "24h 2", &[0, 2, 0, 86_392_000, 86_402_000]),
            (86_400_000, "24h 2", &[1, 2, 0, 10_000, 86_400_000]),
        ],
    );
    play(
        "0.9 s back with 10 ms",
        &[
            (900, "10ms 1", &[1, 1, 0, 10, 10]),
            (0, "10ms 1", &[0, 1, 0, 10, 10]),
            (20, "10ms 1", &[1, 1, 0, 10, 10]),
        ],
    );
}

#[test]
fn one_entry_for_an_admission_and_its_members() {
    let mut log = MemoryLog::default();
    check(&mut log, START_US, &ask("60 100"));
    let base: u64 = std::str::from_utf8(log.elements().next().unwrap().1).unwrap().parse().unwrap();
    assert!(base <= 1 << 22, "{base}");
    for line in ["60 100 COST 5", "60 100 RESOLUTION 1", "60 100 RESOLUTION 1 COST 2"] {
        check(&mut log, START_US, &ask(line));
    }
    let members: Vec<_> =
        log.elements().map(|(at_us, member)| (at_us - START_US, String::from_utf8_lossy(member))).collect();
    let expected = [(0, format!("{base}")), (1, format!("{}:5", base + 5)), (2, format!("{}~3", base + 8))];
    assert_eq!(members, expected.map(|(at_us, member)| (at_us, member.into())));
}
