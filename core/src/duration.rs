//! Durations as people write them: `60`, `0.5`, `250ms`, `5m`, `1.5h`, `7d`.

use crate::entry::number;
use crate::{MAX_WINDOW_US, MIN_WINDOW_US};

/// A duration in µs: `60`, `0.5`, `250ms`, `1.5h`. `None` for anything that is not exactly that, is finer
/// than 1 µs, or lies outside 1ms to 3650d.
pub fn duration_us(text: &[u8]) -> Option<i64> {
    let (whole, mut suffix) = number(text)?;
    let mut fraction: Option<&[u8]> = None;
    if let Some(after) = suffix.strip_prefix(b".") {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (fraction, suffix) = (after.get(..digits), after.get(digits..)?);
    }
    let unit_us: u64 = match suffix {
        b"ms" => 1_000,
        b"" | b"s" => 1_000_000,
        b"m" => 60_000_000,
        b"h" => 3_600_000_000,
        b"d" => 86_400_000_000,
        _ => return None,
    };
    let mut length_us = whole.checked_mul(unit_us)?;
    if let Some(digits) = fraction {
        length_us = length_us.checked_add(fraction_us(digits, unit_us)?)?;
    }
    i64::try_from(length_us).ok().filter(|length_us| (MIN_WINDOW_US..=MAX_WINDOW_US).contains(length_us))
}

/// What `0.digits` of a unit are in µs, where that is a whole number.
fn fraction_us(digits: &[u8], unit_us: u64) -> Option<u64> {
    let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(0);
    let significant = digits.get(..=last)?;
    let scaled = significant
        .iter()
        .try_fold(0_u128, |value, digit| value.checked_mul(10)?.checked_add(u128::from(digit & 0x0f)))?;
    let scale = 10_u128.checked_pow(u32::try_from(significant.len()).ok()?)?;
    let us = scaled.checked_mul(u128::from(unit_us))?;
    let is_whole = us.checked_rem(scale)? == 0;
    is_whole.then(|| u64::try_from(us.checked_div(scale)?).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let table: &[(&str, Option<i64>)] = &[
            ("60", Some(60_000_000)),
            ("1", Some(1_000_000)),
            ("0.5", Some(500_000)),
            ("0.001", Some(1_000)),
            ("0.001001", Some(1_001)),
            ("0.0010000000000000000000000000000000000", Some(1_000)),
            ("2.50", Some(2_500_000)),
            ("1ms", Some(1_000)),
            ("250ms", Some(250_000)),
            ("1.001ms", Some(1_001)),
            ("30s", Some(30_000_000)),
            ("5m", Some(300_000_000)),
            ("0.00050005m", Some(30_003)),
            ("1.5h", Some(5_400_000_000)),
            ("24h", Some(86_400_000_000)),
            ("7d", Some(604_800_000_000)),
            ("0.00000001d", None),
            ("0.0000003125d", Some(27_000)),
            ("3650d", Some(MAX_WINDOW_US)),
            ("315360000", Some(MAX_WINDOW_US)),
            ("315360000.000001", None),
            ("3650.1d", None),
            ("3651d", None),
            ("0", None),
            ("0.0009", None),
            ("0.9ms", None),
            ("0.0010001", None),
            ("1.0005ms", None),
            ("0.000000055m", None),
            ("0.00100000000000000000000000000000000001", None),
            ("", None),
            ("-1", None),
            ("+1", None),
            (" 1", None),
            ("1 ", None),
            ("05", None),
            ("00.5", None),
            (".5", None),
            ("5.", None),
            ("1.5.5", None),
            ("1.-5", None),
            ("1,5", None),
            ("1e3", None),
            ("1e308", None),
            ("0x10", None),
            ("abc", None),
            ("nan", None),
            ("inf", None),
            ("s", None),
            ("ms", None),
            ("5S", None),
            ("5MS", None),
            ("5us", None),
            ("5w", None),
            ("5mm", None),
            ("5m5", None),
            ("5m5s", None),
            ("1.s", None),
            ("18446744073709551616", None),
            ("99999999999999999999999999999d", None),
            ("1\0", None),
            ("\u{661}", None),
        ];
        for &(text, length_us) in table {
            assert_eq!(duration_us(text.as_bytes()), length_us, "{text:?}");
        }
    }
}
