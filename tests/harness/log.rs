//! What the elements of a log say, bundles included.

use super::Client;
use crate::naive::times_us;

/// One admission, or several that share an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub time_us: i64,
    pub units: u64,
    /// No receipt names it.
    pub is_shared: bool,
}

/// The admissions that one element spells, oldest first, and its total. `None`: it is none of ours.
pub fn spelled(member: &str, score_us: i64) -> Option<(u64, Vec<Admission>)> {
    let (head, offsets) = member.split_once(';').map_or((member, None), |(head, rest)| (head, Some(rest)));
    let place = head.find([':', '~']).unwrap_or(head.len());
    let total: u64 = head[..place].parse().ok()?;
    let weight: u64 = head.get(place + 1..).map_or(Some(1), |weight| weight.parse().ok())?;
    let mut times_us = times_us(score_us, member.as_bytes());
    times_us.reverse();
    let units = if offsets.is_some() { 1 } else { weight };
    assert_eq!(times_us.len() as u64 * units, weight, "{member}");
    assert!(times_us.is_sorted_by(|older, newer| older < newer), "{member}");
    let is_shared = head.contains('~');
    Some((total, times_us.into_iter().map(|time_us| Admission { time_us, units, is_shared }).collect()))
}

/// The admissions of a log without members of somebody else, oldest first; the marks of IDs are passed over. Its totals
/// must run on from one element to the next, and the times from one admission to the next.
pub fn decode(log: &[(String, i64)]) -> Vec<Admission> {
    let mut admissions: Vec<Admission> = Vec::new();
    let mut running: Option<u64> = None;
    for (member, score_us) in log.iter().filter(|(member, _)| !member.starts_with('#')) {
        let (total, parts) = spelled(member, *score_us).unwrap_or_else(|| panic!("{member} in {log:?}"));
        let units = parts.iter().map(|part| part.units).sum();
        assert!(running.is_none_or(|running| total == running.wrapping_add(units)), "the totals of {log:?}");
        running = Some(total);
        let last_us = admissions.last().map_or(i64::MIN, |last| last.time_us);
        assert!(last_us < parts[0].time_us, "the times of {log:?}");
        admissions.extend(parts);
    }
    admissions
}

impl Client {
    /// The admissions of a log, oldest first: time in µs, and units.
    pub fn admissions(&mut self, key: &str) -> Vec<(i64, u64)> {
        decode(&self.log(key)).into_iter().map(|one| (one.time_us, one.units)).collect()
    }

    /// The times of a log's admissions, which are of one unit each, oldest first.
    pub fn times_us(&mut self, key: &str) -> Vec<i64> {
        let admissions = self.admissions(key);
        assert!(admissions.iter().all(|(_, units)| *units == 1), "{admissions:?}");
        admissions.into_iter().map(|(time_us, _)| time_us).collect()
    }
}

#[test]
fn a_bundle_is_its_admissions() {
    let plain = |time_us, units, is_shared| Admission { time_us, units, is_shared };
    let log = [("7", 10), ("#id", 20), ("9:2", 20), ("12~3", 30), ("15:3;015o", 1_000)];
    let expected = [
        plain(10, 1, false),
        plain(20, 2, false),
        plain(30, 3, true),
        plain(1_000 - 5 * 64 - 63, 1, false),
        plain(999, 1, false),
        plain(1_000, 1, false),
    ];
    let log = log.map(|(member, score_us)| (member.to_owned(), score_us));
    assert_eq!(decode(&log), expected);
    for wrong in [("16", 1_001), ("14:2", 1_001), ("17:2;o", 1_010), ("18:3;21", 1_009), ("x", 1_001)] {
        let log = [&log[..], &[(wrong.0.to_owned(), wrong.1)]].concat();
        assert_eq!(std::panic::catch_unwind(|| decode(&log)).is_err(), wrong.0 != "16", "{wrong:?}");
    }
}
