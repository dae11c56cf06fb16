// SPDX-License-Identifier: Apache-2.0
//! EXTRACT and `date_part`: every field that PostgreSQL knows, with the fraction of a second. EXTRACT gives an exact number,
//! `date_part` a double.

use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, DurationMicrosecondType, Field, FieldRef, IntervalMonthDayNanoType, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use chrono::{DateTime, Datelike, NaiveDateTime};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

const DAY_MICROS: i64 = 86_400_000_000;

/// `date_part(field, value)`, and EXTRACT, which is exact.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct DatePart {
    exact: bool,
    signature: Signature,
    aliases: Vec<String>,
}

impl DatePart {
    pub fn new(exact: bool) -> Self {
        Self { exact, signature: Signature::any(2, Volatility::Immutable), aliases: vec!["datepart".into()] }
    }
}

/// A value taken apart: whole days of a calendar, or the parts of an interval.
#[derive(Clone, Copy)]
enum Moment {
    /// Microseconds since 1970.
    Instant(i64),
    /// Microseconds since midnight.
    Clock(i64),
    /// Months, days, microseconds.
    Span(i64, i64, i64),
}

/// How many digits behind the point a field has, by its folded name; `None` for an unknown one.
fn scale(field: &str) -> Option<i8> {
    Some(match field {
        "epoch" | "second" => 6,
        "millisecond" => 3,
        "microsecond" | "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year" | "decade" | "century" | "millennium" => 0,
        "dow" | "isodow" | "doy" | "isoyear" => 0,
        _ => return None,
    })
}

/// The one name of a field that has several.
fn folded(field: &str) -> String {
    let field = field.trim().to_ascii_lowercase();
    let known = match field.as_str() {
        "seconds" | "sec" | "secs" | "s" => "second",
        "milliseconds" | "msec" | "msecs" | "ms" => "millisecond",
        "microseconds" | "usec" | "usecs" | "us" => "microsecond",
        "minutes" | "min" | "mins" => "minute",
        "hours" | "hr" | "hrs" => "hour",
        "days" | "d" => "day",
        "weeks" | "w" => "week",
        "months" | "mon" | "mons" => "month",
        "quarters" | "qtr" => "quarter",
        "years" | "yr" | "yrs" => "year",
        "decades" => "decade",
        "centuries" => "century",
        "millenniums" | "millennia" => "millennium",
        "dayofweek" | "day_of_week" => "dow",
        "dayofyear" | "day_of_year" => "doy",
        _ => return field,
    };
    known.to_owned()
}

fn unknown(field: &str) -> DataFusionError {
    let shown: String = field.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    let error = Error::new(ErrorCode::BadSetting, format!("field {shown} of a date or time is not known"));
    carry(error.with_hint("fields are year, quarter, month, week, day, hour, minute, second, epoch, dow, isodow, doy, isoyear, decade, century, millennium"))
}

/// The field in millionths.
fn value(moment: Moment, field: &str) -> Result<i128> {
    let (micros_of_minute, minutes) = match moment {
        Moment::Instant(at) => (at.rem_euclid(60_000_000), at.rem_euclid(DAY_MICROS) / 60_000_000),
        Moment::Clock(at) => (at % 60_000_000, at / 60_000_000),
        Moment::Span(_, _, micros) => (micros % 60_000_000, micros / 60_000_000),
    };
    let whole = |number: i64| Ok(i128::from(number) * 1_000_000);
    match field {
        "second" => Ok(i128::from(micros_of_minute)),
        "millisecond" => Ok(i128::from(micros_of_minute) * 1_000),
        "microsecond" => whole(micros_of_minute),
        "minute" => whole(minutes % 60),
        "hour" => whole(minutes / 60),
        _ => match moment {
            Moment::Instant(at) if field == "epoch" => Ok(i128::from(at)),
            Moment::Clock(at) if field == "epoch" => Ok(i128::from(at)),
            Moment::Instant(at) => whole(of_calendar(at, field).ok_or_else(|| unknown(field))?),
            Moment::Span(months, days, micros) => of_span(months, days, micros, field).ok_or_else(|| unknown(field)),
            Moment::Clock(_) => Err(unknown(field)),
        },
    }
}

fn of_calendar(at: i64, field: &str) -> Option<i64> {
    let at: NaiveDateTime = DateTime::from_timestamp_micros(at)?.naive_utc();
    let year = i64::from(at.year());
    // There is no year 0: the one before 1 is -1.
    let shown = if year > 0 { year } else { year - 1 };
    Some(match field {
        "day" => i64::from(at.day()),
        "week" => i64::from(at.iso_week().week()),
        "month" => i64::from(at.month()),
        "quarter" => i64::from((at.month() - 1) / 3 + 1),
        "year" => shown,
        "decade" => year.div_euclid(10),
        "century" => {
            if year > 0 {
                (year + 99) / 100
            } else {
                -((99 - (year - 1)) / 100)
            }
        }
        "millennium" => {
            if year > 0 {
                (year + 999) / 1000
            } else {
                -((999 - (year - 1)) / 1000)
            }
        }
        "dow" => i64::from(at.weekday().num_days_from_sunday()),
        "isodow" => i64::from(at.weekday().number_from_monday()),
        "doy" => i64::from(at.ordinal()),
        "isoyear" => i64::from(at.iso_week().year()),
        _ => return None,
    })
}

/// Years of 365.25 days and months of 30, as PostgreSQL counts the seconds of an interval.
fn of_span(months: i64, days: i64, micros: i64, field: &str) -> Option<i128> {
    let whole = |number: i64| i128::from(number) * 1_000_000;
    Some(match field {
        "epoch" => {
            i128::from(months / 12) * 31_557_600_000_000 + (i128::from(months % 12) * 30 + i128::from(days)) * i128::from(DAY_MICROS) + i128::from(micros)
        }
        "day" => whole(days),
        "month" => whole(months % 12),
        "quarter" => whole(months % 12 / 3 + 1),
        "year" => whole(months / 12),
        "decade" => whole(months / 120),
        "century" => whole(months / 1200),
        "millennium" => whole(months / 12_000),
        _ => return None,
    })
}

/// The values of a column, taken apart. Error: 42804 for a type that has no such fields.
fn moments(array: &ArrayRef) -> Result<Vec<Option<Moment>>> {
    Ok(match array.data_type() {
        DataType::Date32 | DataType::Date64 => {
            let days = cast(array, &DataType::Date32)?;
            days.as_primitive::<Date32Type>().iter().map(|day| day.map(|day| Moment::Instant(i64::from(day) * DAY_MICROS))).collect()
        }
        DataType::Timestamp(_, zone) => {
            let micros = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))?;
            micros.as_primitive::<TimestampMicrosecondType>().iter().map(|at| at.map(Moment::Instant)).collect()
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            let micros = cast(array, &DataType::Time64(TimeUnit::Microsecond))?;
            micros.as_primitive::<Time64MicrosecondType>().iter().map(|at| at.map(Moment::Clock)).collect()
        }
        DataType::Duration(_) => {
            let micros = cast(array, &DataType::Duration(TimeUnit::Microsecond))?;
            let spans = micros.as_primitive::<DurationMicrosecondType>().iter();
            spans.map(|span| span.map(|span| Moment::Span(0, span / DAY_MICROS, span % DAY_MICROS))).collect()
        }
        DataType::Interval(_) => {
            let spans = cast(array, &super::spans::INTERVAL)?;
            let spans = spans.as_primitive::<IntervalMonthDayNanoType>().iter();
            spans.map(|span| span.map(|span| Moment::Span(span.months.into(), span.days.into(), span.nanoseconds / 1000))).collect()
        }
        DataType::Null => vec![None; array.len()],
        _ => {
            let error = Error::new(ErrorCode::TypeMismatch, "a field is asked of something that is neither a date nor a time");
            return Err(carry(error.with_hint("cast it: EXTRACT(year FROM x::date)")));
        }
    })
}

fn text(scalar: Option<&ScalarValue>) -> Option<String> {
    match scalar? {
        ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)) => Some(folded(text)),
        _ => None,
    }
}

impl ScalarUDFImpl for DatePart {
    fn name(&self) -> &str {
        "date_part"
    }

    /// All names of the one that it replaces.
    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let returns = match text(arguments.scalar_arguments[0]) {
            Some(field) => match scale(&field) {
                None => return Err(unknown(&field)),
                Some(scale) if self.exact => DataType::Decimal128(20, scale),
                Some(_) => DataType::Float64,
            },
            None => DataType::Float64,
        };
        Ok(Arc::new(Field::new(self.name(), returns, true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let fields = cast(&arrays[0], &DataType::Utf8)?;
        let fields = fields.as_string::<i32>();
        let mut last = (String::new(), String::new());
        let mut values = Vec::with_capacity(fields.len());
        for (row, moment) in moments(&arrays[1])?.into_iter().enumerate() {
            if fields.is_valid(row) && fields.value(row) != last.0 {
                last = (fields.value(row).to_owned(), folded(fields.value(row)));
            }
            values.push(moment.filter(|_| fields.is_valid(row)).map(|moment| value(moment, &last.1)).transpose()?);
        }
        let made: ArrayRef = match arguments.return_field.data_type() {
            DataType::Decimal128(precision, scale) => {
                let power = 10_i128.pow(u32::try_from(6 - scale).unwrap_or(0));
                let digits = values.into_iter().map(|value| value.map(|value| value / power));
                Arc::new(digits.collect::<Decimal128Array>().with_precision_and_scale(*precision, *scale)?)
            }
            _ => Arc::new(values.into_iter().map(|value| value.map(|value| value as f64 / 1e6)).collect::<Float64Array>()),
        };
        match constant && made.len() == 1 {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)),
            false => Ok(ColumnarValue::Array(made)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, field: &str) -> i128 {
        let at = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").unwrap().and_utc().timestamp_micros();
        value(Moment::Instant(at), &folded(field)).unwrap()
    }

    #[test]
    fn fields_of_a_timestamp() {
        assert_eq!(of("2026-01-31 10:20:30.123456", "seconds"), 30_123_456);
        assert_eq!(of("2026-01-31 10:20:30.123456", "milliseconds"), 30_123_456_000);
        assert_eq!(of("2001-01-01 00:00:00", "century"), 21_000_000);
        assert_eq!(of("2000-01-01 00:00:00", "century"), 20_000_000);
        assert_eq!(of("2000-01-01 00:00:00", "millennium"), 2_000_000);
        assert_eq!(of("2024-12-30 00:00:00", "isoyear"), 2_025_000_000);
        assert_eq!(of("2026-11-29 00:00:00", "dow"), 0);
        assert!(value(Moment::Clock(0), "year").is_err());
    }

    #[test]
    fn fields_of_an_interval() {
        let span = Moment::Span(14, 3, 7_200_000_000);
        assert_eq!(value(span, "month").unwrap(), 2_000_000);
        assert_eq!(value(span, "epoch").unwrap(), 31_557_600_000_000 + 63 * 86_400_000_000 + 7_200_000_000);
        assert_eq!(value(span, "hour").unwrap(), 2_000_000);
    }
}
