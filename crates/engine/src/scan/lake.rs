// SPDX-License-Identifier: Apache-2.0
//! The lake's own tables: an Iceberg scan with pruning at planning time and filters, also ones found while running, inside the reader.

use super::predicate::prunable;
use super::row_filter::PhysicalFilter;
use super::running_query;
use super::statistics::column_statistics;
use crate::arithmetic::settled_batch;
use crate::errors::carry;
use crate::push_down::in_words;
use crate::residual::{bytes_in_memory, outgrows};
use crate::run::{LakeRead, QueryRun};
use crate::sizes::{Size, lake_size};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use weir_api::TableAge;
use weir_base::TableName;
use weir_base::limits::KEYS_MAX;
use weir_lake::{BatchFilter, LakeTable, Predicate, Scan, ScanPlan, ScanRequest};

/// A key in a list costs about as much as reading so many rows that no join finds a partner for.
const ROWS_A_KEY: usize = 8;
/// So few are always listed.
const KEYS_ALWAYS_LISTED: usize = 10_000;

/// A lake table as the planner sees it, pinned to one snapshot.
#[derive(Debug)]
pub(crate) struct LakeTableProvider {
    pub name: TableName,
    pub table: Arc<LakeTable>,
    /// With texts as views, where they are read so.
    schema: SchemaRef,
    text_views: bool,
    /// Taken from the manifests once.
    size: OnceLock<Size>,
}

impl LakeTableProvider {
    /// Views are quicker to read. But a sort that spills copies them out of the pages that they keep, beyond what it has reserved:
    /// a table that may not fit is read with plain texts.
    pub fn new(name: TableName, table: Arc<LakeTable>, memory_bytes_max: usize) -> Self {
        let text_views = !outgrows(bytes_in_memory(&table.schema(), table.rows() as usize), memory_bytes_max);
        let schema = if text_views { table.schema_with_text_views() } else { table.schema() };
        Self { name, table, schema, text_views, size: OnceLock::new() }
    }

    /// Rows, and what the manifests say of each column.
    pub fn size(&self) -> Size {
        self.size.get_or_init(|| lake_size(&self.schema, self.table.rows(), &self.columns())).clone()
    }

    fn columns(&self) -> Vec<ColumnStatistics> {
        column_statistics(&self.schema, &(0..self.schema.fields().len()).collect::<Vec<_>>(), &self.table.column_statistics())
    }
}

#[async_trait]
impl TableProvider for LakeTableProvider {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Inexact: used here to leave out files and row groups; the filter itself moves into the scan later, as a physical expression.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(Statistics {
            num_rows: Precision::Inexact(self.table.rows() as usize),
            total_byte_size: Precision::Inexact(self.table.bytes() as usize),
            column_statistics: self.columns(),
        })
    }

    async fn scan(&self, session: &dyn Session, projection: Option<&Vec<usize>>, filters: &[Expr], limit: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
        let projection = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let conditions: Vec<Predicate> = filters.iter().filter_map(|filter| prunable(filter, &self.schema)).collect();
        let predicate = if conditions.is_empty() { None } else { Some(Predicate::And(conditions)) };
        let limit = limit.filter(|_| filters.is_empty()).map(|limit| limit as u64);
        let request = ScanRequest { projection: projection.clone(), predicate, limit };
        let plan = self.table.plan(request).await.map_err(carry)?.with_batch_rows(session.config().batch_size());
        let plan = if self.text_views { plan.with_text_views() } else { plan };
        let schema = Arc::new(self.schema.project(&projection)?);
        let words = filters.iter().map(in_words).collect();
        Ok(Arc::new(LakeScan {
            name: self.name.clone(),
            table: self.table.clone(),
            plan: Arc::new(plan),
            words,
            table_schema: self.schema.clone(),
            projection,
            filters: Vec::new(),
            opened: Arc::default(),
            properties: properties(schema, session.config().target_partitions()),
        }))
    }
}

fn properties(schema: SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    let partitioning = Partitioning::UnknownPartitioning(partitions.max(1));
    Arc::new(PlanProperties::new(EquivalenceProperties::new(schema), partitioning, EmissionType::Incremental, Boundedness::Bounded))
}

/// The leaf that reads one snapshot of one lake table in parallel partitions.
#[derive(Debug, Clone)]
pub(crate) struct LakeScan {
    pub name: TableName,
    pub table: Arc<LakeTable>,
    pub plan: Arc<ScanPlan>,
    /// The filters that came with the scan, for EXPLAIN.
    pub words: Vec<String>,
    table_schema: SchemaRef,
    projection: Vec<usize>,
    filters: Vec<Arc<dyn PhysicalExpr>>,
    /// Opened by the first partition that runs; the partitions share its queue of row groups.
    opened: Arc<Mutex<Option<Opened>>>,
    properties: Arc<PlanProperties>,
}

/// A scan at work, with its place in the receipt.
#[derive(Debug, Clone)]
struct Opened {
    scan: Arc<Scan>,
    /// One for all partitions: what joins have found is worked out once.
    filter: Option<Arc<PhysicalFilter>>,
    read: Arc<LakeRead>,
}

impl LakeScan {
    fn open(&self, run: &QueryRun) -> Result<Opened> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.as_ref() {
            return Ok(opened.clone());
        }
        let filter = self.row_filter()?;
        let scan = Arc::new(self.plan.open(self.properties.output_partitioning().partition_count()));
        let read = LakeRead::begin(self.name.source.clone(), self.plan.rows(), scan.meter());
        run.reads_lake(read.clone());
        Ok(opened.insert(Opened { scan, filter, read }).clone())
    }

    /// The most keys that a join need list for this scan: looking for more in each row takes as long as it spares.
    pub fn keys_most(&self) -> usize {
        if self.filters.is_empty() { 0 } else { (self.plan.rows() as usize / ROWS_A_KEY).clamp(KEYS_ALWAYS_LISTED, KEYS_MAX) }
    }

    fn row_filter(&self) -> Result<Option<Arc<PhysicalFilter>>> {
        if self.filters.is_empty() {
            return Ok(None);
        }
        let filter = PhysicalFilter::new(&self.filters, &self.projection, &self.table_schema)?;
        Ok(Some(Arc::new(filter)))
    }
}

impl DisplayAs for LakeScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LakeScan: table={}, snapshot={}, {}", self.name, self.table.snapshot_id().unwrap_or_default(), self.plan.describe().join(", "))?;
        if !self.filters.is_empty() {
            let filters: Vec<String> = self.filters.iter().map(ToString::to_string).collect();
            write!(f, ", filter={}", filters.join(" AND "))?;
        }
        Ok(())
    }
}

impl ExecutionPlan for LakeScan {
    fn name(&self) -> &'static str {
        "LakeScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self { opened: Arc::default(), ..self.as_ref().clone() }))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let share = partition.map_or(1, |_| self.properties.output_partitioning().partition_count().max(1));
        let rows = self.plan.rows() as usize / share;
        let rows = if self.filters.is_empty() { rows } else { rows.div_ceil(5) };
        Ok(Arc::new(Statistics {
            num_rows: Precision::Inexact(rows),
            total_byte_size: Precision::Inexact(self.plan.bytes() as usize / share),
            column_statistics: column_statistics(&self.schema(), &self.projection, self.plan.column_statistics()),
        }))
    }

    /// Filters from above, also those that a join fills in while it runs, are all applied row by row inside the reader.
    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let mut filters = self.filters.clone();
        filters.extend(result.parent_filters.iter().map(|parent| parent.filter.clone()));
        let taken = vec![PushedDown::Yes; result.parent_filters.len()];
        let node: Arc<dyn ExecutionPlan> = Arc::new(Self { filters, opened: Arc::default(), ..self.clone() });
        Ok(FilterPushdownPropagation::with_parent_pushdown_result(taken).with_updated_node(node))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let run = running_query(&context)?;
        run.ages.report(TableAge { table: self.name.clone(), placement: "live", as_of: self.table.as_of() });
        let Opened { scan, filter, read } = self.open(&run)?;
        let filter = filter.map(|filter| filter as Arc<dyn BatchFilter>);
        let batches = scan.partition(partition, filter).map(move |batch| {
            read.advanced();
            batch.map_err(carry).and_then(settled_batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
