//! The member of one entry of the log: its running total and its weight, as text.
//!
//! ```text
//! 4711        total 4711, weight 1
//! 4811:100    total 4811, weight 100
//! 4812~1      total 4812, weight 1, shared by several admissions
//! ```
//!
//! Small integers keep a listpack entry at about 16 bytes, and a person can read the log with
//! `ZRANGE key 0 -1 WITHSCORES`. Only the canonical spelling decodes, so that a member has one reading
//! and an entry has one name: everything else is a foreign member.

/// Who may add to an entry, and whether somebody holds its receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One admission. Its score is its receipt.
    Single,
    /// Several admissions in one (RESOLUTION, or the repair after the clock stepped back). No receipt names it.
    Shared,
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
    /// The member that spells this entry.
    pub fn encode(self) -> Member {
        let mut member = Member { bytes: [0; Member::CAPACITY], start: Member::CAPACITY };
        match (self.kind, self.weight) {
            (Kind::Single, 1) => {}
            (Kind::Single, weight) => {
                member.prepend_number(weight);
                member.prepend(b':');
            }
            (Kind::Shared, weight) => {
                member.prepend_number(weight);
                member.prepend(b'~');
            }
        }
        member.prepend_number(self.total);
        member
    }

    /// The entry that `member` spells, or `None` where we did not write it.
    pub fn decode(member: &[u8]) -> Option<Self> {
        let (total, rest) = number(member)?;
        match rest.split_first() {
            None => Some(Entry { total, weight: 1, kind: Kind::Single }),
            Some((&separator, weight)) => {
                let kind = match separator {
                    b':' => Kind::Single,
                    b'~' => Kind::Shared,
                    _ => return None,
                };
                let (weight, rest) = number(weight)?;
                let least = if kind == Kind::Single { 2 } else { 1 };
                (rest.is_empty() && (least..=MAX_WEIGHT).contains(&weight)).then_some(Entry {
                    total,
                    weight,
                    kind,
                })
            }
        }
    }
}

/// The number that `bytes` begin with, in its only spelling, and what follows it.
pub fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut rest) = (0_u64, bytes);
    while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
        value = value.checked_mul(10)?.checked_add(u64::from(digit & 0x0f))?;
        rest = after;
    }
    let digits = bytes.len().saturating_sub(rest.len());
    (digits == 1 || (digits > 1 && bytes.first() != Some(&b'0'))).then_some((value, rest))
}

/// A member on the stack: written from its end, so that no digit is moved.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    bytes: [u8; Member::CAPACITY],
    start: usize,
}

impl Member {
    /// Two `u64` of 20 digits and a separator.
    const CAPACITY: usize = 41;

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
        let table: &[(&str, u64, u64, Kind)] = &[
            ("0", 0, 1, Kind::Single),
            ("1", 1, 1, Kind::Single),
            ("4711", 4711, 1, Kind::Single),
            ("0:2", 0, 2, Kind::Single),
            ("4811:100", 4811, 100, Kind::Single),
            ("4812~1", 4812, 1, Kind::Shared),
            ("9~7", 9, 7, Kind::Shared),
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
            b":2",
            b"~2",
            b"1;2",
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
        fn an_entry_survives_its_spelling(total: u64, weight in 1..=MAX_WEIGHT, shared: bool) {
            let kind = if shared { Kind::Shared } else { Kind::Single };
            let entry = Entry { total, weight, kind };
            prop_assert_eq!(Entry::decode(entry.encode().as_bytes()), Some(entry));
        }

        #[test]
        fn what_decodes_is_spelled_the_same(bytes in "[0-9:~]{0,24}") {
            if let Some(entry) = Entry::decode(bytes.as_bytes()) {
                let member = entry.encode();
                prop_assert_eq!(member.as_bytes(), bytes.as_bytes());
            }
        }
    }
}
