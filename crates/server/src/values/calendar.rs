// SPDX-License-Identifier: Apache-2.0
//! Dates, times and intervals as Postgres prints them (ISO style), and as ISO 8601 for JSON.

use crate::values::digits::{put_i64, put_padded};
use chrono::{DateTime, Offset, TimeZone};
use weir_base::{CalendarDay, DAY_MICROS, Error, ErrorCode, Result};

/// Days from 1970-01-01 to 2000-01-01, where Postgres counts from.
pub const POSTGRES_EPOCH_DAYS: i64 = 10_957;
/// The same in microseconds.
pub const POSTGRES_EPOCH_MICROS: i64 = POSTGRES_EPOCH_DAYS * DAY_MICROS;

/// The zone in which instants are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    Utc,
    /// Seconds east of UTC.
    Fixed(i32),
    Named(chrono_tz::Tz),
}

impl Zone {
    /// `UTC`, `Europe/Berlin`, `+02:00`. Error: an unknown zone.
    pub fn parse(name: &str) -> Result<Self> {
        if ["utc", "gmt", "z", "zulu", "etc/utc"].contains(&name.to_ascii_lowercase().as_str()) {
            return Ok(Self::Utc);
        }
        if let Some(seconds) = parse_offset(name) {
            return Ok(Self::Fixed(seconds));
        }
        // Names are taken in any case, as in Postgres.
        let known = chrono_tz::TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name));
        known.copied().map(Self::Named).ok_or_else(|| {
            Error::new(ErrorCode::BadValue, "unknown time zone").with_hint("SET timezone to a name such as UTC or Europe/Berlin, or an offset such as +02:00")
        })
    }

    /// Seconds east of UTC at an instant.
    fn offset_at(self, micros: i64) -> Result<i64> {
        match self {
            Self::Utc => Ok(0),
            Self::Fixed(seconds) => Ok(i64::from(seconds)),
            Self::Named(zone) => {
                let at = DateTime::from_timestamp_micros(within_rules(micros)).ok_or_else(out_of_range)?;
                Ok(i64::from(zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc()))
            }
        }
    }
}

/// The same calendar day and time in a year whose changes are known: the rules of a zone are written out up to 2099.
fn within_rules(micros: i64) -> i64 {
    let CalendarDay { year, .. } = CalendarDay::from_days(micros.div_euclid(DAY_MICROS));
    if year <= 2099 {
        return micros;
    }
    let first = |year: i64| CalendarDay { year, month: 1, day: 1 }.days().unwrap_or_default();
    let length = |year: i64| first(year + 1) - first(year);
    let alike = |candidate: &i64| length(*candidate) == length(year) && (first(year) - first(*candidate)) % 7 == 0;
    (2072..=2099).find(alike).map_or(micros, |candidate| micros - (first(year) - first(candidate)) * DAY_MICROS)
}

/// `+02`, `-05:30`, `+02:00:30` as seconds.
pub fn parse_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let mut seconds = 0;
    let compact = digits.len() == 4 && !digits.contains(':');
    let parts: Vec<&str> = if compact { vec![&digits[..2], &digits[2..]] } else { digits.split(':').collect() };
    if parts.len() > 3 {
        return None;
    }
    for (part, factor) in parts.iter().zip([3600, 60, 1]) {
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        let number: i32 = if plain { part.parse().ok()? } else { return None };
        seconds += number * factor;
    }
    (seconds < 16 * 3600).then_some(sign * seconds)
}

fn out_of_range() -> Error {
    Error::new(ErrorCode::ValueOutOfRange, "timestamp out of range")
}

fn put_year_month_day(days: i64, out: &mut Vec<u8>) -> bool {
    let CalendarDay { year, month, day } = CalendarDay::from_days(days);
    let before_christ = year <= 0;
    let shown = if before_christ { 1 - year } else { year };
    put_padded(shown.unsigned_abs(), 4, out);
    out.push(b'-');
    put_padded(month.into(), 2, out);
    out.push(b'-');
    put_padded(day.into(), 2, out);
    before_christ
}

fn put_era(before_christ: bool, out: &mut Vec<u8>) {
    if before_christ {
        out.extend_from_slice(b" BC");
    }
}

/// `2026-11-30`, `0044-03-15 BC`, `infinity`.
pub fn put_date(days: i64, out: &mut Vec<u8>) {
    match days {
        days if days == i64::from(i32::MAX) => out.extend_from_slice(b"infinity"),
        days if days == i64::from(i32::MIN) => out.extend_from_slice(b"-infinity"),
        _ => {
            let before_christ = put_year_month_day(days, out);
            put_era(before_christ, out);
        }
    }
}

/// `18:36:18.123456`, without trailing zeros.
pub fn put_time(micros: i64, out: &mut Vec<u8>) {
    let micros = micros.unsigned_abs();
    let seconds = micros / 1_000_000;
    put_padded(seconds / 3600, 2, out);
    out.push(b':');
    put_padded(seconds / 60 % 60, 2, out);
    out.push(b':');
    put_padded(seconds % 60, 2, out);
    put_fraction(micros % 1_000_000, out);
}

fn put_fraction(micros: u64, out: &mut Vec<u8>) {
    if micros == 0 {
        return;
    }
    out.push(b'.');
    put_padded(micros, 6, out);
    while out.last() == Some(&b'0') {
        out.pop();
    }
}

fn put_infinity(micros: i64, out: &mut Vec<u8>) -> bool {
    match micros {
        i64::MAX => out.extend_from_slice(b"infinity"),
        i64::MIN => out.extend_from_slice(b"-infinity"),
        _ => return false,
    }
    true
}

/// `2026-11-30 18:36:18.5`, without a zone.
pub fn put_timestamp(micros: i64, out: &mut Vec<u8>) {
    if put_infinity(micros, out) {
        return;
    }
    let before_christ = put_year_month_day(micros.div_euclid(DAY_MICROS), out);
    out.push(b' ');
    put_time(micros.rem_euclid(DAY_MICROS), out);
    put_era(before_christ, out);
}

/// `2026-11-30 19:36:18.5+01`: an instant in the session's zone.
pub fn put_timestamp_in_zone(micros: i64, zone: Zone, out: &mut Vec<u8>) -> Result<()> {
    if put_infinity(micros, out) {
        return Ok(());
    }
    let offset = zone.offset_at(micros)?;
    let local = micros.checked_add(offset * 1_000_000).ok_or_else(out_of_range)?;
    let before_christ = put_year_month_day(local.div_euclid(DAY_MICROS), out);
    out.push(b' ');
    put_time(local.rem_euclid(DAY_MICROS), out);
    put_offset(offset, out);
    put_era(before_christ, out);
    Ok(())
}

fn put_offset(seconds: i64, out: &mut Vec<u8>) {
    out.push(if seconds < 0 { b'-' } else { b'+' });
    let seconds = seconds.unsigned_abs();
    put_padded(seconds / 3600, 2, out);
    for part in [seconds / 60 % 60, seconds % 60] {
        if part == 0 && seconds.is_multiple_of(60) {
            break;
        }
        out.push(b':');
        put_padded(part, 2, out);
    }
}

/// A span of calendar and clock time: each part keeps its own sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

/// Postgres style: `1 year 2 mons -3 days +04:05:06.7`.
pub fn put_interval(interval: Interval, out: &mut Vec<u8>) {
    let start = out.len();
    let mut after_negative = false;
    let parts = [(interval.months / 12, "year"), (interval.months % 12, "mon"), (interval.days, "day")];
    for (number, unit) in parts {
        if number == 0 {
            continue;
        }
        if out.len() > start {
            out.push(b' ');
        }
        if after_negative && number > 0 {
            out.push(b'+');
        }
        put_i64(i64::from(number), out);
        out.push(b' ');
        out.extend_from_slice(unit.as_bytes());
        if number != 1 {
            out.push(b's');
        }
        after_negative = number < 0;
    }
    if interval.micros == 0 && out.len() > start {
        return;
    }
    if out.len() > start {
        out.push(b' ');
    }
    if interval.micros < 0 {
        out.push(b'-');
    } else if after_negative {
        out.push(b'+');
    }
    put_time(interval.micros, out);
}

/// ISO 8601 date: `2026-11-30`; years outside 0 to 9999 carry a sign.
pub fn put_iso_date(days: i64, out: &mut Vec<u8>) {
    if days == i64::from(i32::MAX) || days == i64::from(i32::MIN) {
        return put_date(days, out);
    }
    let CalendarDay { year, month, day } = CalendarDay::from_days(days);
    if year < 0 {
        out.push(b'-');
    } else if year > 9999 {
        out.push(b'+');
    }
    put_padded(year.unsigned_abs(), 4, out);
    out.push(b'-');
    put_padded(month.into(), 2, out);
    out.push(b'-');
    put_padded(day.into(), 2, out);
}

/// ISO 8601 instant: `2026-11-30T18:36:18.5`, with `Z` when it is an instant in UTC.
pub fn put_iso_timestamp(micros: i64, utc: bool, out: &mut Vec<u8>) {
    if put_infinity(micros, out) {
        return;
    }
    put_iso_date(micros.div_euclid(DAY_MICROS), out);
    out.push(b'T');
    put_time(micros.rem_euclid(DAY_MICROS), out);
    if utc {
        out.push(b'Z');
    }
}

/// ISO 8601 duration: `P1Y2M3DT4H5M6.5S`; parts keep their signs; nothing is `PT0S`.
pub fn put_iso_interval(interval: Interval, out: &mut Vec<u8>) {
    out.push(b'P');
    for (number, letter) in [(interval.months / 12, b'Y'), (interval.months % 12, b'M'), (interval.days, b'D')] {
        if number != 0 {
            put_i64(i64::from(number), out);
            out.push(letter);
        }
    }
    if interval.micros == 0 {
        if interval.months == 0 && interval.days == 0 {
            out.extend_from_slice(b"T0S");
        }
        return;
    }
    out.push(b'T');
    let (hours, rest) = (interval.micros / 3_600_000_000, interval.micros % 3_600_000_000);
    for (number, letter) in [(hours, b'H'), (rest / 60_000_000, b'M')] {
        if number != 0 {
            put_i64(number, out);
            out.push(letter);
        }
    }
    let micros = rest % 60_000_000;
    if micros != 0 {
        if micros < 0 {
            out.push(b'-');
        }
        let magnitude = micros.unsigned_abs();
        put_padded(magnitude / 1_000_000, 1, out);
        put_fraction(magnitude % 1_000_000, out);
        out.push(b'S');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        put(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn days_of(year: i64, month: u32, day: u32) -> Option<i64> {
        CalendarDay { year, month, day }.days()
    }

    #[test]
    fn dates_before_christ_and_far_away() {
        assert_eq!(text(|out| put_date(0, out)), "1970-01-01");
        assert_eq!(text(|out| put_date(days_of(2026, 11, 30).unwrap(), out)), "2026-11-30");
        assert_eq!(text(|out| put_date(days_of(-43, 3, 15).unwrap(), out)), "0044-03-15 BC");
        assert_eq!(text(|out| put_date(i64::from(i32::MAX), out)), "infinity");
        assert_eq!(text(|out| put_date(days_of(12_345, 1, 2).unwrap(), out)), "12345-01-02");
    }

    #[test]
    fn instants_are_shown_in_the_zone() {
        let micros = 1_796_063_778_123_456;
        let shown = |zone: &str| text(|out| put_timestamp_in_zone(micros, Zone::parse(zone).unwrap(), out).unwrap());
        assert_eq!(shown("UTC"), "2026-11-30 18:36:18.123456+00");
        assert_eq!(shown("Europe/Berlin"), "2026-11-30 19:36:18.123456+01");
        assert_eq!(shown("Asia/Kolkata"), "2026-12-01 00:06:18.123456+05:30");
        assert_eq!(shown("-03:30"), "2026-11-30 15:06:18.123456-03:30");
        assert_eq!(
            text(|out| put_timestamp_in_zone(-2_500_000_000_000_000, Zone::parse("Europe/Berlin").unwrap(), out).unwrap()),
            "1890-10-11 20:26:48+00:53:28"
        );
        assert!(Zone::parse("Mars/Olympus").is_err());
    }

    #[test]
    fn intervals_in_both_styles() {
        let cases = [
            ((14, 3, 14_706_700_000), "1 year 2 mons 3 days 04:05:06.7", "P1Y2M3DT4H5M6.7S"),
            ((-13, 1, -1), "-1 years -1 mons +1 day -00:00:00.000001", "P-1Y-1M1DT-0.000001S"),
            ((0, 0, 0), "00:00:00", "PT0S"),
            ((0, -2, 1_000_000), "-2 days +00:00:01", "P-2DT1S"),
            ((12, 0, 0), "1 year", "P1Y"),
        ];
        for ((months, days, micros), postgres, iso) in cases {
            let interval = Interval { months, days, micros };
            assert_eq!(text(|out| put_interval(interval, out)), postgres);
            assert_eq!(text(|out| put_iso_interval(interval, out)), iso);
        }
    }
}
