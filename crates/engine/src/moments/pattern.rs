// SPDX-License-Identifier: Apache-2.0
//! PostgreSQL's patterns for dates and times, such as `FMDDth FMMonth YYYY, HH24:MI:SS.MS`, and a moment printed by one.

use super::read::DAY_MICROS;
use super::show;
use super::zone::{Zone, naive};
use chrono::{Datelike, NaiveDateTime, Timelike};
use weir_base::{Error, ErrorCode, Result};

/// Words of a pattern; upper and lower case stand for themselves. A longer word goes before what it begins with.
const WORDS: [&str; 94] = [
    "SSSSS", "sssss", "Y,YYY", "y,yyy", "MONTH", "Month", "month", "HH24", "hh24", "HH12", "hh12", "IDDD", "iddd", "IYYY", "iyyy", "YYYY", "yyyy", "SSSS",
    "ssss", "A.D.", "a.d.", "A.M.", "a.m.", "B.C.", "b.c.", "P.M.", "p.m.", "DAY", "Day", "day", "DDD", "ddd", "IYY", "iyy", "YYY", "yyy", "MON", "Mon", "mon",
    "TZH", "TZM", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "AD", "ad", "AM", "am", "BC", "bc", "PM", "pm", "CC", "cc", "DD", "dd", "DY", "Dy", "dy", "HH",
    "hh", "ID", "id", "IW", "iw", "IY", "iy", "MI", "mi", "MM", "mm", "MS", "ms", "OF", "RM", "rm", "SS", "ss", "TZ", "tz", "US", "us", "WW", "ww", "YY", "yy",
    "D", "d", "J", "j", "I",
];
/// The words of one letter that are left.
const LETTERS: [&str; 7] = ["i", "Q", "q", "W", "w", "Y", "y"];
const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
const MONTHS: [&str; 12] = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Piece {
    Text(String),
    Word {
        word: &'static str,
        /// Without zeros and blanks that fill the place.
        bare: bool,
        ordinal: Option<&'static str>,
    },
}

/// A pattern that was understood.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pattern(Vec<Piece>);

impl Pattern {
    /// Error: 0A000 for modifiers that are not known.
    pub fn of(text: &str) -> Result<Self> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut bare = false;
        while let Some(first) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
                (bare, rest) = (true, after);
                continue;
            }
            if let Some(word) = WORDS.iter().chain(&LETTERS).find(|word| rest.starts_with(**word)) {
                rest = &rest[word.len()..];
                let ordinal = ["TH", "th"].into_iter().find(|suffix| rest.starts_with(suffix));
                rest = &rest[ordinal.map_or(0, str::len)..];
                pieces.push(Piece::Word { word, bare, ordinal });
                bare = false;
                continue;
            }
            if let Some(modifier) = ["TM", "tm", "FX", "fx"].into_iter().find(|modifier| rest.starts_with(modifier)) {
                return Err(unknown(modifier));
            }
            let taken = literal(rest, first, &mut pieces);
            rest = &rest[taken..];
        }
        Ok(Self(pieces))
    }

    /// A clock's reading, with the instant that it is in a zone where it is one. Error: 0A000 for the name of a zone that has none here.
    pub fn print(&self, local: i64, instant: Option<(i64, Zone)>) -> Result<String> {
        let shown = Shown { at: naive(local)?, days: local.div_euclid(DAY_MICROS), instant };
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Word { word, bare, ordinal } => {
                    let field = shown.word(word, *bare)?;
                    text.push_str(&field);
                    let counts = field.ends_with(|last: char| last.is_ascii_digit());
                    text.push_str(&ordinal.filter(|_| counts).map_or_else(String::new, |case| ordinal_of(&field, case)));
                }
            }
        }
        Ok(text)
    }
}

/// Takes what stands for itself; how many bytes that was. Between double quotes everything does.
fn literal(rest: &str, first: char, pieces: &mut Vec<Piece>) -> usize {
    if first == '\\' && rest[1..].starts_with('"') {
        pieces.push(Piece::Text("\"".to_owned()));
        return 2;
    }
    if first != '"' {
        pieces.push(Piece::Text(first.to_string()));
        return first.len_utf8();
    }
    let mut quoted = String::new();
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '"' if !escaped => {
                pieces.push(Piece::Text(quoted));
                return at + 1;
            }
            '\\' if !escaped => escaped = true,
            _ => {
                quoted.push(letter);
                escaped = false;
            }
        }
    }
    pieces.push(Piece::Text(quoted));
    rest.len()
}

fn unknown(word: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("pattern {word} is not understood"))
        .with_hint("words are those of PostgreSQL's to_char, such as YYYY-MM-DD HH24:MI:SS")
}

/// `st`, `nd`, `rd` or `th` behind a number, in the case of the suffix.
fn ordinal_of(number: &str, case: &str) -> String {
    let teen = number.len() > 1 && number.as_bytes()[number.len() - 2] == b'1';
    let suffix = match number.as_bytes().last() {
        Some(b'1') if !teen => "st",
        Some(b'2') if !teen => "nd",
        Some(b'3') if !teen => "rd",
        _ => "th",
    };
    if case == "TH" { suffix.to_uppercase() } else { suffix.to_owned() }
}

/// What is printed.
struct Shown {
    at: NaiveDateTime,
    days: i64,
    instant: Option<(i64, Zone)>,
}

impl Shown {
    fn word(&self, word: &str, bare: bool) -> Result<String> {
        if let Some((number, width)) = self.number(&word.to_uppercase()) {
            let width = if bare { 0 } else { width + usize::from(number < 0) };
            return Ok(format!("{number:0width$}"));
        }
        if let Some(name) = self.name(word, bare) {
            return Ok(name);
        }
        self.rest(word, bare)
    }

    /// Numbers, and how many digits they fill.
    fn number(&self, word: &str) -> Option<(i64, usize)> {
        let at = self.at;
        let year = era_year(at.year());
        let week = at.iso_week();
        let iso_year = era_year(week.year());
        let century = if at.year() > 0 { (i64::from(at.year()) - 1) / 100 + 1 } else { i64::from(at.year()) / 100 - 1 };
        let of = |number: u32, width: usize| (i64::from(number), width);
        Some(match word {
            "YYYY" => (year, 4),
            "YYY" => (year % 1000, 3),
            "YY" => (year % 100, 2),
            "Y" => (year % 10, 1),
            "IYYY" => (iso_year, 4),
            "IYY" => (iso_year % 1000, 3),
            "IY" => (iso_year % 100, 2),
            "I" => (iso_year % 10, 1),
            "CC" => (century, 2),
            "Q" => of((at.month() - 1) / 3 + 1, 1),
            "MM" => of(at.month(), 2),
            "DD" => of(at.day(), 2),
            "DDD" => of(at.ordinal(), 3),
            "D" => of(at.weekday().number_from_sunday(), 1),
            "ID" => of(at.weekday().number_from_monday(), 1),
            "IDDD" => of((week.week() - 1) * 7 + at.weekday().number_from_monday(), 3),
            "WW" => of((at.ordinal() - 1) / 7 + 1, 2),
            "W" => of((at.day() - 1) / 7 + 1, 1),
            "IW" => of(week.week(), 2),
            "J" => (self.days + 2_440_588, 1),
            "HH24" => of(at.hour(), 2),
            "HH" | "HH12" => of((at.hour() + 11) % 12 + 1, 2),
            "MI" => of(at.minute(), 2),
            "SS" => of(at.second(), 2),
            "SSSS" | "SSSSS" => of(at.num_seconds_from_midnight(), 1),
            _ => return None,
        })
    }

    /// Months, days, halves of the day and eras, in the case of the word.
    fn name(&self, word: &str, bare: bool) -> Option<String> {
        let month = MONTHS[self.at.month0() as usize];
        let day = DAYS[self.at.weekday().num_days_from_monday() as usize];
        let afternoon = self.at.hour() >= 12;
        let before_christ = self.at.year() <= 0;
        let (name, width) = match word.to_uppercase().as_str() {
            "MONTH" => (month, 9),
            "MON" => (&month[..3], 0),
            "DAY" => (day, 9),
            "DY" => (&day[..3], 0),
            "RM" => (ROMAN[self.at.month0() as usize], 4),
            "AM" | "PM" => (if afternoon { "PM" } else { "AM" }, 0),
            "A.M." | "P.M." => (if afternoon { "P.M." } else { "A.M." }, 0),
            "AD" | "BC" => (if before_christ { "BC" } else { "AD" }, 0),
            "A.D." | "B.C." => (if before_christ { "B.C." } else { "A.D." }, 0),
            _ => return None,
        };
        let cased = match (word == word.to_uppercase(), word == word.to_lowercase()) {
            (true, _) => name.to_uppercase(),
            (_, true) => name.to_lowercase(),
            _ => name.to_owned(),
        };
        let width = if bare { 0 } else { width };
        Some(format!("{cased:width$}"))
    }

    /// Fractions of a second, and what a zone says.
    fn rest(&self, word: &str, bare: bool) -> Result<String> {
        let micros = self.at.nanosecond() / 1000;
        let offset = self.instant.map_or(Ok(0), |(instant, zone)| zone.offset_at(instant))?;
        let minutes = offset.abs() / 60 % 60;
        let sign = if offset < 0 { '-' } else { '+' };
        Ok(match word.to_uppercase().as_str() {
            "MS" => format!("{:03}", micros / 1000),
            "US" => format!("{micros:06}"),
            "Y,YYY" => {
                let year = era_year(self.at.year());
                format!("{},{:03}", year / 1000, year % 1000)
            }
            "TZH" => format!("{sign}{:02}", offset.abs() / 3600),
            "TZM" => format!("{minutes:02}"),
            "OF" => {
                let full = show::offset(offset - offset % 60);
                if bare && full.as_bytes()[1] == b'0' { format!("{sign}{}", &full[2..]) } else { full }
            }
            "TZ" => match self.instant {
                None => String::new(),
                Some((_, zone)) if zone.utc() => if word == "TZ" { "UTC" } else { "utc" }.to_owned(),
                Some(_) => return Err(unknown(word).with_hint("write OF for the offset; names of zones are not abbreviated")),
            },
            fraction => {
                let digits = fraction.strip_prefix("FF").and_then(|digits| digits.parse().ok()).unwrap_or(6);
                format!("{micros:06}")[..digits].to_owned()
            }
        })
    }
}

/// Years count from 1 in both directions.
fn era_year(year: i32) -> i64 {
    let year = i64::from(year);
    if year <= 0 { 1 - year } else { year }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(pattern: &str, text: &str) -> String {
        let at = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").unwrap().and_utc().timestamp_micros();
        Pattern::of(pattern).unwrap().print(at, None).unwrap()
    }

    #[test]
    fn words_and_texts() {
        let at = "2026-03-01 08:05:09.012345";
        assert_eq!(printed("YYYY-MM-DD HH24:MI:SS.US", at), "2026-03-01 08:05:09.012345");
        assert_eq!(printed("FMDay, FMDDth FMMonth YYYY", at), "Sunday, 1st March 2026");
        assert_eq!(printed("Day|MON|dy|RM|Q|IYYY-IW|DDD|D|CC", at), "Sunday   |MAR|sun|III |1|2026-09|060|1|21");
        assert_eq!(printed("HH12:MI am \"YYYY\" \\\"x", at), "08:05 am YYYY \"x");
        assert_eq!(printed("Y,YYY FF3 MS SSSS", at), "2,026 012 012 29109");
        assert_eq!(Pattern::of("TMMonth").unwrap_err().code(), ErrorCode::Unsupported);
    }
}
