// SPDX-License-Identifier: Apache-2.0
//! Where each wanted column comes from in one data file: a column of the file, found by field id, or a constant.

use crate::adapt::{adapt, missing_value};
use crate::constant::{one_row, repeat};
use crate::footer::Footer;
use crate::manifest::FileEntry;
use crate::text_views::as_views;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::FieldRef;
use iceberg::spec::{Literal, NestedFieldRef, PartitionSpec, Transform, Type};
use parquet::arrow::ProjectionMask;
use weir_base::Result;

/// The wanted columns of one file.
pub(crate) struct FileColumns {
    wanted: Vec<(NestedFieldRef, Origin)>,
    /// The file's columns to decode, ascending.
    roots: Vec<usize>,
    text_views: bool,
}

pub(crate) enum Origin {
    /// Position among the file's columns.
    File(usize, FieldRef),
    /// One row; the same for every row of the file.
    Constant(ArrayRef),
}

impl FileColumns {
    pub(crate) fn new(footer: &Footer, entry: &FileEntry, spec: Option<&PartitionSpec>, fields: &[NestedFieldRef]) -> Result<Self> {
        let mut wanted = Vec::with_capacity(fields.len());
        let mut roots = Vec::new();
        for field in fields {
            let origin = origin(footer, entry, spec, field)?;
            if let Origin::File(root, _) = &origin {
                roots.push(*root);
            }
            wanted.push((field.clone(), origin));
        }
        roots.sort_unstable();
        roots.dedup();
        Ok(Self { wanted, roots, text_views: false })
    }

    /// With columns of texts as views, if `wanted`.
    pub(crate) fn with_text_views(self, wanted: bool) -> Self {
        Self { text_views: wanted, ..self }
    }

    pub(crate) fn mask(&self, footer: &Footer) -> ProjectionMask {
        ProjectionMask::roots(footer.metadata.parquet_schema(), self.roots.iter().copied())
    }

    pub(crate) fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The wanted columns, in the table's types. `batch` holds what `mask` selects.
    pub(crate) fn adapt(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let column = |(field, origin): &(NestedFieldRef, Origin)| match origin {
            Origin::Constant(value) => repeat(value, batch.num_rows()),
            Origin::File(root, from) => {
                let at = self.roots.partition_point(|read| read < root);
                adapt(batch.column(at), from, field)
            }
        };
        let columns = self.wanted.iter().map(column);
        if self.text_views { columns.map(|array| as_views(array?)).collect() } else { columns.collect() }
    }
}

/// By the specification: the file's own column; else the partition value, where the partition is the value; else the default.
pub(crate) fn origin(footer: &Footer, entry: &FileEntry, spec: Option<&PartitionSpec>, field: &NestedFieldRef) -> Result<Origin> {
    if let Some(root) = footer.position_of(field.id) {
        return Ok(Origin::File(root, footer.fields[root].clone()));
    }
    if let (Some(Literal::Primitive(value)), Type::Primitive(primitive)) = (identity_value(entry, spec, field.id), field.field_type.as_ref()) {
        return Ok(Origin::Constant(one_row(value, primitive)?));
    }
    Ok(Origin::Constant(missing_value(field)?))
}

fn identity_value<'a>(entry: &'a FileEntry, spec: Option<&PartitionSpec>, id: i32) -> Option<&'a Literal> {
    let at = spec?.fields().iter().position(|field| field.source_id == id && field.transform == Transform::Identity)?;
    entry.file.partition().fields().get(at)?.as_ref()
}
