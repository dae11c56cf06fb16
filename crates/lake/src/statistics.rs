// SPDX-License-Identifier: Apache-2.0
//! Column statistics for the planner, added up from the metrics of data files.

use crate::bounds::{Bounds, Nulls};
use crate::manifest::FileEntry;
use crate::partition::{is_float, metrics};
use crate::predicate::Literal;
use iceberg::spec::{NestedFieldRef, PrimitiveType, Type};
use std::cmp::Ordering;
use std::sync::Arc;

/// What is known of a column without reading it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnStatistics {
    /// No value is smaller; `None` where a file does not say.
    pub min: Option<Literal>,
    /// No value is greater (NaN aside, which makes both unknown).
    pub max: Option<Literal>,
    /// Whether min and max are values that occur; bounds of texts are cut, and deletes may have taken them.
    pub min_max_exact: bool,
    pub null_count: Option<u64>,
    /// Compressed size.
    pub bytes: Option<u64>,
}

/// One entry per column of the table.
pub(crate) fn column_statistics(columns: &[NestedFieldRef], files: &[Arc<FileEntry>], exact: bool) -> Vec<ColumnStatistics> {
    columns.iter().map(|column| one_column(column, files, exact)).collect()
}

fn one_column(column: &NestedFieldRef, files: &[Arc<FileEntry>], exact: bool) -> ColumnStatistics {
    let Type::Primitive(primitive) = column.field_type.as_ref() else { return ColumnStatistics::default() };
    let id = column.id;
    let bounds: Vec<Bounds> = files.iter().map(|file| metrics(file, id, primitive)).collect();
    let null_count = files.iter().map(|file| file.file.null_value_counts().get(&id).copied()).sum::<Option<u64>>();
    let bytes = files.iter().map(|file| file.file.column_sizes().get(&id).copied()).sum::<Option<u64>>();
    let cut = matches!(primitive, PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Fixed(_));
    ColumnStatistics {
        min: extreme(&bounds, |bounds| bounds.lower.as_ref(), Ordering::Less),
        max: extreme(&bounds, |bounds| bounds.upper.as_ref(), Ordering::Greater),
        min_max_exact: exact && !cut && !is_float(primitive),
        null_count,
        bytes,
    }
}

fn extreme<'a>(bounds: &'a [Bounds], side: impl Fn(&'a Bounds) -> Option<&'a Literal>, wins: Ordering) -> Option<Literal> {
    let mut best: Option<&Literal> = None;
    for file in bounds.iter().filter(|file| file.nulls != Nulls::All) {
        if file.nan_possible {
            return None;
        }
        let value = side(file)?;
        best = match best {
            Some(known) if value.order(known)? != wins => Some(known),
            _ => Some(value),
        };
    }
    best.cloned()
}
