// SPDX-License-Identifier: Apache-2.0
//! Rows of the binary protocol, straight into Arrow builders: nothing is allocated per row or value.

use super::failure::Failure;
use super::session::WireColumn;
use super::values::{Binaries, Bits, Booleans, Dates, Decimals, Floats, Integers, Nulls, Texts, Times, Timestamps, ValueReader};
use super::wire::Reader;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, SchemaRef, TimeUnit, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use weir_base::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX};
use weir_base::{Error, ErrorCode, Result, SourceName};

/// Column kinds as the protocol numbers them.
pub(super) mod kind {
    pub(crate) const TINY: u8 = 1;
    pub(crate) const SHORT: u8 = 2;
    pub(crate) const LONG: u8 = 3;
    pub(crate) const FLOAT: u8 = 4;
    pub(crate) const DOUBLE: u8 = 5;
    pub(crate) const NULL: u8 = 6;
    pub(crate) const TIMESTAMP: u8 = 7;
    pub(crate) const LONGLONG: u8 = 8;
    pub(crate) const INT24: u8 = 9;
    pub(crate) const DATE: u8 = 10;
    pub(crate) const TIME: u8 = 11;
    pub(crate) const DATETIME: u8 = 12;
    pub(crate) const YEAR: u8 = 13;
    pub(crate) const NEWDATE: u8 = 14;
    pub(crate) const VARCHAR: u8 = 15;
    pub(crate) const BIT: u8 = 16;
    pub(crate) const JSON: u8 = 245;
    pub(crate) const NEWDECIMAL: u8 = 246;
    pub(crate) const ENUM: u8 = 247;
    pub(crate) const GEOMETRY: u8 = 255;
}

/// A value did not fit: what it would have had to be, without the value.
pub(super) type Unfit = &'static str;

/// Why a row could not be taken in.
pub(super) enum Trouble {
    Wire(Failure),
    Value(Unfit),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Wire(failure)
    }
}

/// Collects rows into batches.
pub(super) struct Decoder {
    source: SourceName,
    schema: SchemaRef,
    labels: Vec<String>,
    columns: Vec<Box<dyn ValueReader>>,
    rows: usize,
    bytes: usize,
}

impl Decoder {
    /// Error: the server sends a column that the expected type cannot be read from, which is a bug in the SQL that was written or a changed table.
    pub(super) fn new(source: &SourceName, schema: SchemaRef, labels: Vec<String>, wire: &[WireColumn]) -> Result<Self> {
        if wire.len() != labels.len() {
            return Err(Error::internal("a statement returned another number of columns than was expected").with_detail(format!(
                "source {source}: {} expected, {} came",
                labels.len(),
                wire.len()
            )));
        }
        let mut columns = Vec::with_capacity(wire.len());
        for ((column, field), label) in wire.iter().zip(schema.fields()).zip(&labels) {
            let reader = reader(*column, field.data_type()).ok_or_else(|| {
                Error::new(ErrorCode::TypeMismatch, format!("{label} came with another type than was expected")).with_detail(format!(
                    "source {source}: {} expected, column kind {} came",
                    field.data_type(),
                    column.kind
                ))
            })?;
            columns.push(reader);
        }
        Ok(Self { source: source.clone(), schema, labels, columns, rows: 0, bytes: 0 })
    }

    /// Takes in one row packet.
    pub(super) fn row(&mut self, packet: &[u8]) -> Result<(), Failure> {
        let mut rest = Reader(packet);
        rest.byte()?;
        let nulls = rest.take((self.columns.len() + 2).div_ceil(8))?;
        for (index, column) in self.columns.iter_mut().enumerate() {
            let bit = index + 2;
            if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
                column.null();
                continue;
            }
            match column.read(&mut rest) {
                Ok(()) => {}
                Err(Trouble::Wire(failure)) => return Err(failure),
                Err(Trouble::Value(fit)) => return Err(Failure::Ours(unfit(&self.source, &self.labels[index], fit))),
            }
        }
        self.rows += 1;
        self.bytes += packet.len();
        Ok(())
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn full(&self) -> bool {
        self.rows >= BATCH_ROWS_MAX || self.bytes >= BATCH_BYTES_MAX
    }

    /// The rows so far, as a batch; the next one begins empty.
    pub(super) fn finish(&mut self) -> Result<RecordBatch> {
        let arrays = self.columns.iter_mut().map(|column| column.finish()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| Error::internal("rows of a source do not make a batch").with_detail(error.to_string()))
    }
}

fn unfit(source: &SourceName, label: &str, fit: Unfit) -> Error {
    Error::new(ErrorCode::ValueOutOfRange, format!("a value of {label} cannot be represented exactly"))
        .with_detail(format!("source {source}: {fit}"))
        .with_hint("filter such rows out at the source, or leave the column out")
}

/// How to read what comes as what is wanted; `None` when that cannot be done exactly.
fn reader(column: WireColumn, data_type: &DataType) -> Option<Box<dyn ValueReader>> {
    if column.kind == kind::NULL {
        return Some(Box::new(Nulls::new(data_type.clone())));
    }
    let width = integer_width(column.kind);
    match data_type {
        DataType::UInt64 if column.kind == kind::BIT => Some(Box::new(Bits::default())),
        DataType::Int8 => Some(Box::new(Integers::<Int8Type>::new(width?, column.unsigned))),
        DataType::Int16 => Some(Box::new(Integers::<Int16Type>::new(width?, column.unsigned))),
        DataType::Int32 => Some(Box::new(Integers::<Int32Type>::new(width?, column.unsigned))),
        DataType::Int64 => Some(Box::new(Integers::<Int64Type>::new(width?, column.unsigned))),
        DataType::UInt8 => Some(Box::new(Integers::<UInt8Type>::new(width?, column.unsigned))),
        DataType::UInt16 => Some(Box::new(Integers::<UInt16Type>::new(width?, column.unsigned))),
        DataType::UInt32 => Some(Box::new(Integers::<UInt32Type>::new(width?, column.unsigned))),
        DataType::UInt64 => Some(Box::new(Integers::<UInt64Type>::new(width?, column.unsigned))),
        DataType::Boolean => Some(Box::new(Booleans::new(width?))),
        DataType::Float32 if column.kind == kind::FLOAT => Some(Box::new(Floats::<Float32Type>::new(true))),
        DataType::Float64 if matches!(column.kind, kind::FLOAT | kind::DOUBLE) => Some(Box::new(Floats::<Float64Type>::new(column.kind == kind::FLOAT))),
        DataType::Decimal128(precision, scale) => Decimals::<Decimal128Type>::boxed(*precision, *scale, digits_kind(column)?),
        DataType::Decimal256(precision, scale) => Decimals::<Decimal256Type>::boxed(*precision, *scale, digits_kind(column)?),
        DataType::Utf8 if textual(column.kind) => Some(Box::new(Texts::default())),
        DataType::Binary if binary(column.kind) => Some(Box::new(Binaries::default())),
        DataType::Date32 if matches!(column.kind, kind::DATE | kind::NEWDATE) => Some(Box::new(Dates::default())),
        DataType::Time64(TimeUnit::Microsecond) if column.kind == kind::TIME => Some(Box::new(Times::default())),
        DataType::Timestamp(TimeUnit::Microsecond, zone) if matches!(column.kind, kind::TIMESTAMP | kind::DATETIME | kind::DATE) => {
            Some(Box::new(Timestamps::new(zone.clone())))
        }
        _ => None,
    }
}

/// Bytes of an integer on the wire.
fn integer_width(kind: u8) -> Option<u8> {
    match kind {
        kind::TINY => Some(1),
        kind::SHORT | kind::YEAR => Some(2),
        kind::LONG | kind::INT24 => Some(4),
        kind::LONGLONG => Some(8),
        _ => None,
    }
}

/// A decimal comes as digits (`None`) or, from an expression, as an integer of some width and sign.
fn digits_kind(column: WireColumn) -> Option<Option<(u8, bool)>> {
    if column.kind == kind::NEWDECIMAL { Some(None) } else { integer_width(column.kind).map(|width| Some((width, column.unsigned))) }
}

fn textual(kind: u8) -> bool {
    matches!(kind, kind::VARCHAR | kind::JSON..=254) || kind == 0
}

fn binary(kind: u8) -> bool {
    matches!(kind, kind::VARCHAR | kind::ENUM..=kind::GEOMETRY)
}
