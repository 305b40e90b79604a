//! Durations as people write them: `60`, `0.5`, `250ms`, `5m`, `1.5h`, `7d`.

use crate::entry::number;
use crate::{MAX_WINDOW_US, MIN_WINDOW_US};

/// A duration in µs: `60`, `0.5`, `250ms`, `1.5h`. Any number of decimals is taken, since languages print
/// 0.1 as `0.10000000000000001` too, and rounded to the nearest µs. `None` for anything that is not exactly
/// that, or lies outside 1ms to 3650d once it is rounded.
pub fn duration_us(text: &[u8]) -> Option<i64> {
    let (whole, mut suffix) = number(text)?;
    let mut decimals: Option<&[u8]> = None;
    if let Some(after) = suffix.strip_prefix(b".") {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        (decimals, suffix) = (after.get(..digits), after.get(digits..)?);
    }
    let unit_us: u64 = match suffix {
        b"ms" => 1_000,
        b"" | b"s" => 1_000_000,
        b"m" => 60_000_000,
        b"h" => 3_600_000_000,
        b"d" => 86_400_000_000,
        _ => return None,
    };
    let fraction_us = decimals.map_or(0, |digits| fraction_us(digits, unit_us));
    let length_us = whole.checked_mul(unit_us)?.checked_add(fraction_us)?;
    i64::try_from(length_us).ok().filter(|length_us| (MIN_WINDOW_US..=MAX_WINDOW_US).contains(length_us))
}

/// What `0.digits` of a unit are in µs, rounded half up. It counts half µs from the last digit on. To drop the remainder
/// of each division changes nothing, since floor((n + floor(x)) / 10) is floor((n + x) / 10) for whole n.
fn fraction_us(digits: &[u8], unit_us: u64) -> u64 {
    let half_us = digits.iter().rev().fold(0_u64, |below, digit| {
        let this = u64::from(digit & 0x0f).saturating_mul(unit_us).saturating_mul(2);
        this.saturating_add(below) / 10
    });
    half_us.div_ceil(2)
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
            ("0.00000001d", None), // 864 µs
            ("0.0000003125d", Some(27_000)),
            ("3650d", Some(MAX_WINDOW_US)),
            ("315360000", Some(MAX_WINDOW_US)),
            ("315360000.000001", None),
            ("315360000.0000005", None),
            ("315360000.00000049999999999", Some(MAX_WINDOW_US)),
            ("3650.1d", None),
            ("3651d", None),
            ("0", None),
            ("0.0009", None),
            ("0.9ms", None),
            ("0.0010001", Some(1_000)),
            ("0.0009994999999999999999", None),
            ("0.0009995", Some(1_000)),
            ("1.0004ms", Some(1_000)),
            ("1.0005ms", Some(1_001)),
            ("1.00049999999999999999999999999999999999999999999999ms", Some(1_000)),
            ("0.00002000833333333333333333333333m", Some(1_200)),
            ("0.00002000833333333333333333333334m", Some(1_201)),
            ("0.00100000000000000000000000000000000001", Some(1_000)),
            ("0.10000000000000001", Some(100_000)),
            ("0.30000000000000004", Some(300_000)),
            ("1.9999999999999999999999", Some(2_000_000)),
            ("18446744073709551615.9999999", None),
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
            ("1.ms", None),
            ("1.0000001x", None),
            ("18446744073709551616", None),
            ("99999999999999999999999999999d", None),
            ("1\0", None),
            ("\u{661}", None),
        ];
        for &(text, length_us) in table {
            assert_eq!(duration_us(text.as_bytes()), length_us, "{text:?}");
        }
    }

    #[test]
    fn as_languages_print_them() {
        for ms in 1_i64..=1_000 {
            // C's and Lua's `%.17g`: 17 significant digits, without the zeros at the end.
            let decimals = [19, 18, 17, 16][ms.ilog10() as usize];
            let text = format!("{:.decimals$}", ms as f64 / 1_000.0);
            let text = text.trim_end_matches('0').trim_end_matches('.');
            assert_eq!(duration_us(text.as_bytes()), Some(ms * 1_000), "{text}");
        }
    }
}
