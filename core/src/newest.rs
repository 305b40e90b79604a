//! The newest admissions of a log, for people to look at.

use crate::entry::Kind;
use crate::log::Log;
use crate::Id;

/// The most elements of somebody else that are passed over, so that a look never takes long.
const MAX_FOREIGN: usize = 1_000;

/// One admission, or several that share an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The time at which it is recorded, in µs since the epoch. A place in line may go at that time.
    pub time_us: i64,
    /// The units that it holds.
    pub units: u64,
    /// What REFUND takes for it; `None` where several admissions share an entry.
    pub receipt: Option<i64>,
    /// The ID that it was asked for with.
    pub id: Option<Id>,
}

/// The newest `count` admissions, newest first. Members of somebody else are left out.
pub fn newest(log: &mut impl Log, count: usize) -> Vec<Admission> {
    let mut found: Vec<Admission> = Vec::new();
    let mut foreign = 0_usize;
    let mut at = log.last_up_to(i64::MAX);
    // A mark comes before its entry, so that the walk meets it after.
    while let Some(element) = at.filter(|at| (found.len() < count || at.is_mark) && foreign < MAX_FOREIGN) {
        let time_us = element.score_us;
        match element.entry {
            None => match found.last_mut().filter(|last| element.is_mark && last.receipt == Some(time_us)) {
                Some(last) => last.id = Id::of_mark(element.member.as_ref()),
                None => foreign = foreign.saturating_add(1),
            },
            Some(entry) if matches!(entry.kind, Kind::Bundle { .. }) => {
                let part = |time_us| Admission { time_us, units: 1, receipt: Some(time_us), id: None };
                found.extend(element.times_us().into_iter().map(part));
            }
            Some(entry) => found.push(Admission {
                time_us,
                units: entry.weight,
                receipt: entry.is_single().then_some(time_us),
                id: None,
            }),
        }
        at = log.prev();
    }
    found.truncate(count);
    found
}
