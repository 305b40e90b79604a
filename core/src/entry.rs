//! The member of one entry of the log: its running total and its weight, as text.
//!
//! ```text
//! 4711        total 4711, weight 1
//! 4811:100    total 4811, weight 100
//! 4812~1      total 4812, weight 1, shared by several admissions
//! 4813>250000 total 4813, weight 1, a place in line: taken 250,000 µs before its score
//! 4822:10;... a bundle: ten admissions of one unit each, each with its own time (see `bundle`)
//! ```
//!
//! A place of more units is `4815:2>250000`. What a repair makes of places that a clock has left too far ahead is
//! `4815~2>250000`.
//!
//! Small integers keep a listpack entry at about 16 bytes, and a person can read the log with
//! `ZRANGE key 0 -1 WITHSCORES`. Only the canonical spelling decodes, so that a member has one reading
//! and an entry has one name: everything else is a foreign member.

use crate::bundle;

/// Who may add to an entry, and whether somebody holds its receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One admission. Its score is its receipt.
    Single,
    /// Several admissions in one (RESOLUTION, or the repair after the clock stepped back). No receipt names it.
    Shared,
    /// Several admissions of one unit each, each with its own time and receipt. The score is the time of the newest, and
    /// the member says how much earlier the others were.
    Bundle {
        /// How many characters of the member say it for each of them.
        width: u8,
    },
    /// A place in line: recorded at a time that had not come.
    Place {
        /// How far the score was ahead of the clock when it was recorded, in µs, at least 1.
        ahead_us: i64,
        /// Whether it holds several admissions, so that no receipt names it.
        is_shared: bool,
    },
}

/// Nothing we write is heavier: differences of 2^63 and more are no counts, since totals wrap.
pub const MAX_WEIGHT: u64 = i64::MAX as u64;

/// What one element of the log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Units over the life of the log, this entry included; wraps.
    pub total: u64,
    /// Units of this entry, from 1 to [`MAX_WEIGHT`].
    pub weight: u64,
    /// Whether it is one admission or several.
    pub kind: Kind,
}

impl Entry {
    /// How far its score was ahead of the clock when it was recorded: 0, unless it is a place in line.
    pub fn ahead_us(self) -> i64 {
        if let Kind::Place { ahead_us, .. } = self.kind {
            ahead_us
        } else {
            0
        }
    }

    /// Whether it is one admission, which its score names.
    pub(crate) fn is_single(self) -> bool {
        matches!(self.kind, Kind::Single | Kind::Place { is_shared: false, .. })
    }

    /// The member that spells this entry. Of a bundle it is the part before the times.
    pub fn encode(self) -> Member {
        let mut member = Member { bytes: [0; Member::CAPACITY], start: Member::CAPACITY };
        if let Kind::Place { ahead_us, .. } = self.kind {
            member.prepend_number(ahead_us.unsigned_abs());
            member.prepend(b'>');
        }
        let is_shared = matches!(self.kind, Kind::Shared | Kind::Place { is_shared: true, .. });
        if is_shared || self.weight != 1 {
            member.prepend_number(self.weight);
            member.prepend(if is_shared { b'~' } else { b':' });
        }
        member.prepend_number(self.total);
        member
    }

    /// The entry that `member` spells, or `None` where we did not write it.
    pub fn decode(member: &[u8]) -> Option<Self> {
        let (total, rest) = number(member)?;
        let Some((&separator, weight)) = rest.split_first() else {
            return Some(Entry { total, weight: 1, kind: Kind::Single });
        };
        if separator == b'>' {
            return Some(Entry { total, weight: 1, kind: place(rest, false)? });
        }
        let (weight, rest) = number(weight)?;
        let is_shared = separator == b'~';
        let kind = match (separator, rest.first()) {
            (b':', None) => Kind::Single,
            (b':', Some(b';')) => Kind::Bundle { width: bundle::width_of(member, rest, weight)? },
            (b'~', None) => Kind::Shared,
            (b':' | b'~', _) => place(rest, is_shared)?,
            _ => return None,
        };
        let least = if is_shared { 1 } else { 2 };
        (least..=MAX_WEIGHT).contains(&weight).then_some(Entry { total, weight, kind })
    }
}

/// The place whose distance `rest` says, a `>` and a number of at least 1.
fn place(rest: &[u8], is_shared: bool) -> Option<Kind> {
    let (ahead_us, b"") = number(rest.strip_prefix(b">")?)? else { return None };
    let ahead_us = i64::try_from(ahead_us).ok().filter(|&ahead_us| ahead_us > 0)?;
    Some(Kind::Place { ahead_us, is_shared })
}

/// The number that `bytes` begin with, in its only spelling, and what follows it.
pub fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut digits = 0_usize;
    for &digit in bytes.iter().take_while(|byte| byte.is_ascii_digit()) {
        let digit = u64::from(digit & 0x0f);
        // Nineteen digits fit; the check is for those after them.
        value = if digits < 19 {
            value.wrapping_mul(10).wrapping_add(digit)
        } else {
            value.checked_mul(10)?.checked_add(digit)?
        };
        digits = digits.wrapping_add(1);
    }
    let is_canonical = digits == 1 || (digits > 1 && bytes.first() != Some(&b'0'));
    is_canonical.then(|| (value, bytes.get(digits..).unwrap_or_default()))
}

/// A member on the stack: written from its end, so that no digit is moved.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    bytes: [u8; Member::CAPACITY],
    start: usize,
}

impl Member {
    /// Two `u64` of 20 digits, an `i64` of 19, and two separators.
    const CAPACITY: usize = 61;

    /// The text of the member.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn prepend(&mut self, byte: u8) {
        self.start = self.start.saturating_sub(1);
        if let Some(place) = self.bytes.get_mut(self.start) {
            *place = byte;
        }
    }

    fn prepend_number(&mut self, mut number: u64) {
        loop {
            self.prepend(b'0'.saturating_add((number % 10) as u8));
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX: u64 = u64::MAX;

    #[test]
    fn the_canonical_spelling() {
        let place = |ahead_us| Kind::Place { ahead_us, is_shared: false };
        let shared_place = |ahead_us| Kind::Place { ahead_us, is_shared: true };
        let table: &[(&str, u64, u64, Kind)] = &[
            ("4813>1", 4813, 1, place(1)),
            ("4815:2>250000", 4815, 2, place(250_000)),
            ("4815~1>250000", 4815, 1, shared_place(250_000)),
            (
                "18446744073709551615:9223372036854775807>9223372036854775807",
                MAX,
                MAX_WEIGHT,
                place(i64::MAX),
            ),
            ("0", 0, 1, Kind::Single),
            ("1", 1, 1, Kind::Single),
            ("4711", 4711, 1, Kind::Single),
            ("0:2", 0, 2, Kind::Single),
            ("4811:100", 4811, 100, Kind::Single),
            ("4812~1", 4812, 1, Kind::Shared),
            ("9~7", 9, 7, Kind::Shared),
            ("9:2", 9, 2, Kind::Single),
            ("18446744073709551615", MAX, 1, Kind::Single),
            ("18446744073709551615:9223372036854775807", MAX, MAX_WEIGHT, Kind::Single),
            ("18446744073709551615~9223372036854775807", MAX, MAX_WEIGHT, Kind::Shared),
        ];
        for &(text, total, weight, kind) in table {
            let entry = Entry { total, weight, kind };
            assert_eq!(entry.encode().as_bytes(), text.as_bytes(), "{entry:?}");
            assert_eq!(Entry::decode(text.as_bytes()), Some(entry), "{text}");
        }
    }

    #[test]
    fn everything_else_is_foreign() {
        let table: &[&[u8]] = &[
            b"",
            b"a",
            b"-1",
            b"+1",
            b" 1",
            b"1 ",
            b"01",
            b"00",
            b"1.0",
            b"1e3",
            b"1:",
            b"1:0",
            b"1:1",
            b"1:01",
            b"1:+2",
            b"1:2:3",
            b"1:2~3",
            b"1~",
            b"1~0",
            b"1~01",
            b"1~2~3",
            b"9:2;",
            b"9:1;0",
            b"9:3;000",
            b"9~2;0",
            b"9;0",
            b"9:2:0",
            b"9:2;00000000000",
            b":2",
            b"~2",
            b"1;2",
            b"1>",
            b"1>0",
            b"1>01",
            b"1>-1",
            b"1>2>3",
            b"1>2:3",
            b"1>2~3",
            b"1>9223372036854775808",
            b"1:1>2",
            b"1:2>0",
            b"1:2>",
            b"1:2>3;0",
            b"1~0>2",
            b">2",
            b"1\0",
            b"\0",
            b"\xff",
            b"1:\xff",
            b"18446744073709551616",
            b"1:9223372036854775808",
            b"1~9223372036854775808",
            b"1:18446744073709551616",
            b"99999999999999999999999999999999",
        ];
        for text in table {
            assert_eq!(Entry::decode(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn an_entry_survives_its_spelling(
            total: u64, weight in 1..=MAX_WEIGHT, is_shared: bool, ahead_us in prop::option::of(1..=i64::MAX),
        ) {
            let kind = match ahead_us {
                Some(ahead_us) => Kind::Place { ahead_us, is_shared },
                None => if is_shared { Kind::Shared } else { Kind::Single },
            };
            let entry = Entry { total, weight, kind };
            prop_assert_eq!(Entry::decode(entry.encode().as_bytes()), Some(entry));
        }

        #[test]
        fn what_decodes_is_spelled_the_same(bytes in "[0-9:~>]{0,24}") {
            if let Some(entry) = Entry::decode(bytes.as_bytes()) {
                let member = entry.encode();
                prop_assert_eq!(member.as_bytes(), bytes.as_bytes());
            }
        }
    }
}
