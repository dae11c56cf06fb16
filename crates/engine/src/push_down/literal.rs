// SPDX-License-Identifier: Apache-2.0
//! A literal of the query engine as the operand that connectors know, when it is of the column's own type.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use weir_source::Operand;

/// The operand, or `None` for NULL and for types that are never compared at a source.
pub(crate) fn operand(value: &ScalarValue) -> Option<Operand<'_>> {
    Some(match value {
        ScalarValue::Boolean(Some(value)) => Operand::Bool(*value),
        ScalarValue::Int8(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::Int16(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::Int32(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::Int64(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::UInt8(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::UInt16(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::UInt32(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::UInt64(Some(value)) => Operand::Int(i128::from(*value)),
        ScalarValue::Float32(Some(value)) => Operand::Float(f64::from(*value)),
        ScalarValue::Float64(Some(value)) => Operand::Float(*value),
        ScalarValue::Decimal128(Some(value), _, _) => Operand::Decimal(*value),
        ScalarValue::Utf8(Some(value)) | ScalarValue::LargeUtf8(Some(value)) | ScalarValue::Utf8View(Some(value)) => Operand::Text(value),
        ScalarValue::Binary(Some(value)) | ScalarValue::LargeBinary(Some(value)) | ScalarValue::BinaryView(Some(value)) => Operand::Bytes(value),
        ScalarValue::Date32(Some(value)) => Operand::Date(*value),
        ScalarValue::Time64Microsecond(Some(value)) => Operand::Time(*value),
        ScalarValue::TimestampMicrosecond(Some(value), _) => Operand::Timestamp(*value),
        _ => return None,
    })
}

/// Whether a literal of this type means the same when it is compared with a column of that type.
pub(crate) fn same_type(column: &DataType, literal: &DataType) -> bool {
    let text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let bytes = |data_type: &DataType| matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    match (column, literal) {
        (DataType::Timestamp(TimeUnit::Microsecond, a), DataType::Timestamp(TimeUnit::Microsecond, b)) => a.is_some() == b.is_some(),
        // Whole numbers are compared by value whatever their width, and the literal takes the column's own.
        _ if column.is_integer() && literal.is_integer() => true,
        _ => column == literal || (text(column) && text(literal)) || (bytes(column) && bytes(literal)),
    }
}
