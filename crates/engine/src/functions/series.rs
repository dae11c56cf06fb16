// SPDX-License-Identifier: Apache-2.0
//! `generate_series` over dates and times, stepped as PostgreSQL steps; over numbers it is the query engine's own.

use crate::errors::carry;
use arrow::array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, IntervalMonthDayNano, Schema, TimeUnit};
use chrono::{DateTime, Months, NaiveDateTime, TimeDelta};
use datafusion::catalog::{TableFunction, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::datasource::MemTable;
use datafusion::logical_expr::Expr;
use std::sync::Arc;
use weir_base::limits::{BATCH_ROWS_MAX, SERIES_MOMENTS_MAX};
use weir_base::{Error, ErrorCode};

#[derive(Debug)]
pub(super) struct Series {
    /// The query engine's, for numbers.
    pub numbers: Arc<TableFunction>,
}

impl TableFunctionImpl for Series {
    fn call_with_args(&self, arguments: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let [Expr::Literal(first, _), Expr::Literal(last, _), Expr::Literal(step, _)] = arguments.exprs() else { return self.of_numbers(arguments) };
        let Some(zone) = zone_of(first) else { return self.of_numbers(arguments) };
        let data_type = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
        let steps_by_clock = zone.as_deref().is_none_or(|zone| matches!(zone, "UTC" | "+00:00" | "Etc/UTC"));
        if !steps_by_clock {
            let error = Error::new(ErrorCode::Unsupported, "a series of instants in a zone other than UTC is not in Weir");
            return Err(carry(error.with_hint("make a series of timestamps without zone, and cast its values")));
        }
        let (Some(first), Some(last), Some(step)) = (micros(first)?, micros(last)?, interval(step)?) else { return table(&data_type, Vec::new()) };
        table(&data_type, moments(first, last, step)?)
    }
}

impl Series {
    fn of_numbers(&self, arguments: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let literal = |argument: &Expr| matches!(argument, Expr::Literal(..));
        if !arguments.exprs().iter().all(literal) {
            let error = Error::new(ErrorCode::Unsupported, "generate_series takes constants only");
            return Err(carry(error.with_hint("make a longer series and filter it: JOIN generate_series(1, 1000) AS g ON g <= t.n")));
        }
        self.numbers.create_table_provider_with_args(arguments)
    }
}

/// The zone that instants carry; `None` for something that is no date or time.
fn zone_of(value: &ScalarValue) -> Option<Option<Arc<str>>> {
    match value {
        ScalarValue::Date32(_) => Some(None),
        ScalarValue::TimestampSecond(_, zone)
        | ScalarValue::TimestampMillisecond(_, zone)
        | ScalarValue::TimestampMicrosecond(_, zone)
        | ScalarValue::TimestampNanosecond(_, zone) => Some(zone.clone()),
        _ => None,
    }
}

fn micros(value: &ScalarValue) -> Result<Option<i64>> {
    match value.cast_to(&DataType::Timestamp(TimeUnit::Microsecond, None))? {
        ScalarValue::TimestampMicrosecond(micros, _) => Ok(micros),
        _ => Ok(None),
    }
}

fn interval(value: &ScalarValue) -> Result<Option<IntervalMonthDayNano>> {
    match value.cast_to(&super::spans::INTERVAL)? {
        ScalarValue::IntervalMonthDayNano(span) => Ok(span),
        _ => Ok(None),
    }
}

/// Each is the one before plus the step, so that a series by months from the 31st stays at the 28th once it was there.
fn moments(first: i64, last: i64, step: IntervalMonthDayNano) -> Result<Vec<i64>> {
    let forward = [i64::from(step.months), i64::from(step.days), step.nanoseconds];
    let up = match (forward.iter().any(|part| *part > 0), forward.iter().any(|part| *part < 0)) {
        (true, false) => true,
        (false, true) => false,
        (false, false) => return Err(wrong("step size cannot equal zero")),
        (true, true) => return Err(wrong("a step of both signs is not in Weir")),
    };
    let mut series = Vec::new();
    let mut at = first;
    while if up { at <= last } else { at >= last } {
        if series.len() >= SERIES_MOMENTS_MAX {
            let error = Error::new(ErrorCode::LimitExceeded, "a series of dates is too long");
            return Err(carry(error.with_detail(format!("at most {SERIES_MOMENTS_MAX} are made")).with_hint("take a longer step or a shorter range")));
        }
        series.push(at);
        at = next(at, step)?;
    }
    Ok(series)
}

fn wrong(message: &str) -> DataFusionError {
    carry(Error::new(ErrorCode::BadSetting, message.to_owned()).with_detail("generate_series"))
}

fn next(at: i64, step: IntervalMonthDayNano) -> Result<i64> {
    let too_far = || carry(Error::new(ErrorCode::MomentOutOfRange, "timestamp is out of range"));
    let local: NaiveDateTime = DateTime::from_timestamp_micros(at).ok_or_else(too_far)?.naive_utc();
    let months = Months::new(step.months.unsigned_abs());
    let local = if step.months >= 0 { local.checked_add_months(months) } else { local.checked_sub_months(months) };
    let local = local.and_then(|local| local.checked_add_signed(TimeDelta::days(step.days.into())));
    let local = local.and_then(|local| local.checked_add_signed(TimeDelta::microseconds(step.nanoseconds / 1000)));
    Ok(local.ok_or_else(too_far)?.and_utc().timestamp_micros())
}

fn table(data_type: &DataType, series: Vec<i64>) -> Result<Arc<dyn TableProvider>> {
    let DataType::Timestamp(_, zone) = data_type else { return Err(wrong("a series of something else than dates")) };
    let schema = Arc::new(Schema::new(vec![Field::new("value", data_type.clone(), true)]));
    let batch = |values: &[i64]| {
        let column: ArrayRef = Arc::new(TimestampMicrosecondArray::from(values.to_vec()).with_timezone_opt(zone.clone()));
        RecordBatch::try_new(schema.clone(), vec![column])
    };
    let batches = series.chunks(BATCH_ROWS_MAX).map(batch).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_added_one_after_the_other() {
        let at = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap().and_utc().timestamp_micros();
        let series = moments(at("2026-01-31 00:00:00"), at("2026-04-30 00:00:00"), IntervalMonthDayNano::new(1, 0, 0)).unwrap();
        assert_eq!(series, ["2026-01-31 00:00:00", "2026-02-28 00:00:00", "2026-03-28 00:00:00", "2026-04-28 00:00:00"].map(at));
        assert!(moments(0, 1, IntervalMonthDayNano::new(0, 0, 0)).is_err());
        assert!(moments(0, i64::from(u32::MAX) * 1_000_000_000, IntervalMonthDayNano::new(0, 0, 1000)).is_err());
    }
}
