// SPDX-License-Identifier: Apache-2.0
//! The live placement: a table read in its source through one statement.

use super::as_text::may_not_fit;
use super::notes::Notes;
use super::parts;
use super::running_query;
use crate::arithmetic::conditions_in_turn;
use crate::arithmetic::settled_batch;
use crate::discovery::SourceHandle;
use crate::errors::carry;
use crate::key_use::KeysSent;
use crate::push_down::{Fragment, FragmentRequest, ROWS_WORTH_A_FILTER, TextOf, Worth, as_kept, cut, kept_here, key_filters, takes_keys, value_filters};
use crate::run::QueryRun;
use crate::sizes::{Size, source_size};
use crate::text_kinds;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, DataFusionError, Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
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
use weir_source::{KeysMax, SourceTable, Statement};

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

    /// The same table with no notes yet.
    pub fn anew(&self) -> Self {
        self.again(self.texts.clone(), self.schema.clone())
    }

    /// What the source has counted in it.
    pub fn size(&self) -> Size {
        source_size(&self.table, self.handle.known_statistics(&self.table).as_deref(), &self.texts)
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
        Some(self.size().statistics(&self.schema))
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
        for note in self.notes.all() {
            if !fragment.kept.contains(&note) {
                fragment.kept.push(note);
            }
        }
        match parts::told(table, &fragment, !filters.is_empty(), source) {
            Some(Ok(pushed)) => fragment.pushed.push(pushed),
            Some(Err(reason)) => fragment.kept.push(as_kept("reading in parts".to_owned(), reason)),
            None => {}
        }
        let schema = Arc::new(self.schema.project(&wide)?);
        let sent = self.size().filtered(filters.iter().filter(|filter| !kept.contains(filter)), &unqualified);
        let size = fragment.limit.map_or_else(|| sent.clone(), |limit| sent.clone().at_most(limit));
        let stays = size.clone().filtered(&kept, &unqualified).rows / size.rows;
        let statistics = size.projected(&wide).statistics(&schema);
        let scan = SourceScan { table: Some(self.table.clone()), ..SourceScan::new(self.handle.clone(), fragment, schema, statistics) };
        let scan = Arc::new(scan);
        filtered(session, scan, kept, projection.len(), stays)
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

/// The scan with the filters that stay here on top, and without the columns that only they need. `share` is what they are taken to keep.
fn filtered(session: &dyn Session, scan: Arc<SourceScan>, kept: Vec<Expr>, width: usize, share: f64) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(condition) = conjunction(kept) else { return Ok(scan) };
    let schema = DFSchema::try_from(scan.schema())?;
    let condition = conditions_in_turn(condition.clone(), &schema).unwrap_or(condition);
    let condition = session.create_physical_expr(condition, &schema)?;
    let percent = (share * 100.0).ceil().clamp(1.0, 100.0) as u8;
    let filter = FilterExecBuilder::new(condition, scan).with_default_selectivity(percent).apply_projection(Some((0..width).collect()))?;
    Ok(Arc::new(filter.build()?))
}

/// So few keys are listed whatever the statistics of a table say, which may be wrong.
const KEYS_ALWAYS_LISTED: usize = 10_000;

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
    /// What the source has counted since, where the forecast was too loose to decide by.
    counted: OnceLock<Forecast>,
    /// Filters that a join above fills in while it runs.
    late: Vec<Arc<dyn PhysicalExpr>>,
    /// Filters above with a value that a subquery will have found.
    found: Vec<Arc<dyn PhysicalExpr>>,
    properties: Arc<PlanProperties>,
}

impl SourceScan {
    pub fn new(handle: Arc<SourceHandle>, fragment: Fragment, schema: SchemaRef, statistics: Statistics) -> Self {
        let properties =
            PlanProperties::new(EquivalenceProperties::new(schema), Partitioning::UnknownPartitioning(1), EmissionType::Incremental, Boundedness::Bounded);
        Self {
            handle,
            fragment,
            table: None,
            statistics: Arc::new(statistics),
            forecast: OnceLock::new(),
            counted: OnceLock::new(),
            late: Vec::new(),
            found: Vec::new(),
            properties: Arc::new(properties),
        }
    }

    /// The scan without what joins above it find out.
    pub fn whole(&self) -> Self {
        Self { late: Vec::new(), ..self.clone() }
    }

    /// The scan that is asked for more once it is read; whoever asks looks at each row again.
    pub fn asked(&self, more: impl IntoIterator<Item = Arc<dyn PhysicalExpr>>) -> Self {
        Self { found: self.found.iter().cloned().chain(more).collect(), ..self.clone() }
    }

    pub fn forecast(&self) -> Option<Forecast> {
        self.counted.get().or_else(|| self.forecast.get()).cloned()
    }

    /// The source has counted the rows; all of them, or so many that it stopped.
    pub fn counted(&self, forecast: Forecast, all: bool) {
        if all {
            let bytes = self.forecast.get().and_then(|known| Some(known.bytes? / known.rows?.max(1) * forecast.rows?));
            let _ = self.counted.set(Forecast { bytes, ..forecast });
        }
    }

    /// Whether what it reads is narrowed by keys that a join finds.
    pub fn waits_for_keys(&self) -> bool {
        !self.late.is_empty()
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

    /// Different values of an output, where they were counted.
    fn distinct(&self, column: usize) -> Option<usize> {
        self.statistics.column_statistics.get(column)?.distinct_count.get_value().copied()
    }

    /// Columns by which joins above it will send keys, if those are few.
    pub fn awaits(&self) -> Vec<String> {
        let Some(terms) = self.fragment.open_terms() else { return Vec::new() };
        if self.likely_rows().is_some_and(|rows| (rows as f64) < ROWS_WORTH_A_FILTER) {
            return Vec::new();
        }
        let mut names: Vec<String> = Vec::new();
        for column in self.late.iter().flat_map(collect_columns) {
            let Some(term) = terms.get(column.index()).filter(|term| takes_keys(term, self.handle.source.as_ref())) else { continue };
            if !names.contains(&term.meaning.name) {
                names.push(term.meaning.name.clone());
            }
        }
        names.sort();
        names
    }

    /// The most keys that a join need list for this scan: more would not be sent.
    pub fn keys_most(&self) -> usize {
        if self.late.is_empty() {
            return 0;
        }
        let Some(rows) = self.likely_rows() else { return KEYS_MAX };
        let limits = self.handle.source.keys_max();
        // Only whole numbers can go as bits.
        let whole = |column: &Column| self.schema().field(column.index()).data_type().is_integer();
        let bits = self.late.iter().flat_map(collect_columns).any(|column| whole(&column));
        let rows_a_key = if bits { limits.rows_a_bit.min(limits.rows_a_key) } else { limits.rows_a_key };
        ((rows as f64 / (1.0 + rows_a_key)) as usize).clamp(KEYS_ALWAYS_LISTED, KEYS_MAX)
    }

    /// The statement with the keys that a join has found by now.
    fn narrowed(&self, statement: Statement, run: &QueryRun) -> weir_base::Result<Statement> {
        let Some(terms) = self.fragment.open_terms().filter(|_| !self.late.is_empty() || !self.found.is_empty()) else { return Ok(statement) };
        let source = self.handle.source.as_ref();
        let worth = |column: usize, keys: usize| worth(keys, self.likely_rows(), self.distinct(column), source.keys_max());
        let mut found: Vec<_> = self.found.iter().flat_map(|filter| value_filters(filter, &terms, source)).collect();
        for filter in &self.late {
            // A filter that cannot be looked at asks for nothing here; the join still applies it to every row.
            let Ok(now) = snapshot_physical_expr(filter.clone()) else { continue };
            found.extend(key_filters(&now, &terms, source, worth));
        }
        if found.is_empty() {
            return Ok(statement);
        }
        for filter in &found {
            let (source, sql) = (self.handle.name().clone(), self.fragment.sql.clone());
            run.sends_keys(KeysSent { source, sql, column: filter.column.clone(), keys: filter.keys });
        }
        let conditions: Vec<&str> = found.iter().map(|filter| filter.sql.as_str()).collect();
        let shown: Vec<&str> = found.iter().map(|filter| filter.shown.as_str()).collect();
        let rows_likely = self
            .likely_rows()
            .map(|rows| found.iter().map(|filter| filter.keys.map_or(rows, |keys| left(keys, rows, self.distinct(filter.place)))).fold(rows, u64::min));
        Ok(Statement { sql: self.fragment.narrowed(&conditions)?, shown: Some(self.fragment.narrowed(&shown)?), rows_likely, ..statement })
    }

    pub fn statement(&self, run: &QueryRun) -> Statement {
        let (sql, outputs) = (self.fragment.sql.clone(), self.fragment.outputs.clone());
        Statement { sql, shown: None, outputs, user: run.user.clone(), query_id: run.id, rows_likely: self.likely_rows() }
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
            let statement = scan.narrowed(scan.statement(&run), &run).map_err(carry)?;
            if let Some(rows) = likely_rows {
                permit.meter().forecast(rows);
            }
            let fetched = parts::fetch(&scan, &run, permit, statement).await.map_err(|error| failed(&handle, error))?;
            handle.guard.answered();
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

/// To find so many of its rows by an index costs a source as much as to look at them all.
const SHARE_OF_ALL: f64 = 0.1;

/// Keys are sent when they spare more rows than they cost. Of a handful of rows none is worth it.
fn worth(keys: usize, likely_rows: Option<u64>, distinct: Option<usize>, limits: KeysMax) -> Worth {
    if keys == 0 || keys > KEYS_MAX {
        return Worth::Nothing;
    }
    let Some(rows) = likely_rows else { return Worth::Some };
    let left = left(keys, rows, distinct).min(rows);
    let spares = |rows_a_key: f64| rows as f64 >= ROWS_WORTH_A_FILTER && (rows - left) as f64 >= keys as f64 * rows_a_key;
    let many = left as f64 >= rows as f64 * SHARE_OF_ALL;
    match (spares(limits.rows_a_key), many) {
        (true, true) => Worth::Many,
        (true, false) => Worth::Some,
        (false, true) if spares(limits.rows_a_bit) => Worth::OnlyBits,
        (false, _) => Worth::Nothing,
    }
}

/// The rows that have one of so many keys. Each of the column's values is taken to be in as many rows as any other; where nobody has
/// counted them, each row has its own.
fn left(keys: usize, rows: u64, distinct: Option<usize>) -> u64 {
    let distinct = distinct.map_or(rows as f64, |distinct| (distinct as f64).clamp(1.0, (rows as f64).max(1.0)));
    (rows as f64 * (keys as f64 / distinct)).ceil() as u64
}

/// A source that is not as it was when its tables were listed is looked at again for the next query.
fn failed(handle: &SourceHandle, error: Error) -> DataFusionError {
    let changed = matches!(error.code(), ErrorCode::UnknownTable | ErrorCode::UnknownColumn | ErrorCode::UnknownSchema | ErrorCode::TypeMismatch);
    handle.told(&error);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_worth_sending_when_they_spare_more_rows_than_they_cost() {
        let costs = |rows_a_key: f64| KeysMax { list: 10, text_bytes: 10, rows_a_key, rows_a_bit: rows_a_key / 2.0 };
        let worth = |keys, rows, distinct, rows_a_key| worth(keys, rows, distinct, costs(rows_a_key));
        assert_eq!(worth(100, Some(20_000), None, 1.0), Worth::Some);
        assert_eq!(worth(900, Some(1_000), None, 1.0), Worth::Nothing, "nearly all rows");
        assert_eq!(worth(600, Some(1_000), None, 1.0), Worth::OnlyBits, "more keys than half the rows");
        assert_eq!(worth(1, Some(400), None, 1.0), Worth::Nothing, "a handful of rows");
        assert_eq!([0, 400_000, KEYS_MAX + 1].map(|keys| worth(keys, None, None, 1.0)), [Worth::Nothing, Worth::Some, Worth::Nothing]);
        // A thousand values in a million rows: 990 of them leave little out, 300 most of it.
        assert_eq!(worth(999, Some(1_000_000), Some(1_000), 2.0), Worth::OnlyBits);
        assert_eq!(worth(300, Some(1_000_000), Some(1_000), 1.0), Worth::Many);
        assert_eq!(worth(9_995, Some(1_000_000), Some(10_000), 1.0), Worth::Nothing, "500 rows for 9995 keys");
        // Where a key costs as much as four rows, a fifth of the keys spares just what it costs.
        assert_eq!([190_000, 210_000, 400_000].map(|keys| worth(keys, Some(1_000_000), None, 4.0)), [Worth::Many, Worth::OnlyBits, Worth::Nothing]);
    }

    #[test]
    fn rows_that_keys_leave() {
        assert_eq!(left(34, 1_500_000, None), 34);
        assert_eq!(left(10, 1_000_000, Some(1_000)), 10_000);
        assert_eq!(left(1, 0, None), 0);
    }
}
