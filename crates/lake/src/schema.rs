// SPDX-License-Identifier: Apache-2.0
//! Column types: Iceberg's, the Arrow types that readers get, and which Arrow types become which on writing.

use crate::fault::at;
use arrow::datatypes::{DataType, Field, Fields, Schema as ArrowSchema, SchemaRef as ArrowSchemaRef, TimeUnit};
use iceberg::spec::{ListType, MapType, NestedField, NestedFieldRef, PrimitiveType, Schema, StructType, Type};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

pub(crate) const UTC: &str = "UTC";

/// The schema that readers see. No metadata in it, so that schemas of equal columns are equal.
pub(crate) fn arrow_schema(schema: &Schema) -> Result<ArrowSchemaRef> {
    let fields: Vec<Field> = schema.as_struct().fields().iter().map(|field| arrow_field(field)).collect::<Result<_>>()?;
    Ok(Arc::new(ArrowSchema::new(fields)))
}

pub(crate) fn arrow_field(field: &NestedField) -> Result<Field> {
    Ok(Field::new(&field.name, arrow_type(&field.field_type)?, !field.required))
}

/// The Arrow type that a column of this type is read as.
pub(crate) fn arrow_type(column: &Type) -> Result<DataType> {
    Ok(match column {
        Type::Primitive(primitive) => primitive_type(primitive)?,
        Type::Struct(fields) => DataType::Struct(struct_fields(fields)?),
        Type::List(list) => DataType::List(Arc::new(list_field(list)?)),
        Type::Map(map) => DataType::Map(Arc::new(entries_field(map)?), false),
    })
}

pub(crate) fn struct_fields(fields: &StructType) -> Result<Fields> {
    fields.fields().iter().map(|field| arrow_field(field)).collect()
}

pub(crate) fn list_field(list: &ListType) -> Result<Field> {
    Ok(Field::new(Field::LIST_FIELD_DEFAULT_NAME, arrow_type(&list.element_field.field_type)?, !list.element_field.required))
}

pub(crate) fn entries_field(map: &MapType) -> Result<Field> {
    let key = Field::new("key", arrow_type(&map.key_field.field_type)?, false);
    let value = Field::new("value", arrow_type(&map.value_field.field_type)?, !map.value_field.required);
    Ok(Field::new("entries", DataType::Struct(Fields::from(vec![key, value])), false))
}

/// A uuid is read as its text, since text literals are what it is compared with.
fn primitive_type(primitive: &PrimitiveType) -> Result<DataType> {
    Ok(match primitive {
        PrimitiveType::Boolean => DataType::Boolean,
        PrimitiveType::Int => DataType::Int32,
        PrimitiveType::Long => DataType::Int64,
        PrimitiveType::Float => DataType::Float32,
        PrimitiveType::Double => DataType::Float64,
        PrimitiveType::Decimal { precision, scale } => decimal(*precision, *scale)?,
        PrimitiveType::Date => DataType::Date32,
        PrimitiveType::Time => DataType::Time64(TimeUnit::Microsecond),
        PrimitiveType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        PrimitiveType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        PrimitiveType::TimestampNs => DataType::Timestamp(TimeUnit::Nanosecond, None),
        PrimitiveType::TimestamptzNs => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
        PrimitiveType::String | PrimitiveType::Uuid => DataType::Utf8,
        PrimitiveType::Fixed(width) => i32::try_from(*width).map_or(DataType::Binary, DataType::FixedSizeBinary),
        PrimitiveType::Binary => DataType::Binary,
    })
}

fn decimal(precision: u32, scale: u32) -> Result<DataType> {
    let fits = |value: u32| u8::try_from(value).ok().filter(|value| *value <= 38);
    match (fits(precision), fits(scale)) {
        (Some(precision), Some(scale)) => Ok(DataType::Decimal128(precision, scale as i8)),
        _ => Err(Error::new(ErrorCode::Unsupported, "decimal too wide").with_detail(format!("decimal({precision}, {scale}) has more than 38 digits"))),
    }
}

/// The Iceberg schema of a new table. Field ids are given in order, outer columns first, as the table's builder does.
pub(crate) fn iceberg_schema(columns: &ArrowSchema, keep_not_null: bool) -> Result<Schema> {
    let mut next_id = columns.fields().len() as i32 + 1;
    let mut fields: Vec<NestedFieldRef> = Vec::with_capacity(columns.fields().len());
    for (index, column) in columns.fields().iter().enumerate() {
        let field_type = iceberg_type(column.data_type(), column.name(), &mut next_id)?;
        let required = keep_not_null && !column.is_nullable();
        fields.push(Arc::new(NestedField::new(index as i32 + 1, column.name(), field_type, required)));
    }
    check_names(columns)?;
    Schema::builder().with_fields(fields).build().map_err(at("cannot make a table of these columns"))
}

fn check_names(columns: &ArrowSchema) -> Result<()> {
    if columns.fields().is_empty() {
        return Err(Error::new(ErrorCode::BadValue, "a table needs at least one column"));
    }
    let mut seen = std::collections::HashSet::new();
    for column in columns.fields() {
        if column.name().is_empty() {
            return Err(Error::new(ErrorCode::BadValue, "a column needs a name").with_hint("give every output column an alias with AS"));
        }
        if !seen.insert(column.name()) {
            return Err(
                Error::new(ErrorCode::AlreadyExists, format!("column {:?} is there twice", column.name())).with_hint("give one of them another name with AS")
            );
        }
    }
    Ok(())
}

/// The Iceberg type that holds every value of the Arrow type exactly. `column` is named in errors.
fn iceberg_type(data_type: &DataType, column: &str, next_id: &mut i32) -> Result<Type> {
    let mut id = || {
        *next_id += 1;
        *next_id - 1
    };
    Ok(match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) | DataType::FixedSizeList(item, _) => {
            let element_id = id();
            let element = iceberg_type(item.data_type(), column, next_id)?;
            Type::List(ListType::new(Arc::new(NestedField::list_element(element_id, element, false))))
        }
        DataType::Struct(children) => {
            let ids: Vec<i32> = children.iter().map(|_| id()).collect();
            let fields = children
                .iter()
                .zip(ids)
                .map(|(child, child_id)| Ok(Arc::new(NestedField::optional(child_id, child.name(), iceberg_type(child.data_type(), column, next_id)?))));
            Type::Struct(StructType::new(fields.collect::<Result<_>>()?))
        }
        DataType::Map(entries, _) => {
            let DataType::Struct(pair) = entries.data_type() else { return Err(no_counterpart(column, data_type)) };
            let (key_id, value_id) = (id(), id());
            let key = iceberg_type(pair[0].data_type(), column, next_id)?;
            let value = iceberg_type(pair[1].data_type(), column, next_id)?;
            Type::Map(MapType::optional(key_id, key, value_id, value))
        }
        DataType::Dictionary(_, values) => iceberg_type(values, column, next_id)?,
        DataType::RunEndEncoded(_, values) => iceberg_type(values.data_type(), column, next_id)?,
        primitive => Type::Primitive(iceberg_primitive(primitive, column)?),
    })
}

fn iceberg_primitive(data_type: &DataType, column: &str) -> Result<PrimitiveType> {
    Ok(match data_type {
        DataType::Boolean => PrimitiveType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => PrimitiveType::Int,
        DataType::Int64 | DataType::UInt32 => PrimitiveType::Long,
        DataType::UInt64 => PrimitiveType::Decimal { precision: 20, scale: 0 },
        DataType::Float16 | DataType::Float32 => PrimitiveType::Float,
        DataType::Float64 => PrimitiveType::Double,
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) | DataType::Decimal128(precision, scale) => {
            iceberg_decimal(*precision, *scale, column)?
        }
        DataType::Decimal256(precision, scale) if *precision <= 38 => iceberg_decimal(*precision, *scale, column)?,
        DataType::Date32 | DataType::Date64 => PrimitiveType::Date,
        DataType::Time32(_) | DataType::Time64(_) => PrimitiveType::Time,
        DataType::Timestamp(_, None) => PrimitiveType::Timestamp,
        DataType::Timestamp(_, Some(_)) => PrimitiveType::Timestamptz,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => PrimitiveType::String,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => PrimitiveType::Binary,
        DataType::FixedSizeBinary(width) => PrimitiveType::Fixed(u64::try_from(*width).map_err(|_| no_counterpart(column, data_type))?),
        other => return Err(no_counterpart(column, other)),
    })
}

fn iceberg_decimal(precision: u8, scale: i8, column: &str) -> Result<PrimitiveType> {
    match u32::try_from(scale) {
        Ok(scale) => Ok(PrimitiveType::Decimal { precision: u32::from(precision), scale }),
        Err(_) => Err(no_counterpart(column, &DataType::Decimal128(precision, scale))),
    }
}

fn no_counterpart(column: &str, data_type: &DataType) -> Error {
    Error::new(ErrorCode::Unsupported, format!("column {column:?} has no type in the lake"))
        .with_detail(format!("an Iceberg table has no type for {data_type}"))
        .with_hint("cast the column to a type that Iceberg has, such as bigint, decimal(38,9), timestamp or varchar")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data_type: DataType) -> Result<DataType> {
        let schema = iceberg_schema(&ArrowSchema::new(vec![Field::new("c", data_type, true)]), false)?;
        Ok(arrow_schema(&schema)?.field(0).data_type().clone())
    }

    #[test]
    fn narrow_and_unsigned_integers_get_a_type_that_holds_them() {
        assert_eq!(of(DataType::Int8).unwrap(), DataType::Int32);
        assert_eq!(of(DataType::UInt16).unwrap(), DataType::Int32);
        assert_eq!(of(DataType::UInt32).unwrap(), DataType::Int64);
        assert_eq!(of(DataType::UInt64).unwrap(), DataType::Decimal128(20, 0));
    }

    #[test]
    fn an_interval_is_refused_by_name() {
        let error = of(DataType::Interval(arrow::datatypes::IntervalUnit::MonthDayNano)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unsupported);
        assert_eq!(error.message(), "column \"c\" has no type in the lake");
        assert!(of(DataType::Decimal128(10, -2)).is_err());
    }

    #[test]
    fn nested_columns_come_back_as_they_were() {
        let item = DataType::Struct(Fields::from(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8, true)]));
        let list = DataType::List(Arc::new(Field::new("item", item, true)));
        assert_eq!(of(list.clone()).unwrap(), list);
    }

    #[test]
    fn doubled_and_missing_columns_are_refused() {
        let twice = ArrowSchema::new(vec![Field::new("a", DataType::Int64, true), Field::new("a", DataType::Int64, true)]);
        assert_eq!(iceberg_schema(&twice, false).unwrap_err().code(), ErrorCode::AlreadyExists);
        assert_eq!(iceberg_schema(&ArrowSchema::empty(), false).unwrap_err().code(), ErrorCode::BadValue);
    }
}
