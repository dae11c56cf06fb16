// SPDX-License-Identifier: Apache-2.0
//! SQLite rows to Arrow: a value of another storage class than its column promises is error 22003.

use crate::exact_text::{fits, parse_date, parse_decimal, parse_time, parse_timestamp};
use crate::{OutputColumn, Statement, ValuePolicy};
use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float64Builder, Int64Builder, RecordBatch, RecordBatchOptions, StringBuilder,
    Time64MicrosecondBuilder, TimestampMicrosecondBuilder,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use sqlx::sqlite::{SqliteRow, SqliteValueRef};
use sqlx::{Decode, Row, Sqlite, TypeInfo, ValueRef};
use std::sync::Arc;
use weir_base::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX};
use weir_base::{Error, ErrorCode, Result};

/// Grows one batch after the other.
pub(super) struct BatchBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    bytes: u64,
}

/// A stored value in one of SQLite's five classes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl BatchBuilder {
    /// Error: an output type that SQLite has nothing for.
    pub(super) fn new(statement: &Statement, infinity: ValuePolicy) -> Result<Self> {
        let columns = statement.outputs.iter().map(|output| ColumnBuilder::new(output.clone(), infinity)).collect::<Result<_>>()?;
        Ok(Self { schema: statement.schema(), columns, rows: 0, bytes: 0 })
    }

    /// Errors: 22003 for a stray, `Internal` for a row of another width.
    pub(super) fn push(&mut self, row: &SqliteRow) -> Result<()> {
        if row.len() != self.columns.len() {
            return Err(Error::internal(format!("sqlite returned {} columns instead of {}", row.len(), self.columns.len())));
        }
        for (index, column) in self.columns.iter_mut().enumerate() {
            let value = row.try_get_raw(index).map_err(|_| Error::internal("sqlite row without a value"))?;
            let cell = Cell::read(value).ok_or_else(|| unfit(&column.output))?;
            self.bytes += cell.bytes();
            column.push(cell)?;
        }
        self.rows += 1;
        Ok(())
    }

    pub(super) fn full(&self) -> bool {
        self.rows >= BATCH_ROWS_MAX || self.bytes >= BATCH_BYTES_MAX as u64
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the values as SQLite handed them over.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The batch so far; the builder starts anew.
    pub(super) fn finish(&mut self) -> Result<RecordBatch> {
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(|error| Error::internal(format!("batch cannot be built: {error}")))
    }
}

impl<'a> Cell<'a> {
    /// `None` for a text that is not UTF-8.
    fn read(value: SqliteValueRef<'a>) -> Option<Self> {
        if value.is_null() {
            return Some(Self::Null);
        }
        let class = value.type_info().name().to_owned();
        match class.as_str() {
            "INTEGER" => <i64 as Decode<Sqlite>>::decode(value).ok().map(Self::Integer),
            "REAL" => <f64 as Decode<Sqlite>>::decode(value).ok().map(Self::Real),
            "TEXT" => <&str as Decode<Sqlite>>::decode(value).ok().map(Self::Text),
            "BLOB" => <&[u8] as Decode<Sqlite>>::decode(value).ok().map(Self::Blob),
            _ => None,
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::Null => 1,
            Self::Integer(_) | Self::Real(_) => 8,
            Self::Text(text) => text.len() as u64,
            Self::Blob(bytes) => bytes.len() as u64,
        }
    }
}

struct ColumnBuilder {
    output: OutputColumn,
    infinity: ValuePolicy,
    values: Values,
}

enum Values {
    Boolean(BooleanBuilder),
    Int64(Int64Builder),
    /// A narrower integer: collected wide, narrowed at the end of the batch.
    Narrow(Int64Builder, DataType),
    Float64(Float64Builder),
    Decimal(Decimal128Builder, u8, i8),
    Utf8(StringBuilder),
    Binary(BinaryBuilder),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
}

impl ColumnBuilder {
    fn new(output: OutputColumn, infinity: ValuePolicy) -> Result<Self> {
        let values = match &output.data_type {
            DataType::Boolean => Values::Boolean(BooleanBuilder::new()),
            DataType::Int64 => Values::Int64(Int64Builder::new()),
            integer if integer.is_integer() => Values::Narrow(Int64Builder::new(), integer.clone()),
            DataType::Float64 => Values::Float64(Float64Builder::new()),
            DataType::Decimal128(precision, scale) => Values::Decimal(Decimal128Builder::new().with_data_type(output.data_type.clone()), *precision, *scale),
            DataType::Utf8 => Values::Utf8(StringBuilder::new()),
            DataType::Binary => Values::Binary(BinaryBuilder::new()),
            DataType::Date32 => Values::Date(Date32Builder::new()),
            DataType::Time64(TimeUnit::Microsecond) => Values::Time(Time64MicrosecondBuilder::new()),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => Values::Timestamp(TimestampMicrosecondBuilder::new().with_timezone_opt(zone.clone())),
            other => return Err(Error::internal(format!("sqlite has nothing for type {other}")).with_detail(output.label)),
        };
        Ok(Self { output, infinity, values })
    }

    fn push(&mut self, cell: Cell<'_>) -> Result<()> {
        let stray = || unfit(&self.output);
        if let Cell::Real(value) = cell
            && value.is_infinite()
        {
            return self.push_infinity(value);
        }
        match (&mut self.values, cell) {
            (values, Cell::Null) => values.append_null(),
            (Values::Boolean(builder), Cell::Integer(value @ (0 | 1))) => builder.append_value(value == 1),
            (Values::Int64(builder) | Values::Narrow(builder, _), Cell::Integer(value)) => builder.append_value(value),
            (Values::Float64(builder), Cell::Real(value)) => builder.append_value(value),
            (Values::Float64(builder), Cell::Integer(value)) => builder.append_value(exact_double(value).ok_or_else(stray)?),
            (Values::Decimal(builder, precision, scale), cell) => builder.append_value(exact_decimal(cell, *precision, *scale).ok_or_else(stray)?),
            (Values::Utf8(builder), Cell::Text(text)) => builder.append_value(text),
            (Values::Binary(builder), Cell::Blob(bytes)) => builder.append_value(bytes),
            (Values::Date(builder), Cell::Text(text)) => builder.append_value(parse_date(text).ok_or_else(stray)?),
            (Values::Time(builder), Cell::Text(text)) => builder.append_value(parse_time(text).ok_or_else(stray)?),
            (Values::Timestamp(builder), Cell::Text(text)) => builder.append_value(parse_timestamp(text).ok_or_else(stray)?.micros),
            _ => return Err(stray()),
        }
        Ok(())
    }

    /// The one number that some types cannot hold although SQLite stores it.
    fn push_infinity(&mut self, value: f64) -> Result<()> {
        match (&mut self.values, self.infinity) {
            (Values::Float64(builder), ValuePolicy::Keep) => builder.append_value(value),
            (Values::Float64(builder), ValuePolicy::Clamp) => builder.append_value(f64::MAX.copysign(value)),
            (Values::Decimal(builder, precision, _), ValuePolicy::Clamp) => {
                let most = 10_i128.pow(u32::from(*precision)) - 1;
                builder.append_value(if value > 0.0 { most } else { -most });
            }
            (values @ (Values::Float64(_) | Values::Decimal(..)), ValuePolicy::Null) => values.append_null(),
            _ => return Err(unfit(&self.output)),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(match &mut self.values {
            Values::Boolean(builder) => Arc::new(builder.finish()),
            Values::Int64(builder) => Arc::new(builder.finish()),
            Values::Narrow(builder, wanted) => {
                let strict = CastOptions { safe: false, ..CastOptions::default() };
                cast_with_options(&builder.finish(), wanted, &strict).map_err(|_| unfit(&self.output))?
            }
            Values::Float64(builder) => Arc::new(builder.finish()),
            Values::Decimal(builder, ..) => Arc::new(builder.finish()),
            Values::Utf8(builder) => Arc::new(builder.finish()),
            Values::Binary(builder) => Arc::new(builder.finish()),
            Values::Date(builder) => Arc::new(builder.finish()),
            Values::Time(builder) => Arc::new(builder.finish()),
            Values::Timestamp(builder) => Arc::new(builder.finish()),
        })
    }
}

impl Values {
    fn append_null(&mut self) {
        match self {
            Self::Boolean(builder) => builder.append_null(),
            Self::Int64(builder) | Self::Narrow(builder, _) => builder.append_null(),
            Self::Float64(builder) => builder.append_null(),
            Self::Decimal(builder, ..) => builder.append_null(),
            Self::Utf8(builder) => builder.append_null(),
            Self::Binary(builder) => builder.append_null(),
            Self::Date(builder) => builder.append_null(),
            Self::Time(builder) => builder.append_null(),
            Self::Timestamp(builder) => builder.append_null(),
        }
    }
}

fn exact_double(value: i64) -> Option<f64> {
    let double = value as f64;
    (value.unsigned_abs() <= 1 << 53).then_some(double)
}

/// A double stands for the only decimal of at most 15 digits that is nearest to it; where more digits are needed, what was
/// meant cannot be told.
fn exact_decimal(cell: Cell<'_>, precision: u8, scale: i8) -> Option<i128> {
    match cell {
        Cell::Integer(value) => {
            let factor = 10_i128.checked_pow(u32::try_from(scale).ok()?)?;
            i128::from(value).checked_mul(factor).filter(|unscaled| fits(*unscaled, precision))
        }
        Cell::Real(value) => {
            let text = format!("{value:e}");
            let digits = text.split('e').next()?.bytes().filter(u8::is_ascii_digit).count();
            (digits <= 15).then(|| parse_decimal(&text, precision, scale))?
        }
        Cell::Null | Cell::Text(_) | Cell::Blob(_) => None,
    }
}

fn unfit(output: &OutputColumn) -> Error {
    Error::new(ErrorCode::ValueOutOfRange, format!("value of {} cannot be represented exactly", output.label))
        .with_detail(format!("sqlite holds a value there that is no {}", output.data_type))
        .with_hint("leave the column out, or correct the row at the source")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_stand_for_decimals_of_fifteen_digits() {
        assert_eq!(exact_decimal(Cell::Real(0.1), 12, 2), Some(10));
        assert_eq!(exact_decimal(Cell::Real(-1234567890123.45), 15, 2), Some(-123_456_789_012_345));
        assert_eq!(exact_decimal(Cell::Real(0.1 + 0.2), 38, 18), None);
        assert_eq!(exact_decimal(Cell::Real(0.125), 12, 2), None);
        assert_eq!(exact_decimal(Cell::Integer(7), 12, 2), Some(700));
        assert_eq!(exact_decimal(Cell::Integer(i64::MAX), 18, 0), None);
        assert_eq!(exact_decimal(Cell::Text("7"), 12, 2), None);
    }

    #[test]
    fn integers_become_doubles_only_when_exact() {
        assert_eq!(exact_double(1 << 53), Some(9_007_199_254_740_992.0));
        assert_eq!(exact_double((1 << 53) + 1), None);
    }
}
