// SPDX-License-Identifier: Apache-2.0
//! Values as Weir holds them after reading, and their order: what a source must agree with.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt64Type};
use std::cmp::Ordering;
use weir_source::Operand;

/// One value that is not NULL.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Int(i128),
    Float(f64),
    /// Unscaled, and the scale.
    Decimal(i128, i8),
    Text(String),
    Bytes(Vec<u8>),
    Date(i32),
    Time(i64),
    Timestamp(i64),
}

impl Value {
    pub fn operand(&self) -> Operand<'_> {
        match self {
            Self::Bool(value) => Operand::Bool(*value),
            Self::Int(value) => Operand::Int(*value),
            Self::Float(value) => Operand::Float(*value),
            Self::Decimal(value, _) => Operand::Decimal(*value),
            Self::Text(value) => Operand::Text(value),
            Self::Bytes(value) => Operand::Bytes(value),
            Self::Date(value) => Operand::Date(*value),
            Self::Time(value) => Operand::Time(*value),
            Self::Timestamp(value) => Operand::Timestamp(*value),
        }
    }

    /// Numbers by value with one zero and one NaN above all, texts and bytes by bytes, moments by time.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
            (Self::Decimal(a, _), Self::Decimal(b, _)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) | (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            _ => panic!("{self:?} is compared with {other:?}"),
        }
    }

    pub fn same(&self, other: &Self) -> bool {
        self.order(other).is_eq()
    }
}

/// Both NULL, or both the same value.
pub fn alike(a: &Option<Value>, b: &Option<Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same(b),
        (None, None) => true,
        _ => false,
    }
}

/// NULLs first or last, values in their order or in the opposite one.
pub fn sorted_as(a: &Option<Value>, b: &Option<Value>, descending: bool, nulls_first: bool) -> Ordering {
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) if nulls_first => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => sorted_as(b, a, descending, nulls_first).reverse(),
        (Some(a), Some(b)) if descending => b.order(a),
        (Some(a), Some(b)) => a.order(b),
    }
}

/// A column of a batch; `None` for a type that no literal has.
pub fn values(batch: &RecordBatch, column: usize) -> Option<Vec<Option<Value>>> {
    let array = batch.column(column);
    known(array.data_type()).then(|| (0..array.len()).map(|row| array.is_valid(row).then(|| value(array, row))).collect())
}

pub fn known(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Float32
                | DataType::Float64
                | DataType::Decimal128(..)
                | DataType::Utf8
                | DataType::Binary
                | DataType::Date32
                | DataType::Time64(_)
                | DataType::Timestamp(..)
        )
}

fn value(array: &ArrayRef, row: usize) -> Value {
    match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(row).to_vec()),
        DataType::Float32 => Value::Float(cast(array, &DataType::Float64).unwrap().as_primitive::<Float64Type>().value(row) + 0.0),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row) + 0.0),
        DataType::Decimal128(_, scale) => Value::Decimal(array.as_primitive::<Decimal128Type>().value(row), *scale),
        DataType::Date32 => Value::Date(array.as_primitive::<Date32Type>().value(row)),
        DataType::Time64(_) => Value::Time(array.as_primitive::<Time64MicrosecondType>().value(row)),
        DataType::Timestamp(..) => Value::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        DataType::UInt64 => Value::Int(array.as_primitive::<UInt64Type>().value(row).into()),
        _ => Value::Int(cast(array, &DataType::Int64).unwrap().as_primitive::<Int64Type>().value(row).into()),
    }
}
