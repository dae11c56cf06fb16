// SPDX-License-Identifier: Apache-2.0
//! The `adbc` connector with the real Snowflake driver. The server is a stand-in that speaks Snowflake's protocol over
//! another engine: it shows that protocol, driver and types fit, not how the real product performs.

#[path = "adbc/capabilities.rs"]
mod capabilities;
mod conformance;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use weir_base::limits::{BATCH_ROWS_MAX, BATCHES_IN_FLIGHT_MAX};
use weir_base::{ErrorCode, QueryId, Result, SourceName, UserName};
use weir_guard::{Asker, Guard, Ledger, Limits, Outcome, Permit, Purpose};
use weir_sandbox::Snowflake;
use weir_source::{Column, Operand, Operation, OutputColumn, Source, SourceSpec, SourceTable, Statement, Support, TableKind, ValuePolicy, connect};

static STAND_IN: OnceCell<Snowflake> = OnceCell::const_new();

const TABLES: &str = "
create database if not exists marts;
use database marts;
create schema if not exists public;
create schema if not exists \"Mixed Schema\";
use schema public;
create table revenue (customer_id number(10,0) not null, amount number(12,2), big number(38,0), name varchar, good boolean, day date, clock time,
    ts timestamp_ntz, tsl timestamp_ltz, tsz timestamp_tz, ratio float, raw binary, doc variant, obj object, list array);
insert into revenue select 1, 12.50, 999999999999999999, 'Zoë \u{1f389} it''s \\\\ tab', true, '2026-11-30', '12:34:56.123456', '2026-11-30 01:02:03.123456',
    '2026-11-30 01:02:03.5', '2026-11-30 01:02:03.25', 1.5, to_binary('00FF', 'hex'), parse_json('{\"a\":1}'), parse_json('{\"b\":[1,2]}'), parse_json('[1,2]');
insert into revenue (customer_id) values (2);
insert into revenue (customer_id, ts, day, ratio) select 3, '9999-12-31 23:59:59.999999', '0001-01-01', 'NaN'::float;
insert into revenue (customer_id, ts, day, ratio) select 4, '1905-06-07 08:09:10.000001', '9999-12-31', 'inf'::float;
create table \"Mixed Schema\".\"Odd \"\"Name\" (\"a b\" varchar, \"select\" number(19,0));
create view revenue_view as select customer_id, name from revenue;
create table \"conformance_rows\" (\"id\" number(10,0) not null, \"label\" varchar, \"amount\" number(12,2), \"maybe\" number(10,0));
create table \"conformance_empty\" (\"id\" number(10,0) not null, \"label\" varchar, \"amount\" number(12,2), \"maybe\" number(10,0));
insert into \"conformance_rows\" select n, 'row ' || n, (n / 100)::number(12,2), case when mod(n, 7) <> 0 then n end
    from (select seq8() + 1 as n from table(generator(rowcount => 20000)));
create table numbers as select seq8() as n, 'row ' || seq8() as label from table(generator(rowcount => 1000000));
";

async fn stand_in() -> &'static Snowflake {
    STAND_IN
        .get_or_init(async || {
            let stand_in = Snowflake::start().await.unwrap();
            stand_in.run(TABLES).await.unwrap();
            stand_in
        })
        .await
}

fn spec(stand_in: &Snowflake, limits: Limits) -> SourceSpec {
    let mut options: BTreeMap<String, String> = stand_in.adbc_options("MARTS", "PUBLIC").into_iter().collect();
    options.insert("driver".into(), stand_in.driver_path().unwrap().to_string_lossy().into_owned());
    SourceSpec {
        name: SourceName::new("marts"),
        kind: "adbc".into(),
        url: String::new(),
        allow_primary: false,
        nan: ValuePolicy::Keep,
        infinity: ValuePolicy::Keep,
        limits,
        options,
    }
}

/// A source, its guard, and who asks.
struct Desk {
    source: Arc<dyn Source>,
    guard: Arc<Guard>,
}

impl Desk {
    async fn open() -> Self {
        Self::with(Limits::default()).await
    }

    async fn with(limits: Limits) -> Self {
        Self::of(spec(stand_in().await, limits))
    }

    fn of(spec: SourceSpec) -> Self {
        let guard = Guard::new(spec.name.clone(), spec.limits.clone());
        Self { source: connect(spec).unwrap(), guard }
    }

    async fn permit(&self) -> Permit {
        self.guard.permit(Purpose::Query).await.unwrap()
    }

    async fn rows(&self, statement: Statement) -> Result<RecordBatch> {
        let schema = statement.schema();
        let fetched = self.source.fetch(self.permit().await, statement).await?;
        let batches: Vec<RecordBatch> = fetched.batches.collect::<Vec<_>>().await.into_iter().collect::<Result<_>>()?;
        Ok(arrow::compute::concat_batches(&schema, &batches).unwrap())
    }

    async fn table(&self, schema: &str, name: &str) -> SourceTable {
        let discovered = self.source.discover(self.permit().await).await.unwrap();
        discovered.tables.into_iter().find(|table| table.schema == schema && table.name == name).unwrap()
    }
}

fn statement(sql: &str, types: &[DataType]) -> Statement {
    let output = |(index, data_type): (usize, &DataType)| OutputColumn {
        name: format!("c{index}"),
        data_type: data_type.clone(),
        label: format!("marts.PUBLIC.T.C{index}"),
    };
    Statement {
        sql: sql.to_owned(),
        shown: None,
        outputs: types.iter().enumerate().map(output).collect(),
        user: UserName::new("ana"),
        query_id: QueryId::fresh(),
        rows_likely: None,
    }
}

/// What the engine would send for all columns of a table.
fn select_all(source: &dyn Source, table: &SourceTable, rest: &str) -> Statement {
    let expression = |column: &Column| {
        let quoted = source.dialect().quote(&column.name);
        column.read_as.map_or_else(|| quoted.clone(), |template| template.replace("{}", &quoted))
    };
    let list: Vec<String> = table.columns.iter().map(expression).collect();
    let types: Vec<DataType> = table.columns.iter().map(|column| column.data_type.clone()).collect();
    statement(&format!("SELECT {} FROM {}{rest}", list.join(", "), source.dialect().table(&table.schema, &table.name)), &types)
}

fn naive() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_listed_with_exact_names_and_types() {
    let desk = Desk::open().await;
    let discovered = desk.source.discover(desk.permit().await).await.unwrap();
    let names: Vec<(&str, &str, TableKind)> = discovered
        .tables
        .iter()
        .filter(|table| !table.name.starts_with("conf"))
        .map(|table| (table.schema.as_str(), table.name.as_str(), table.kind))
        .collect();
    assert_eq!(
        names,
        [
            ("Mixed Schema", "Odd \"Name", TableKind::Table),
            ("PUBLIC", "NUMBERS", TableKind::Table),
            ("PUBLIC", "REVENUE", TableKind::Table),
            ("PUBLIC", "REVENUE_VIEW", TableKind::View)
        ]
    );
    let revenue = discovered.tables.iter().find(|table| table.name == "REVENUE").unwrap();
    let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let types: Vec<(&str, DataType)> = revenue.columns.iter().map(|column| (column.name.as_str(), column.data_type.clone())).collect();
    assert_eq!(
        types,
        [
            ("CUSTOMER_ID", DataType::Int64),
            ("AMOUNT", DataType::Decimal128(12, 2)),
            ("BIG", DataType::Decimal128(38, 0)),
            ("NAME", DataType::Utf8),
            ("GOOD", DataType::Boolean),
            ("DAY", DataType::Date32),
            ("CLOCK", DataType::Time64(TimeUnit::Microsecond)),
            ("TS", naive()),
            ("TSL", zoned.clone()),
            ("TSZ", zoned),
            ("RATIO", DataType::Float64),
            ("RAW", DataType::Binary),
            ("DOC", DataType::Utf8),
            ("OBJ", DataType::Utf8),
            ("LIST", DataType::Utf8)
        ]
    );
    assert_eq!((revenue.columns[0].nullable, revenue.columns[1].nullable), (false, true));
    assert_eq!(revenue.columns[1].native_type, "NUMBER(12,2)");
    assert_eq!(discovered.tables[0].columns[0].name, "a b");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_is_read_exactly() {
    let desk = Desk::open().await;
    let table = desk.table("PUBLIC", "REVENUE").await;
    let rows = desk.rows(select_all(&*desk.source, &table, " ORDER BY \"CUSTOMER_ID\"")).await.unwrap();
    assert_eq!(rows.num_rows(), 4);
    let text = |column: usize, row: usize| rows.column(column).as_string::<i32>().value(row).to_owned();
    assert_eq!(rows.column(0).as_primitive::<Int64Type>().values().to_vec(), [1, 2, 3, 4]);
    assert_eq!(rows.column(1).as_primitive::<Decimal128Type>().value_as_string(0), "12.50");
    assert_eq!(rows.column(2).as_primitive::<Decimal128Type>().value(0), 999_999_999_999_999_999);
    assert_eq!(text(3, 0), "Zoë \u{1f389} it's \\ tab");
    assert!(rows.column(4).as_boolean().value(0));
    let days = rows.column(5).as_primitive::<Date32Type>();
    assert_eq!((days.value(0), days.value(2), days.value(3)), (20_787, -719_162, 2_932_896));
    assert_eq!(rows.column(6).as_primitive::<Time64MicrosecondType>().value(0), 45_296_123_456);
    let instants = rows.column(7).as_primitive::<TimestampMicrosecondType>();
    assert_eq!((instants.value(0), instants.value(2), instants.value(3)), (1_796_000_523_123_456, 253_402_300_799_999_999, -2_037_628_249_999_999));
    assert_eq!(rows.column(8).as_primitive::<TimestampMicrosecondType>().value(0), 1_796_000_523_500_000);
    assert_eq!(rows.column(9).as_primitive::<TimestampMicrosecondType>().value(0), 1_796_000_523_250_000);
    let ratios = rows.column(10).as_primitive::<Float64Type>();
    assert!(ratios.value(0) == 1.5 && ratios.value(2).is_nan() && ratios.value(3) == f64::INFINITY);
    assert_eq!(rows.column(11).as_binary::<i32>().value(0), [0x00, 0xff]);
    assert_eq!((text(12, 0), text(13, 0), text(14, 0)), ("{\"a\":1}".into(), "{\"b\":[1,2]}".into(), "[1,2]".into()));
    for column in 1..rows.num_columns() {
        assert!(rows.column(column).is_null(1), "column {column} of row 2 is NULL");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pushed_comparisons_find_the_same_rows() {
    let desk = Desk::open().await;
    let table = desk.table("PUBLIC", "REVENUE").await;
    let cases: [(&str, Operand<'_>); 8] = [
        ("CUSTOMER_ID", Operand::Int(1)),
        ("AMOUNT", Operand::Decimal(1250)),
        ("NAME", Operand::Text("Zoë \u{1f389} it's \\ tab")),
        ("GOOD", Operand::Bool(true)),
        ("DAY", Operand::Date(20_787)),
        ("CLOCK", Operand::Time(45_296_123_456)),
        ("TS", Operand::Timestamp(1_796_000_523_123_456)),
        ("RAW", Operand::Bytes(&[0x00, 0xff])),
    ];
    for (name, operand) in cases {
        let column = table.columns.iter().find(|column| column.name == name).unwrap();
        assert_eq!(desk.source.support(&Operation::Equal(operand), column), Support::Exact, "{name}");
        let literal = desk.source.dialect().literal(operand, &column.data_type).unwrap();
        // As the engine writes it: the converted column keeps its name, and the filter still means the column.
        let quoted = desk.source.dialect().quote(name);
        let read = column.read_as.unwrap_or("{}").replace("{}", &quoted);
        let sql = format!("SELECT \"CUSTOMER_ID\", {read} AS {quoted} FROM \"PUBLIC\".\"REVENUE\" WHERE {quoted} = {literal}");
        let rows = desk.rows(statement(&sql, &[DataType::Int64, column.data_type.clone()])).await.unwrap();
        assert_eq!(rows.column(0).as_primitive::<Int64Type>().values().to_vec(), [1], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_rows_stream_in_small_batches() {
    let desk = Desk::open().await;
    let ledger = Ledger::new();
    let admission = desk.guard.admit(&Asker::house(), 1, &ledger, &CancellationToken::new(), |_| ()).await.unwrap();
    let types = [DataType::Int64, DataType::Utf8];
    let fetched = desk.source.fetch(admission.permit().await.unwrap(), statement("SELECT N, LABEL FROM PUBLIC.NUMBERS", &types)).await.unwrap();
    let (mut rows, mut sum, mut largest, mut furthest) = (0_u64, 0_i64, 0_usize, 0_u64);
    let mut batches = fetched.batches;
    while let Some(batch) = batches.next().await {
        let batch = batch.unwrap();
        rows += batch.num_rows() as u64;
        largest = largest.max(batch.num_rows());
        let ahead = ledger.read()[0].rows - rows;
        furthest = furthest.max(ahead);
        sum += batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
        assert_eq!(batch.column(1).as_string::<i32>().value(0), format!("row {}", batch.column(0).as_primitive::<Int64Type>().value(0)));
    }
    assert_eq!((rows, sum), (1_000_000, 499_999_500_000));
    assert!(largest <= BATCH_ROWS_MAX);
    // One batch of the driver, which the stand-in makes this large, and what waits in the channel: not the result.
    let ahead_max = 122_880 + (BATCHES_IN_FLIGHT_MAX + 2) * BATCH_ROWS_MAX;
    assert!(furthest <= ahead_max as u64, "{furthest} rows ahead of the reader");
    let reading = ledger.read().remove(0);
    assert_eq!((reading.rows, reading.outcome), (1_000_000, Outcome::Done));
    assert!(reading.bytes > 16_000_000, "{} bytes", reading.bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_stop_the_stream() {
    let desk = Desk::with(Limits { rows_per_query: Some(1_000), ..Limits::default() }).await;
    let types = [DataType::Int64];
    let error = desk.rows(statement("SELECT N FROM PUBLIC.NUMBERS", &types)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::OverBudget);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_stream_gives_its_permit_back() {
    let desk = Desk::with(Limits { connections: 1, ..Limits::default() }).await;
    let types = [DataType::Int64];
    let mut fetched = desk.source.fetch(desk.permit().await, statement("SELECT N FROM PUBLIC.NUMBERS", &types)).await.unwrap();
    assert!(fetched.batches.next().await.unwrap().is_ok());
    drop(fetched);
    // The only permit is free again, and the next statement runs on a session of its own.
    let rows = desk.rows(statement("SELECT COUNT(*) FROM PUBLIC.NUMBERS", &types)).await.unwrap();
    assert_eq!(rows.column(0).as_primitive::<Int64Type>().value(0), 1_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_stream_with_its_reason() {
    let desk = Desk::open().await;
    let ledger = Ledger::new();
    let cancel = CancellationToken::new();
    let admission = desk.guard.admit(&Asker::house(), 1, &ledger, &cancel, |_| ()).await.unwrap();
    let mut fetched = desk.source.fetch(admission.permit().await.unwrap(), statement("SELECT N FROM PUBLIC.NUMBERS", &[DataType::Int64])).await.unwrap();
    assert!(fetched.batches.next().await.unwrap().is_ok());
    cancel.cancel();
    let error = loop {
        match fetched.batches.next().await.expect("a cancelled stream never just ends") {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!((error.code(), error.detail()), (ErrorCode::Cancelled, Some("while it read source marts")));
    drop(admission);
    let all = tokio::time::timeout(Duration::from_secs(5), desk.guard.admit(&Asker::house(), 4, &ledger, &CancellationToken::new(), |_| ())).await;
    assert!(all.unwrap().is_ok(), "the cancelled statement has let go of its permit");
    assert_eq!(ledger.read()[0].outcome, Outcome::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_do_not_fit_name_their_column() {
    let desk = Desk::open().await;
    let error = desk.rows(statement("SELECT '1.5'", &[DataType::Int64])).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::ValueOutOfRange, "value of marts.PUBLIC.T.C0 cannot be represented exactly"));
    let error = desk.rows(statement("SELECT '2026-11-30 00:00:00.000000001'", &[naive()])).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValueOutOfRange);
    let strict = Desk::of(SourceSpec { nan: ValuePolicy::Error, ..spec(stand_in().await, Limits::default()) });
    let error = strict.rows(statement("SELECT RATIO FROM PUBLIC.REVENUE", &[DataType::Float64])).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValueOutOfRange);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_typed_and_leave_the_source_usable() {
    let desk = Desk::open().await;
    let text = [DataType::Utf8];
    assert_eq!(desk.rows(statement("SELECT * FROM PUBLIC.NOPE", &text)).await.unwrap_err().code(), ErrorCode::UnknownTable);
    assert_eq!(desk.rows(statement("SELECT FROM WHERE", &text)).await.unwrap_err().code(), ErrorCode::Syntax);
    assert_eq!(desk.rows(statement("DROP TABLE PUBLIC.REVENUE", &text)).await.unwrap_err().code(), ErrorCode::ReadOnlySource);
    let conversion = desk.rows(statement("SELECT CAST('hunter2' AS NUMBER)", &[DataType::Int64])).await.unwrap_err();
    assert!(!format!("{conversion:?}").contains("hunter2"), "{conversion:?}");
    assert_eq!(desk.rows(statement("SELECT 1, 2", &text)).await.unwrap_err().code(), ErrorCode::Internal);
    assert_eq!(desk.rows(statement("SELECT 7", &[DataType::Int64])).await.unwrap().column(0).as_primitive::<Int64Type>().value(0), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_warehouse_is_said_so_in_time() {
    let mut spec = spec(stand_in().await, Limits::default());
    // Port 9 discards; nobody listens there on loopback.
    spec.options.insert("adbc.snowflake.sql.uri.port".into(), "9".into());
    spec.options.insert("password".into(), "hunter2".into());
    let desk = Desk::of(spec);
    let asked = Instant::now();
    let error = desk.rows(statement("SELECT 1", &[DataType::Int64])).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::SourceUnreachable, "source marts is unreachable"));
    assert!(asked.elapsed() < Duration::from_secs(15));
    assert!(!format!("{error:?} {:?}", desk.source).contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_is_as_old_as_the_warehouse_says() {
    let desk = Desk::open().await;
    let fetched = desk.source.fetch(desk.permit().await, statement("SELECT 1", &[DataType::Int64])).await.unwrap();
    assert_eq!(fetched.as_of.method, weir_base::AsOfMethod::Clock);
    let ours = weir_base::Clock::now(&weir_base::SystemClock);
    assert!(fetched.as_of.at.ms_until(ours).abs() < 60_000, "{} is not now", fetched.as_of);
    let health = desk.source.probe(desk.permit().await).await.unwrap();
    assert!(health.version.starts_with("Snowflake 1"), "{}", health.version);
    assert!(health.clock_skew_ms.abs() < 60_000);
    assert_eq!(health.account_note.as_deref(), Some("the server takes no session parameters; Weir alone keeps the statement timeout"));
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_beyond_their_time_are_ended() {
    let desk = Desk::with(Limits { statement_timeout: Duration::from_millis(200), ..Limits::default() }).await;
    let sql = "SELECT COUNT(*) FROM PUBLIC.NUMBERS a, PUBLIC.NUMBERS b WHERE a.N < 4000 AND b.N < 4000 AND MD5(a.LABEL || b.LABEL) = 'x'";
    let error = desk.rows(statement(sql, &[DataType::Int64])).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert_eq!(error.detail(), Some("statement timeout at source marts: limits.statement_timeout is 200ms"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_does_what_every_connector_does() {
    let limits = Limits::default();
    let source = connect(spec(stand_in().await, limits.clone())).unwrap();
    conformance::everything(&conformance::Subject::new(source, limits, "PUBLIC")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_called_exact_is_exact_there() {
    let limits = Limits::default();
    let source = connect(spec(stand_in().await, limits.clone())).unwrap();
    let subject = conformance::Subject::new(source, limits, "PUBLIC");
    let table = subject.find("REVENUE").await;
    let tally = conformance::support_agrees_with_the_server(&subject, &table, &["zoë", "Zoe", "", " ", "it''s", "\\"]).await;
    assert!(tally.exact > 100 && tally.superset > 0 && tally.never > 0, "{tally:?}");
}
