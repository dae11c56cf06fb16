// SPDX-License-Identifier: Apache-2.0
//! Which row groups and which pages of a data file may hold rows that match: their statistics, then bloom filters.

use crate::bounds::{Bounds, Evidence, Nulls, may_match};
use crate::constant::literal_at;
use crate::fault::reading;
use crate::file::LakeFile;
use crate::footer::Footer;
use crate::manifest::FileEntry;
use crate::origin::{Origin, origin};
use crate::partition::{may_hold_nan, primitive_column};
use crate::predicate::{CompareOp, Literal, Predicate};
use arrow::array::{Array, ArrayRef, UInt64Array};
use iceberg::spec::{NestedFieldRef, PartitionSpec, PrimitiveType};
use parquet::arrow::ParquetRecordBatchStreamBuilder;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use parquet::basic::Type as PhysicalType;
use parquet::bloom_filter::Sbbf;
use std::collections::HashMap;
use weir_base::Result;

/// Lists longer than this are not looked up in bloom filters.
const BLOOM_LITERALS_MAX: usize = 64;

/// A row group that may hold matching rows.
#[derive(Debug, Clone)]
pub(crate) struct GroupPlan {
    pub(crate) index: usize,
    /// Rows that are left after pages were ruled out.
    pub(crate) rows: u64,
    /// The pages to read; `None` for all of them.
    pub(crate) selection: Option<RowSelection>,
}

/// Everything that pruning inside a file looks at.
pub(crate) struct FilePruner<'a> {
    pub(crate) footer: &'a Footer,
    pub(crate) entry: &'a FileEntry,
    pub(crate) spec: Option<&'a PartitionSpec>,
    pub(crate) columns: &'a [NestedFieldRef],
}

/// Known bounds of some columns in one row group or page.
struct Known {
    bounds: HashMap<usize, Bounds>,
}

impl Evidence for Known {
    fn of(&self, column: usize) -> Vec<Bounds> {
        self.bounds.get(&column).cloned().into_iter().collect()
    }

    fn bucket_of(&self, _: usize, _: u32, _: &Literal) -> Option<i32> {
        None
    }
}

impl FilePruner<'_> {
    /// All row groups, whatever they hold.
    pub(crate) fn all_groups(&self) -> Vec<GroupPlan> {
        let groups = self.footer.parquet().row_groups().iter().enumerate();
        groups.map(|(index, group)| GroupPlan { index, rows: group.num_rows() as u64, selection: None }).collect()
    }

    /// The row groups and pages that may match a normalized condition.
    pub(crate) fn groups(&self, predicate: &Predicate) -> Result<Vec<GroupPlan>> {
        let kept = self.matching_groups(predicate)?;
        let mut plans = Vec::with_capacity(kept.len());
        for mut plan in self.all_groups().into_iter().filter(|plan| kept[plan.index]) {
            plan.selection = self.pages(predicate, plan.index)?;
            if let Some(selection) = &plan.selection {
                plan.rows = selection.row_count() as u64;
            }
            if plan.rows > 0 {
                plans.push(plan);
            }
        }
        Ok(plans)
    }

    /// For each row group, whether it may match.
    pub(crate) fn matching_groups(&self, predicate: &Predicate) -> Result<Vec<bool>> {
        let groups = self.footer.parquet().num_row_groups();
        let mut known: Vec<Known> = (0..groups).map(|_| Known { bounds: HashMap::new() }).collect();
        for column in predicate.columns() {
            for (group, bounds) in self.group_bounds(column)?.into_iter().enumerate() {
                known[group].bounds.insert(column, bounds);
            }
        }
        Ok(known.iter().map(|group| may_match(predicate, group)).collect())
    }

    /// A column's bounds in each row group; empty when nothing is known.
    fn group_bounds(&self, column: usize) -> Result<Vec<Bounds>> {
        let Some((id, primitive)) = primitive_column(self.columns, column) else { return Ok(Vec::new()) };
        let groups = self.footer.parquet().row_groups();
        let root = match origin(self.footer, self.entry, self.spec, &self.columns[column])? {
            Origin::File(root, _) => root,
            Origin::Constant(value) => return Ok(vec![constant_bounds(&value); groups.len()]),
        };
        if self.has_untrustworthy_order(root, primitive) {
            return Ok(Vec::new());
        }
        let Some(converter) = self.converter(root)? else { return Ok(Vec::new()) };
        let lower = converter.row_group_mins(groups).map_err(reading)?;
        let upper = converter.row_group_maxes(groups).map_err(reading)?;
        let null_counts = converter.row_group_null_counts(groups).map_err(reading)?;
        let nan_possible = may_hold_nan(self.entry, id, primitive);
        let bounds = groups.iter().enumerate().map(|(at, group)| {
            let nulls = Nulls::of(count_at(&null_counts, at), group.num_rows() as u64);
            Bounds::between(literal_at(&lower, at), literal_at(&upper, at), nulls, nan_possible)
        });
        Ok(bounds.collect())
    }

    fn converter(&self, root: usize) -> Result<Option<StatisticsConverter<'_>>> {
        let schema = self.footer.metadata.schema();
        if schema.field(root).data_type().is_nested() {
            return Ok(None);
        }
        let parquet_schema = self.footer.metadata.parquet_schema();
        let converter = StatisticsConverter::try_new(schema.field(root).name(), schema, parquet_schema).map_err(reading)?;
        Ok(converter.parquet_column_index().is_some().then(|| converter.with_missing_null_counts_as_zero(false)))
    }

    /// Old writers ordered bytes as if they were signed, and said so by leaving the new statistics fields out.
    fn has_untrustworthy_order(&self, root: usize, primitive: &PrimitiveType) -> bool {
        let bytes = matches!(primitive, PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Fixed(_) | PrimitiveType::Uuid);
        let decimal = matches!(primitive, PrimitiveType::Decimal { .. });
        let parquet_schema = self.footer.metadata.parquet_schema();
        (bytes || decimal)
            && self.footer.parquet().row_groups().iter().any(|group| {
                group.columns().iter().enumerate().any(|(leaf, chunk)| {
                    parquet_schema.get_column_root_idx(leaf) == root && chunk.statistics().is_some_and(|statistics| statistics.is_min_max_deprecated())
                })
            })
    }

    /// The rows of the pages that may match; `None` when no page can be ruled out. Only conditions on a single column are
    /// asked, because pages of different columns do not start at the same rows.
    fn pages(&self, predicate: &Predicate, group: usize) -> Result<Option<RowSelection>> {
        let mut selection: Option<RowSelection> = None;
        for conjunct in predicate.conjuncts() {
            let columns = conjunct.columns();
            let [column] = columns.as_slice() else { continue };
            let Some(of_column) = self.pages_of_column(conjunct, *column, group)? else { continue };
            selection = Some(match selection {
                Some(others) => others.intersection(&of_column),
                None => of_column,
            });
        }
        Ok(selection)
    }

    fn pages_of_column(&self, conjunct: &Predicate, column: usize, group: usize) -> Result<Option<RowSelection>> {
        let Some((id, primitive)) = primitive_column(self.columns, column) else { return Ok(None) };
        let parquet = self.footer.parquet();
        let (Some(column_index), Some(offset_index)) = (parquet.column_index(), parquet.offset_index()) else { return Ok(None) };
        let Some(root) = self.footer.position_of(self.columns[column].id) else { return Ok(None) };
        let Some(converter) = self.converter(root)? else { return Ok(None) };
        let Some(leaf) = converter.parquet_column_index() else { return Ok(None) };
        let has_pages = offset_index.get(group).and_then(|leaves| leaves.get(leaf)).is_some_and(|pages| pages.page_locations().len() > 1);
        if !has_pages || self.has_untrustworthy_order(root, primitive) {
            return Ok(None);
        }
        let groups = [group];
        let lower = converter.data_page_mins(column_index, offset_index, &groups).map_err(reading)?;
        let upper = converter.data_page_maxes(column_index, offset_index, &groups).map_err(reading)?;
        let null_counts = converter.data_page_null_counts(column_index, offset_index, &groups).map_err(reading)?;
        let Some(row_counts) = converter.data_page_row_counts(offset_index, parquet.row_groups(), &groups).map_err(reading)? else { return Ok(None) };
        let nan_possible = may_hold_nan(self.entry, id, primitive);
        let page = |at: usize| {
            let rows = row_counts.value(at);
            let nulls = Nulls::of(count_at(&null_counts, at), rows);
            let bounds = Bounds::between(literal_at(&lower, at), literal_at(&upper, at), nulls, nan_possible);
            (rows as usize, may_match(conjunct, &Known { bounds: HashMap::from([(column, bounds)]) }))
        };
        let pages: Vec<(usize, bool)> = (0..row_counts.len()).map(page).collect();
        if pages.iter().all(|(_, kept)| *kept) {
            return Ok(None);
        }
        let selectors = pages.into_iter().map(|(rows, kept)| if kept { RowSelector::select(rows) } else { RowSelector::skip(rows) });
        Ok(Some(selectors.collect::<Vec<_>>().into()))
    }

    /// Takes out the row groups whose bloom filters do not know any of the values asked for.
    pub(crate) async fn retain_by_bloom_filters(&self, plans: &mut Vec<GroupPlan>, predicate: &Predicate, file: &LakeFile) -> Result<()> {
        for conjunct in predicate.conjuncts() {
            let Some((column, literals)) = asked_values(conjunct) else { continue };
            let Some(root) = self.footer.position_of(self.columns[column].id) else { continue };
            let Some(leaf) = self.converter(root)?.and_then(|converter| converter.parquet_column_index()) else { continue };
            let mut kept = Vec::with_capacity(plans.len());
            for plan in plans.drain(..) {
                if self.bloom_may_match(file, plan.index, leaf, &literals).await? {
                    kept.push(plan);
                }
            }
            *plans = kept;
        }
        Ok(())
    }

    async fn bloom_may_match(&self, file: &LakeFile, group: usize, leaf: usize, literals: &[&Literal]) -> Result<bool> {
        let chunk = self.footer.parquet().row_group(group).column(leaf);
        if chunk.bloom_filter_offset().is_none() {
            return Ok(true);
        }
        let mut reader = ParquetRecordBatchStreamBuilder::new_with_metadata(file.clone(), self.footer.metadata.clone());
        let Some(filter) = reader.get_row_group_column_bloom_filter(group, leaf).await.map_err(reading)? else { return Ok(true) };
        Ok(literals.iter().any(|literal| bloom_may_hold(&filter, chunk.column_type(), literal)))
    }
}

fn asked_values(conjunct: &Predicate) -> Option<(usize, Vec<&Literal>)> {
    match conjunct {
        Predicate::Compare { column, op: CompareOp::Equal, literal } => Some((*column, vec![literal])),
        Predicate::In { column, literals } if literals.len() <= BLOOM_LITERALS_MAX => Some((*column, literals.iter().collect())),
        _ => None,
    }
}

/// Only where the literal's bytes are the column's bytes beyond doubt.
fn bloom_may_hold(filter: &Sbbf, physical: PhysicalType, literal: &Literal) -> bool {
    match (physical, literal) {
        (PhysicalType::INT32, Literal::Int(value)) => i32::try_from(*value).map_or(true, |value| filter.check(&value)),
        (PhysicalType::INT64, Literal::Int(value)) => filter.check(value),
        (PhysicalType::INT32, Literal::Date(value)) => filter.check(value),
        (PhysicalType::BYTE_ARRAY, Literal::Text(value)) => filter.check(value.as_str()),
        (PhysicalType::BYTE_ARRAY, Literal::Bytes(value)) => filter.check(value.as_slice()),
        _ => true,
    }
}

fn constant_bounds(value: &ArrayRef) -> Bounds {
    if value.is_null(0) {
        return Bounds::all_null();
    }
    literal_at(value, 0).map_or_else(Bounds::unknown, Bounds::constant)
}

fn count_at(counts: &UInt64Array, at: usize) -> Option<u64> {
    (at < counts.len() && counts.is_valid(at)).then(|| counts.value(at))
}
