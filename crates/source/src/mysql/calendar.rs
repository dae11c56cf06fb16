// SPDX-License-Identifier: Apache-2.0
//! How MySQL spells days and times, written and read.

use crate::exact_text::date_text;
use weir_base::{CalendarDay, DAY_MICROS};

/// `12:34:56`, with six digits after it where there are microseconds. `micros` since midnight.
pub(super) fn time_text(micros: i64) -> Option<String> {
    if !(0..DAY_MICROS).contains(&micros) {
        return None;
    }
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Some(if fraction == 0 { whole } else { format!("{whole}.{fraction:06}") })
}

/// `2026-11-30 12:34:56.000001`. `micros` since 1970-01-01.
pub(super) fn timestamp_text(micros: i64) -> Option<String> {
    let days = i32::try_from(micros.div_euclid(DAY_MICROS)).ok()?;
    Some(format!("{} {}", date_text(days)?, time_text(micros.rem_euclid(DAY_MICROS))?))
}

/// Microseconds since 1970-01-01 of `2026-11-30 12:34:56.123456`, as the server prints a time.
pub(super) fn micros_from_text(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ')?;
    let mut date = date.split('-').map(|field| field.parse::<u32>().ok());
    let days = CalendarDay { year: i64::from(date.next()??), month: date.next()??, day: date.next()?? }.days()?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut clock = clock.split(':').map(|field| field.parse::<i64>().ok());
    let seconds = clock.next()?? * 3_600 + clock.next()?? * 60 + clock.next()??;
    let fraction: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some(days * DAY_MICROS + seconds * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(timestamp_text(-1).as_deref(), Some("1969-12-31 23:59:59.999999"));
        assert_eq!(micros_from_text("1969-12-31 23:59:59.999999"), Some(-1));
        assert_eq!(micros_from_text("1970-01-02 00:00:01"), Some(DAY_MICROS + 1_000_000));
        assert_eq!(date_text(i32::MAX), None);
        assert_eq!(time_text(DAY_MICROS), None);
    }
}
