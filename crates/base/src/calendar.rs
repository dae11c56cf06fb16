// SPDX-License-Identifier: Apache-2.0
//! Days and calendar fields, proleptic Gregorian, for every day that a Postgres date can hold (years to 5,874,897, further than calendar crates go).
//! The arithmetic counts in eras of 400 years that begin on 1 March, so that the leap day stands at the end of its year.

/// Microseconds of a day.
pub const DAY_MICROS: i64 = 86_400_000_000;

const DAYS_PER_ERA: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const EPOCH_SHIFT_DAYS: i64 = 719_468;
/// Keeps sums far from the ends of `i64`; wider than any date that a source can send.
const YEARS: std::ops::RangeInclusive<i64> = -10_000_000..=10_000_000;

/// A day in the calendar. Year 0 is 1 BC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarDay {
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

impl CalendarDay {
    /// The day that stands so many days after 1970-01-01.
    pub const fn from_days(days: i64) -> Self {
        let shifted = days + EPOCH_SHIFT_DAYS;
        let era = shifted.div_euclid(DAYS_PER_ERA);
        let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Self { year: year_of_era + era * 400 + (month <= 2) as i64, month: month as u32, day: day as u32 }
    }

    /// Days since 1970-01-01. `None` for a day that its month does not have.
    pub fn days(self) -> Option<i64> {
        if !(1..=12).contains(&self.month) || self.day == 0 || !YEARS.contains(&self.year) {
            return None;
        }
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((i64::from(self.month) + 9) % 12) + 2) / 5 + i64::from(self.day) - 1;
        let days = era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH_SHIFT_DAYS;
        // A day too many for its month comes out as one of the next month.
        (Self::from_days(days) == self).then_some(days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(year: i64, month: u32, day: u32) -> Option<i64> {
        CalendarDay { year, month, day }.days()
    }

    #[test]
    fn known_days() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 2, 29), Some(11_016));
        assert_eq!(days(9999, 12, 31), Some(2_932_896));
        assert_eq!(days(-43, 3, 15), Some(-735_160));
        assert_eq!(CalendarDay::from_days(i64::from(i32::MAX)), CalendarDay { year: 5_881_580, month: 7, day: 11 });
    }

    #[test]
    fn days_that_do_not_exist() {
        for (year, month, day) in [(1900, 2, 29), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0), (i64::MAX, 1, 1)] {
            assert_eq!(days(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn there_and_back() {
        for count in (-2_500_000..2_932_896).step_by(97) {
            assert_eq!(CalendarDay::from_days(count).days(), Some(count));
        }
    }
}
