// SPDX-License-Identifier: Apache-2.0
//! What the calendar of the session's zone decides about an instant: adding months and days, and the begin of a unit.

use super::convert::{Failed, in_unit, micros_or_days};
use super::read::DAY_MICROS;
use super::zone::{Zone, naive, out_of_range};
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, FieldRef, IntervalMonthDayNanoType};
use chrono::{Datelike, Months, NaiveDate};
use datafusion::common::Result as PlanResult;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Work {
    Add,
    Subtract,
    Truncate,
}

/// `instant + interval`, `instant - interval` or `date_trunc(unit, instant)` in a zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shift {
    work: Work,
    zone: Arc<str>,
    signature: Signature,
}

impl Shift {
    fn call(work: Work, zone: &Arc<str>, arguments: Vec<Expr>) -> Expr {
        let function = Self { work, zone: zone.clone(), signature: Signature::any(2, Volatility::Immutable) };
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), arguments))
    }

    pub fn add(instant: Expr, interval: Expr, subtract: bool, zone: &Arc<str>) -> Expr {
        Self::call(if subtract { Work::Subtract } else { Work::Add }, zone, vec![instant, interval])
    }

    /// `arguments` are those of `date_trunc`.
    pub fn truncate(arguments: Vec<Expr>, zone: &Arc<str>) -> Expr {
        Self::call(Work::Truncate, zone, arguments)
    }

    /// Where the instant stands among the arguments.
    fn instant_at(&self) -> usize {
        usize::from(self.work == Work::Truncate)
    }

    fn array(&self, arguments: &[ArrayRef]) -> Result<ArrayRef, Failed> {
        let zone = Zone::named(&self.zone)?;
        let (instants, other) = (&arguments[self.instant_at()], &arguments[1 - self.instant_at()]);
        let micros = micros_or_days(instants)?;
        let shifted: Result<Int64Array> = match self.work {
            Work::Truncate => {
                let units = arrow::compute::cast(other, &DataType::Utf8)?;
                let pairs = micros.iter().zip(units.as_string::<i32>().iter());
                pairs.map(|(at, unit)| at.zip(unit).map(|(at, unit)| truncated(at, unit, zone)).transpose()).collect()
            }
            Work::Add | Work::Subtract => {
                let intervals = other.as_primitive::<IntervalMonthDayNanoType>();
                let sign = if self.work == Work::Add { 1 } else { -1 };
                let pairs = micros.iter().zip(intervals.iter());
                pairs.map(|(at, span)| at.zip(span).map(|(at, span)| moved(at, (span.months, span.days, span.nanoseconds), sign, zone)).transpose()).collect()
            }
        };
        in_unit(shifted?, instants.data_type())
    }
}

/// Months, then days, both by the calendar of the zone, then the clock time.
fn moved(instant: i64, (months, days, nanos): (i32, i32, i64), sign: i64, zone: Zone) -> Result<i64> {
    let mut at = instant;
    if months != 0 {
        let local = naive(zone.local(at)?)?;
        let count = Months::new(months.unsigned_abs());
        let forward = (months > 0) == (sign > 0);
        let there = if forward { local.checked_add_months(count) } else { local.checked_sub_months(count) };
        at = zone.instant(there.ok_or_else(out_of_range)?.and_utc().timestamp_micros())?;
    }
    if days != 0 {
        let span = sign * i64::from(days) * DAY_MICROS;
        at = zone.instant(zone.local(at)?.checked_add(span).ok_or_else(out_of_range)?)?;
    }
    at.checked_add(sign * (nanos / 1000)).ok_or_else(out_of_range)
}

fn truncated(instant: i64, unit: &str, zone: Zone) -> Result<i64> {
    let local = zone.local(instant)?;
    let unit = unit.to_ascii_lowercase();
    // Below a day the offset stays as it is, so that the second of two equal hours keeps its place.
    if let Some(length) = clock_unit(&unit) {
        return Ok(instant - local.rem_euclid(length));
    }
    let first = first_day(naive(local)?.date(), &unit)?;
    zone.instant(i64::from(first.to_epoch_days()) * DAY_MICROS)
}

fn clock_unit(unit: &str) -> Option<i64> {
    Some(match unit {
        "microsecond" | "microseconds" => 1,
        "millisecond" | "milliseconds" => 1_000,
        "second" => 1_000_000,
        "minute" => 60_000_000,
        "hour" => 3_600_000_000,
        _ => return None,
    })
}

fn first_day(day: NaiveDate, unit: &str) -> Result<NaiveDate> {
    let year = day.year();
    let of_year = |year: i32, month: u32| NaiveDate::from_ymd_opt(year, month, 1).ok_or_else(out_of_range);
    match unit {
        "day" => Ok(day),
        "week" => day.checked_sub_days(chrono::Days::new(day.weekday().num_days_from_monday().into())).ok_or_else(out_of_range),
        "month" => of_year(year, day.month()),
        "quarter" => of_year(year, (day.month() - 1) / 3 * 3 + 1),
        "year" => of_year(year, 1),
        "decade" => of_year(year.div_euclid(10) * 10, 1),
        "century" => of_year((year - 1).div_euclid(100) * 100 + 1, 1),
        "millennium" => of_year((year - 1).div_euclid(1000) * 1000 + 1, 1),
        _ => {
            let error = Error::new(ErrorCode::Unsupported, "a unit that timestamps are not cut to");
            Err(error.with_hint("units are microsecond, millisecond, second, minute, hour, day, week, month, quarter, year, decade, century, millennium"))
        }
    }
}

impl ScalarUDFImpl for Shift {
    fn name(&self) -> &str {
        match self.work {
            Work::Add => "add_in_zone",
            Work::Subtract => "subtract_in_zone",
            Work::Truncate => "date_trunc",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> PlanResult<DataType> {
        Ok(arguments[self.instant_at()].clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> PlanResult<FieldRef> {
        let nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), arguments.arg_fields[self.instant_at()].data_type().clone(), nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        let scalar = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let shifted = self.array(&arrays).map_err(Failed::into_plan)?;
        if scalar && shifted.len() == 1 {
            return Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&shifted, 0)?));
        }
        Ok(ColumnarValue::Array(shifted))
    }
}

/// The error of a plan for one of ours.
pub(super) fn refused<T>(error: Error) -> PlanResult<T> {
    Err(carry(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> i64 {
        chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap().and_utc().timestamp_micros()
    }

    #[test]
    fn a_day_has_the_length_that_the_zone_gives_it() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let start = micros("2026-03-28 11:00:00");
        assert_eq!(moved(start, (0, 1, 0), 1, berlin).unwrap(), micros("2026-03-29 10:00:00"));
        assert_eq!(moved(start, (0, 0, 86_400_000_000_000), 1, berlin).unwrap(), micros("2026-03-29 11:00:00"));
        assert_eq!(moved(micros("2026-03-31 10:00:00"), (1, 0, 0), -1, berlin).unwrap(), micros("2026-02-28 11:00:00"));
    }

    #[test]
    fn units_begin_on_the_clock_of_the_zone() {
        let kolkata = Zone::named("Asia/Kolkata").unwrap();
        let at = micros("2026-11-30 19:12:00");
        assert_eq!(truncated(at, "day", kolkata).unwrap(), micros("2026-11-30 18:30:00"));
        assert_eq!(truncated(at, "hour", kolkata).unwrap(), micros("2026-11-30 18:30:00"));
        assert_eq!(truncated(at, "month", kolkata).unwrap(), micros("2026-11-30 18:30:00"));
        assert_eq!(truncated(at, "century", kolkata).unwrap(), micros("2000-12-31 18:30:00"));
    }
}
