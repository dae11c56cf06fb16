// SPDX-License-Identifier: Apache-2.0
//! The driver's Arrow to the promised Arrow: every conversion exact, or error 22003 that names the column.

use crate::exact_text::{fits, parse_decimal, parse_time, parse_timestamp};
use crate::{OutputColumn, Statement, ValuePolicy};
use arrow::array::types::{
    Date64Type, Decimal128Type, Decimal256Type, Float64Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow::array::{Array, ArrayRef, AsArray, Date32Array, PrimitiveArray, RecordBatch, StringArray, new_null_array};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{ArrowTemporalType, DataType, Schema, TimeUnit, i256};
use arrow::error::ArrowError;
use std::sync::Arc;
use weir_base::limits::BATCH_ROWS_MAX;
use weir_base::{Error, ErrorCode, Result, SourceName};

/// A batch of the promised schema. Errors: 22003 for a value that does not fit, `Internal` for a type that nobody expected.
pub(super) fn batch(received: &RecordBatch, statement: &Statement, nan: ValuePolicy, infinity: ValuePolicy) -> Result<RecordBatch> {
    let pairs = received.columns().iter().zip(&statement.outputs);
    let columns: Vec<ArrayRef> = pairs.map(|(array, output)| Wanted { output, nan, infinity }.convert(array)).collect::<Result<_>>()?;
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(received.num_rows()));
    RecordBatch::try_new_with_options(statement.schema(), columns, &options).map_err(|error| Error::internal(format!("batch cannot be built: {error}")))
}

/// Error: another number of columns than asked for.
pub(super) fn check_shape(schema: &Schema, outputs: &[OutputColumn], source: &SourceName) -> Result<()> {
    if schema.fields().len() == outputs.len() {
        return Ok(());
    }
    Err(Error::internal(format!("source {source} returned {} columns instead of {}", schema.fields().len(), outputs.len())))
}

/// Slices of at most `BATCH_ROWS_MAX` rows; they share the driver's buffers.
pub(super) fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    (0..rows).step_by(BATCH_ROWS_MAX).map(move |start| batch.slice(start, BATCH_ROWS_MAX.min(rows - start)))
}

/// Bytes of the values in a batch, without what its buffers hold beyond it.
pub(super) fn buffer_bytes(batch: &RecordBatch) -> u64 {
    let sizes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size()));
    sizes.sum::<usize>() as u64
}

/// Every value as text, for metadata.
pub(super) fn text_rows(batch: &RecordBatch) -> std::result::Result<Vec<Vec<Option<String>>>, ArrowError> {
    let columns: Vec<ArrayRef> = batch.columns().iter().map(|column| cast(column, &DataType::Utf8)).collect::<std::result::Result<_, _>>()?;
    let cell = |column: &ArrayRef, row: usize| {
        let texts = column.as_string::<i32>();
        texts.is_valid(row).then(|| texts.value(row).to_owned())
    };
    Ok((0..batch.num_rows()).map(|row| columns.iter().map(|column| cell(column, row)).collect()).collect())
}

/// The first value of a clock's answer in microseconds since 1970, rounded down.
pub(super) fn first_instant_micros(array: &ArrayRef) -> Option<i64> {
    if array.is_empty() || array.is_null(0) {
        return None;
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Some(array.as_primitive::<TimestampNanosecondType>().value(0).div_euclid(1000)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Some(array.as_primitive::<TimestampMicrosecondType>().value(0)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => array.as_primitive::<TimestampMillisecondType>().value(0).checked_mul(1000),
        DataType::Timestamp(TimeUnit::Second, _) => array.as_primitive::<TimestampSecondType>().value(0).checked_mul(1_000_000),
        _ => None,
    }
}

/// One output column and the source's policy for numbers that are none.
struct Wanted<'a> {
    output: &'a OutputColumn,
    nan: ValuePolicy,
    infinity: ValuePolicy,
}

impl Wanted<'_> {
    fn convert(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let wanted = &self.output.data_type;
        if let DataType::Dictionary(_, values) = array.data_type() {
            let unpacked = cast(array, values).map_err(|_| self.unexpected(array))?;
            return self.convert(&unpacked);
        }
        match wanted {
            DataType::Float64 => self.float(array),
            _ if array.data_type() == wanted => Ok(array.clone()),
            _ if array.data_type() == &DataType::Null => Ok(new_null_array(wanted, array.len())),
            DataType::Int64 => self.integer(array),
            DataType::Decimal128(precision, scale) => self.decimal(array, *precision, *scale),
            DataType::Decimal256(precision, scale) => self.wide_decimal(array, *precision, *scale),
            DataType::Utf8 => self.same_kind(array, |data_type| matches!(data_type, DataType::LargeUtf8 | DataType::Utf8View)),
            DataType::Binary => {
                self.same_kind(array, |data_type| matches!(data_type, DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)))
            }
            DataType::Date32 => self.date(array),
            DataType::Time64(TimeUnit::Microsecond) => self.time(array),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => self.timestamp(array, zone.as_ref()),
            integer if integer.is_integer() => self.narrow_integer(array, integer),
            _ => Err(self.unexpected(array)),
        }
    }

    /// Another layout of the same values.
    fn same_kind(&self, array: &ArrayRef, allowed: fn(&DataType) -> bool) -> Result<ArrayRef> {
        if !allowed(array.data_type()) {
            return Err(self.unexpected(array));
        }
        cast(array, &self.output.data_type).map_err(|_| self.unfit())
    }

    fn float(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if !matches!(array.data_type(), DataType::Float64 | DataType::Float32 | DataType::Null) {
            return Err(self.unexpected(array));
        }
        let floats = cast(array, &DataType::Float64).map_err(|_| self.unfit())?;
        let floats = floats.as_primitive::<Float64Type>();
        if floats.iter().flatten().all(f64::is_finite) {
            return Ok(Arc::new(floats.clone()));
        }
        let checked: PrimitiveArray<Float64Type> = floats.iter().map(|value| value.map_or(Ok(None), |value| self.special(value))).collect::<Result<_>>()?;
        Ok(Arc::new(checked))
    }

    fn special(&self, value: f64) -> Result<Option<f64>> {
        let policy = match (value.is_nan(), value.is_infinite()) {
            (true, _) => self.nan,
            (_, true) => self.infinity,
            _ => return Ok(Some(value)),
        };
        match policy {
            ValuePolicy::Keep => Ok(Some(value)),
            ValuePolicy::Null => Ok(None),
            ValuePolicy::Clamp if value.is_infinite() => Ok(Some(f64::MAX.copysign(value))),
            ValuePolicy::Clamp | ValuePolicy::Error => Err(self.unfit()),
        }
    }

    fn integer(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match array.data_type() {
            data_type if data_type.is_integer() => self.checked_cast(array, &DataType::Int64),
            DataType::Decimal128(_, scale) => {
                let scale = *scale;
                let whole = |value: i128| rescale(value, scale, 0).and_then(|value| i64::try_from(value).ok()).ok_or_else(|| self.unfit());
                Ok(Arc::new(array.as_primitive::<Decimal128Type>().try_unary::<_, Int64Type, Error>(whole)?))
            }
            DataType::Utf8 => self.parse::<Int64Type>(array, |text| text.parse().ok()),
            _ => Err(self.unexpected(array)),
        }
    }

    fn narrow_integer(&self, array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
        let wide = self.integer(array)?;
        self.checked_cast(&wide, wanted)
    }

    fn decimal(&self, array: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
        let place = |value: i128, from: i8| rescale(value, from, scale).filter(|value| fits(*value, precision)).ok_or_else(|| self.unfit());
        let decimals = match array.data_type() {
            DataType::Decimal128(_, from) => {
                let from = *from;
                array.as_primitive::<Decimal128Type>().try_unary::<_, Decimal128Type, Error>(|value| place(value, from))?
            }
            DataType::UInt64 => {
                let wide = array.as_primitive::<arrow::array::types::UInt64Type>();
                wide.try_unary::<_, Decimal128Type, Error>(|value| place(i128::from(value), 0))?
            }
            data_type if data_type.is_integer() => {
                let wide = self.checked_cast(array, &DataType::Int64)?;
                wide.as_primitive::<Int64Type>().try_unary::<_, Decimal128Type, Error>(|value| place(i128::from(value), 0))?
            }
            DataType::Utf8 => self.parsed(array, |text| parse_decimal(text, precision, scale))?,
            _ => return Err(self.unexpected(array)),
        };
        let decimals = decimals.with_precision_and_scale(precision, scale).map_err(|_| self.unfit())?;
        Ok(Arc::new(decimals))
    }

    fn wide_decimal(&self, array: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
        let DataType::Utf8 = array.data_type() else {
            return Err(self.unexpected(array));
        };
        let decimals = self.parsed::<Decimal256Type>(array, |text| parse_wide_decimal(text, precision, scale))?;
        let decimals = decimals.with_precision_and_scale(precision, scale).map_err(|_| self.unfit())?;
        Ok(Arc::new(decimals))
    }

    fn date(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let DataType::Date64 = array.data_type() else {
            return Err(self.unexpected(array));
        };
        let day = |ms: i64| exact_ratio(ms, 86_400_000).and_then(|days| i32::try_from(days).ok()).ok_or_else(|| self.unfit());
        let days: Date32Array = array.as_primitive::<Date64Type>().try_unary(day)?;
        Ok(Arc::new(days))
    }

    fn time(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let micros: PrimitiveArray<Time64MicrosecondType> = match array.data_type() {
            DataType::Time64(TimeUnit::Nanosecond) => self.to_micros::<Time64NanosecondType, _>(array, |value| exact_ratio(value, 1000))?,
            DataType::Time32(TimeUnit::Millisecond) => self.to_micros::<Time32MillisecondType, _>(array, |value| Some(i64::from(value) * 1000))?,
            DataType::Time32(TimeUnit::Second) => self.to_micros::<Time32SecondType, _>(array, |value| Some(i64::from(value) * 1_000_000))?,
            DataType::Utf8 => self.parsed(array, parse_time)?,
            _ => return Err(self.unexpected(array)),
        };
        Ok(Arc::new(micros))
    }

    fn timestamp(&self, array: &ArrayRef, zone: Option<&Arc<str>>) -> Result<ArrayRef> {
        let micros: PrimitiveArray<TimestampMicrosecondType> = match array.data_type() {
            // Text was asked for in UTC where the column has a zone; a zone in a text without one would be a surprise.
            DataType::Utf8 => self.parsed(array, |text| parse_timestamp(text).filter(|at| zone.is_some() || !at.zoned).map(|at| at.micros))?,
            DataType::Timestamp(unit, from) if from.is_some() == zone.is_some() => match unit {
                TimeUnit::Nanosecond => self.to_micros::<TimestampNanosecondType, _>(array, |value| exact_ratio(value, 1000))?,
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().clone(),
                TimeUnit::Millisecond => self.to_micros::<TimestampMillisecondType, _>(array, |value| value.checked_mul(1000))?,
                TimeUnit::Second => self.to_micros::<TimestampSecondType, _>(array, |value| value.checked_mul(1_000_000))?,
            },
            _ => return Err(self.unexpected(array)),
        };
        Ok(Arc::new(micros.with_timezone_opt(zone.cloned())))
    }

    fn to_micros<From, To>(&self, array: &ArrayRef, exact: impl Fn(From::Native) -> Option<i64>) -> Result<PrimitiveArray<To>>
    where
        From: ArrowTemporalType,
        To: ArrowTemporalType<Native = i64>,
    {
        array.as_primitive::<From>().try_unary(|value| exact(value).ok_or_else(|| self.unfit()))
    }

    fn parse<To: arrow::datatypes::ArrowPrimitiveType>(&self, array: &ArrayRef, exact: impl Fn(&str) -> Option<To::Native>) -> Result<ArrayRef> {
        Ok(Arc::new(self.parsed::<To>(array, exact)?))
    }

    fn parsed<To: arrow::datatypes::ArrowPrimitiveType>(&self, array: &ArrayRef, exact: impl Fn(&str) -> Option<To::Native>) -> Result<PrimitiveArray<To>> {
        let texts: &StringArray = array.as_string::<i32>();
        texts.iter().map(|text| text.map_or(Ok(None), |text| exact(text.trim()).map(Some).ok_or_else(|| self.unfit()))).collect()
    }

    fn checked_cast(&self, array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        cast_with_options(array, wanted, &strict).map_err(|_| self.unfit())
    }

    fn unfit(&self) -> Error {
        Error::new(ErrorCode::ValueOutOfRange, format!("value of {} cannot be represented exactly", self.output.label))
            .with_detail(format!("it is read as {}", self.output.data_type))
            .with_hint("leave the column out, or filter the row out at the source")
    }

    fn unexpected(&self, array: &ArrayRef) -> Error {
        Error::internal(format!("driver returned {} for {}", array.data_type(), self.output.label)).with_detail(format!("expected {}", self.output.data_type))
    }
}

/// Moves the decimal point; `None` when digits would be lost or overflow.
fn rescale(value: i128, from: i8, to: i8) -> Option<i128> {
    let shift = i32::from(to) - i32::from(from);
    let factor = 10_i128.checked_pow(shift.unsigned_abs())?;
    if shift >= 0 { value.checked_mul(factor) } else { (value % factor == 0).then_some(value / factor) }
}

/// Plain digits with a point, as warehouses print them, at 256 bits.
fn parse_wide_decimal(text: &str, precision: u8, scale: i8) -> Option<i256> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let places = usize::try_from(scale).ok()?;
    let (kept, lost) = fraction.split_at_checked(places.min(fraction.len()))?;
    let digits = format!("{whole}{kept:0<places$}");
    let plain = digits.strip_prefix('-').unwrap_or(&digits);
    let significant = plain.trim_start_matches('0').len();
    let readable = !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_digit()) && lost.bytes().all(|byte| byte == b'0');
    if !readable || significant > usize::from(precision) {
        return None;
    }
    i256::from_string(&digits)
}

fn exact_ratio(value: i64, divisor: i64) -> Option<i64> {
    (value % divisor == 0).then_some(value / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Float64Array, TimestampNanosecondArray, UInt64Array};

    fn convert(array: ArrayRef, data_type: DataType) -> Result<ArrayRef> {
        let output = OutputColumn { name: "c0".into(), data_type, label: "marts.public.t.c".into() };
        Wanted { output: &output, nan: ValuePolicy::Keep, infinity: ValuePolicy::Null }.convert(&array)
    }

    fn decimals(values: Vec<Option<i128>>, precision: u8, scale: i8) -> ArrayRef {
        Arc::new(Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap())
    }

    #[test]
    fn decimals_become_integers_only_when_whole() {
        let whole = convert(decimals(vec![Some(1200), None], 12, 2), DataType::Int64).unwrap();
        assert_eq!(whole.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), vec![Some(12), None]);
        let error = convert(decimals(vec![Some(1250)], 12, 2), DataType::Int64).unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::ValueOutOfRange, "value of marts.public.t.c cannot be represented exactly"));
        assert_eq!(convert(decimals(vec![Some(1 << 70)], 38, 0), DataType::Int64).unwrap_err().code(), ErrorCode::ValueOutOfRange);
    }

    #[test]
    fn decimals_are_rescaled_without_rounding() {
        let moved = convert(decimals(vec![Some(125)], 5, 1), DataType::Decimal128(12, 2)).unwrap();
        assert_eq!(moved.as_primitive::<Decimal128Type>().value_as_string(0), "12.50");
        assert_eq!(convert(decimals(vec![Some(1255)], 5, 3), DataType::Decimal128(12, 2)).unwrap_err().code(), ErrorCode::ValueOutOfRange);
        let wide = convert(Arc::new(UInt64Array::from(vec![u64::MAX])), DataType::Decimal128(20, 0)).unwrap();
        assert_eq!(wide.as_primitive::<Decimal128Type>().value_as_string(0), "18446744073709551615");
    }

    #[test]
    fn wide_decimals_come_from_text() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["-0.5", "57896044618658097711785492504343953926634.99"]));
        let wide = convert(texts, DataType::Decimal256(76, 2)).unwrap();
        let wide = wide.as_primitive::<Decimal256Type>();
        assert_eq!((wide.value_as_string(0), wide.value_as_string(1)), ("-0.50".into(), "57896044618658097711785492504343953926634.99".into()));
        assert_eq!(parse_wide_decimal("0.125", 76, 2), None);
        assert_eq!(parse_wide_decimal("1e5", 76, 2), None);
        assert_eq!(parse_wide_decimal("1000", 3, 0), None);
    }

    #[test]
    fn nanoseconds_that_matter_are_an_error() {
        let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
        let exact = convert(Arc::new(TimestampNanosecondArray::from(vec![-1_000, 2_000])), micros.clone()).unwrap();
        assert_eq!(exact.as_primitive::<TimestampMicrosecondType>().values().to_vec(), vec![-1, 2]);
        assert_eq!(convert(Arc::new(TimestampNanosecondArray::from(vec![1])), micros.clone()).unwrap_err().code(), ErrorCode::ValueOutOfRange);
        let zoned = TimestampNanosecondArray::from(vec![1_000]).with_timezone("UTC");
        assert_eq!(convert(Arc::new(zoned), micros).unwrap_err().code(), ErrorCode::Internal);
    }

    #[test]
    fn numbers_that_are_none_follow_the_policy() {
        let floats = convert(Arc::new(Float64Array::from(vec![1.5, f64::NAN, f64::INFINITY])), DataType::Float64).unwrap();
        let floats = floats.as_primitive::<Float64Type>();
        assert!(floats.value(1).is_nan() && floats.is_null(2) && floats.value(0) == 1.5);
    }

    #[test]
    fn other_kinds_are_not_guessed() {
        assert_eq!(convert(Arc::new(Float64Array::from(vec![1.0])), DataType::Int64).unwrap_err().code(), ErrorCode::Internal);
        assert_eq!(convert(Arc::new(StringArray::from(vec!["x"])), DataType::Binary).unwrap_err().code(), ErrorCode::Internal);
    }
}
