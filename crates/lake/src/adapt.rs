// SPDX-License-Identifier: Apache-2.0
//! Arrays as a data file holds them, turned into the table's current types: promotions, nested fields matched by id.

use crate::constant::{one_row, repeat};
use crate::fault::computing;
use crate::schema::{arrow_type, entries_field, list_field, struct_fields};
use crate::text_views::as_plain;
use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StringArray, StructArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Fields, Int64Type, TimeUnit};
use iceberg::spec::{Literal, NestedField, PrimitiveType, StructType, Type};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use std::sync::Arc;
use uuid::Uuid;
use weir_base::{Error, ErrorCode, Result};

const STRICT: CastOptions<'static> = CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

/// The Iceberg field id of a file's field, where it has one.
pub(crate) fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.parse().ok()
}

/// `array`, read as `from` describes it (with field ids), as the table's field `to`.
pub(crate) fn adapt(array: &ArrayRef, from: &Field, to: &NestedField) -> Result<ArrayRef> {
    match to.field_type.as_ref() {
        Type::Primitive(primitive) => adapt_primitive(array, to, primitive),
        Type::Struct(target) => adapt_struct(array, from, to, target),
        Type::List(list) => {
            let DataType::List(item) = from.data_type() else { return Err(mismatch(to, array.data_type())) };
            let source = array.as_list::<i32>();
            let values = adapt(source.values(), item, &list.element_field)?;
            let field = Arc::new(list_field(list)?);
            Ok(Arc::new(ListArray::try_new(field, source.offsets().clone(), values, source.nulls().cloned()).map_err(computing)?))
        }
        Type::Map(map) => {
            let DataType::Map(entries, _) = from.data_type() else { return Err(mismatch(to, array.data_type())) };
            let DataType::Struct(pair) = entries.data_type() else { return Err(mismatch(to, array.data_type())) };
            let source = array.as_map();
            let keys = adapt(source.keys(), &pair[0], &map.key_field)?;
            let values = adapt(source.values(), &pair[1], &map.value_field)?;
            let field = Arc::new(entries_field(map)?);
            let DataType::Struct(fields) = field.data_type() else { return Err(mismatch(to, array.data_type())) };
            let entries = StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(computing)?;
            Ok(Arc::new(MapArray::try_new(field.clone(), source.offsets().clone(), entries, source.nulls().cloned(), false).map_err(computing)?))
        }
    }
}

fn adapt_struct(array: &ArrayRef, from: &Field, to: &NestedField, target: &StructType) -> Result<ArrayRef> {
    let DataType::Struct(children) = from.data_type() else { return Err(mismatch(to, array.data_type())) };
    let source = array.as_struct();
    let columns: Vec<ArrayRef> = target.fields().iter().map(|field| struct_child(source, children, field)).collect::<Result<_>>()?;
    let fields = struct_fields(target)?;
    if columns.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(source.len(), source.nulls().cloned())));
    }
    Ok(Arc::new(StructArray::try_new(fields, columns, source.nulls().cloned()).map_err(computing)?))
}

fn struct_child(source: &StructArray, children: &Fields, to: &NestedField) -> Result<ArrayRef> {
    match children.iter().position(|child| field_id(child) == Some(to.id)) {
        Some(at) => adapt(source.column(at), &children[at], to),
        None => missing(to, source.len()),
    }
}

/// What a column holds in a file written before the column was there: its initial default, else NULL.
pub(crate) fn missing(to: &NestedField, rows: usize) -> Result<ArrayRef> {
    repeat(&missing_value(to)?, rows)
}

/// The same, as one row.
pub(crate) fn missing_value(to: &NestedField) -> Result<ArrayRef> {
    match (&to.initial_default, to.field_type.as_ref()) {
        (Some(Literal::Primitive(value)), Type::Primitive(primitive)) => one_row(value, primitive),
        (Some(_), _) => Err(Error::new(ErrorCode::Unsupported, format!("column {:?} has a nested default value", to.name))),
        (None, column) => Ok(new_null_array(&arrow_type(column)?, 1)),
    }
}

/// Views stay views where the table has texts: whoever asked for them gets them.
fn adapt_primitive(array: &ArrayRef, to: &NestedField, primitive: &PrimitiveType) -> Result<ArrayRef> {
    let target = arrow_type(&to.field_type)?;
    let source = array.data_type();
    if *source == target || (*source == DataType::Utf8View && target == DataType::Utf8) {
        return Ok(array.clone());
    }
    if *source == DataType::Utf8View {
        return adapt_primitive(&as_plain(array.clone())?, to, primitive);
    }
    match (source, &target) {
        (DataType::FixedSizeBinary(16), DataType::Utf8) if *primitive == PrimitiveType::Uuid => Ok(uuid_text(array)),
        (DataType::Timestamp(TimeUnit::Nanosecond, _), DataType::Timestamp(TimeUnit::Microsecond, _)) => {
            check_whole_microseconds(array, &to.name)?;
            cast(array, &target, &to.name)
        }
        _ if promotes(source, &target) => cast(array, &target, &to.name),
        _ => Err(mismatch(to, source)),
    }
}

/// The promotions that Iceberg allows, and other spellings of the same value that Parquet writers use.
fn promotes(from: &DataType, to: &DataType) -> bool {
    use DataType::{Binary, Date32, Decimal128, FixedSizeBinary, Float32, Float64, Int8, Int16, Int32, Int64, Timestamp, UInt8, UInt16, UInt32, Utf8};
    match (from, to) {
        (Int8 | Int16 | UInt8 | UInt16, Int32 | Int64) | (Int32 | UInt32, Int64) | (Float32, Float64) => true,
        (Decimal128(from_precision, from_scale), Decimal128(precision, scale)) => from_scale == scale && from_precision <= precision,
        (Timestamp(TimeUnit::Millisecond | TimeUnit::Microsecond, _), Timestamp(_, _)) | (Date32, Timestamp(_, _)) => true,
        (DataType::Time32(_), DataType::Time64(_)) => true,
        (Binary, Utf8) | (Utf8, Binary) | (FixedSizeBinary(_), Binary) => true,
        _ => false,
    }
}

pub(crate) fn cast(array: &ArrayRef, target: &DataType, column: &str) -> Result<ArrayRef> {
    cast_with_options(array, target, &STRICT).map_err(|_| {
        Error::new(ErrorCode::ValueOutOfRange, format!("a value of column {column:?} does not fit its type"))
            .with_detail(format!("{} into {target}", array.data_type()))
    })
}

/// Microseconds are what a time or timestamp of ours has (`array` counts nanoseconds); finer ones cannot be kept, and rounding would be a wrong value.
pub(crate) fn check_whole_microseconds(array: &ArrayRef, column: &str) -> Result<()> {
    let nanos = cast(array, &DataType::Int64, column)?;
    if nanos.as_primitive::<Int64Type>().iter().flatten().all(|value| value % 1000 == 0) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::ValueOutOfRange, format!("a value of column {column:?} is finer than a microsecond"))
        .with_hint("round it first: date_trunc('microsecond', …)"))
}

fn uuid_text(array: &ArrayRef) -> ArrayRef {
    let text = array.as_fixed_size_binary().iter().map(|value| value.and_then(|bytes| Uuid::from_slice(bytes).ok()).map(|uuid| uuid.to_string()));
    Arc::new(text.collect::<StringArray>())
}

fn mismatch(to: &NestedField, found: &DataType) -> Error {
    Error::new(ErrorCode::TypeMismatch, format!("a data file holds column {:?} in another type", to.name))
        .with_detail(format!("the file has {found}, the table says {}", to.field_type))
        .with_hint("the file was not written by this table's rules; rewrite it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, Int64Array, TimestampNanosecondArray};

    fn long(name: &str) -> NestedField {
        NestedField::optional(1, name, Type::Primitive(PrimitiveType::Long))
    }

    #[test]
    fn promotions_are_exact_and_others_are_refused() {
        let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        let from = Field::new("c", DataType::Int32, true);
        let longs = adapt(&ints, &from, &long("c")).unwrap();
        assert_eq!(longs.as_ref(), &Int64Array::from(vec![Some(1), None]) as &dyn Array);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
        assert_eq!(adapt(&texts, &from, &long("c")).unwrap_err().code(), ErrorCode::TypeMismatch);
    }

    #[test]
    fn nanoseconds_are_never_rounded() {
        let field = NestedField::optional(1, "t", Type::Primitive(PrimitiveType::Timestamp));
        let from = Field::new("t", DataType::Timestamp(TimeUnit::Nanosecond, None), true);
        let whole: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![-3000]));
        assert_eq!(adapt(&whole, &from, &field).unwrap().as_primitive::<arrow::datatypes::TimestampMicrosecondType>().value(0), -3);
        let finer: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1]));
        assert_eq!(adapt(&finer, &from, &field).unwrap_err().code(), ErrorCode::ValueOutOfRange);
    }

    #[test]
    fn struct_fields_are_found_by_id() {
        let child =
            |name: &str, id: i32| Field::new(name, DataType::Int32, true).with_metadata([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())].into());
        let fields = Fields::from(vec![child("old", 7), child("gone", 8)]);
        let array: ArrayRef = Arc::new(StructArray::new(fields.clone(), vec![Arc::new(Int32Array::from(vec![5])), Arc::new(Int32Array::from(vec![6]))], None));
        let target = StructType::new(vec![
            Arc::new(NestedField::optional(9, "added", Type::Primitive(PrimitiveType::String))),
            Arc::new(NestedField::optional(7, "new", Type::Primitive(PrimitiveType::Long))),
        ]);
        let to = NestedField::optional(1, "s", Type::Struct(target));
        let adapted = adapt(&array, &Field::new("s", DataType::Struct(fields), true), &to).unwrap();
        assert!(adapted.as_struct().column(0).is_null(0));
        assert_eq!(adapted.as_struct().column(1).as_primitive::<arrow::datatypes::Int64Type>().value(0), 5);
    }
}
