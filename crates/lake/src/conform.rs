// SPDX-License-Identifier: Apache-2.0
//! Batches that come in, turned into exactly what the table's files hold, or refused with the column's name.

use crate::adapt::{cast, check_whole_microseconds};
use crate::fault::{at, computing};
use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef as ArrowSchemaRef, TimeUnit};
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::spec::{NestedFieldRef, PrimitiveType, Schema, Type};
use std::sync::Arc;
use uuid::Uuid;
use weir_base::{Error, ErrorCode, Result};

/// The rules of one table.
#[derive(Debug, Clone)]
pub(crate) struct Conform {
    /// What the files hold: Arrow types with field ids.
    write_schema: ArrowSchemaRef,
    fields: Vec<NestedFieldRef>,
}

impl Conform {
    pub(crate) fn new(schema: &Schema) -> Result<Self> {
        let write_schema = Arc::new(schema_to_arrow_schema(schema).map_err(at("cannot write columns of this type"))?);
        Ok(Self { write_schema, fields: schema.as_struct().fields().to_vec() })
    }

    /// The batch as the files hold it.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        if batch.num_columns() != self.fields.len() {
            return Err(Error::new(ErrorCode::TypeMismatch, "the rows do not have the table's columns").with_detail(format!(
                "{} columns for a table of {}",
                batch.num_columns(),
                self.fields.len()
            )));
        }
        let columns: Vec<ArrayRef> = (0..self.fields.len()).map(|index| self.column(index, batch.column(index))).collect::<Result<_>>()?;
        RecordBatch::try_new(self.write_schema.clone(), columns).map_err(computing)
    }

    fn column(&self, index: usize, array: &ArrayRef) -> Result<ArrayRef> {
        let field = &self.fields[index];
        let target = self.write_schema.field(index).data_type();
        if field.required && array.logical_null_count() > 0 {
            return Err(Error::new(ErrorCode::BadValue, format!("column {:?} may not be NULL", field.name))
                .with_hint("filter the NULLs out, or put a value in with coalesce"));
        }
        let source = array.data_type();
        if source == target {
            return Ok(array.clone());
        }
        if matches!(field.field_type.as_ref(), Type::Primitive(PrimitiveType::Uuid)) {
            return parse_uuids(array, &field.name);
        }
        if !holds(source, target) {
            return Err(Error::new(ErrorCode::TypeMismatch, format!("column {:?} takes another type", field.name))
                .with_detail(format!("{source} for a column of type {}", field.field_type))
                .with_hint("cast the value to the column's type"));
        }
        let finer = matches!(source, DataType::Timestamp(TimeUnit::Nanosecond, _) | DataType::Time64(TimeUnit::Nanosecond));
        if finer && !matches!(target, DataType::Timestamp(TimeUnit::Nanosecond, _)) {
            check_whole_microseconds(array, &field.name)?;
        }
        cast(array, target, &field.name)
    }
}

/// Whether every value of `from` has one exact value in `to`, save those that the cast then refuses by itself.
fn holds(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Null, _) => true,
        (Dictionary(_, values), _) => holds(values, to) || values.as_ref() == to,
        (RunEndEncoded(_, values), _) => holds(values.data_type(), to) || values.data_type() == to,
        (Int8 | Int16 | UInt8 | UInt16, Int32 | Int64) | (Int32 | UInt32, Int64) => true,
        (UInt64, Decimal128(precision, 0)) => *precision >= 20,
        (Float16, Float32 | Float64) | (Float32, Float64) => true,
        (Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s), Decimal128(precision, scale)) => {
            s <= scale && i16::from(*p) - i16::from(*s) <= i16::from(*precision) - i16::from(*scale)
        }
        (Date64, Date32) => true,
        (Time32(_), Time64(TimeUnit::Microsecond)) | (Time64(_), Time64(TimeUnit::Microsecond)) => true,
        (Timestamp(_, from_zone), Timestamp(_, to_zone)) => from_zone.is_some() == to_zone.is_some(),
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8) | (Binary | LargeBinary | BinaryView | FixedSizeBinary(_), Binary | LargeBinary) => true,
        (List(a) | LargeList(a) | ListView(a) | FixedSizeList(a, _), List(b)) => same_or_holds(a.data_type(), b.data_type()),
        (Struct(a), Struct(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name() == b.name() && same_or_holds(a.data_type(), b.data_type())),
        (Map(a, _), Map(b, _)) => match (a.data_type(), b.data_type()) {
            (Struct(a), Struct(b)) => a.iter().zip(b).all(|(a, b)| same_or_holds(a.data_type(), b.data_type())),
            _ => false,
        },
        _ => false,
    }
}

fn same_or_holds(from: &DataType, to: &DataType) -> bool {
    from == to || holds(from, to)
}

fn parse_uuids(array: &ArrayRef, column: &str) -> Result<ArrayRef> {
    let texts = cast(array, &DataType::Utf8, column)?;
    let parse = |text: &str| {
        Uuid::parse_str(text).map(Uuid::into_bytes).map_err(|_| Error::new(ErrorCode::BadValue, format!("a value of column {column:?} is no uuid")))
    };
    let values: Vec<Option<[u8; 16]>> = texts.as_string::<i32>().iter().map(|text| text.map(parse).transpose()).collect::<Result<_>>()?;
    Ok(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), 16).map_err(computing)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::iceberg_schema;
    use arrow::array::{Int64Array, StringViewArray, TimestampNanosecondArray, UInt64Array};
    use arrow::datatypes::{Field, Schema as ArrowSchema};

    fn conformed(array: ArrayRef, table: DataType, nullable: bool) -> Result<RecordBatch> {
        let schema = iceberg_schema(&ArrowSchema::new(vec![Field::new("c", table, nullable)]), true)?;
        let given = ArrowSchema::new(vec![Field::new("x", array.data_type().clone(), true)]);
        Conform::new(&schema)?.batch(&RecordBatch::try_new(Arc::new(given), vec![array]).unwrap())
    }

    #[test]
    fn other_spellings_of_a_type_are_taken() {
        let views: ArrayRef = Arc::new(StringViewArray::from(vec![Some("grün"), None]));
        assert_eq!(conformed(views, DataType::Utf8, true).unwrap().column(0).as_string::<i32>().value(0), "grün");
        let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        let decimal = conformed(unsigned, DataType::UInt64, true).unwrap();
        assert_eq!(decimal.column(0).as_primitive::<arrow::datatypes::Decimal128Type>().value(0), i128::from(u64::MAX));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let longs: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        assert_eq!(conformed(longs.clone(), DataType::Int32, true).unwrap_err().message(), "column \"c\" takes another type");
        assert_eq!(conformed(longs, DataType::Utf8, true).unwrap_err().code(), ErrorCode::TypeMismatch);
        let nulls: ArrayRef = Arc::new(Int64Array::from(vec![None]));
        assert_eq!(conformed(nulls, DataType::Int64, false).unwrap_err().code(), ErrorCode::BadValue);
        let fine: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1]));
        assert_eq!(conformed(fine, DataType::Timestamp(TimeUnit::Microsecond, None), true).unwrap_err().code(), ErrorCode::ValueOutOfRange);
    }
}
