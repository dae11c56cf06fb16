// SPDX-License-Identifier: Apache-2.0
//! The live placement: a table read in its source through one statement.

use super::as_text::may_not_fit;
use super::notes::Notes;
use super::parts;
use super::running_query;
use crate::arithmetic::settled_batch;
use crate::discovery::SourceHandle;
use crate::errors::carry;
use crate::push_down::{Fragment, FragmentRequest, TextOf, as_kept, cut, kept_here, key_filters};
use crate::run::QueryRun;
use crate::text_kinds;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{ColumnStatistics, DFSchema, DataFusionError, Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter::FilterExecBuilder;
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::{Arc, OnceLock};
use weir_api::{Forecast, PushDown, TableAge};
use weir_base::limits::KEYS_MAX;
use weir_base::{Error, ErrorCode, TableName};
use weir_source::{SourceTable, Statement};

/// A table of a source as the planner sees it, for one query.
#[derive(Debug)]
pub(crate) struct SourceTableProvider {
    pub handle: Arc<SourceHandle>,
    pub name: TableName,
    pub table: Arc<SourceTable>,
    mode: PushDown,
    /// Columns that are read as text too; these texts come after the table's own columns.
    texts: Vec<TextOf>,
    schema: SchemaRef,
    /// What is done here with its rows, and why.
    pub notes: Notes,
}

impl SourceTableProvider {
    pub fn new(handle: Arc<SourceHandle>, name: TableName, table: Arc<SourceTable>, mode: PushDown) -> Self {
        let fields: Vec<Field> = table.columns.iter().map(|column| text_kinds::field(column, handle.source.kind())).collect();
        Self { handle, name, table, mode, texts: Vec::new(), schema: Arc::new(Schema::new(fields)), notes: Notes::default() }
    }

    /// The same table with the text of a column beside it, and where that stands. `None` for a column whose values all have their type.
    pub fn with_text(&self, column: &str) -> Option<(Self, usize)> {
        let index = self.table.columns.iter().position(|known| known.name == column)?;
        let own = self.table.columns.len();
        let mut texts = self.texts.clone();
        if let Some(known) = texts.iter().position(|text| text.column == index) {
            return Some((self.again(texts, self.schema.clone()), own + known));
        }
        let known = &self.table.columns[index];
        if known.degraded.is_some() || !may_not_fit(self.handle.source.kind(), &known.data_type) {
            return None;
        }
        let mut name = format!("{column} as text");
        while self.schema.index_of(&name).is_ok() {
            name.push('\'');
        }
        let mut fields = self.schema.fields().to_vec();
        fields.push(Arc::new(Field::new(&name, DataType::Utf8, true)));
        texts.push(TextOf { column: index, name });
        let place = own + texts.len() - 1;
        Some((self.again(texts, Arc::new(Schema::new(fields))), place))
    }

    pub fn text_name(&self, index: usize) -> String {
        self.schema.field(index).name().clone()
    }

    fn again(&self, texts: Vec<TextOf>, schema: SchemaRef) -> Self {
        Self { handle: self.handle.clone(), name: self.name.clone(), table: self.table.clone(), mode: self.mode, texts, schema, notes: Notes::default() }
    }

    /// The columns asked for, and behind them, in the table's order, those that only the filters which stay here need: what is planned
    /// and what is sent is the same text each time.
    fn widened(&self, projection: &[usize], kept: &[Expr]) -> Result<Vec<usize>> {
        let of_filters = kept.iter().flat_map(Expr::column_refs).map(|column| self.schema.index_of(&column.name));
        let mut more = of_filters.collect::<std::result::Result<Vec<usize>, _>>()?;
        more.retain(|index| !projection.contains(index));
        more.sort_unstable();
        more.dedup();
        Ok(projection.iter().copied().chain(more).collect())
    }
}

#[async_trait]
impl TableProvider for SourceTableProvider {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// The scan answers for every filter, be it at the source or here: between this promise and the scan the planner may write
    /// a filter in another way, which the source would not do any more.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| if answerable(filter) { TableProviderFilterPushDown::Exact } else { TableProviderFilterPushDown::Unsupported };
        Ok(filters.iter().map(support).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(estimated(&self.schema, &self.table, 0, None))
    }

    async fn scan(&self, session: &dyn Session, projection: Option<&Vec<usize>>, filters: &[Expr], limit: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let projection = projection.unwrap_or(&all);
        let source = self.handle.source.as_ref();
        let unqualified = DFSchema::try_from(self.schema.clone())?;
        let (name, table, texts, mode, schema) = (&self.name, &self.table, &self.texts, self.mode, &unqualified);
        let asked = FragmentRequest { name, table, texts, source, schema, projection, filters, limit, mode };
        let kept = kept_here(&asked);
        let wide = self.widened(projection, &kept)?;
        let mut fragment = cut(&FragmentRequest { projection: &wide, ..asked }).map_err(carry)?;
        fragment.kept.extend(self.notes.all());
        match parts::told(table, &fragment, !filters.is_empty(), source) {
            Some(Ok(pushed)) => fragment.pushed.push(pushed),
            Some(Err(reason)) => fragment.kept.push(as_kept("reading in parts".to_owned(), reason)),
            None => {}
        }
        let schema = Arc::new(self.schema.project(&wide)?);
        let statistics = estimated(&schema, &self.table, filters.len() - kept.len(), fragment.limit);
        let scan = SourceScan { table: Some(self.table.clone()), ..SourceScan::new(self.handle.clone(), fragment, schema, statistics) };
        let scan = Arc::new(scan);
        filtered(session, scan, kept, projection.len())
    }
}

/// What can be asked of each row by itself, whenever it is asked.
fn answerable(filter: &Expr) -> bool {
    let elsewhere = |node: &Expr| {
        Ok(matches!(
            node,
            Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_) | Expr::SetComparison(_) | Expr::OuterReferenceColumn(..) | Expr::Placeholder(_)
        ))
    };
    !filter.is_volatile() && !filter.exists(elsewhere).unwrap_or(true)
}

/// The scan with the filters that stay here on top, and without the columns that only they need.
fn filtered(session: &dyn Session, scan: Arc<SourceScan>, kept: Vec<Expr>, width: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(condition) = conjunction(kept) else { return Ok(scan) };
    let schema = DFSchema::try_from(scan.schema())?;
    let condition = session.create_physical_expr(condition, &schema)?;
    let filter = FilterExecBuilder::new(condition, scan).apply_projection(Some((0..width).collect()))?;
    Ok(Arc::new(filter.build()?))
}

/// The share of rows that a filter is taken to keep.
pub(crate) const FILTER_KEEPS: f64 = 0.2;

/// Rows and bytes as the source guesses them, each filter taken to keep a fifth.
fn estimated(schema: &SchemaRef, table: &SourceTable, filters: usize, limit: Option<usize>) -> Statistics {
    let Some(rows) = table.rows_estimate else { return Statistics::new_unknown(schema) };
    let kept = (rows as f64 * FILTER_KEEPS.powi(filters.min(3) as i32)).ceil() as usize;
    let kept = limit.map_or(kept, |limit| kept.min(limit));
    let width: usize = schema.fields().iter().map(|field| width_guess(field.data_type())).sum();
    Statistics {
        num_rows: Precision::Inexact(kept),
        total_byte_size: Precision::Inexact(kept.saturating_mul(width.max(1))),
        column_statistics: vec![ColumnStatistics::new_unknown(); schema.fields().len()],
    }
}

/// So many rows of a schema.
pub(crate) fn rows_of(schema: &SchemaRef, rows: Option<u64>) -> Statistics {
    let Some(rows) = rows else { return Statistics::new_unknown(schema) };
    let width: usize = schema.fields().iter().map(|field| width_guess(field.data_type())).sum();
    Statistics {
        num_rows: Precision::Inexact(rows as usize),
        total_byte_size: Precision::Inexact((rows as usize).saturating_mul(width.max(1))),
        column_statistics: vec![ColumnStatistics::new_unknown(); schema.fields().len()],
    }
}

fn width_guess(data_type: &DataType) -> usize {
    data_type.primitive_width().unwrap_or(32)
}

/// The leaf that runs one statement.
#[derive(Debug, Clone)]
pub(crate) struct SourceScan {
    pub handle: Arc<SourceHandle>,
    pub fragment: Fragment,
    /// The one table that the statement reads as it stands there.
    pub table: Option<Arc<SourceTable>>,
    statistics: Arc<Statistics>,
    /// Set once somebody asked; from then on everybody tells the same.
    forecast: OnceLock<Forecast>,
    /// Filters that a join above fills in while it runs.
    late: Vec<Arc<dyn PhysicalExpr>>,
    properties: Arc<PlanProperties>,
}

impl SourceScan {
    pub fn new(handle: Arc<SourceHandle>, fragment: Fragment, schema: SchemaRef, statistics: Statistics) -> Self {
        let properties =
            PlanProperties::new(EquivalenceProperties::new(schema), Partitioning::UnknownPartitioning(1), EmissionType::Incremental, Boundedness::Bounded);
        Self { handle, fragment, table: None, statistics: Arc::new(statistics), forecast: OnceLock::new(), late: Vec::new(), properties: Arc::new(properties) }
    }

    /// The scan without what joins above it find out.
    pub fn whole(&self) -> Self {
        Self { late: Vec::new(), ..self.clone() }
    }

    pub fn forecast(&self) -> Option<Forecast> {
        self.forecast.get().cloned()
    }

    /// The first forecast stands.
    pub fn foretold(&self, forecast: Forecast) {
        let _ = self.forecast.set(forecast);
    }

    /// The rows that were foretold, or that the statistics of the table make likely.
    pub fn likely_rows(&self) -> Option<u64> {
        match self.forecast() {
            Some(forecast) => forecast.rows,
            None => self.statistics.num_rows.get_value().map(|rows| *rows as u64),
        }
    }

    /// The statement with the keys that a join has found by now.
    fn narrowed(&self, statement: Statement) -> weir_base::Result<Statement> {
        let Some(terms) = self.fragment.open_terms().filter(|_| !self.late.is_empty()) else { return Ok(statement) };
        let source = self.handle.source.as_ref();
        let keys_max = keys_max(self.likely_rows());
        let mut found = Vec::new();
        for filter in &self.late {
            // A filter that cannot be looked at asks for nothing here; the join still applies it to every row.
            let Ok(now) = snapshot_physical_expr(filter.clone()) else { continue };
            found.extend(key_filters(&now, &terms, source, keys_max));
        }
        if found.is_empty() {
            return Ok(statement);
        }
        let conditions: Vec<&str> = found.iter().map(|filter| filter.sql.as_str()).collect();
        let shown: Vec<&str> = found.iter().map(|filter| filter.shown.as_str()).collect();
        Ok(Statement { sql: self.fragment.narrowed(&conditions)?, shown: Some(self.fragment.narrowed(&shown)?), ..statement })
    }

    pub fn statement(&self, run: &QueryRun) -> Statement {
        Statement { sql: self.fragment.sql.clone(), shown: None, outputs: self.fragment.outputs.clone(), user: run.user.clone(), query_id: run.id }
    }
}

impl DisplayAs for SourceScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceScan: source={}, sql={}", self.handle.name(), self.fragment.sql)
    }
}

impl ExecutionPlan for SourceScan {
    fn name(&self) -> &'static str {
        "SourceScan"
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

    fn partition_statistics(&self, _: Option<usize>) -> Result<Arc<Statistics>> {
        Ok(self.statistics.clone())
    }

    /// None of them is taken off the shoulders of whoever asks: the source gets to know what is worth its while when it is read.
    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let kept = vec![PushedDown::No; result.parent_filters.len()];
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(kept);
        if phase != FilterPushdownPhase::Post || result.parent_filters.is_empty() {
            return Ok(propagation);
        }
        let late = self.late.iter().cloned().chain(result.parent_filters.iter().map(|parent| parent.filter.clone())).collect();
        let node: Arc<dyn ExecutionPlan> = Arc::new(Self { late, ..self.clone() });
        Ok(propagation.with_updated_node(node))
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let run = running_query(&context)?;
        let scan = self.clone();
        let schema = self.schema();
        let handle = self.handle.clone();
        let tables = self.fragment.tables.clone();
        let target = schema.clone();
        let likely_rows = self.likely_rows();
        let opening = async move {
            let permit = run.permit(handle.name()).await.map_err(carry)?;
            let statement = scan.narrowed(scan.statement(&run)).map_err(carry)?;
            if let Some(rows) = likely_rows {
                permit.meter().forecast(rows);
            }
            let fetched = parts::fetch(&scan, &run, permit, statement).await.map_err(|error| failed(&handle, error))?;
            for (used, part) in tables.iter().flat_map(|used| fetched.iter().map(move |part| (used, part))) {
                run.ages.report(TableAge { table: used.name.clone(), placement: "live", as_of: part.as_of });
            }
            // The first error is the last item that anybody takes, and whoever drops this ends all statements.
            let batches = stream::select_all(fetched.into_iter().map(|part| part.batches));
            Ok::<_, DataFusionError>(batches.map(move |batch| batch.map_err(|error| failed(&handle, error)).and_then(|batch| rename(&batch, &target))))
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(opening).try_flatten())))
    }
}

/// Keys are sent while they are fewer than the rows that they spare: at most one for two rows, and none for a handful.
fn keys_max(likely_rows: Option<u64>) -> usize {
    const ROWS_WORTH_A_FILTER: u64 = 500;
    match likely_rows {
        Some(rows) if rows < ROWS_WORTH_A_FILTER => 0,
        Some(rows) => usize::try_from(rows / 2).unwrap_or(usize::MAX).min(KEYS_MAX),
        None => KEYS_MAX,
    }
}

/// A source that is not as it was when its tables were listed is looked at again for the next query.
fn failed(handle: &SourceHandle, error: Error) -> DataFusionError {
    let changed = matches!(error.code(), ErrorCode::UnknownTable | ErrorCode::UnknownColumn | ErrorCode::UnknownSchema | ErrorCode::TypeMismatch);
    let gone = matches!(error.code(), ErrorCode::SourceUnreachable | ErrorCode::LoginRefused | ErrorCode::SourceBroke);
    if changed || gone {
        handle.forget();
    }
    carry(match changed && error.hint().is_none() {
        true => error.with_hint("the source has changed since its tables were listed; ask again"),
        false => error,
    })
}

/// The connector's batch under the planner's schema; a scan of no columns keeps only the number of rows.
fn rename(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    // Texts come in one layout, and the planner may have promised another.
    let promised = |(column, field): (&ArrayRef, &FieldRef)| match (column.data_type(), field.data_type()) {
        (DataType::Utf8, DataType::Utf8View | DataType::LargeUtf8) => cast(column, field.data_type()),
        _ => Ok(column.clone()),
    };
    let columns = batch.columns().iter().zip(schema.fields()).map(promised).collect::<std::result::Result<_, _>>()?;
    settled_batch(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
