// SPDX-License-Identifier: Apache-2.0
//! A service with ready answers, which tells what happens to its streams. The doors are under test, not the engine.

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, IntervalMonthDayNanoArray, ListArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, UInt32Array, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Int32Type, IntervalMonthDayNano, Schema, SchemaRef};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use weir_api::*;
use weir_base::{AsOf, AsOfMethod, Error, ErrorCode, QueryId, Result, TableName, Timestamp, UserName};

/// A statement with its parameters.
pub type Asked = (String, Vec<Parameter>);

/// Counts that tests wait for.
#[derive(Clone)]
pub struct Canned {
    pub begun: watch::Sender<u64>,
    pub dropped: watch::Sender<u64>,
    pub batches: watch::Sender<u64>,
    pub ready: watch::Sender<bool>,
    running: Arc<Mutex<HashMap<QueryId, CancellationToken>>>,
    pub seen: Arc<Mutex<Vec<Asked>>>,
}

impl Canned {
    pub fn new() -> Self {
        Self {
            begun: watch::channel(0).0,
            dropped: watch::channel(0).0,
            batches: watch::channel(0).0,
            ready: watch::channel(true).0,
            running: Arc::default(),
            seen: Arc::default(),
        }
    }

    fn rows(&self, query: &Query, schema: SchemaRef, batches: BoxStream<'static, Result<RecordBatch>>) -> Answer {
        answer(query.id, AnswerKind::Rows, schema, watched(self, query.id, batches))
    }

    fn one(&self, query: &Query, columns: Vec<(&str, ArrayRef)>) -> Answer {
        let batch = batch(columns);
        self.rows(query, batch.schema(), stream::iter([Ok(batch)]).boxed())
    }
}

/// Waits until a count has reached `least`.
pub async fn reached(sender: &watch::Sender<u64>, least: u64) {
    let mut receiver = sender.subscribe();
    let waited = tokio::time::timeout(Duration::from_secs(10), receiver.wait_for(|count| *count >= least)).await;
    waited.expect("the awaited event did not come within 10 s").expect("the canned service is gone");
}

struct Guard(Canned, QueryId);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.running.lock().unwrap().remove(&self.1);
        self.0.dropped.send_modify(|count| *count += 1);
    }
}

fn watched(canned: &Canned, id: QueryId, batches: BoxStream<'static, Result<RecordBatch>>) -> BoxStream<'static, Result<RecordBatch>> {
    let token = CancellationToken::new();
    canned.running.lock().unwrap().insert(id, token.clone());
    let guard = Guard(canned.clone(), id);
    canned.begun.send_modify(|count| *count += 1);
    let cancelled = async move {
        token.cancelled().await;
        Err(Error::new(ErrorCode::Cancelled, "query cancelled").with_detail("by request"))
    };
    let watched = batches.inspect(move |_| guard.0.batches.send_modify(|count| *count += 1)).map(Some).chain(stream::iter([None]));
    stream::select(watched, stream::once(cancelled).map(Some)).take_while(|item| std::future::ready(item.is_some())).filter_map(std::future::ready).boxed()
}

pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

fn answer(id: QueryId, kind: AnswerKind, schema: SchemaRef, batches: BoxStream<'static, Result<RecordBatch>>) -> Answer {
    let at = AsOf::new(Timestamp::from_millis(1_796_063_778_000), AsOfMethod::Clock);
    let ages = Ages::new(at);
    ages.report(TableAge { table: TableName::new("app_pg", "public", "numbers"), placement: "live", as_of: at });
    let receipt = move || Receipt {
        query_id: id,
        user: weir_base::UserName::new("ana"),
        as_of: at.at,
        skew_ms: 0,
        tables: vec![],
        sources: vec![SourceUse {
            source: "app_pg".into(),
            statements: 1,
            rows: 3,
            bytes: 48,
            ms: 2.0,
            queued_ms: 0.0,
            forecast_rows: Some(3),
            pushdown: None,
        }],
        definitions: vec![],
        keys: None,
        policies: vec![],
        elapsed_ms: 5.0,
        cache: "none".into(),
    };
    Answer::new(id, kind, schema, batches, ages, Box::new(receipt))
}

fn command(query: &Query, tag: &str) -> Answer {
    answer(query.id, AnswerKind::Command(tag.into()), Arc::new(Schema::empty()), stream::empty().boxed())
}

fn number_after(sql: &str, prefix: &str) -> Option<i64> {
    sql.strip_prefix(prefix)?.trim_end_matches(')').trim().parse().ok()
}

fn int_schema(name: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(name, DataType::Int64, true)]))
}

/// `0 … count-1` in batches of 1,000, made only as they are asked for.
fn numbers(count: i64) -> BoxStream<'static, Result<RecordBatch>> {
    let starts = stream::iter((0..count).step_by(1000));
    starts.map(move |start| Ok(batch(vec![("n", Arc::new(Int64Array::from_iter_values(start..(start + 1000).min(count))))]))).boxed()
}

/// A row of values and a row of nulls in every type.
pub fn every_type() -> RecordBatch {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None, Some(3)]), None]);
    let parts: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![Some(1), None])), Arc::new(StringArray::from(vec![Some("x\"y"), None]))];
    let fields = vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Utf8, true)];
    let structs = StructArray::new(fields.into(), parts, Some(vec![true, false].into()));
    let dictionary: DictionaryArray<Int32Type> = [Some("red"), None].into_iter().collect();
    let micros = 1_796_063_778_123_456;
    batch(vec![
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("tiny", Arc::new(Int8Array::from(vec![Some(-8), None]))),
        ("small", Arc::new(Int16Array::from(vec![Some(i16::MIN), None]))),
        ("int", Arc::new(Int32Array::from(vec![Some(i32::MAX), None]))),
        ("big", Arc::new(Int64Array::from(vec![Some(i64::MIN), None]))),
        ("uint", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None]))),
        ("ubig", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("real", Arc::new(Float32Array::from(vec![Some(0.1), None]))),
        ("double", Arc::new(Float64Array::from(vec![Some(f64::NEG_INFINITY), None]))),
        ("money", Arc::new(Decimal128Array::from(vec![Some(-1_234_567_890_123_450), None]).with_precision_and_scale(20, 4).unwrap())),
        ("text", Arc::new(StringViewArray::from(vec![Some("naïve \\ \t, \"q\""), None]))),
        ("bytes", Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0, 1, 255]), None]))),
        ("day", Arc::new(Date32Array::from(vec![Some(20_787), None]))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![Some(66_978_500_000), None]))),
        ("stamp", Arc::new(TimestampMicrosecondArray::from(vec![Some(micros), None]))),
        ("instant", Arc::new(TimestampMicrosecondArray::from(vec![Some(micros), None]).with_timezone("UTC"))),
        ("span", Arc::new(IntervalMonthDayNanoArray::from(vec![Some(IntervalMonthDayNano::new(14, 3, 4_000_000_000)), None]))),
        ("list", Arc::new(list)),
        ("object", Arc::new(structs)),
        ("color", Arc::new(dictionary)),
        ("nothing", Arc::new(NullArray::new(2))),
    ])
}

fn echoed(parameter: &Parameter) -> ArrayRef {
    match parameter {
        Parameter::Null => Arc::new(NullArray::new(1)),
        Parameter::Array { element, items } => Arc::new(StringArray::from(vec![format!("{element}: {items:?}")])),
        Parameter::Bool(value) => Arc::new(BooleanArray::from(vec![*value])),
        Parameter::Int(value) => Arc::new(Int64Array::from(vec![*value])),
        Parameter::Float(value) => Arc::new(Float64Array::from(vec![*value])),
        Parameter::Decimal(text) | Parameter::Text(text) => Arc::new(StringArray::from(vec![text.as_str()])),
        Parameter::Bytes(bytes) => Arc::new(BinaryArray::from(vec![bytes.as_slice()])),
        Parameter::Date(days) => Arc::new(Date32Array::from(vec![*days])),
        Parameter::Time(micros) => Arc::new(Time64MicrosecondArray::from(vec![*micros])),
        Parameter::Timestamp(micros) => Arc::new(TimestampMicrosecondArray::from(vec![*micros])),
        Parameter::Interval { months, days, micros } => {
            Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(*months, *days, *micros * 1_000)]))
        }
        Parameter::IntervalText(text) => Arc::new(StringArray::from(vec![format!("interval {text}")])),
        Parameter::TimestampUtc(micros) => Arc::new(TimestampMicrosecondArray::from(vec![*micros]).with_timezone("UTC")),
    }
}

fn wide(count: i64) -> RecordBatch {
    let names: Vec<String> = (0..count).map(|index| format!("c{index}")).collect();
    batch(names.iter().map(|name| (name.as_str(), Arc::new(Int32Array::from(vec![7])) as ArrayRef)).collect())
}

fn unknown_table() -> Error {
    Error::new(ErrorCode::UnknownTable, "unknown table").with_detail("app_pg.public.costumers").with_hint("did you mean app_pg.public.customers?")
}

fn text_row(name: &str, value: &str) -> Vec<(String, ArrayRef)> {
    vec![(name.to_owned(), Arc::new(StringArray::from(vec![value])) as ArrayRef)]
}

impl Canned {
    fn fixed(&self, sql: &str, session: &Session) -> Option<Vec<(String, ArrayRef)>> {
        Some(match sql {
            "select 1" => vec![("?column?".into(), Arc::new(Int32Array::from(vec![1])) as ArrayRef)],
            "select pg_catalog.version()" => text_row("version", "PostgreSQL 15.0 (Weir)"),
            "select current_schema()" => text_row("current_schema", "public"),
            "select database()" => text_row("database", session.database.as_deref().unwrap_or("")),
            "select who()" => text_row("who", session.user.as_str()),
            "show transaction isolation level" => text_row("transaction_isolation", "read committed"),
            _ => {
                let name = sql.strip_prefix("show ")?;
                text_row(name, &session.settings().get(name).ok()?)
            }
        })
    }

    fn set(&self, sql: &str, session: &Session) -> Option<Result<()>> {
        if let Some(name) = sql.strip_prefix("reset ") {
            return Some(session.settings().reset(name));
        }
        let assignment = sql.strip_prefix("set ").or_else(|| sql.strip_prefix("SET "))?;
        let assignment = assignment.strip_prefix("session ").unwrap_or(assignment);
        let (name, value) = assignment.split_once('=').or_else(|| assignment.split_once(" to ")).or_else(|| assignment.split_once(" TO "))?;
        Some(session.settings().set(name.trim(), value.trim().trim_matches('\'')))
    }
}

#[async_trait]
impl QueryService for Canned {
    fn split(&self, sql: &str) -> Result<Vec<String>> {
        if sql.contains("selec ") {
            return Err(Error::new(ErrorCode::Syntax, "syntax error").with_detail("at line 1, column 1"));
        }
        let without_comments: String = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
        Ok(without_comments.split(';').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect())
    }

    async fn database(&self, _: &UserName, asked: &str) -> Result<String> {
        match asked {
            "nowhere" => Err(Error::new(ErrorCode::UnknownDatabase, "database nowhere does not exist")),
            known => Ok(known.to_owned()),
        }
    }

    async fn may_see_metrics(&self, user: &UserName) -> Result<()> {
        match user.as_str() {
            "bo" => Err(Error::new(ErrorCode::Forbidden, "no right to select system.system.metrics")),
            _ => Ok(()),
        }
    }

    async fn prepare(&self, session: &Arc<Session>, sql: &str, _: &[Option<DataType>]) -> Result<Prepared> {
        let lower = sql.to_lowercase();
        let rows = |parameters, schema| Ok(Prepared { parameters, schema, returns_rows: true });
        if let Some(columns) = self.fixed(&lower, session) {
            return rows(vec![], batch(columns.iter().map(|(name, array)| (name.as_str(), array.clone())).collect()).schema());
        }
        match lower.as_str() {
            "select echo($1)" => rows(vec![None], Arc::new(Schema::new(vec![Field::new("echo", DataType::Utf8, true)]))),
            "select n from numbers where n < $1" => rows(vec![Some(DataType::Int64)], int_schema("n")),
            "select * from every_type" => rows(vec![], every_type().schema()),
            "select * from missing" => Err(unknown_table()),
            _ if lower.contains("to_regtype") => rows(vec![None], int_schema("oid")),
            _ if lower.starts_with("select wide ") => rows(vec![], wide(number_after(&lower, "select wide ").unwrap_or(1)).schema()),
            _ if lower.starts_with("select") => rows(vec![], int_schema("n")),
            _ => Ok(Prepared { parameters: vec![], schema: Arc::new(Schema::empty()), returns_rows: false }),
        }
    }

    async fn run(&self, session: &Arc<Session>, query: Query) -> Result<Answer> {
        self.seen.lock().unwrap().push((query.sql.clone(), query.params.clone()));
        let lower = query.sql.to_lowercase();
        if let Some(columns) = self.fixed(&lower, session) {
            return Ok(self.one(&query, columns.iter().map(|(name, array)| (name.as_str(), array.clone())).collect()));
        }
        if let Some(set) = self.set(&query.sql, session) {
            return set.map(|()| command(&query, if lower.starts_with("reset") { "RESET" } else { "SET" }));
        }
        if let Some(count) = number_after(&lower, "select n from numbers(") {
            return Ok(self.rows(&query, int_schema("n"), numbers(count)));
        }
        if let Some(count) = number_after(&lower, "select wide ") {
            let batch = wide(count);
            return Ok(self.rows(&query, batch.schema(), stream::iter([Ok(batch)]).boxed()));
        }
        match (lower.as_str(), query.params.first()) {
            ("select * from every_type", _) => Ok(self.rows(&query, every_type().schema(), stream::iter([Ok(every_type())]).boxed())),
            ("select echo($1)", Some(parameter)) => Ok(self.one(&query, vec![("echo", echoed(parameter))])),
            ("select n from numbers where n < $1", Some(Parameter::Int(count))) => Ok(self.rows(&query, int_schema("n"), numbers(*count))),
            ("select stuck", _) => Ok(self.rows(&query, int_schema("n"), stream::pending().boxed())),
            ("select stuck early", _) => {
                let _guard = Guard(self.clone(), query.id);
                self.begun.send_modify(|count| *count += 1);
                std::future::pending().await
            }
            ("select three then stuck", _) => Ok(self.rows(&query, int_schema("n"), numbers(3).chain(stream::pending()).boxed())),
            ("select broken", _) => {
                let error = Error::new(ErrorCode::SourceBroke, "source broke").with_detail("app_pg").with_hint("ask again");
                Ok(self.rows(&query, int_schema("n"), numbers(3).chain(stream::iter([Err(error)])).boxed()))
            }
            ("select text with zero", _) => Ok(self.one(&query, vec![("t", Arc::new(StringArray::from(vec!["a", "b\0c"])))])),
            ("select * from missing", _) => Err(unknown_table()),
            ("copy lake.a.b from stdin", _) => Err(Error::new(ErrorCode::Unsupported, "COPY FROM is not in this version").with_hint("rows come with INSERT")),
            ("select over budget", _) => Err(Error::new(ErrorCode::OverBudget, "forecast is over the budget").with_hint("add a filter")),
            ("insert into lake.a.b select 1", _) => Ok(command(&query, "INSERT 0 3")),
            _ if lower.contains("to_regtype") => Ok(self.rows(&query, int_schema("oid"), stream::empty().boxed())),
            _ => Err(Error::new(ErrorCode::Syntax, "not in the canned service").with_detail(format!("{} bytes", lower.len()))),
        }
    }

    async fn plan(&self, _: &Arc<Session>, query: Query) -> Result<PlanReport> {
        if query.sql.contains("missing") {
            return Err(unknown_table());
        }
        let (sources, placements, materialized, policies, suggestions) = (vec![], vec![], vec![], vec![], vec![]);
        Ok(PlanReport {
            verdict: Verdict::Run,
            why: "within budget".into(),
            sources,
            placements,
            materialized,
            policies,
            suggestions,
            residual: vec!["Scan".into()],
        })
    }

    async fn cancel(&self, _: &Arc<Session>, id: QueryId) -> Result<bool> {
        let token = self.running.lock().unwrap().get(&id).cloned();
        token.as_ref().inspect(|token| token.cancel());
        Ok(token.is_some())
    }

    async fn status(&self, session: &Arc<Session>, id: QueryId) -> Result<QueryStatus> {
        if !self.running.lock().unwrap().contains_key(&id) {
            return Err(Error::new(ErrorCode::NotFound, "unknown query"));
        }
        let (user, at) = (session.user.clone(), Timestamp::from_millis(0));
        let (rows_returned, rows_read, bytes_read, note) = (0, 0, 0, None);
        let (sql, state) = ("select stuck".into(), QueryState::Running);
        Ok(QueryStatus { query_id: id, user, sql, state, started_at: at, ended_at: None, elapsed_ms: 1.0, rows_returned, rows_read, bytes_read, note })
    }

    async fn readiness(&self) -> Readiness {
        Readiness { ready: *self.ready.borrow(), unreachable: vec!["billing_mysql".into()] }
    }

    async fn complete(&self, _: &Arc<Session>, _: &str) -> Vec<String> {
        Vec::new()
    }
}
