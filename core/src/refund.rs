//! Refund: takes units back out of the middle of the log, so that every other entry keeps its time.

use crate::bundle;
use crate::ends::Ends;
use crate::entry::{Entry, Kind};
use crate::horizon::expiry_ms;
use crate::log::{Element, Log, Record, Scored};
use crate::{Error, Id};
use std::collections::HashSet;

/// The most entries that a refund walks on one side of the receipt.
pub const MAX_ENTRIES_ON_A_SIDE: usize = 1_000;

/// What names an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// Its receipt: the score of its entry.
    Receipt(i64),
    /// The ID that it was asked for with. It names the latest admission, and never one of somebody else.
    Id(Id),
}

/// What [`refund`] is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refund {
    /// The admission.
    pub of: Admitted,
    /// The units to give back; `None`: all that are left of it.
    pub units: Option<u64>,
}

/// Gives back what one admission took. Answers the units given back: 0 where the log has no such admission. Fails with
/// [`Error::RefundTooDeep`] where more than [`MAX_ENTRIES_ON_A_SIDE`] elements lie on both sides of it, marks not
/// counted. An admission that is given back in full is forgotten: its ID may be used again.
///
/// Totals are mended on the side with fewer entries, newer ones down or older ones up: differences within either side
/// stay, and a difference across the entry falls by what was given back.
pub fn refund(log: &mut impl Record, refund: &Refund) -> Result<u64, Error> {
    let receipt = match &refund.of {
        Admitted::Receipt(receipt) => Some(*receipt),
        Admitted::Id(id) => log.score_of(id.mark()),
    };
    let Some(receipt) = receipt else { return Ok(0) };
    let Some(Found { element: taken, entry, marks }) = find(log, receipt) else { return Ok(0) };
    let newer = entries(MAX_ENTRIES_ON_A_SIDE, || log.next());
    let fewer = newer.as_ref().map_or(MAX_ENTRIES_ON_A_SIDE, |newer| newer.len().saturating_sub(1));
    let mut at = log.last_up_to(taken.score_us.saturating_sub(1));
    let older = entries(fewer, || at.take().or_else(|| log.prev()));
    let is_bundle = matches!(entry.kind, Kind::Bundle { .. });
    let most = if is_bundle { 1 } else { entry.weight };
    let units = refund.units.unwrap_or(most).min(most);

    let (near, total, mend): (_, _, fn(u64, u64) -> u64) = match (older, newer) {
        (Some(older), _) => (older, entry.total, u64::wrapping_add),
        (None, Some(newer)) => (newer, entry.total.wrapping_sub(units), u64::wrapping_sub),
        (None, None) => return Err(Error::RefundTooDeep),
    };
    let mut gone = vec![taken.member.as_ref().to_vec()];
    let mut new = Vec::from_iter(without(&taken, receipt, Entry { total, ..entry }, units));
    if new.is_empty() {
        gone.extend(marks);
    }
    for (element, entry) in near {
        new.push((element.score_us, renamed(&element, entry, mend(entry.total, units))));
        gone.push(element.member.as_ref().to_vec());
    }
    let named: HashSet<&[u8]> = new.iter().map(|(_, member)| member.as_slice()).collect();
    gone.retain(|member| !named.contains(member.as_slice()));

    let before = Ends::read(log).map(|ends| (ends.last_us, ends.promise_ms(log.expiry_ms())));
    log.replace(&new, &gone);
    // The newest unit left is promised what the newest unit was promised, not more.
    if let (Some((before_us, Some(promise_ms))), Some(after)) = (before, Ends::read(log)) {
        if after.last_us < before_us {
            log.expire_at(expiry_ms(after.last_us, promise_ms));
        }
    }
    Ok(units)
}

/// An admission in the log.
struct Found<M> {
    /// The element that holds it.
    element: Element<M>,
    /// What it says.
    entry: Entry,
    /// The marks of its IDs.
    marks: Vec<Vec<u8>>,
}

/// The admission with this receipt.
fn find<L: Log>(log: &mut L, receipt: i64) -> Option<Found<L::Member>> {
    let mut marks = Vec::new();
    let mut at = log.first_after(receipt.saturating_sub(1));
    while let Some(element) = at {
        match element.entry {
            Some(entry) if entry.is_single() && element.score_us == receipt => {
                return Some(Found { element, entry, marks });
            }
            Some(entry @ Entry { kind: Kind::Bundle { .. }, .. })
                if element.live_after(receipt.saturating_sub(1)).is_some_and(|(_, us)| us == receipt) =>
            {
                // It may hold others, and none of them has an ID.
                return Some(Found { element, entry, marks: Vec::new() });
            }
            // Only an element of somebody else can lie between a receipt and its bundle.
            Some(_) if element.score_us > receipt => return None,
            None if element.is_mark && element.score_us == receipt => {
                marks.push(element.member.as_ref().to_vec());
            }
            _ => {}
        }
        at = log.next();
    }
    None
}

/// What is left of an element, with its new total, without `units` of the admission with this receipt.
fn without<M: AsRef<[u8]>>(taken: &Element<M>, receipt: i64, entry: Entry, units: u64) -> Option<Scored> {
    if matches!(entry.kind, Kind::Bundle { .. }) {
        let mut times_us = taken.times_us();
        times_us.retain(|&time_us| time_us != receipt);
        return bundle::spell(entry.total, &times_us);
    }
    let weight = entry.weight.saturating_sub(units);
    (weight > 0).then(|| (taken.score_us, Entry { weight, ..entry }.encode().as_bytes().to_vec()))
}

/// The member of an element with another total.
fn renamed<M: AsRef<[u8]>>(element: &Element<M>, entry: Entry, total: u64) -> Vec<u8> {
    let mut member = Entry { total, ..entry }.encode().as_bytes().to_vec();
    if matches!(entry.kind, Kind::Bundle { .. }) {
        let times = element.member.as_ref().iter().skip_while(|&&byte| byte != b';');
        member.extend(times);
    }
    member
}

/// The entries of a walk, or `None` where it has more than `most` elements, marks not counted.
fn entries<M>(most: usize, walk: impl FnMut() -> Option<Element<M>>) -> Option<Vec<(Element<M>, Entry)>> {
    let mut walk = std::iter::from_fn(walk).filter(|element| !element.is_mark);
    let mut found = Vec::new();
    for _ in 0..=most {
        let Some(element) = walk.next() else { return Some(found) };
        if let Some(entry) = element.entry {
            found.push((element, entry));
        }
    }
    None
}
