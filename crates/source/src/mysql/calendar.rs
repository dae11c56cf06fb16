// SPDX-License-Identifier: Apache-2.0
//! Days and microseconds from calendar fields and back (proleptic Gregorian), and how MySQL spells them.

pub(super) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Days since 1970-01-01. `None` for a day that its month does not have.
pub(super) fn days_from_fields(year: i32, month: u32, day: u32) -> Option<i32> {
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return None;
    }
    // Years begin in March here, so that the leap day stands at the end.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year as i32;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Year, month and day of a count of days since 1970-01-01.
pub(super) fn fields_from_days(days: i32) -> (i64, u32, u32) {
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `2026-11-30`. `None` outside the years 1 to 9999, which a literal can spell.
pub(super) fn date_text(days: i32) -> Option<String> {
    let (year, month, day) = fields_from_days(days);
    (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// `12:34:56`, with six digits after it where there are microseconds. `micros` since midnight.
pub(super) fn time_text(micros: i64) -> Option<String> {
    if !(0..MICROS_PER_DAY).contains(&micros) {
        return None;
    }
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Some(if fraction == 0 { whole } else { format!("{whole}.{fraction:06}") })
}

/// `2026-11-30 12:34:56.000001`. `micros` since 1970-01-01.
pub(super) fn timestamp_text(micros: i64) -> Option<String> {
    let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()?;
    Some(format!("{} {}", date_text(days)?, time_text(micros.rem_euclid(MICROS_PER_DAY))?))
}

/// Microseconds since 1970-01-01 of `2026-11-30 12:34:56.123456`, as the server prints a time.
pub(super) fn micros_from_text(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ')?;
    let mut date = date.split('-').map(|field| field.parse::<u32>().ok());
    let days = days_from_fields(date.next()??.try_into().ok()?, date.next()??, date.next()??)?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut clock = clock.split(':').map(|field| field.parse::<i64>().ok());
    let seconds = clock.next()?? * 3_600 + clock.next()?? * 60 + clock.next()??;
    let fraction: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some(i64::from(days) * MICROS_PER_DAY + seconds * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days() {
        assert_eq!(days_from_fields(1970, 1, 1), Some(0));
        assert_eq!(days_from_fields(2000, 2, 29), Some(11_016));
        assert_eq!(days_from_fields(9999, 12, 31), Some(2_932_896));
        assert_eq!(days_from_fields(1900, 2, 29), None);
        assert_eq!(days_from_fields(2024, 4, 31), None);
    }

    #[test]
    fn there_and_back() {
        for days in (-719_528..2_932_896).step_by(97) {
            let (year, month, day) = fields_from_days(days);
            assert_eq!(days_from_fields(year as i32, month, day), Some(days));
        }
    }

    #[test]
    fn texts() {
        assert_eq!(timestamp_text(-1).as_deref(), Some("1969-12-31 23:59:59.999999"));
        assert_eq!(micros_from_text("1969-12-31 23:59:59.999999"), Some(-1));
        assert_eq!(micros_from_text("1970-01-02 00:00:01"), Some(MICROS_PER_DAY + 1_000_000));
        assert_eq!(date_text(i32::MAX), None);
        assert_eq!(time_text(MICROS_PER_DAY), None);
    }
}
