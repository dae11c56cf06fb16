// SPDX-License-Identifier: Apache-2.0
//! Iceberg's single values (bounds, partition values, defaults) as literals of ours and as one-row arrays.

use crate::fault::computing;
use crate::predicate::Literal;
use crate::schema::UTC;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array,
    Int64Array, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt32Array,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType,
};
use iceberg::spec::{PrimitiveLiteral, PrimitiveType};
use std::sync::Arc;
use uuid::Uuid;
use weir_base::{Error, Result};

/// A single value in the meaning of its column; `None` where it is not used for pruning.
pub(crate) fn literal_of(value: &PrimitiveLiteral, column: &PrimitiveType) -> Option<Literal> {
    Some(match (value, column) {
        (PrimitiveLiteral::Boolean(value), _) => Literal::Bool(*value),
        (PrimitiveLiteral::Int(value), PrimitiveType::Date) => Literal::Date(*value),
        (PrimitiveLiteral::Int(value), PrimitiveType::Int | PrimitiveType::Long) => Literal::Int(i64::from(*value)),
        (PrimitiveLiteral::Long(value), PrimitiveType::Time) => Literal::Time(*value),
        (PrimitiveLiteral::Long(value), PrimitiveType::Timestamp | PrimitiveType::Timestamptz) => Literal::Timestamp(*value),
        (PrimitiveLiteral::Long(value), PrimitiveType::Long | PrimitiveType::Int) => Literal::Int(*value),
        (PrimitiveLiteral::Float(value), _) => Literal::Float(f64::from(value.0)),
        (PrimitiveLiteral::Double(value), _) => Literal::Float(value.0),
        (PrimitiveLiteral::String(value), _) => Literal::Text(value.clone()),
        (PrimitiveLiteral::Binary(value), PrimitiveType::Uuid) => Literal::Text(Uuid::from_slice(value).ok()?.to_string()),
        (PrimitiveLiteral::Binary(value), _) => Literal::Bytes(value.clone()),
        (PrimitiveLiteral::UInt128(value), PrimitiveType::Uuid) => Literal::Text(Uuid::from_u128(*value).to_string()),
        (PrimitiveLiteral::Int128(value), PrimitiveType::Decimal { scale, .. }) => Literal::Decimal { unscaled: *value, scale: i8::try_from(*scale).ok()? },
        _ => return None,
    })
}

/// A one-row array of the Arrow type that the column is read as.
pub(crate) fn one_row(value: &PrimitiveLiteral, column: &PrimitiveType) -> Result<ArrayRef> {
    Ok(match (value, column) {
        (PrimitiveLiteral::Boolean(value), _) => Arc::new(BooleanArray::from(vec![*value])),
        (PrimitiveLiteral::Int(value), PrimitiveType::Date) => Arc::new(Date32Array::from(vec![*value])),
        (PrimitiveLiteral::Int(value), PrimitiveType::Long) => Arc::new(Int64Array::from(vec![i64::from(*value)])),
        (PrimitiveLiteral::Int(value), _) => Arc::new(Int32Array::from(vec![*value])),
        (PrimitiveLiteral::Long(value), PrimitiveType::Time) => Arc::new(Time64MicrosecondArray::from(vec![*value])),
        (PrimitiveLiteral::Long(value), PrimitiveType::Timestamp) => Arc::new(TimestampMicrosecondArray::from(vec![*value])),
        (PrimitiveLiteral::Long(value), PrimitiveType::Timestamptz) => Arc::new(TimestampMicrosecondArray::from(vec![*value]).with_timezone(UTC)),
        (PrimitiveLiteral::Long(value), PrimitiveType::TimestampNs) => Arc::new(TimestampNanosecondArray::from(vec![*value])),
        (PrimitiveLiteral::Long(value), PrimitiveType::TimestamptzNs) => Arc::new(TimestampNanosecondArray::from(vec![*value]).with_timezone(UTC)),
        (PrimitiveLiteral::Long(value), _) => Arc::new(Int64Array::from(vec![*value])),
        (PrimitiveLiteral::Float(value), PrimitiveType::Double) => Arc::new(Float64Array::from(vec![f64::from(value.0)])),
        (PrimitiveLiteral::Float(value), _) => Arc::new(Float32Array::from(vec![value.0])),
        (PrimitiveLiteral::Double(value), _) => Arc::new(Float64Array::from(vec![value.0])),
        (PrimitiveLiteral::String(value), _) => Arc::new(StringArray::from(vec![value.as_str()])),
        (PrimitiveLiteral::UInt128(value), _) => Arc::new(StringArray::from(vec![Uuid::from_u128(*value).to_string()])),
        (PrimitiveLiteral::Binary(value), PrimitiveType::Fixed(_)) => Arc::new(FixedSizeBinaryArray::from(vec![value.as_slice()])),
        (PrimitiveLiteral::Binary(value), _) => Arc::new(BinaryArray::from(vec![value.as_slice()])),
        (PrimitiveLiteral::Int128(value), PrimitiveType::Decimal { precision, scale }) => {
            let array = Decimal128Array::from(vec![*value]);
            Arc::new(array.with_precision_and_scale(*precision as u8, *scale as i8).map_err(computing)?)
        }
        _ => return Err(Error::internal("a default value does not fit its column").with_detail(format!("column type {column}"))),
    })
}

/// The one row repeated.
pub(crate) fn repeat(one_row: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    if one_row.is_null(0) {
        return Ok(arrow::array::new_null_array(one_row.data_type(), rows));
    }
    arrow::compute::take(one_row, &UInt32Array::from(vec![0; rows]), None).map_err(computing)
}

/// A value of a statistics array; `None` where it is NULL or of a type that is not used for pruning.
pub(crate) fn literal_at(values: &dyn Array, index: usize) -> Option<Literal> {
    if values.is_null(index) {
        return None;
    }
    Some(match values.data_type() {
        DataType::Boolean => Literal::Bool(values.as_boolean().value(index)),
        DataType::Int32 => Literal::Int(i64::from(values.as_primitive::<Int32Type>().value(index))),
        DataType::Int64 => Literal::Int(values.as_primitive::<Int64Type>().value(index)),
        DataType::Float32 => Literal::Float(f64::from(values.as_primitive::<Float32Type>().value(index))),
        DataType::Float64 => Literal::Float(values.as_primitive::<Float64Type>().value(index)),
        DataType::Decimal128(_, scale) => Literal::Decimal { unscaled: values.as_primitive::<Decimal128Type>().value(index), scale: *scale },
        DataType::Date32 => Literal::Date(values.as_primitive::<Date32Type>().value(index)),
        DataType::Time64(TimeUnit::Microsecond) => Literal::Time(values.as_primitive::<Time64MicrosecondType>().value(index)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Literal::Timestamp(values.as_primitive::<TimestampMicrosecondType>().value(index)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => Literal::Timestamp(values.as_primitive::<TimestampMillisecondType>().value(index).checked_mul(1000)?),
        DataType::Utf8 => Literal::Text(values.as_string::<i32>().value(index).to_owned()),
        DataType::Binary => Literal::Bytes(values.as_binary::<i32>().value(index).to_vec()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_repeated_with_their_type() {
        let one = one_row(&PrimitiveLiteral::Int128(1050), &PrimitiveType::Decimal { precision: 10, scale: 2 }).unwrap();
        let many = repeat(&one, 3).unwrap();
        assert_eq!(many.data_type(), &DataType::Decimal128(10, 2));
        assert_eq!(literal_at(&many, 2), Some(Literal::Decimal { unscaled: 1050, scale: 2 }));
    }
}
