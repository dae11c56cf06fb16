// SPDX-License-Identifier: Apache-2.0
//! Arithmetic of intervals as PostgreSQL does it: months, days and time apart from each other, parts handed down.

use super::numbers::as_double;
use super::scalar::Scalar;
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, DurationMicrosecondArray, Float64Array, IntervalMonthDayNanoArray, Time64MicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, DurationMicrosecondType, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType,
};
use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};
use datafusion::common::{DataFusionError, Result};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

pub(crate) const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);
const DURATION: DataType = DataType::Duration(TimeUnit::Microsecond);
const CLOCK: DataType = DataType::Time64(TimeUnit::Microsecond);
const DAY_MICROS: i64 = 86_400_000_000;
const MONTH_DAYS: i64 = 30;
const LOCAL: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

pub(super) fn all() -> Vec<Scalar> {
    let interval = |_: &[DataType], _: &[Option<&datafusion::common::ScalarValue>]| Ok(INTERVAL);
    vec![
        Scalar::any("age", 2, interval, |arrays, _| ages(arrays)),
        Scalar::of("justify_hours", vec![INTERVAL], interval, |arrays, _| changed(arrays, justify_hours)),
        Scalar::of("justify_days", vec![INTERVAL], interval, |arrays, _| changed(arrays, justify_days)),
        Scalar::of("justify_interval", vec![INTERVAL], interval, |arrays, _| changed(arrays, justify_interval)),
        Scalar::of("make_interval", [vec![DataType::Int64; 6], vec![DataType::Float64]].concat(), interval, |arrays, _| made(arrays)),
    ]
}

/// Interval times double, or a difference of two instants times double.
pub(super) fn times() -> Scalar {
    Scalar::any("interval_times", 2, |types, _| Ok(kept(&types[0])), |arrays, _| scaled(arrays, |value, factor| value * factor))
}

/// Interval by double. Error: 22012.
pub(super) fn over() -> Scalar {
    Scalar::any(
        "interval_over",
        2,
        |types, _| Ok(kept(&types[0])),
        |arrays, _| {
            if as_double(&arrays[1])?.iter().flatten().any(|divisor| divisor == 0.0) {
                return Err(carry(Error::new(ErrorCode::DivisionByZero, "division by zero")));
            }
            scaled(arrays, |value, divisor| value / divisor)
        },
    )
}

fn kept(data_type: &DataType) -> DataType {
    if matches!(data_type, DataType::Duration(_)) { DURATION } else { INTERVAL }
}

/// An interval as microseconds, a month having 30 days and a day 24 hours: how intervals compare.
pub(super) fn length() -> Scalar {
    Scalar::any(
        "interval_length",
        1,
        |_, _| Ok(DataType::Decimal128(38, 0)),
        |arrays, _| {
            let intervals = cast(&arrays[0], &INTERVAL)?;
            let lengths = intervals.as_primitive::<IntervalMonthDayNanoType>().iter().map(|value| value.map(nanos_of)).collect::<Decimal128Array>();
            Ok(Arc::new(lengths.with_precision_and_scale(38, 0)?))
        },
    )
}

/// A clock time plus or minus the time of an interval, whose days and months a clock does not show; it goes round at midnight.
pub(super) fn clock_moved(forward: bool) -> Scalar {
    match forward {
        true => Scalar::any("time_plus", 2, |_, _| Ok(CLOCK), |arrays, _| around_the_clock(arrays, 1)),
        false => Scalar::any("time_minus", 2, |_, _| Ok(CLOCK), |arrays, _| around_the_clock(arrays, -1)),
    }
}

fn around_the_clock(arrays: &[ArrayRef], sign: i64) -> Result<ArrayRef> {
    let (clocks, intervals) = (cast(&arrays[0], &CLOCK)?, cast(&arrays[1], &INTERVAL)?);
    let pairs = clocks.as_primitive::<Time64MicrosecondType>().iter().zip(intervals.as_primitive::<IntervalMonthDayNanoType>());
    let moved = |(clock, by): (Option<i64>, Option<IntervalMonthDayNano>)| Some((clock? + sign * (by?.nanoseconds / 1000)).rem_euclid(DAY_MICROS));
    Ok(Arc::new(pairs.map(moved).collect::<Time64MicrosecondArray>()))
}

fn nanos_of(value: IntervalMonthDayNano) -> i128 {
    let days = i128::from(value.months) * i128::from(MONTH_DAYS) + i128::from(value.days);
    days * i128::from(DAY_MICROS) * 1000 + i128::from(value.nanoseconds)
}

fn too_long() -> DataFusionError {
    carry(Error::new(ErrorCode::MomentOutOfRange, "interval is out of range"))
}

/// Error: 22008 for what does not fit.
fn of_parts(months: f64, days: f64, micros: f64) -> Result<IntervalMonthDayNano> {
    let whole = |value: f64, max: f64| if value.is_finite() && value.abs() <= max { Ok(value) } else { Err(too_long()) };
    let months = whole(months, f64::from(i32::MAX))? as i32;
    let days = whole(days, f64::from(i32::MAX))? as i32;
    let nanos = (whole(micros, 9.2e15)? as i64).checked_mul(1000).ok_or_else(too_long)?;
    Ok(IntervalMonthDayNano::new(months, days, nanos))
}

fn scaled(arrays: &[ArrayRef], by: fn(f64, f64) -> f64) -> Result<ArrayRef> {
    let factors = as_double(&arrays[1])?;
    if matches!(arrays[0].data_type(), DataType::Duration(_)) {
        let spans = cast(&arrays[0], &DURATION)?;
        let pairs = spans.as_primitive::<DurationMicrosecondType>().iter().zip(factors.iter());
        let scale = |span: i64, factor: f64| {
            let micros = by(span as f64, factor).round_ties_even();
            if micros.is_finite() && micros.abs() < 9.2e18 { Ok(micros as i64) } else { Err(too_long()) }
        };
        let made: Result<DurationMicrosecondArray> =
            pairs.map(|(span, factor)| span.zip(factor).map(|(span, factor)| scale(span, factor)).transpose()).collect();
        return Ok(Arc::new(made?));
    }
    let intervals = cast(&arrays[0], &INTERVAL)?;
    let pairs = intervals.as_primitive::<IntervalMonthDayNanoType>().iter().zip(factors.iter());
    let made: Result<IntervalMonthDayNanoArray> =
        pairs.map(|(value, factor)| value.zip(factor).map(|(value, factor)| scaled_one(value, factor, by)).transpose()).collect();
    Ok(Arc::new(made?))
}

/// Parts of a month become days of which there are 30, parts of a day become time; to the microsecond.
fn scaled_one(value: IntervalMonthDayNano, factor: f64, by: fn(f64, f64) -> f64) -> Result<IntervalMonthDayNano> {
    let to_micros = |value: f64| (value * 1e6).round_ties_even() / 1e6;
    let (months, days) = (by(f64::from(value.months), factor), by(f64::from(value.days), factor));
    let month_days = to_micros((months - months.trunc()) * MONTH_DAYS as f64);
    let mut whole_days = days.trunc() + month_days.trunc();
    let mut seconds = to_micros((days - days.trunc() + month_days - month_days.trunc()) * 86_400.0);
    if seconds.abs() >= 86_400.0 {
        whole_days += (seconds / 86_400.0).trunc();
        seconds %= 86_400.0;
    }
    let micros = (by((value.nanoseconds / 1000) as f64, factor) + seconds * 1e6).round_ties_even();
    of_parts(months.trunc(), whole_days, micros)
}

fn changed(arrays: &[ArrayRef], change: fn(IntervalMonthDayNano) -> IntervalMonthDayNano) -> Result<ArrayRef> {
    let intervals = arrays[0].as_primitive::<IntervalMonthDayNanoType>();
    Ok(Arc::new(intervals.unary::<_, IntervalMonthDayNanoType>(change)))
}

const DAY_NANOS: i64 = DAY_MICROS * 1000;

fn justify_hours(value: IntervalMonthDayNano) -> IntervalMonthDayNano {
    let (mut days, mut nanos) = (i64::from(value.days) + value.nanoseconds / DAY_NANOS, value.nanoseconds % DAY_NANOS);
    if days > 0 && nanos < 0 {
        (days, nanos) = (days - 1, nanos + DAY_NANOS);
    } else if days < 0 && nanos > 0 {
        (days, nanos) = (days + 1, nanos - DAY_NANOS);
    }
    IntervalMonthDayNano::new(value.months, days as i32, nanos)
}

fn justify_days(value: IntervalMonthDayNano) -> IntervalMonthDayNano {
    let month = MONTH_DAYS as i32;
    let (mut months, mut days) = (value.months + value.days / month, value.days % month);
    if months > 0 && days < 0 {
        (months, days) = (months - 1, days + month);
    } else if months < 0 && days > 0 {
        (months, days) = (months + 1, days - month);
    }
    IntervalMonthDayNano::new(months, days, value.nanoseconds)
}

/// Time into days, days into months, and one sign for all three.
fn justify_interval(value: IntervalMonthDayNano) -> IntervalMonthDayNano {
    let total = nanos_of(value);
    let month = i128::from(MONTH_DAYS) * i128::from(DAY_NANOS);
    let (months, rest) = (total / month, total % month);
    let (days, nanos) = (rest / i128::from(DAY_NANOS), rest % i128::from(DAY_NANOS));
    IntervalMonthDayNano::new(months as i32, days as i32, nanos as i64)
}

/// Years, months, weeks, days, hours, minutes and seconds, in this order.
fn made(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let whole: Vec<Float64Array> = arrays[..6].iter().map(as_double).collect::<Result<_>>()?;
    let seconds = arrays[6].as_primitive::<Float64Type>();
    let rows = (0..seconds.len()).map(|row| {
        if seconds.is_null(row) || whole.iter().any(|part| part.is_null(row)) {
            return Ok(None);
        }
        let part = |index: usize| whole[index].value(row);
        let micros = part(4) * 3_600e6 + part(5) * 60e6 + (seconds.value(row) * 1e6).round_ties_even();
        of_parts(part(0) * 12.0 + part(1), part(2) * 7.0 + part(3), micros).map(Some)
    });
    Ok(Arc::new(rows.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

fn ages(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let (until, since) = (cast(&arrays[0], &LOCAL)?, cast(&arrays[1], &LOCAL)?);
    let pairs = until.as_primitive::<TimestampMicrosecondType>().iter().zip(since.as_primitive::<TimestampMicrosecondType>().iter());
    let made: Result<IntervalMonthDayNanoArray> = pairs.map(|(until, since)| until.zip(since).map(|(until, since)| age(until, since)).transpose()).collect();
    Ok(Arc::new(made?))
}

/// How much time lies between two instants, in years, months, days and clock time. Days missing in a month are borrowed from the
/// month of the earlier instant.
fn age(until: i64, since: i64) -> Result<IntervalMonthDayNano> {
    let (later, earlier, sign) = if until >= since { (until, since, 1) } else { (since, until, -1) };
    let (late, early) = (clock(later)?, clock(earlier)?);
    let micros_of = |at: NaiveDateTime| i64::from(at.num_seconds_from_midnight()) * 1_000_000 + i64::from(at.nanosecond() / 1000);
    let mut months = (late.year() - early.year()) * 12 + late.month() as i32 - early.month() as i32;
    let mut days = late.day() as i32 - early.day() as i32;
    let mut micros = micros_of(late) - micros_of(early);
    if micros < 0 {
        (micros, days) = (micros + DAY_MICROS, days - 1);
    }
    if days < 0 {
        (days, months) = (days + days_in_month(early)?, months - 1);
    }
    Ok(IntervalMonthDayNano::new(sign * months, sign * days, i64::from(sign) * micros * 1000))
}

fn clock(micros: i64) -> Result<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|at| at.naive_utc()).ok_or_else(too_long)
}

fn days_in_month(at: NaiveDateTime) -> Result<i32> {
    let first = at.date().with_day(1).ok_or_else(too_long)?;
    let next = first.checked_add_months(chrono::Months::new(1)).ok_or_else(too_long)?;
    Ok((next - first).num_days() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> i64 {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap().and_utc().timestamp_micros()
    }

    fn of(months: i32, days: i32, micros: i64) -> IntervalMonthDayNano {
        IntervalMonthDayNano::new(months, days, micros * 1000)
    }

    #[test]
    fn ages_as_postgres_counts_them() {
        let between = |until: &str, since: &str| age(micros(until), micros(since)).unwrap();
        assert_eq!(between("2026-03-01 00:00:00", "2025-01-31 00:00:00"), of(13, 1, 0));
        assert_eq!(between("2026-01-01 00:00:00", "2026-01-01 00:00:01"), of(0, 0, -1_000_000));
        assert_eq!(between("2026-02-01 00:00:00", "2026-03-31 12:00:00"), of(-1, -30, -43_200_000_000));
    }

    #[test]
    fn a_clock_goes_round_at_midnight() {
        let clocks: ArrayRef = Arc::new(Time64MicrosecondArray::from(vec![Some(82_800_000_000), Some(0), None]));
        let spans: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![of(1, 1, 7_200_000_000), of(0, 0, -1), of(0, 0, 0)]));
        let moved = around_the_clock(&[clocks, spans], 1).unwrap();
        assert_eq!(moved.as_primitive::<Time64MicrosecondType>().iter().collect::<Vec<_>>(), [Some(3_600_000_000), Some(86_399_999_999), None]);
    }

    #[test]
    fn parts_are_handed_down() {
        let times = |value, factor| scaled_one(value, factor, |value, factor| value * factor).unwrap();
        assert_eq!(times(of(0, 1, 0), 1.5), of(0, 1, 43_200_000_000));
        assert_eq!(times(of(1, 0, 0), 0.5), of(0, 15, 0));
        assert_eq!(times(of(1, 1, 1_000_000), 3.0), of(3, 3, 3_000_000));
        assert_eq!(justify_interval(of(1, 0, -3_600_000_000)), of(0, 29, 82_800_000_000));
        assert_eq!(justify_hours(of(0, 0, 144_000_000_000)), of(0, 1, 57_600_000_000));
        assert_eq!(justify_days(of(0, 40, 0)), of(1, 10, 0));
    }
}
