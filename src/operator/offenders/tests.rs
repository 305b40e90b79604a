use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

const MINUTE_US: i64 = HALVE_EVERY_US;

fn keys(offenders: &mut Offenders, count: usize, now_us: i64) -> Vec<(String, u64, u64)> {
    let heaviest = offenders.heaviest(count, now_us);
    heaviest.iter().map(|slot| (String::from_utf8_lossy(&slot.key).into(), slot.count, slot.error)).collect()
}

#[test]
fn heaviest_first_and_forgotten_on_reset() {
    let mut offenders = Offenders::default();
    for key in ["b", "a", "c", "a", "a", "c"] {
        offenders.refused(key.as_bytes(), 1);
    }
    let all = [("a".into(), 3, 0), ("c".into(), 2, 0), ("b".into(), 1, 0)];
    assert_eq!(keys(&mut offenders, 10, 1), all);
    assert_eq!(keys(&mut offenders, 2, 1), all[..2]);
    offenders.reset();
    assert_eq!(keys(&mut offenders, 10, 1), []);
}

#[test]
fn counts_halve_every_minute() {
    let mut offenders = Offenders::default();
    for _ in 0..8 {
        offenders.refused(b"a", 5);
    }
    offenders.refused(b"b", 5);
    let count = |offenders: &mut Offenders, now_us| {
        keys(offenders, 9, now_us).iter().map(|(_, n, _)| *n).collect::<Vec<_>>()
    };
    assert_eq!(count(&mut offenders, 5 + MINUTE_US - 1), [8, 1]);
    assert_eq!(count(&mut offenders, 5 + MINUTE_US), [4]);
    assert_eq!(count(&mut offenders, 5 + MINUTE_US * 5 / 2), [2]);
    assert_eq!(count(&mut offenders, 5 + MINUTE_US * 3), [1], "half minutes are not lost");
    assert_eq!(count(&mut offenders, 5), [1], "a clock that steps back halves nothing");
    assert_eq!(count(&mut offenders, i64::MAX), []);
}

#[test]
fn long_keys_count_by_their_prefix() {
    let mut offenders = Offenders::default();
    let key = vec![b'k'; 1_000_000];
    offenders.refused(&key, 1);
    offenders.refused(&key[..PREFIX + 1], 1);
    assert_eq!(offenders.heaviest(9, 1), [Offender { key: key[..PREFIX].to_vec(), count: 2, error: 0 }]);
}

proptest! {
    #[test]
    fn counts_are_never_too_low_and_at_most_the_error_too_high(
        refusals in prop::collection::vec(prop_oneof![0..20_u32, 0..2_000_u32], 0..5_000),
    ) {
        let mut offenders = Offenders::default();
        let mut truth = HashMap::new();
        for key in &refusals {
            offenders.refused(&key.to_be_bytes(), 1);
            *truth.entry(key.to_be_bytes().to_vec()).or_insert(0_u64) += 1;
        }
        let tracked = offenders.heaviest(TRACKED, 1);
        prop_assert_eq!(tracked.iter().map(|slot| slot.count).sum::<u64>(), refusals.len() as u64);
        for slot in &tracked {
            let count = truth[&slot.key];
            prop_assert!(slot.count >= count && slot.count - slot.error <= count);
        }
        for (key, count) in truth {
            let tracked = tracked.iter().any(|slot| slot.key == key);
            prop_assert!(tracked || count <= refusals.len() as u64 / TRACKED as u64);
        }
    }
}
