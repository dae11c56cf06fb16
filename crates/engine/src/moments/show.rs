// SPDX-License-Identifier: Apache-2.0
//! Dates and times as text, as PostgreSQL casts them: `2026-11-30 18:30:00+05:30`.

use super::read::DAY_MICROS;
use super::zone::{Zone, naive, out_of_range};
use chrono::{Datelike, NaiveDate};
use weir_base::Result;

/// `2026-11-30`, `0044-03-15 BC`. Error: 22008.
pub(super) fn date(days: i64) -> Result<String> {
    let (day, era) = day_and_era(days)?;
    Ok(format!("{day}{era}"))
}

/// `18:30:00.25`.
pub(super) fn clock(micros: i64) -> String {
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match fraction {
        0 => whole,
        _ => format!("{whole}.{fraction:06}").trim_end_matches('0').to_owned(),
    }
}

/// `2026-11-30 18:30:00`. Error: 22008.
pub(super) fn local(micros: i64) -> Result<String> {
    let (day, era) = day_and_era(micros.div_euclid(DAY_MICROS))?;
    Ok(format!("{day} {}{era}", clock(micros.rem_euclid(DAY_MICROS))))
}

/// `2026-11-30 18:30:00+05:30`. Error: 22008.
pub(super) fn instant(micros: i64, zone: Zone) -> Result<String> {
    let shown = zone.local(micros)?;
    let (day, era) = day_and_era(shown.div_euclid(DAY_MICROS))?;
    Ok(format!("{day} {}{}{era}", clock(shown.rem_euclid(DAY_MICROS)), offset(zone.offset_at(micros)?)))
}

/// `+01`, `+05:30`, `-00:01:15`.
pub(super) fn offset(seconds: i64) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let mut text = format!("{sign}{:02}", seconds / 3600);
    if seconds % 3600 != 0 {
        text.push_str(&format!(":{:02}", seconds / 60 % 60));
    }
    if seconds % 60 != 0 {
        text.push_str(&format!(":{:02}", seconds % 60));
    }
    text
}

fn day_and_era(days: i64) -> Result<(String, &'static str)> {
    let micros = days.checked_mul(DAY_MICROS);
    let day: NaiveDate = match micros {
        Some(micros) => naive(micros)?.date(),
        None => return Err(out_of_range()),
    };
    let (year, era) = if day.year() <= 0 { (1 - day.year(), " BC") } else { (day.year(), "") };
    Ok((format!("{year:04}-{:02}-{:02}", day.month(), day.day()), era))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_postgres_prints_them() {
        let zone = |name| Zone::named(name).unwrap();
        assert_eq!(date(0).unwrap(), "1970-01-01");
        assert_eq!(date(-735_160).unwrap(), "0044-03-15 BC");
        assert_eq!(local(-1).unwrap(), "1969-12-31 23:59:59.999999");
        assert_eq!(instant(250_000, zone("UTC")).unwrap(), "1970-01-01 00:00:00.25+00");
        assert_eq!(instant(0, zone("Asia/Kolkata")).unwrap(), "1970-01-01 05:30:00+05:30");
        assert_eq!(instant(-2_500_000_000_000_000, zone("Europe/Berlin")).unwrap(), "1890-10-11 20:26:48+00:53:28");
    }
}
