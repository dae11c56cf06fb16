// SPDX-License-Identifier: Apache-2.0
//! What every connector must do, as functions over `dyn Source`. A connector's test starts its server, makes the two tables
//! below and calls each function; what only that kind of server has is tested beside it.
//!
//! `conformance_rows(id int4 or int8 not null, label text, amount decimal(12,2), maybe int4)` with 20,000 rows:
//! `id` 1 to 20000, `label` = `row ` and the id, `amount` = id / 100 exactly, `maybe` NULL where the id divides by 7, else the id.
//! `conformance_empty` has the same columns and no rows.

mod agreement;
mod calls;
mod page;
mod proof;
mod values;

pub use agreement::support_agrees_with_the_server;
pub use page::{Page, keep};
pub use proof::prove;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Decimal128Type, Int32Type, Int64Type};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use weir_base::limits::BATCH_ROWS_MAX;
use weir_base::{ErrorCode, QueryId, Result, SourceName, UserName};
use weir_guard::{Asker, Guard, Ledger, Limits, MeterReading, Outcome, Permit, Purpose};
use weir_source::{Fetched, OutputColumn, Source, SourceTable, Statement};

pub const ROWS: usize = 20_000;
/// Long enough for a slow machine, short enough to see a hang.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// A source under test, and the guard that lets tests at it.
pub struct Subject {
    pub source: Arc<dyn Source>,
    pub guard: Arc<Guard>,
    /// Where the two tables are, as the source spells it.
    pub schema: String,
}

impl Subject {
    pub fn new(source: Arc<dyn Source>, limits: Limits, schema: &str) -> Self {
        Self { source, guard: Guard::new(SourceName::new("subject"), limits), schema: schema.to_owned() }
    }

    /// The same source under other budgets. The cap on sessions is a second one: use it for one query at a time.
    pub fn with_limits(&self, limits: Limits) -> Self {
        Self::new(self.source.clone(), limits, &self.schema)
    }

    pub async fn permit(&self) -> Permit {
        self.guard.permit(Purpose::Query).await.unwrap()
    }

    /// A permit whose ledger and cancel the test holds.
    pub async fn watched_permit(&self) -> (Permit, Arc<Ledger>, CancellationToken) {
        let (ledger, cancel) = (Ledger::new(), CancellationToken::new());
        let permit = self.guard.admit(&Asker::house(), 1, &ledger, &cancel, |_| ()).await.unwrap().permit().await.unwrap();
        (permit, ledger, cancel)
    }

    pub fn table(&self, name: &str) -> String {
        self.source.dialect().table(&self.schema, name)
    }

    /// Asked twice, as a source may take another way where few rows are likely: the rows, or what goes wrong, are the same.
    pub async fn fetch(&self, sql: &str, outputs: &[(&str, DataType)]) -> Result<RecordBatch> {
        let fetched = self.fetch_likely(sql, outputs, None).await;
        match (&fetched, &self.fetch_likely(sql, outputs, Some(1)).await) {
            (Ok(rows), Ok(few)) => assert_eq!(in_any_order(rows), in_any_order(few), "{sql}"),
            (Err(error), Err(of_few)) => assert_eq!((error.code(), error.message()), (of_few.code(), of_few.message()), "{sql}"),
            (one, two) => panic!("{sql}: {one:?}, and {two:?} where few rows are likely"),
        }
        fetched
    }

    async fn fetch_likely(&self, sql: &str, outputs: &[(&str, DataType)], rows_likely: Option<u64>) -> Result<RecordBatch> {
        let statement = Statement { rows_likely, ..statement(sql, outputs) };
        let schema = statement.schema();
        let fetched = self.source.fetch(self.permit().await, statement).await?;
        let batches: Vec<RecordBatch> = fetched.batches.try_collect().await?;
        Ok(concat_batches(&schema, &batches).unwrap())
    }

    pub async fn discover(&self) -> Vec<SourceTable> {
        self.source.discover(self.permit().await).await.unwrap().tables
    }

    pub async fn find(&self, name: &str) -> SourceTable {
        let tables = self.discover().await;
        tables.into_iter().find(|table| table.name == name && (table.schema == self.schema || self.schema.is_empty())).unwrap()
    }

    async fn id_type(&self) -> DataType {
        self.find("conformance_rows").await.columns[0].data_type.clone()
    }
}

pub fn statement(sql: &str, outputs: &[(&str, DataType)]) -> Statement {
    let output = |(name, data_type): &(&str, DataType)| OutputColumn { name: (*name).into(), data_type: data_type.clone(), label: format!("subject.t.{name}") };
    Statement {
        sql: sql.to_owned(),
        shown: None,
        outputs: outputs.iter().map(output).collect(),
        user: UserName::new("ana"),
        query_id: QueryId::fresh(),
        rows_likely: None,
    }
}

/// Waits for a condition, asking often, until the deadline.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < DEADLINE, "did not happen in {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A column of 32 or 64 bit integers as 64 bit ones.
pub fn integers(batch: &RecordBatch, column: usize) -> Vec<Option<i64>> {
    match batch.column(column).data_type() {
        DataType::Int32 => batch.column(column).as_primitive::<Int32Type>().iter().map(|value| value.map(i64::from)).collect(),
        _ => batch.column(column).as_primitive::<Int64Type>().iter().collect(),
    }
}

fn only(ledger: &Ledger) -> MeterReading {
    let mut readings = ledger.read();
    assert_eq!(readings.len(), 1);
    readings.remove(0)
}

/// All of it, in one call, for connectors without anything to except.
pub async fn everything(subject: &Subject) {
    tables_are_found_with_their_columns(subject).await;
    every_row_arrives_once_and_exactly(subject).await;
    an_empty_result_is_no_batch_with_rows(subject).await;
    batches_are_bounded(subject).await;
    the_ledger_counts_rows_and_bytes(subject).await;
    a_row_budget_stops_the_statement(subject).await;
    a_byte_budget_stops_the_statement(subject).await;
    a_dropped_stream_gives_its_permit_back(subject).await;
    a_cancelled_statement_says_so(subject).await;
    a_wrong_statement_leaves_the_source_usable(subject).await;
    statements_run_side_by_side(subject).await;
    an_estimate_runs_nothing(subject).await;
    a_probe_tells_version_and_clock(subject).await;
}

pub async fn tables_are_found_with_their_columns(subject: &Subject) {
    for name in ["conformance_rows", "conformance_empty"] {
        let table = subject.find(name).await;
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(columns, ["id", "label", "amount", "maybe"]);
        let types: Vec<&DataType> = table.columns.iter().map(|column| &column.data_type).collect();
        assert!(
            matches!(types[..], [DataType::Int32 | DataType::Int64, DataType::Utf8, DataType::Decimal128(12, 2), DataType::Int32 | DataType::Int64]),
            "{types:?}"
        );
        assert!(table.columns.iter().all(|column| column.degraded.is_none()));
    }
}

async fn all_rows(subject: &Subject) -> (String, Vec<(&'static str, DataType)>) {
    let table = subject.find("conformance_rows").await;
    let dialect = subject.source.dialect();
    let selected: Vec<String> = table.columns.iter().map(|column| column.read_as.unwrap_or("{}").replace("{}", &dialect.quote(&column.name))).collect();
    let names = ["id", "label", "amount", "maybe"];
    let outputs = names.into_iter().zip(table.columns.iter().map(|column| column.data_type.clone())).collect();
    (format!("SELECT {} FROM {}", selected.join(", "), subject.table("conformance_rows")), outputs)
}

pub async fn every_row_arrives_once_and_exactly(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let batch = subject.fetch(&sql, &outputs).await.unwrap();
    assert_eq!(batch.num_rows(), ROWS);
    let (ids, maybes) = (integers(&batch, 0), integers(&batch, 3));
    let labels = batch.column(1).as_string::<i32>();
    let amounts = batch.column(2).as_primitive::<Decimal128Type>();
    let mut seen = vec![false; ROWS + 1];
    for (row, id) in ids.iter().enumerate() {
        let id = id.unwrap();
        assert!(!std::mem::replace(&mut seen[usize::try_from(id).unwrap()], true), "{id} came twice");
        assert_eq!(labels.value(row), format!("row {id}"));
        assert_eq!(amounts.value(row), i128::from(id));
        assert_eq!(maybes[row], (id % 7 != 0).then_some(id));
    }
}

pub async fn an_empty_result_is_no_batch_with_rows(subject: &Subject) {
    let sql = format!("SELECT {} FROM {}", subject.source.dialect().quote("id"), subject.table("conformance_empty"));
    let batch = subject.fetch(&sql, &[("id", subject.id_type().await)]).await.unwrap();
    assert_eq!(batch.num_rows(), 0);
}

pub async fn batches_are_bounded(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let fetched = subject.source.fetch(subject.permit().await, statement(&sql, &outputs)).await.unwrap();
    let batches: Vec<RecordBatch> = fetched.batches.try_collect().await.unwrap();
    assert!(batches.len() >= ROWS.div_ceil(BATCH_ROWS_MAX));
    assert!(batches.iter().all(|batch| batch.num_rows() <= BATCH_ROWS_MAX && batch.num_rows() > 0));
}

pub async fn the_ledger_counts_rows_and_bytes(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let (permit, ledger, _cancel) = subject.watched_permit().await;
    let fetched = subject.source.fetch(permit, statement(&sql, &outputs)).await.unwrap();
    let _batches: Vec<RecordBatch> = fetched.batches.try_collect().await.unwrap();
    let reading = only(&ledger);
    assert_eq!((reading.rows, reading.outcome), (ROWS as u64, Outcome::Done));
    assert_eq!(reading.sql, sql);
    // `row 12345` alone is about nine bytes a row.
    assert!(reading.bytes > 9 * ROWS as u64, "{} bytes", reading.bytes);
}

async fn drain(fetched: Result<Fetched>) -> Result<usize> {
    let batches: Vec<RecordBatch> = fetched?.batches.try_collect().await?;
    Ok(batches.iter().map(RecordBatch::num_rows).sum())
}

pub async fn a_row_budget_stops_the_statement(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let tight = subject.with_limits(Limits { rows_per_query: Some(100), ..subject.guard.limits().clone() });
    let error = drain(subject.source.fetch(tight.permit().await, statement(&sql, &outputs)).await).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::OverBudget);
    eventually("the permit is given back", async || tight.guard.load().in_use == 0).await;
}

pub async fn a_byte_budget_stops_the_statement(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let tight = subject.with_limits(Limits { bytes_per_query: Some(10_000), ..subject.guard.limits().clone() });
    let error = drain(subject.source.fetch(tight.permit().await, statement(&sql, &outputs)).await).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::OverBudget);
    eventually("the permit is given back", async || tight.guard.load().in_use == 0).await;
}

pub async fn a_dropped_stream_gives_its_permit_back(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let (permit, ledger, _cancel) = subject.watched_permit().await;
    let mut fetched = subject.source.fetch(permit, statement(&sql, &outputs)).await.unwrap();
    fetched.batches.next().await.unwrap().unwrap();
    drop(fetched);
    eventually("the permit is given back", async || subject.guard.load().in_use == 0).await;
    assert!(matches!(only(&ledger).outcome, Outcome::Cancelled | Outcome::Done), "{:?}", only(&ledger).outcome);
}

/// A cancel that comes before the statement; each connector tests one in its middle with its own slow statement.
pub async fn a_cancelled_statement_says_so(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let (permit, ledger, cancel) = subject.watched_permit().await;
    cancel.cancel();
    let error = drain(subject.source.fetch(permit, statement(&sql, &outputs)).await).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert_eq!(only(&ledger).outcome, Outcome::Cancelled);
    eventually("the permit is given back", async || subject.guard.load().in_use == 0).await;
}

pub async fn a_wrong_statement_leaves_the_source_usable(subject: &Subject) {
    let (permit, ledger, _cancel) = subject.watched_permit().await;
    let sql = format!("SELECT {} FROM {}", subject.source.dialect().quote("id"), subject.table("no_such_table"));
    let error = drain(subject.source.fetch(permit, statement(&sql, &[("id", DataType::Int32)])).await).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownTable, "{error:?}");
    assert_eq!(only(&ledger).outcome, Outcome::Failed);
    every_row_arrives_once_and_exactly(subject).await;
}

/// Fifty statements at once finish, all of them right, whatever the cap is.
pub async fn statements_run_side_by_side(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let one = async || {
        let (permit, _ledger, _cancel) = subject.watched_permit().await;
        drain(subject.source.fetch(permit, statement(&sql, &outputs)).await).await
    };
    let counts = futures::future::join_all((0..50).map(|_| one())).await;
    assert!(counts.iter().all(|count| *count.as_ref().unwrap() == ROWS));
    assert_eq!(subject.guard.load().in_use, 0);
}

pub async fn an_estimate_runs_nothing(subject: &Subject) {
    let (sql, outputs) = all_rows(subject).await;
    let (permit, ledger, _cancel) = subject.watched_permit().await;
    let estimate = subject.source.estimate(permit, &statement(&sql, &outputs)).await.unwrap();
    if let Some(rows) = estimate.rows {
        assert!((ROWS as u64 / 2..ROWS as u64 * 2).contains(&rows), "{rows} rows");
    }
    assert_eq!(only(&ledger).rows, 0);
}

pub async fn a_probe_tells_version_and_clock(subject: &Subject) {
    let health = subject.source.probe(subject.permit().await).await.unwrap();
    assert!(!health.version.is_empty());
    assert!(health.clock_skew_ms.abs() < 2_000, "{} ms", health.clock_skew_ms);
    assert!(health.latency_ms >= 0.0);
}

/// The rows as texts, sorted: nobody promised their order.
fn in_any_order(rows: &RecordBatch) -> Vec<String> {
    let row = |index: usize| rows.columns().iter().map(|column| format!("{:?}", column.slice(index, 1))).collect::<Vec<_>>().join(", ");
    let mut texts: Vec<String> = (0..rows.num_rows()).map(row).collect();
    texts.sort();
    texts
}
