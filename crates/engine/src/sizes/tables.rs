// SPDX-License-Identifier: Apache-2.0
//! The sizes of tables: of a source what it has counted itself, of the lake what its manifests say.

use super::{Facts, Size};
use crate::discovery::SourceHandle;
use crate::push_down::TextOf;
use crate::scan::{LakeTableProvider, RemoteTable, SourceTableProvider};
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::TableScan;
use futures::future::join_all;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_base::SourceName;
use weir_source::{ColumnStatistics, SourceTable, TableStatistics, Value};

/// Asks the sources of a plan what they have counted in its tables, all at once. Over one table without groups there is
/// nothing to decide by it: then it is only asked to be told, `anyway`.
pub(crate) async fn learn(plan: &LogicalPlan, anyway: bool) {
    let mut asked: BTreeMap<SourceName, (Arc<SourceHandle>, Vec<Arc<SourceTable>>)> = BTreeMap::new();
    let mut scans = 0;
    let mut groups = false;
    let _ = plan.apply_with_subqueries(|node| {
        scans += usize::from(matches!(node, LogicalPlan::TableScan(_)));
        groups |= matches!(node, LogicalPlan::Distinct(_)) || matches!(node, LogicalPlan::Aggregate(aggregate) if !aggregate.group_expr.is_empty());
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
            && let Some(table) = provider.downcast_ref::<SourceTableProvider>()
        {
            let (_, tables) = asked.entry(table.handle.name().clone()).or_insert_with(|| (table.handle.clone(), Vec::new()));
            if !tables.iter().any(|known| Arc::ptr_eq(known, &table.table)) {
                tables.push(table.table.clone());
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    if anyway || scans > 1 || groups {
        join_all(asked.into_values().map(|(handle, tables)| async move { handle.learn(&tables).await })).await;
    }
}

/// A scan with its filters, columns and limit.
pub(super) fn scan_size(scan: &TableScan) -> Size {
    let schema = scan.source.schema();
    let whole = source_as_provider(&scan.source).ok().map(|provider| match () {
        () if provider.is::<SourceTableProvider>() => provider.downcast_ref::<SourceTableProvider>().map(SourceTableProvider::size),
        () if provider.is::<LakeTableProvider>() => provider.downcast_ref::<LakeTableProvider>().map(LakeTableProvider::size),
        () if provider.is::<RemoteTable>() => provider.downcast_ref::<RemoteTable>().and_then(|table| table.size.clone()),
        () => provider.statistics().and_then(|known| known.num_rows.get_value().copied()).map(|rows| Size::exactly(rows, schema.fields().len())),
    });
    let size = whole.flatten().unwrap_or_else(|| Size::unknown(schema.fields().len()));
    let size = match DFSchema::try_from_qualified_schema(scan.table_name.clone(), &schema) {
        Ok(qualified) if !scan.filters.is_empty() => size.filtered(&scan.filters, &qualified),
        _ => size,
    };
    let size = scan.projection.as_ref().map_or_else(|| size.clone(), |places| size.projected(places));
    scan.fetch.map_or_else(|| size.clone(), |rows| size.clone().at_most(rows))
}

/// A table of a source; texts of columns stand behind its own.
pub(crate) fn source_size(table: &SourceTable, known: Option<&TableStatistics>, texts: &[TextOf]) -> Size {
    let rows = known.and_then(|known| known.rows).or(table.rows_estimate);
    let Some(rows) = rows.map(|rows| rows as f64) else { return Size::unknown(table.columns.len() + texts.len()) };
    let facts = |index: usize| known.and_then(|known| known.columns.get(index)).map_or_else(Facts::default, |column| facts(column, rows));
    let own = (0..table.columns.len()).map(facts);
    let columns: Vec<Facts> = own.chain(texts.iter().map(|_| Facts::default())).collect();
    Size { rows, columns, known: true }
}

fn facts(column: &ColumnStatistics, rows: f64) -> Facts {
    let distinct = column.distinct.map(|distinct| (distinct as f64).clamp(1.0, rows.max(1.0)));
    let spread = (!column.common.is_empty() || !column.quantiles.is_empty()).then(|| Arc::new(column.clone()));
    Facts { distinct, nulls: column.null_fraction.unwrap_or(0.0).clamp(0.0, 1.0), spread }
}

/// A table of the lake, from bounds and counts of NULLs in its manifests.
pub(crate) fn lake_size(schema: &SchemaRef, rows: u64, known: &[datafusion::common::ColumnStatistics]) -> Size {
    let rows = rows as f64;
    let columns =
        schema.fields().iter().enumerate().map(|(index, field)| known.get(index).map_or_else(Facts::default, |known| bounded(known, field.data_type(), rows)));
    Size { rows, columns: columns.collect(), known: true }
}

/// Of whole numbers and days there are no more different ones than the range has.
fn bounded(known: &datafusion::common::ColumnStatistics, data_type: &DataType, rows: f64) -> Facts {
    let nulls = known.null_count.get_value().map_or(0.0, |nulls| *nulls as f64 / rows.max(1.0)).clamp(0.0, 1.0);
    let range = bound(&known.min_value).zip(bound(&known.max_value)).filter(|(low, high)| low <= high);
    let Some((low, high)) = range else { return Facts { nulls, ..Facts::default() } };
    let step = match data_type {
        DataType::Date32 => Some(weir_base::DAY_MICROS as f64),
        whole if whole.is_integer() => Some(1.0),
        _ => None,
    };
    let distinct = step.map(|step| ((high - low) / step + 1.0).min(rows * (1.0 - nulls)).max(1.0));
    let spread = ColumnStatistics { quantiles: vec![low, high], ..ColumnStatistics::default() };
    Facts { distinct, nulls, spread: Some(Arc::new(spread)) }
}

fn bound(value: &Precision<ScalarValue>) -> Option<f64> {
    let array: ArrayRef = value.get_value()?.to_array().ok()?;
    Value::of_array(&array)?.place().filter(|place| place.is_finite())
}
