// SPDX-License-Identifier: Apache-2.0
//! Values as text, as PostgreSQL's casts to text and `||` show them, where the query engine shows them in another way.

use super::scalar::Scalar;
use arrow::array::{Array, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, DurationMicrosecondType, Float32Type, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, TimeUnit};
use std::sync::Arc;
use weir_base::shortest::{scientific_f32, scientific_f64};

const DAY_MICROS: i64 = 86_400_000_000;

/// Types that the query engine shows differently.
pub(super) fn shown_differently(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64 | DataType::Interval(_) | DataType::Duration(_))
}

/// A value as text.
pub(super) fn as_text() -> Scalar {
    Scalar::any(
        "as_text",
        1,
        |_, _| Ok(DataType::Utf8),
        |arrays, _| {
            let array = &arrays[0];
            let texts: StringArray = match array.data_type() {
                DataType::Float64 => array.as_primitive::<Float64Type>().iter().map(|value| value.map(double)).collect(),
                DataType::Float32 => array.as_primitive::<Float32Type>().iter().map(|value| value.map(single)).collect(),
                DataType::Interval(_) => {
                    let spans = cast(array, &super::spans::INTERVAL)?;
                    spans.as_primitive::<IntervalMonthDayNanoType>().iter().map(|span| span.map(interval)).collect()
                }
                DataType::Duration(_) => {
                    let spans = cast(array, &DataType::Duration(TimeUnit::Microsecond))?;
                    let parts = |span: i64| IntervalMonthDayNano::new(0, (span / DAY_MICROS) as i32, span % DAY_MICROS * 1000);
                    spans.as_primitive::<DurationMicrosecondType>().iter().map(|span| span.map(|span| interval(parts(span)))).collect()
                }
                _ => return Ok(cast(array, &DataType::Utf8)?),
            };
            Ok(Arc::new(texts))
        },
    )
}

/// A truth as `concat` shows it: one letter.
pub(super) fn as_letter() -> Scalar {
    Scalar::any(
        "as_letter",
        1,
        |_, _| Ok(DataType::Utf8),
        |arrays, _| {
            let letter = |value: bool| if value { "t" } else { "f" };
            let truths = cast(&arrays[0], &DataType::Boolean)?;
            let letters: StringArray = truths.as_boolean().iter().map(|value| value.map(letter)).collect();
            Ok(Arc::new(letters))
        },
    )
}

fn double(value: f64) -> String {
    shortest(value.is_finite(), value.is_sign_negative(), value.is_nan(), &scientific_f64(value.abs()), 15)
}

fn single(value: f32) -> String {
    shortest(value.is_finite(), value.is_sign_negative(), value.is_nan(), &scientific_f32(value.abs()), 6)
}

/// The fewest digits that are read back as the same number, with an exponent from `plain_max` digits on.
fn shortest(finite: bool, negative: bool, nan: bool, scientific: &str, plain_max: i32) -> String {
    let sign = if negative && !nan { "-" } else { "" };
    if !finite {
        return if nan { "NaN".to_owned() } else { format!("{sign}Infinity") };
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= plain_max {
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{mark}{:02}", exponent.abs());
    }
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let plain = match usize::try_from(exponent) {
        Ok(point) if digits.len() > point + 1 => format!("{}.{}", &digits[..=point], &digits[point + 1..]),
        Ok(point) => format!("{digits}{}", "0".repeat(point + 1 - digits.len())),
        Err(_) => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
    };
    format!("{sign}{plain}")
}

/// `1 year 2 mons -3 days +04:05:06.5`.
fn interval(span: IntervalMonthDayNano) -> String {
    let mut parts = Vec::new();
    let mut negative_before = false;
    for (count, one, many) in [(span.months / 12, "year", "years"), (span.months % 12, "mon", "mons"), (span.days, "day", "days")] {
        if count != 0 {
            let plus = if negative_before && count > 0 { "+" } else { "" };
            parts.push(format!("{plus}{count} {}", if count == 1 { one } else { many }));
            negative_before = count < 0;
        }
    }
    let micros = span.nanoseconds / 1000;
    if micros != 0 || parts.is_empty() {
        let sign = if micros < 0 {
            "-"
        } else if negative_before {
            "+"
        } else {
            ""
        };
        let (seconds, fraction) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
        let clock = format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        parts.push(if fraction == 0 { clock } else { format!("{clock}.{fraction:06}").trim_end_matches('0').to_owned() });
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_postgres_prints_them() {
        let shown: Vec<String> = [1.0, 0.1, -0.5, 1e20, 1e-7, 1e15, 123_456_789_012_345.0, 0.0001, 1234.5, 0.0, -0.0].map(double).into();
        assert_eq!(shown, ["1", "0.1", "-0.5", "1e+20", "1e-07", "1e+15", "123456789012345", "0.0001", "1234.5", "0", "-0"]);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(double), ["NaN", "Infinity", "-Infinity"]);
        assert_eq!([1e6_f32, 123_456.0, 0.1].map(single), ["1e+06", "123456", "0.1"]);
    }

    #[test]
    fn intervals_as_postgres_prints_them() {
        let shown = |months, days, micros: i64| interval(IntervalMonthDayNano::new(months, days, micros * 1000));
        assert_eq!(shown(14, 3, 7_384_500_000), "1 year 2 mons 3 days 02:03:04.5");
        assert_eq!(shown(0, -1, 3_600_000_000), "-1 days +01:00:00");
        assert_eq!(shown(-1, 2, 0), "-1 mons +2 days");
        assert_eq!(shown(0, 0, 0), "00:00:00");
        assert_eq!(shown(0, 0, -1), "-00:00:00.000001");
    }
}
