// SPDX-License-Identifier: Apache-2.0
//! A time zone as PostgreSQL reads clocks in it: what a clock shows at an instant, and which instant a clock means.

use arrow::array::timezone::Tz;
use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone};
use weir_base::{Error, ErrorCode, Result};

const SECOND_MICROS: i64 = 1_000_000;
/// The zone's rules are written out up to here; later years go like an earlier year with the same calendar.
const LAST_WRITTEN_YEAR: i32 = 2099;

/// A zone by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone {
    zone: Tz,
    utc: bool,
}

impl Zone {
    /// `UTC`, `Europe/Berlin`, `+02:00`. Error: 22P02 for a name that nobody knows.
    pub fn named(name: &str) -> Result<Self> {
        let utc = ["utc", "gmt", "z", "zulu", "etc/utc", "+00:00"].contains(&name.to_ascii_lowercase().as_str());
        let zone = if utc { "+00:00" } else { name }.parse::<Tz>();
        let unknown = |_| Error::new(ErrorCode::BadValue, "unknown time zone").with_hint("name a zone such as UTC or Europe/Berlin");
        Ok(Self { zone: zone.map_err(unknown)?, utc })
    }

    pub fn utc(self) -> bool {
        self.utc
    }

    /// What a clock shows at an instant; both in microseconds. Error: 22008.
    pub fn local(self, instant: i64) -> Result<i64> {
        if self.utc {
            return Ok(instant);
        }
        instant.checked_add(self.offset_at(instant)? * SECOND_MICROS).ok_or_else(out_of_range)
    }

    /// Seconds east of UTC at an instant.
    pub fn offset_at(self, instant: i64) -> Result<i64> {
        if self.utc {
            return Ok(0);
        }
        let at = within_rules(naive(instant)?)?;
        Ok(i64::from(self.zone.offset_from_utc_datetime(&at).fix().local_minus_utc()))
    }

    /// The instant that a clock means. A time that the clock skips is read with the offset before the change, one that it shows
    /// twice with the offset after it. Error: 22008.
    pub fn instant(self, local: i64) -> Result<i64> {
        if self.utc {
            return Ok(local);
        }
        let shown = within_rules(naive(local)?)?;
        let east = |offset: &<Tz as TimeZone>::Offset| i64::from(offset.fix().local_minus_utc());
        let offset = match self.zone.offset_from_local_datetime(&shown) {
            MappedLocalTime::Single(offset) => east(&offset),
            MappedLocalTime::Ambiguous(first, second) => east(&first).min(east(&second)),
            MappedLocalTime::None => {
                let before = shown.checked_sub_signed(TimeDelta::days(1)).ok_or_else(out_of_range)?;
                east(&self.zone.offset_from_utc_datetime(&before))
            }
        };
        local.checked_sub(offset * SECOND_MICROS).ok_or_else(out_of_range)
    }
}

/// Microseconds since 1970 as calendar and clock. Error: 22008.
pub(crate) fn naive(micros: i64) -> Result<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|at| at.naive_utc()).ok_or_else(out_of_range)
}

/// The same calendar and clock in a year whose changes are known.
fn within_rules(at: NaiveDateTime) -> Result<NaiveDateTime> {
    if at.year() <= LAST_WRITTEN_YEAR {
        return Ok(at);
    }
    let first = |year: i32| NaiveDate::from_ymd_opt(year, 1, 1).ok_or_else(out_of_range);
    let alike = first(at.year())?;
    for year in (LAST_WRITTEN_YEAR - 27)..=LAST_WRITTEN_YEAR {
        let candidate = first(year)?;
        if candidate.weekday() == alike.weekday() && candidate.leap_year() == alike.leap_year() {
            return at.checked_sub_signed(alike - candidate).ok_or_else(out_of_range);
        }
    }
    Err(out_of_range())
}

/// 22008.
pub(crate) fn out_of_range() -> Error {
    Error::new(ErrorCode::MomentOutOfRange, "date or time out of range")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> i64 {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap().and_utc().timestamp_micros()
    }

    #[test]
    fn skipped_and_repeated_times_are_read_as_postgres_does() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let instant = |text: &str| berlin.instant(micros(text)).unwrap();
        assert_eq!(instant("2026-01-15 12:00:00"), micros("2026-01-15 11:00:00"));
        assert_eq!(instant("2026-03-29 02:30:00"), micros("2026-03-29 01:30:00"));
        assert_eq!(instant("2026-10-25 02:30:00"), micros("2026-10-25 01:30:00"));
        assert_eq!(berlin.local(micros("2026-03-29 01:30:00")).unwrap(), micros("2026-03-29 03:30:00"));
    }

    #[test]
    fn the_rules_go_on_after_the_written_years() {
        let new_york = Zone::named("America/New_York").unwrap();
        assert_eq!(new_york.instant(micros("2150-07-01 12:00:00")).unwrap(), micros("2150-07-01 16:00:00"));
        assert_eq!(new_york.instant(micros("2150-12-01 12:00:00")).unwrap(), micros("2150-12-01 17:00:00"));
    }
}
