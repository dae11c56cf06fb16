// SPDX-License-Identifier: Apache-2.0
//! Dates and times out of a text, as PostgreSQL reads them with `DateStyle` ISO, MDY; what is not understood is an error.

use super::zone::{Zone, out_of_range};
use chrono::{NaiveDate, NaiveTime, Timelike};
use weir_base::{Error, ErrorCode, Result};

pub(super) const DAY_MICROS: i64 = 86_400_000_000;
const SECOND_MICROS: i64 = 1_000_000;

/// What a text can be read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Date,
    Clock,
    Local,
    Instant,
}

impl Wanted {
    fn word(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Clock => "time",
            Self::Local => "timestamp",
            Self::Instant => "timestamp with time zone",
        }
    }
}

/// Days, or microseconds: of the day, on the clock, or since 1970 in UTC. A text without an offset is meant in `zone`.
/// Errors: 22007 for what is no date or time, 22008 for one that is not in the calendar, 0A000 for infinity.
pub(super) fn read(text: &str, wanted: Wanted, zone: Zone) -> Result<i64> {
    let said = text.trim();
    if let Some(special) = special(said, wanted)? {
        return Ok(special);
    }
    let parts = Parts::of(said).ok_or_else(|| unreadable(wanted))?;
    let (year, month, day) = match (parts.date, wanted) {
        (Some(date), _) => date,
        (None, Wanted::Clock) => (1970, 1, 1),
        (None, _) => return Err(unreadable(wanted)),
    };
    let year = if parts.before_christ { 1_i32.checked_sub(year).ok_or_else(out_of_range)? } else { year };
    if year == 0 && !parts.before_christ {
        return Err(out_of_range());
    }
    let day = NaiveDate::from_ymd_opt(year, month, day).ok_or_else(out_of_range)?;
    let days = i64::from(day.to_epoch_days());
    let clock = parts.clock.unwrap_or(0);
    if wanted == Wanted::Clock && (parts.clock.is_none() || clock >= DAY_MICROS) {
        return Err(if parts.clock.is_none() { unreadable(wanted) } else { out_of_range() });
    }
    let local = days.checked_mul(DAY_MICROS).and_then(|midnight| midnight.checked_add(clock)).ok_or_else(out_of_range);
    match wanted {
        Wanted::Date => Ok(days),
        Wanted::Clock => Ok(clock),
        Wanted::Local => local,
        Wanted::Instant => match parts.zone {
            None => zone.instant(local?),
            Some(Written::Offset(seconds)) => local?.checked_sub(seconds * SECOND_MICROS).ok_or_else(out_of_range),
            Some(Written::Named(named)) => named.instant(local?),
        },
    }
}

/// Words that stand for a moment. Those that mean another one each time are refused: a text should say what it means.
fn special(said: &str, wanted: Wanted) -> Result<Option<i64>> {
    match (said.to_ascii_lowercase().as_str(), wanted) {
        ("epoch", Wanted::Clock) => Err(unreadable(wanted)),
        ("epoch", _) => Ok(Some(0)),
        ("infinity" | "+infinity" | "-infinity", Wanted::Date | Wanted::Local | Wanted::Instant) => {
            let error = Error::new(ErrorCode::Unsupported, format!("infinity is not a {} here", wanted.word()));
            Err(error.with_hint("write the bound that is meant, such as 9999-12-31, or leave the condition out"))
        }
        ("now" | "today" | "yesterday" | "tomorrow" | "allballs", _) => {
            Err(unreadable(wanted).with_hint("write now(), current_date or current_date - 1 without quotes"))
        }
        _ => Ok(None),
    }
}

fn unreadable(wanted: Wanted) -> Error {
    let example = match wanted {
        Wanted::Date => "2026-11-30",
        Wanted::Clock => "18:30:00",
        Wanted::Local => "2026-11-30 18:30:00",
        Wanted::Instant => "2026-11-30 18:30:00+01",
    };
    Error::new(ErrorCode::BadMoment, format!("a text is no {}", wanted.word())).with_hint(format!("write it like {example}; try_cast gives NULL instead"))
}

enum Written {
    /// Seconds east of UTC.
    Offset(i64),
    Named(Zone),
}

#[derive(Default)]
struct Parts {
    date: Option<(i32, u32, u32)>,
    /// Microseconds of the day; 24:00 is a whole day.
    clock: Option<i64>,
    zone: Option<Written>,
    before_christ: bool,
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        let mut parts = Self::default();
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words.retain(|word| !word.is_empty());
        let mut rest = parts.named_month(&words)?;
        // `2026-11-30T18:30`: the letter stands between the two.
        if let Some((date, clock)) = rest.first().and_then(|first| first.split_once(['T', 't'])).filter(|(date, _)| numeric_date(date).is_some()) {
            rest.splice(0..1, [date, clock]);
        }
        for word in rest {
            parts.take(word)?;
        }
        Some(parts)
    }

    /// A date with a month in letters (`30 Nov 2026`, `November 30, 2026`, `30-Nov-2026`) is taken out of the words.
    fn named_month<'a>(&mut self, words: &[&'a str]) -> Option<Vec<&'a str>> {
        let pieces = |word: &'a str| word.split(['-', '/', ',']).filter(|piece| !piece.is_empty()).collect::<Vec<_>>();
        let spans = [1, 3];
        for span in spans {
            let Some(taken) = words.get(..span) else { continue };
            let date: Vec<&str> = taken.iter().flat_map(|word| pieces(word)).collect();
            let [a, b, c] = date.as_slice() else { continue };
            let date = match (month(a), month(b)) {
                (Some(month), None) => (year(c)?, month, day(b)?),
                (None, Some(month)) if a.len() > 2 => (year(a)?, month, day(c)?),
                (None, Some(month)) => (year(c)?, month, day(a)?),
                _ => continue,
            };
            self.date = Some(date);
            return Some(words[span..].to_vec());
        }
        Some(words.to_vec())
    }

    fn take(&mut self, word: &str) -> Option<()> {
        if let Some(date) = numeric_date(word).filter(|_| self.date.is_none()) {
            self.date = Some(date);
            return Some(());
        }
        match word.to_ascii_lowercase().as_str() {
            "bc" if self.date.is_some() => self.before_christ = true,
            "ad" if self.date.is_some() => {}
            half @ ("am" | "pm") => self.half_day(half == "pm")?,
            _ if self.clock.is_none() && word.starts_with(|first: char| first.is_ascii_digit()) => self.take_clock(word)?,
            _ if self.zone.is_none() && self.clock.is_some() => self.zone = Some(written_zone(word)?),
            _ => return None,
        }
        Some(())
    }

    fn half_day(&mut self, afternoon: bool) -> Option<()> {
        const HOUR: i64 = 3600 * SECOND_MICROS;
        let clock = self.clock.filter(|clock| *clock < 13 * HOUR)?;
        let noon = clock / HOUR == 12;
        self.clock = Some(match (noon, afternoon) {
            (true, false) => clock - 12 * HOUR,
            (false, true) => clock + 12 * HOUR,
            _ => clock,
        });
        Some(())
    }

    /// `18:30`, `18:30:05.25`, with a half of the day, or an offset or a zone right behind it.
    fn take_clock(&mut self, word: &str) -> Option<()> {
        let end = word.find(|letter: char| !(letter.is_ascii_digit() || letter == ':' || letter == '.')).unwrap_or(word.len());
        let (clock, behind) = word.split_at(end);
        self.clock = Some(clock_micros(clock)?);
        match behind.to_ascii_lowercase().as_str() {
            "" => {}
            half @ ("am" | "pm") => self.half_day(half == "pm")?,
            _ => self.zone = Some(written_zone(behind)?),
        }
        Some(())
    }
}

/// Digits only, of a length in `lengths`.
fn digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let plain = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn year(text: &str) -> Option<i32> {
    digits(text, 4..=6).and_then(|year| i32::try_from(year).ok())
}

fn day(text: &str) -> Option<u32> {
    digits(text, 1..=2)
}

/// `2026-11-30`, `2026/11/30`, `11/30/2026`, `20261130`.
fn numeric_date(text: &str) -> Option<(i32, u32, u32)> {
    if text.len() == 8 && digits(text, 8..=8).is_some() {
        return Some((year(&text[..4])?, day(&text[4..6])?, day(&text[6..])?));
    }
    let separator = text.chars().find(|letter| !letter.is_ascii_digit())?;
    if !['-', '/', '.'].contains(&separator) {
        return None;
    }
    let pieces: Vec<&str> = text.split(separator).collect();
    let [a, b, c] = pieces.as_slice() else { return None };
    match (year(a), year(c)) {
        (Some(year), _) => Some((year, day(b)?, day(c)?)),
        // The style MDY: the month comes first.
        (None, Some(year)) if separator != '.' => Some((year, day(a)?, day(b)?)),
        _ => None,
    }
}

const MONTHS: [&str; 12] = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];

/// The number of a month in letters, whole or its first three.
pub(super) fn month(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let found = MONTHS.iter().position(|name| *name == text || (text.len() == 3 && name.starts_with(&text)));
    found.and_then(|index| u32::try_from(index + 1).ok())
}

fn clock_micros(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let pieces: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second) = match pieces.as_slice() {
        [hour, minute] if fraction.is_none() => (digits(hour, 1..=2)?, digits(minute, 1..=2)?, 0),
        [hour, minute, second] => (digits(hour, 1..=2)?, digits(minute, 1..=2)?, digits(second, 1..=2)?),
        _ => return None,
    };
    let micros = fraction.map_or(Some(0), fraction_micros)?;
    if let Some(time) = NaiveTime::from_hms_opt(hour, minute, second) {
        return Some(i64::from(time.num_seconds_from_midnight()) * SECOND_MICROS + micros);
    }
    // The end of a day, and a leap second, which is the first of the next minute.
    let whole = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    let end_of_day = (hour, minute, second, micros) == (24, 0, 0, 0);
    let leap = hour < 24 && minute < 60 && second == 60 && micros == 0;
    (end_of_day || leap).then_some(whole * SECOND_MICROS)
}

/// A fraction of a second, rounded to microseconds.
fn fraction_micros(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds: f64 = format!("0.{text}").parse().ok()?;
    // Half a microsecond goes to the even one.
    Some((seconds * 1e6).round_ties_even() as i64)
}

/// `Z`, `+02`, `+02:30`, `+0230`, `CET`, `Europe/Berlin`.
fn written_zone(text: &str) -> Option<Written> {
    if let Some(seconds) = abbreviation(text) {
        return Some(Written::Offset(seconds));
    }
    if text.starts_with(['+', '-']) {
        return offset_seconds(text).map(Written::Offset);
    }
    Zone::named(text).ok().map(Written::Named)
}

fn offset_seconds(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let body = &text[1..];
    let pieces: Vec<&str> = match (body.contains(':'), body.len()) {
        (false, 3 | 4) => vec![&body[..body.len() - 2], &body[body.len() - 2..]],
        _ => body.split(':').collect(),
    };
    let mut seconds = 0;
    if pieces.len() > 3 {
        return None;
    }
    for (piece, factor) in pieces.iter().zip([3600, 60, 1]) {
        let number = digits(piece, 1..=2)?;
        if factor < 3600 && number > 59 {
            return None;
        }
        seconds += i64::from(number) * factor;
    }
    (seconds < 16 * 3600).then_some(sign * seconds)
}

/// Seconds east of UTC of the abbreviations that PostgreSQL knows and that are read in one way only.
pub(super) fn abbreviation(text: &str) -> Option<i64> {
    const HOURS: [(&str, i64); 19] = [
        ("z", 0),
        ("zulu", 0),
        ("utc", 0),
        ("ut", 0),
        ("gmt", 0),
        ("wet", 0),
        ("cet", 1),
        ("bst", 1),
        ("cest", 2),
        ("eet", 2),
        ("msk", 3),
        ("jst", 9),
        ("est", -5),
        ("edt", -4),
        ("cst", -6),
        ("cdt", -5),
        ("mst", -7),
        ("pdt", -7),
        ("pst", -8),
    ];
    HOURS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, hours)| hours * 3600)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Result<i64> {
        read(text, Wanted::Instant, Zone::named("Asia/Kolkata").unwrap()).map(|micros| micros / SECOND_MICROS)
    }

    #[test]
    fn a_text_without_an_offset_is_meant_in_the_zone() {
        let noon = instant("2026-11-30T12:00:00Z").unwrap();
        for text in [
            "2026-11-30 17:30",
            "2026-11-30 17:30:00",
            "2026-11-30 13:00+01",
            "2026-11-30 17:30:00 Asia/Kolkata",
            "2026-11-30 05:30:00 PM",
            "Nov 30 2026 17:30",
            "30-Nov-2026 17:30",
            "11/30/2026 17:30",
            "20261130 17:30",
            "2026-11-30 07:00:00 EST",
            " 2026-11-30 12:00:00.0000001+00 ",
        ] {
            assert_eq!(instant(text).unwrap(), noon, "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_an_error() {
        for (text, code) in [
            ("soon", ErrorCode::BadMoment),
            ("", ErrorCode::BadMoment),
            ("today", ErrorCode::BadMoment),
            ("2026-02-30", ErrorCode::MomentOutOfRange),
            ("2026-13-01", ErrorCode::MomentOutOfRange),
            ("infinity", ErrorCode::Unsupported),
            ("2026-11-30 25:00", ErrorCode::BadMoment),
            ("2026-11-30 x", ErrorCode::BadMoment),
        ] {
            assert_eq!(instant(text).unwrap_err().code(), code, "{text}");
        }
    }

    #[test]
    fn other_kinds() {
        let utc = Zone::named("UTC").unwrap();
        assert_eq!(read("0044-03-15 BC", Wanted::Date, utc).unwrap(), -735_160);
        assert_eq!(read("1970-01-02 24:00:00", Wanted::Local, utc).unwrap(), 2 * DAY_MICROS);
        assert_eq!(read("23:59:59.9999999", Wanted::Clock, utc).unwrap_err().code(), ErrorCode::MomentOutOfRange);
        assert_eq!(read("08:00 pm", Wanted::Clock, utc).unwrap(), 20 * 3600 * SECOND_MICROS);
    }
}
