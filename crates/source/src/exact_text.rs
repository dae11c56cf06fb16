// SPDX-License-Identifier: Apache-2.0
//! Values written as text, read exactly or not at all: ISO dates, times and timestamps, and decimal numbers.

use chrono::DateTime;
use weir_base::{CalendarDay, DAY_MICROS};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A timestamp as its text says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextInstant {
    /// Microseconds since 1970-01-01: UTC when a zone was written, else the wall clock as written.
    pub(crate) micros: i64,
    pub(crate) zoned: bool,
}

/// `YYYY-MM-DD` to days since 1970-01-01; `None` for anything else.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&bytes[..4])?, digits(&bytes[5..7])?, digits(&bytes[8..])?);
    let days = CalendarDay { year, month: u32::try_from(month).ok()?, day: u32::try_from(day).ok()? }.days()?;
    i32::try_from(days).ok()
}

/// `HH:MM[:SS[.fraction]]` to microseconds since midnight; `None` for anything else and for a fraction finer than microseconds.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let bytes = clock.as_bytes();
    let with_seconds = bytes.len() == 8;
    if !(with_seconds || bytes.len() == 5 && fraction.is_none()) || bytes[2] != b':' || with_seconds && bytes[5] != b':' {
        return None;
    }
    let (hour, minute) = (digits(&bytes[..2])?, digits(&bytes[3..5])?);
    let second = if with_seconds { digits(&bytes[6..])? } else { 0 };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let micros = fraction.map_or(Some(0), parse_fraction)?;
    Some(((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND + micros)
}

/// `DATE[ |T]TIME[zone]`, or a bare date, which is its midnight. The zone is `Z`, ` UTC`, `+HH`, `+HHMM` or `+HH:MM`.
pub(crate) fn parse_timestamp(text: &str) -> Option<TextInstant> {
    let days = i64::from(parse_date(text.get(..10)?)?);
    let Some(rest) = text.get(11..) else {
        return (text.len() == 10).then_some(TextInstant { micros: days * DAY_MICROS, zoned: false });
    };
    if !matches!(text.as_bytes()[10], b' ' | b'T') {
        return None;
    }
    let zone_at = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone_at);
    let local = days * DAY_MICROS + parse_time(clock)?;
    if zone.is_empty() {
        return Some(TextInstant { micros: local, zoned: false });
    }
    Some(TextInstant { micros: local - parse_offset(zone.trim_start())? * 60 * MICROS_PER_SECOND, zoned: true })
}

/// A zone to minutes east of UTC.
fn parse_offset(zone: &str) -> Option<i64> {
    if zone == "Z" || zone == "UTC" {
        return Some(0);
    }
    let (sign, rest) = zone.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let compact: String = rest.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match compact.len() {
        2 => (digits(compact.as_bytes())?, 0),
        4 => (digits(&compact.as_bytes()[..2])?, digits(&compact.as_bytes()[2..])?),
        _ => return None,
    };
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

/// Digits after a point to microseconds; `None` when something finer than a microsecond would be lost.
fn parse_fraction(text: &str) -> Option<i64> {
    let (kept, lost) = text.as_bytes().split_at(text.len().min(6));
    if kept.is_empty() || lost.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let scale = 10_i64.pow(6 - u32::try_from(kept.len()).ok()?);
    Some(digits(kept)? * scale)
}

fn digits(bytes: &[u8]) -> Option<i64> {
    if bytes.is_empty() || bytes.len() > 18 {
        return None;
    }
    bytes.iter().try_fold(0_i64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// A plain decimal number (`-12.50`, `1e3`) as unscaled digits at `scale`; `None` when it is no number or does not fit exactly.
pub(crate) fn parse_decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = all.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let zeros_cut = i32::try_from(all.len() - all.trim_end_matches('0').len()).ok()?;
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?.checked_add(zeros_cut)?.checked_add(i32::from(scale))?;
    let unscaled = significant.parse::<i128>().ok()?.checked_mul(10_i128.checked_pow(u32::try_from(shift).ok()?)?)?;
    fits(unscaled, precision).then_some(if negative { -unscaled } else { unscaled })
}

/// Whether unscaled digits stay within `precision` digits.
pub(crate) fn fits(unscaled: i128, precision: u8) -> bool {
    10_u128.checked_pow(u32::from(precision)).is_none_or(|bound| unscaled.unsigned_abs() < bound)
}

/// Unscaled digits as a plain decimal number, for literals: `-12.50`.
pub(crate) fn decimal_text(unscaled: i128, scale: i8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = unscaled.unsigned_abs().to_string();
    let Ok(places) = usize::try_from(scale) else {
        return format!("{sign}{digits}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// `YYYY-MM-DD` of days since 1970-01-01; `None` outside the years 1 to 9999, which not every source can spell.
pub(crate) fn date_text(days: i32) -> Option<String> {
    let CalendarDay { year, month, day } = CalendarDay::from_days(i64::from(days));
    (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// `HH:MM:SS.ffffff` of microseconds since midnight.
pub(crate) fn time_text(micros: i64) -> Option<String> {
    if !(0..DAY_MICROS).contains(&micros) {
        return None;
    }
    let (seconds, fraction) = (micros / MICROS_PER_SECOND, micros % MICROS_PER_SECOND);
    Some(format!("{:02}:{:02}:{:02}.{fraction:06}", seconds / 3600, seconds / 60 % 60, seconds % 60))
}

/// `YYYY-MM-DD HH:MM:SS.ffffff` of microseconds since 1970-01-01; `None` outside the years 1 to 9999.
pub(crate) fn timestamp_text(micros: i64) -> Option<String> {
    let at = DateTime::from_timestamp_micros(micros)?;
    (1..=9999).contains(&chrono::Datelike::year(&at)).then(|| at.format("%Y-%m-%d %H:%M:%S%.6f").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_exact_or_nothing() {
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_date("0001-01-01").and_then(date_text).as_deref(), Some("0001-01-01"));
        assert_eq!(parse_date("2026-02-29"), None);
        assert_eq!(parse_date("2026-2-9"), None);
        assert_eq!(parse_time("12:34:56.000001"), Some(45_296_000_001));
        assert_eq!(parse_time("12:34:56.1000000"), parse_time("12:34:56.1"));
        assert_eq!(parse_time("12:34:56.0000001"), None);
        assert_eq!(parse_time("24:00:00"), None);
    }

    #[test]
    fn timestamps_know_their_zone() {
        let naive = |micros| Some(TextInstant { micros, zoned: false });
        let zoned = |micros| Some(TextInstant { micros, zoned: true });
        assert_eq!(parse_timestamp("1970-01-01"), naive(0));
        assert_eq!(parse_timestamp("1970-01-01T00:00:01"), naive(1_000_000));
        assert_eq!(parse_timestamp("1970-01-01 02:00:00+02:00"), zoned(0));
        assert_eq!(parse_timestamp("1969-12-31 22:30:00 -0130"), zoned(0));
        assert_eq!(parse_timestamp("1970-01-01 00:00:00Z"), zoned(0));
        assert_eq!(parse_timestamp("1970-01-01 00:00:00 Europe/Paris"), None);
        assert_eq!(parse_timestamp("9999-12-31 23:59:59.999999").and_then(|at| timestamp_text(at.micros)).as_deref(), Some("9999-12-31 23:59:59.999999"));
        assert_eq!(parse_timestamp("é970-01-01 00"), None);
    }

    #[test]
    fn decimals_never_round() {
        assert_eq!(parse_decimal("12.50", 12, 2), Some(1250));
        assert_eq!(parse_decimal("-0.000", 12, 2), Some(0));
        assert_eq!(parse_decimal("1e3", 12, 2), Some(100_000));
        assert_eq!(parse_decimal("12.505", 12, 2), None);
        assert_eq!(parse_decimal("1000", 3, 0), None);
        assert_eq!(parse_decimal("1e400000", 38, 0), None);
        assert_eq!(parse_decimal("", 38, 0), None);
        assert_eq!(parse_decimal("99999999999999999999999999999999999999", 38, 0), Some(10_i128.pow(38) - 1));
        assert_eq!(decimal_text(-1250, 2), "-12.50");
        assert_eq!(decimal_text(5, 3), "0.005");
    }
}
