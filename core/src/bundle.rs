//! Bundles: several admissions of one unit each in one element, each with its exact time.
//!
//! ```text
//! 4822:3;0Vo1Fk      total 4822, three admissions: one at the score, one 0Vo µs before it, one 1Fk µs before it
//! ```
//!
//! An element costs a sorted set 8 to 100 bytes besides its member, and a listpack is walked element by element. So a
//! log with many elements holds its admissions in bundles. The totals of a bundle's parts are consecutive, hence the
//! bundle of `n` parts with total `T` stands for the plain entries `T-n+1` to `T`.
//!
//! The times of the older parts are offsets from the score, in µs, nearest first, in base 64 with the characters `0` to
//! `o` (0x30 to 0x6f). All have the same width, so that any part is read without the others, and the first live one is
//! found by halving. Decimal, base-36 and variable-width gaps were tried: they must be read from the start, which makes
//! a refusal 1.5 to 2 times as slow. Raw bytes gain one byte a part, and nobody can read them.

use crate::count::first_entry_after;
use crate::entry::{Entry, Kind};
use crate::log::{Element, Record, Scored};

/// The longest member that is written. A total may later grow by up to 20 digits, when a refund renames the bundle.
const MAX_BYTES: usize = 256;
/// The longest member that a listpack takes by default; a longer one turns it into a skip list.
const MAX_LISTPACK_BYTES: usize = 64;
/// The widest offset: ten characters are 60 bits of µs.
const MAX_WIDTH: usize = 10;

/// When and how entries are bundled.
struct Policy {
    /// A log with fewer elements stays as it is.
    least_elements: u64,
    /// A log with at most this many elements, and this many units, stays a listpack.
    most_packed: (u64, u64),
    /// In such a log entries are bundled whenever the total is a multiple of this.
    every_packed: u64,
    /// In a larger one, whenever it is a multiple of this.
    every: u64,
    /// A rest of fewer entries is left for the next time.
    least_rest: usize,
    /// The most entries that are bundled at a time.
    most_at_once: usize,
}

#[cfg(not(feature = "tiny-bundles"))]
const POLICY: Policy = Policy {
    least_elements: 12,
    most_packed: (64, 128),
    every_packed: 12,
    every: 48,
    least_rest: 6,
    most_at_once: 64,
};
/// Bundles at every chance, so that short random sequences meet all of it.
#[cfg(feature = "tiny-bundles")]
const POLICY: Policy = Policy {
    least_elements: 3,
    most_packed: (5, 9),
    every_packed: 2,
    every: 2,
    least_rest: 2,
    most_at_once: 4,
};

/// The width of the offsets in `times`, which follow the weight in `member`; `None` where this is no bundle. Looks at the
/// structure only.
pub(crate) fn width_of(member: &[u8], times: &[u8], weight: u64) -> Option<u8> {
    let offsets = usize::try_from(weight.checked_sub(1)?).ok()?;
    let length = times.strip_prefix(b";")?.len();
    let width = length.checked_div(offsets)?;
    let is_whole = width.checked_mul(offsets)? == length && (1..=MAX_WIDTH).contains(&width);
    (is_whole && member.len() <= MAX_BYTES.saturating_add(20)).then_some(width as u8)
}

/// The times of a bundle, as its member spells them.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    /// The score of the bundle.
    pub score_us: i64,
    /// How many there are.
    pub count: u64,
    /// How wide an offset is.
    pub width: u8,
    /// The member, which ends in the offsets.
    pub member: &'a [u8],
}

impl Parts<'_> {
    /// The time of the part that has `newer` parts after it.
    pub fn time_us(self, newer: u64) -> i64 {
        let width = usize::from(self.width);
        // The last offset is that of the part which has all others after it.
        let older = self.count.saturating_sub(newer).saturating_sub(1) as usize;
        let end = self.member.len().saturating_sub(older.saturating_mul(width));
        let digits = if newer == 0 { None } else { self.member.get(end.saturating_sub(width)..end) };
        let offset_us =
            digits.unwrap_or_default().iter().fold(0, |us, digit| (us << 6) | i64::from(value_of(*digit)));
        self.score_us.saturating_sub(offset_us)
    }

    /// How many parts are newer than `since_us`. At least the newest is.
    pub fn count_after(self, since_us: i64) -> u64 {
        // The part with `low` newer ones is newer than `since_us`, the one with `high` is not, or there is none.
        let (mut low, mut high) = (0, self.count);
        while high.saturating_sub(low) > 1 {
            let middle = low.saturating_add(high.saturating_sub(low) / 2);
            if self.time_us(middle) > since_us {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

fn value_of(digit: u8) -> u8 {
    digit.wrapping_sub(b'0') & 0x3f
}

/// The element that holds admissions of one unit each at these times, newest first, the newest with this total: a
/// bundle, or a plain entry where there is only one.
pub(crate) fn spell(total: u64, times_us: &[i64]) -> Option<Scored> {
    let (&newest_us, &oldest_us) = (times_us.first()?, times_us.last()?);
    let weight = times_us.len() as u64;
    let mut member = head(total, weight);
    if weight > 1 {
        member.push(b';');
        let width = width(newest_us.saturating_sub(oldest_us));
        for &time_us in times_us.iter().skip(1) {
            let offset_us = newest_us.saturating_sub(time_us);
            for place in (0..width as u32).rev() {
                let digit = (offset_us >> place.saturating_mul(6)) as u8 & 0x3f;
                member.push(digit.saturating_add(b'0'));
            }
        }
    }
    Some((newest_us, member))
}

/// What a bundle begins with.
fn head(total: u64, weight: u64) -> Vec<u8> {
    Entry { total, weight, kind: Kind::Single }.encode().as_bytes().to_vec()
}

/// How many characters an offset takes.
fn width(offset_us: i64) -> usize {
    let bits = 64_u32.saturating_sub(offset_us.leading_zeros());
    bits.div_ceil(6).max(1) as usize
}

/// Bundles the plain entries before the newest one, which has just been added, where it is time to. Answers whether it
/// did, so that what is known of the old end must be read again.
pub(crate) fn bundle(log: &mut impl Record, newest_us: i64, newest: Entry) -> bool {
    if newest.weight != 1 || newest.kind != Kind::Single || newest.total % POLICY.every_packed != 0 {
        return false;
    }
    let elements = log.len();
    if elements < POLICY.least_elements {
        return false;
    }
    let is_packed = is_packed(log, elements, newest.total);
    if !is_packed && newest.total % POLICY.every != 0 {
        return false;
    }
    let entries = plain_before(log, newest_us, newest.total);
    let most_bytes = if is_packed { MAX_LISTPACK_BYTES } else { MAX_BYTES };
    let mut bundles = Vec::new();
    // Times are newest first, so the oldest group lies at the end.
    let mut left = entries.as_slice();
    while left.len() >= POLICY.least_rest {
        let newer = group(left, newest.total, most_bytes);
        let (rest, times_us) = left.split_at(newer);
        let total = newest.total.wrapping_sub(1).wrapping_sub(newer as u64);
        bundles.extend(spell(total, times_us));
        left = rest;
    }
    if bundles.is_empty() {
        return false;
    }
    let bundled = entries.iter().enumerate().skip(left.len()).rev();
    let singles: Vec<Scored> = bundled
        .filter_map(|(newer, time_us)| {
            let total = newest.total.wrapping_sub(1).wrapping_sub(newer as u64);
            spell(total, std::slice::from_ref(time_us))
        })
        .collect();
    log.bundle(&singles, &bundles);
    true
}

/// Whether the log is small enough to be, and to stay, a listpack.
fn is_packed(log: &mut impl Record, elements: u64, newest_total: u64) -> bool {
    let (most_elements, most_units) = POLICY.most_packed;
    let oldest = if elements <= most_elements { first_entry_after(log, i64::MIN).0 } else { None };
    let oldest = oldest.and_then(|oldest| oldest.entry);
    oldest.is_some_and(|oldest| newest_total.wrapping_sub(oldest.total) <= most_units)
}

/// The times of the plain entries before the newest one, newest first, as far back as their totals are consecutive.
fn plain_before(log: &mut impl Record, newest_us: i64, newest_total: u64) -> Vec<i64> {
    let mut times_us = Vec::with_capacity(POLICY.most_at_once);
    let mut at = log.last_up_to(newest_us.saturating_sub(1));
    while let Some(Element { score_us, entry, .. }) = at {
        let total = newest_total.wrapping_sub(1).wrapping_sub(times_us.len() as u64);
        let is_next = entry == Some(Entry { total, weight: 1, kind: Kind::Single });
        if !is_next || times_us.len() == POLICY.most_at_once {
            // It must not lie in the range of scores that is removed: it may be the mark of the entry after it.
            if times_us.last() == Some(&score_us) {
                times_us.pop();
            }
            break;
        }
        times_us.push(score_us);
        at = log.prev();
    }
    times_us
}

/// How many of these entries are newer than the group of the oldest ones that fit into one member.
fn group(times_us: &[i64], newest_total: u64, most_bytes: usize) -> usize {
    let Some(&oldest_us) = times_us.last() else { return 0 };
    let head = head(newest_total, times_us.len() as u64);
    let room = most_bytes.saturating_sub(head.len()).saturating_sub(1);
    let fits = |newer: &usize| {
        let Some(newest_us) = times_us.get(*newer) else { return false };
        let offsets = times_us.len().saturating_sub(*newer).saturating_sub(1);
        offsets.saturating_mul(width(newest_us.saturating_sub(oldest_us))) <= room
    };
    (0..times_us.len()).find(fits).unwrap_or(0)
}
