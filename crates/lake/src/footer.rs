// SPDX-License-Identifier: Apache-2.0
//! Parquet footers, ready for reading: Arrow types as Parquet itself says them, and a field id on every field.

use crate::adapt::field_id;
use crate::fault::reading;
use crate::text_views::viewed;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use iceberg::spec::{MappedField, NameMapping};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaData;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

/// A data file's footer.
pub(crate) struct Footer {
    pub(crate) metadata: ArrowReaderMetadata,
    /// The same for scans that want texts as views.
    pub(crate) metadata_of_views: ArrowReaderMetadata,
    /// The file's columns with field ids, from the file itself or from the table's name mapping.
    pub(crate) fields: Fields,
}

impl Footer {
    pub(crate) fn new(metadata: ParquetMetaData, mapping: Option<&NameMapping>) -> Result<Self> {
        // Writers leave their own Arrow schema in the file; it would bring large strings and dictionaries back.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), options).map_err(reading)?;
        let views = ArrowReaderOptions::new().with_schema(viewed(metadata.schema()));
        let metadata_of_views = ArrowReaderMetadata::try_new(metadata.metadata().clone(), views).map_err(reading)?;
        let found = metadata.schema().fields();
        let fields = if found.iter().any(|field| has_ids(field)) { found.clone() } else { with_mapped_ids(found, mapping)? };
        Ok(Self { metadata, metadata_of_views, fields })
    }

    /// Where a column stands among the file's columns.
    pub(crate) fn position_of(&self, id: i32) -> Option<usize> {
        self.fields.iter().position(|field| field_id(field) == Some(id))
    }

    pub(crate) fn has_bloom_filters(&self) -> bool {
        self.parquet().row_groups().first().is_some_and(|group| group.columns().iter().any(|chunk| chunk.bloom_filter_offset().is_some()))
    }

    pub(crate) fn parquet(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }
}

fn has_ids(field: &Field) -> bool {
    field_id(field).is_some() || children(field.data_type()).iter().any(|child| has_ids(child))
}

fn children(data_type: &DataType) -> Vec<FieldRef> {
    match data_type {
        DataType::Struct(fields) => fields.to_vec(),
        DataType::List(item) | DataType::Map(item, _) => vec![item.clone()],
        _ => Vec::new(),
    }
}

/// A file that another tool wrote and that was added later has no ids; the table says what its names mean.
fn with_mapped_ids(fields: &Fields, mapping: Option<&NameMapping>) -> Result<Fields> {
    let Some(mapping) = mapping else {
        return Err(Error::new(ErrorCode::Unsupported, "a data file has no field ids and its table has no name mapping")
            .with_hint("set the table property schema.name-mapping.default, or rewrite the file"));
    };
    let known: Vec<&MappedField> = mapping.fields().iter().collect();
    Ok(map_fields(fields, &known))
}

fn map_fields(fields: &Fields, known: &[&MappedField]) -> Fields {
    fields.iter().map(|field| map_field(field, known)).collect()
}

fn map_field(field: &FieldRef, known: &[&MappedField]) -> FieldRef {
    let Some(found) = known.iter().find(|mapped| mapped.names().iter().any(|name| name == field.name())) else { return field.clone() };
    let nested: Vec<&MappedField> = found.fields().iter().map(AsRef::as_ref).collect();
    let data_type = match field.data_type() {
        DataType::Struct(inner) => DataType::Struct(map_fields(inner, &nested)),
        DataType::List(item) => DataType::List(map_field(&renamed(item, "element"), &nested)),
        DataType::Map(entries, sorted) => DataType::Map(Arc::new(map_entries(entries, &nested)), *sorted),
        other => other.clone(),
    };
    let mapped = Field::new(field.name(), data_type, field.is_nullable());
    match found.field_id() {
        Some(id) => Arc::new(mapped.with_metadata([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())].into())),
        None => Arc::new(mapped),
    }
}

fn map_entries(entries: &Field, nested: &[&MappedField]) -> Field {
    let DataType::Struct(pair) = entries.data_type() else { return entries.clone() };
    let named: Fields = pair.iter().zip(["key", "value"]).map(|(field, name)| renamed(field, name)).collect();
    Field::new(entries.name(), DataType::Struct(map_fields(&named, nested)), false)
}

/// Name mappings call list items `element` and map parts `key` and `value`, whatever the file calls them.
fn renamed(field: &FieldRef, name: &str) -> FieldRef {
    Arc::new(field.as_ref().clone().with_name(name))
}
