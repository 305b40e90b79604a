//! Refund: takes units back out of the middle of the log, so that every other entry keeps its time.

use crate::ends::Ends;
use crate::entry::{Entry, Kind};
use crate::horizon::floor_ms;
use crate::log::{Element, Log, Record};
use crate::Error;
use std::collections::HashSet;

/// The most entries that a refund walks on one side of the receipt.
pub const MAX_ENTRIES_ON_A_SIDE: usize = 1_000;

/// What [`refund`] is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    /// The receipt of the admission: the score of its entry.
    pub receipt: i64,
    /// The units to give back; `None`: all that are left of it.
    pub units: Option<u64>,
}

/// Gives back what one admission took. Answers the units given back: 0 where the log has no such receipt. Fails with
/// [`Error::RefundTooDeep`] where more than [`MAX_ENTRIES_ON_A_SIDE`] elements lie on both sides of it.
///
/// Totals are mended on the side with fewer entries, newer ones down or older ones up: differences within either side
/// stay, and a difference across the entry falls by what was given back.
pub fn refund(log: &mut impl Record, refund: &Refund) -> Result<u64, Error> {
    let Some(taken) = find(log, refund.receipt) else { return Ok(0) };
    let newer = entries(MAX_ENTRIES_ON_A_SIDE, || log.next());
    let fewer = newer.as_ref().map_or(MAX_ENTRIES_ON_A_SIDE, |newer| newer.len().saturating_sub(1));
    let mut at = log.last_up_to(refund.receipt.saturating_sub(1));
    let older = entries(fewer, || at.take().or_else(|| log.prev()));
    let units = refund.units.unwrap_or(taken.weight).min(taken.weight);

    let (near, total, mend): (_, _, fn(u64, u64) -> u64) = match (older, newer) {
        (Some(older), _) => (older, taken.total, u64::wrapping_add),
        (None, Some(newer)) => (newer, taken.total.wrapping_sub(units), u64::wrapping_sub),
        (None, None) => return Err(Error::RefundTooDeep),
    };
    let (mut new, mut gone) = (Vec::new(), vec![taken]);
    let weight = taken.weight.saturating_sub(units);
    if weight > 0 {
        new.push((refund.receipt, Entry { total, weight, kind: taken.kind }));
    }
    // Outwards from the entry, so that each takes a name that the one before has left.
    for (score_us, entry) in near {
        new.push((score_us, Entry { total: mend(entry.total, units), ..entry }));
        gone.push(entry);
    }

    let named: HashSet<Entry> = new.iter().map(|&(_, entry)| entry).collect();
    gone.retain(|entry| !named.contains(entry));

    let before = Ends::read(log);
    let promised_ms = before.and_then(|ends| ends.promised_ms(log.expiry_ms()));
    log.replace(&new, &gone);
    // The newest unit left is promised what the newest unit was promised, not more.
    if let (Some(before), Some(after), Some(promised_ms)) = (before, Ends::read(log), promised_ms) {
        if after.last_us < before.last_us {
            log.expire_at(floor_ms(after.last_us).saturating_add(promised_ms));
        }
    }
    Ok(units)
}

/// The entry that has this receipt.
fn find(log: &mut impl Log, receipt: i64) -> Option<Entry> {
    let mut at = log.first_after(receipt.saturating_sub(1));
    while let Some(Element { entry, .. }) = at.filter(|at| at.score_us == receipt) {
        if let Some(entry) = entry.filter(|entry| entry.kind == Kind::Single) {
            return Some(entry);
        }
        at = log.next();
    }
    None
}

/// The entries of a walk, or `None` where it has more than `most` elements.
fn entries(most: usize, mut walk: impl FnMut() -> Option<Element>) -> Option<Vec<(i64, Entry)>> {
    let mut found = Vec::new();
    for _ in 0..=most {
        match walk() {
            Some(Element { score_us, entry: Some(entry) }) => found.push((score_us, entry)),
            Some(_) => {}
            None => return Some(found),
        }
    }
    None
}
