// SPDX-License-Identifier: Apache-2.0
//! Intervals as PostgreSQL reads them (`1 day 02:03:04`, `P1DT2H`, `1-2`, `3 days ago`), for the query engine, which knows units only.

use datafusion::sql::sqlparser::ast::DateTimeField;
use weir_base::{Error, ErrorCode, Result};

/// Months, days and microseconds, which never mix.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Span {
    pub months: i64,
    pub days: i64,
    pub micros: i64,
}

const DAY_MICROS: f64 = 86_400_000_000.0;
const DAYS_PER_MONTH: f64 = 30.0;

impl Span {
    /// The text in units that the query engine reads.
    pub fn written(self) -> String {
        let sign = if self.micros < 0 { "-" } else { "" };
        let micros = self.micros.unsigned_abs();
        format!("{} months {} days {sign}{}.{:06} seconds", self.months, self.days, micros / 1_000_000, micros % 1_000_000)
    }

    /// An amount of a unit; what is left over goes to the smaller ones. `None` for an unknown unit or a number that is too large.
    fn add(&mut self, amount: f64, unit: &str) -> Option<()> {
        match unit {
            "y" | "yr" | "yrs" | "year" | "years" => self.add_months(amount * 12.0, false)?,
            "mon" | "mons" | "month" | "months" => self.add_months(amount, true)?,
            "q" | "quarter" | "quarters" => self.add_months(amount * 3.0, false)?,
            "dec" | "decs" | "decade" | "decades" => self.add_months(amount * 120.0, false)?,
            "c" | "cent" | "century" | "centuries" => self.add_months(amount * 1200.0, false)?,
            "mil" | "mils" | "millennium" | "millennia" => self.add_months(amount * 12_000.0, false)?,
            "w" | "week" | "weeks" => self.add_days(amount * 7.0)?,
            "d" | "day" | "days" => self.add_days(amount)?,
            "h" | "hr" | "hrs" | "hour" | "hours" => self.add_micros(amount * 3_600e6)?,
            "m" | "min" | "mins" | "minute" | "minutes" => self.add_micros(amount * 60e6)?,
            "s" | "sec" | "secs" | "second" | "seconds" => self.add_micros(amount * 1e6)?,
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => self.add_micros(amount * 1e3)?,
            "us" | "usec" | "usecs" | "microsecond" | "microseconds" => self.add_micros(amount)?,
            _ => return None,
        }
        Some(())
    }

    /// A part of a month is days; a part of a year is whole months only.
    fn add_months(&mut self, months: f64, to_days: bool) -> Option<()> {
        let whole = if to_days { months.trunc() } else { months.round() };
        self.months = self.months.checked_add(whole_number(whole)?)?;
        if to_days { self.add_days((months - whole) * DAYS_PER_MONTH) } else { Some(()) }
    }

    fn add_days(&mut self, days: f64) -> Option<()> {
        self.days = self.days.checked_add(whole_number(days.trunc())?)?;
        self.add_micros((days - days.trunc()) * DAY_MICROS)
    }

    fn add_micros(&mut self, micros: f64) -> Option<()> {
        self.micros = self.micros.checked_add(whole_number(micros.round())?)?;
        Some(())
    }

    fn negated(self) -> Self {
        Self { months: -self.months, days: -self.days, micros: -self.micros }
    }
}

fn whole_number(number: f64) -> Option<i64> {
    (number.abs() < 9e15).then_some(number as i64)
}

/// The text of an interval that came as a value. Error: 22007.
pub(crate) fn interval_of_text(text: &str) -> Result<Span> {
    read(text, None, None)
}

/// Reads the text of an interval, with the fields behind it (`INTERVAL '1-2' YEAR TO MONTH`). Error: 22007.
pub(super) fn read(text: &str, leading: Option<&DateTimeField>, last: Option<&DateTimeField>) -> Result<Span> {
    let unit = last.or(leading).map(|field| field.to_string().to_ascii_lowercase());
    let trimmed = text.trim().to_ascii_lowercase();
    let spans = if trimmed.starts_with('p') { iso(&trimmed) } else { words(&trimmed, unit.as_deref()) };
    let span = spans.ok_or_else(|| Error::new(ErrorCode::BadMoment, "a text is no interval").with_hint("write INTERVAL '1 year 2 months 3 days 04:05:06'"))?;
    Ok(match (&unit, last.is_some()) {
        (Some(unit), false) => cut_to(span, unit),
        _ => span,
    })
}

/// `INTERVAL '1 day 5 hours' DAY` is one day: what is finer than the field falls away.
fn cut_to(span: Span, unit: &str) -> Span {
    let months_of = |size: i64| Span { months: span.months / size * size, days: 0, micros: 0 };
    let to = |size: i64| Span { micros: span.micros / size * size, ..span };
    match unit {
        "year" | "years" => months_of(12),
        "month" | "months" => months_of(1),
        "day" | "days" => Span { micros: 0, ..span },
        "hour" | "hours" => to(3_600_000_000),
        "minute" | "minutes" => to(60_000_000),
        _ => span,
    }
}

/// Numbers with units, a clock time, years-months, `ago` at the end. A bare number is of `unit`, or of seconds.
fn words(text: &str, unit: Option<&str>) -> Option<Span> {
    let spaced = separated(text);
    let mut tokens = spaced.split_whitespace().filter(|token| *token != "@").peekable();
    let mut span = Span::default();
    tokens.peek()?;
    while let Some(token) = tokens.next() {
        if token == "ago" {
            return tokens.next().is_none().then(|| span.negated());
        }
        if token.contains(':') {
            span.micros = span.micros.checked_add(clock(token, unit)?)?;
        } else if let Some((years, months)) = years_and_months(token) {
            span.months = span.months.checked_add(years.checked_mul(12)?.checked_add(months)?)?;
        } else {
            let amount: f64 = token.parse().ok().filter(|amount: &f64| amount.is_finite())?;
            let named = tokens.next_if(|next| next.starts_with(|c: char| c.is_ascii_alphabetic()) && *next != "ago");
            // In `1 02:03:04` the first number is days.
            let bare = if tokens.peek().is_some_and(|next| next.contains(':')) { "days" } else { unit.unwrap_or("seconds") };
            span.add(amount, named.unwrap_or(bare))?;
        }
    }
    Some(span)
}

/// A blank between a number and the unit that is glued to it: `1day` is `1 day`.
fn separated(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_alphabetic() && (before.is_ascii_digit() || before == '.') || c.is_ascii_digit() && before.is_ascii_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    spaced
}

/// `1-2`, `-1-2`: years and months.
fn years_and_months(token: &str) -> Option<(i64, i64)> {
    let (sign, rest) = signed(token);
    let (years, months) = rest.split_once('-')?;
    let months: i64 = months.parse().ok().filter(|months| (0..12).contains(months))?;
    Some((sign * years.parse::<i64>().ok()?, sign * months))
}

fn signed(token: &str) -> (i64, &str) {
    match token.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, token.strip_prefix('+').unwrap_or(token)),
    }
}

/// `02:03:04.5`; two parts are hours and minutes, or minutes and seconds where the field says so.
fn clock(token: &str, unit: Option<&str>) -> Option<i64> {
    let (sign, rest) = signed(token);
    let parts: Vec<&str> = rest.split(':').collect();
    let (hours, minutes, seconds) = match parts.as_slice() {
        [minutes, seconds] if unit == Some("second") || seconds.contains('.') => ("0", *minutes, *seconds),
        [hours, minutes] => (*hours, *minutes, "0"),
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        _ => return None,
    };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds: f64 = seconds.parse().ok()?;
    let sound = hours >= 0 && (0..60).contains(&minutes) && (0.0..60.0).contains(&seconds);
    let micros = hours.checked_mul(3_600_000_000)?.checked_add(minutes * 60_000_000 + whole_number((seconds * 1e6).round())?)?;
    sound.then_some(sign * micros)
}

/// `P1Y2M3DT4H5M6S`.
fn iso(text: &str) -> Option<Span> {
    let mut span = Span::default();
    let mut timed = false;
    let mut number = String::new();
    for c in text.strip_prefix('p')?.chars() {
        match c {
            't' => timed = true,
            '0'..='9' | '.' | '-' | '+' => number.push(c),
            _ => {
                let amount: f64 = std::mem::take(&mut number).parse().ok()?;
                let unit = match (c, timed) {
                    ('y', false) => "year",
                    ('m', false) => "month",
                    ('w', false) => "week",
                    ('d', false) => "day",
                    ('h', true) => "hour",
                    ('m', true) => "minute",
                    ('s', true) => "second",
                    _ => return None,
                };
                span.add(amount, unit)?;
            }
        }
    }
    number.is_empty().then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (i64, i64, i64) {
        let span = read(text, None, None).unwrap();
        (span.months, span.days, span.micros)
    }

    #[test]
    fn every_way_to_write_an_interval() {
        assert_eq!(of("1 day 02:03:04"), (0, 1, 7_384_000_000));
        assert_eq!(of("1 year 2 months 3 days"), (14, 3, 0));
        assert_eq!(of("P1DT2H"), (0, 1, 7_200_000_000));
        assert_eq!(of("1-2"), (14, 0, 0));
        assert_eq!(of("3 days ago"), (0, -3, 0));
        assert_eq!(of("-1 mon +2 hours"), (-1, 0, 7_200_000_000));
        assert_eq!(of("1.5 months"), (1, 15, 0));
        assert_eq!(of("1.5day"), (0, 1, 43_200_000_000));
        assert_eq!(of("-00:00:01.5"), (0, 0, -1_500_000));
        assert_eq!(of("90"), (0, 0, 90_000_000));
        assert_eq!(of("1 02:00"), (0, 1, 7_200_000_000));
        for wrong in ["", "soon", "1 parsec", "1:2:3:4", "1 day 25:61:00", "P1X"] {
            assert_eq!(read(wrong, None, None).unwrap_err().code(), ErrorCode::BadMoment, "{wrong}");
        }
    }

    #[test]
    fn fields_give_the_unit_and_cut() {
        let field = |text, field| read(text, Some(&field), None).unwrap();
        assert_eq!(field("7", DateTimeField::Day), Span { days: 7, ..Span::default() });
        assert_eq!(field("90", DateTimeField::Minute), Span { micros: 5_400_000_000, ..Span::default() });
        assert_eq!(field("1 day 5 hours", DateTimeField::Day), Span { days: 1, ..Span::default() });
        let years = read("1-2", Some(&DateTimeField::Year), Some(&DateTimeField::Month)).unwrap();
        assert_eq!(years, Span { months: 14, ..Span::default() });
        assert_eq!(years.written(), "14 months 0 days 0.000000 seconds");
        assert_eq!(read("-0.5 s", None, None).unwrap().written(), "0 months 0 days -0.500000 seconds");
    }
}
