// SPDX-License-Identifier: Apache-2.0
//! The `sqlite` connector on real files: exact types on dynamic storage, strays, writers, interrupts.

#[path = "sqlite/capabilities.rs"]
mod capabilities;
mod conformance;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType};
use conformance::{Subject, eventually, statement};
use futures::{StreamExt, TryStreamExt};
use sqlx::{Connection, Executor, SqliteConnection};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use weir_base::{ErrorCode, Result, SourceName};
use weir_guard::{Limits, Outcome};
use weir_source::{Operand, Operation, OutputColumn, SourceSpec, SourceTable, Statement, Support, TableKind, ValuePolicy, connect};

const CONFORMANCE: &str = "
CREATE TABLE conformance_rows (id INTEGER NOT NULL, label TEXT, amount DECIMAL(12,2), maybe INTEGER);
CREATE TABLE conformance_empty (id INTEGER NOT NULL, label TEXT, amount DECIMAL(12,2), maybe INTEGER);
WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 20000)
INSERT INTO conformance_rows SELECT id, 'row ' || id, id / 100.0, CASE WHEN id % 7 <> 0 THEN id END FROM n;
";

/// A file in a folder of its own, and a connection that writes to it.
struct File {
    folder: TempDir,
    writer: SqliteConnection,
}

impl File {
    async fn with(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}?mode=rwc", folder.path().join("crm.db").display());
        let mut writer = SqliteConnection::connect(&url).await.unwrap();
        writer.execute(script).await.unwrap();
        Self { folder, writer }
    }

    async fn run(&mut self, script: &str) {
        self.writer.execute(script).await.unwrap();
    }

    fn subject(&self) -> Subject {
        self.subject_with(Limits::default())
    }

    fn subject_with(&self, limits: Limits) -> Subject {
        Subject::new(connect(spec(&self.folder.path().join("crm.db"), limits.clone())).unwrap(), limits, "main")
    }
}

fn spec(path: &Path, limits: Limits) -> SourceSpec {
    SourceSpec {
        name: SourceName::new("crm"),
        kind: "sqlite".into(),
        url: format!("sqlite://{}", path.display()),
        allow_primary: false,
        nan: ValuePolicy::Keep,
        infinity: ValuePolicy::Keep,
        limits,
        options: BTreeMap::new(),
    }
}

/// What the engine would send for all columns of a table.
async fn read_all(subject: &Subject, table: &SourceTable) -> Result<RecordBatch> {
    let dialect = subject.source.dialect();
    let list: Vec<String> = table.columns.iter().map(|column| column.read_as.unwrap_or("{}").replace("{}", &dialect.quote(&column.name))).collect();
    let sql = format!("SELECT {} FROM {} ORDER BY 1", list.join(", "), dialect.table(&table.schema, &table.name));
    let outputs: Vec<(&str, DataType)> = table.columns.iter().map(|column| (column.name.as_str(), column.data_type.clone())).collect();
    subject.fetch(&sql, &outputs).await
}

fn naive() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

#[tokio::test(flavor = "multi_thread")]
async fn it_does_what_every_connector_does() {
    let file = File::with(CONFORMANCE).await;
    conformance::everything(&file.subject()).await;
}

const TYPES: &str = "
CREATE TABLE typed (id INTEGER PRIMARY KEY, big UNSIGNED BIG INT, ratio REAL, name VARCHAR(20), raw BLOB, good BOOLEAN, price DECIMAL(12,2),
    free NUMERIC, day DATE, clock TIME, at DATETIME, atz TIMESTAMPTZ, anything, folded TEXT COLLATE NOCASE, code UUID);
INSERT INTO typed VALUES (1, 9223372036854775807, 1.5, 'Zoë \u{1f389} it''s \\', X'00FF', 1, 12.50, 0.000000000000000001, '2026-11-30', '12:34:56.123456',
    '2026-11-30 01:02:03.123456', '2026-11-30T01:02:03+02:00', 42, 'ABC', '0e1');
INSERT INTO typed (id) VALUES (2);
INSERT INTO typed VALUES (3, -9223372036854775808, 9e999, '', X'', 0, -0.01, 12345678901234567, '0001-01-01', '00:00', '9999-12-31 23:59:59.999999',
    '1905-06-07 08:09:10Z', 1.5, 'abc', 'x');
INSERT INTO typed VALUES (4, 0, -0.0, 'zoë', X'61', 1, 1e9, 0.1, '9999-12-31', '23:59:59', '1905-06-07', '2026-11-30 01:02:03', 'text', 'Abc ', 'y');
CREATE VIEW typed_view AS SELECT id, name, good, id + 1 AS next FROM typed;
CREATE TABLE \"Odd \"\"Name\" (\"select\" TEXT, \"a b\" INT);
";

#[tokio::test(flavor = "multi_thread")]
async fn every_type_is_read_exactly() {
    let file = File::with(TYPES).await;
    let subject = file.subject();
    let table = subject.find("typed").await;
    let rows = read_all(&subject, &table).await.unwrap();
    assert_eq!(rows.num_rows(), 4);
    let text = |column: usize, row: usize| rows.column(column).as_string::<i32>().value(row).to_owned();
    let micros = |column: usize, row: usize| rows.column(column).as_primitive::<TimestampMicrosecondType>().value(row);
    let big = rows.column(1).as_primitive::<Int64Type>();
    assert_eq!((big.value(0), big.value(2)), (i64::MAX, i64::MIN));
    let ratio = rows.column(2).as_primitive::<Float64Type>();
    assert!(ratio.value(0) == 1.5 && ratio.value(2) == f64::INFINITY);
    assert_eq!((text(3, 0), text(3, 2)), ("Zoë \u{1f389} it's \\".to_owned(), String::new()));
    let raw = rows.column(4).as_binary::<i32>();
    assert_eq!((raw.value(0), raw.value(2)), (&[0x00_u8, 0xff][..], &[][..]));
    assert!(rows.column(5).as_boolean().value(0) && !rows.column(5).as_boolean().value(2));
    let price = rows.column(6).as_primitive::<Decimal128Type>();
    assert_eq!((price.value_as_string(0), price.value_as_string(2), price.value_as_string(3)), ("12.50".into(), "-0.01".into(), "1000000000.00".into()));
    let free = rows.column(7).as_primitive::<Decimal128Type>();
    assert_eq!((free.value_as_string(0), free.value_as_string(2)), ("0.000000000000000001".into(), "12345678901234567.000000000000000000".into()));
    let day = rows.column(8).as_primitive::<Date32Type>();
    assert_eq!((day.value(0), day.value(2), day.value(3)), (20_787, -719_162, 2_932_896));
    let clock = rows.column(9).as_primitive::<Time64MicrosecondType>();
    assert_eq!((clock.value(0), clock.value(2)), (45_296_123_456, 0));
    assert_eq!((micros(10, 0), micros(10, 2), micros(10, 3)), (1_796_000_523_123_456, 253_402_300_799_999_999, -2_037_657_600_000_000));
    assert_eq!((micros(11, 0), micros(11, 2), micros(11, 3)), (1_795_993_323_000_000, -2_037_628_250_000_000, 1_796_000_523_000_000));
    assert_eq!((text(12, 0), text(12, 2), text(12, 3)), ("42".to_owned(), "1.5".to_owned(), "text".to_owned()));
    // SQLite takes a UUID column for numbers: what it made of the text is what can be read.
    assert_eq!(text(14, 2), "x");
    for column in 1..rows.num_columns() {
        assert!(rows.column(column).is_null(1), "column {column} of row 2 is NULL");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_views_and_collations_are_described() {
    let mut file = File::with(TYPES).await;
    file.run("ANALYZE").await;
    let subject = file.subject();
    let tables = subject.discover().await;
    let names: Vec<(&str, TableKind)> = tables.iter().map(|table| (table.name.as_str(), table.kind)).collect();
    assert_eq!(names, [("Odd \"Name", TableKind::Table), ("typed", TableKind::Table), ("typed_view", TableKind::View)]);
    let typed = &tables[1];
    let column = |name: &str| typed.columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!((column("name").collation.as_deref(), column("name").bytewise_equality), (Some("BINARY"), true));
    assert_eq!((column("folded").collation.as_deref(), column("folded").bytewise_equality), (Some("NOCASE"), false));
    assert_eq!((column("id").nullable, column("name").nullable), (false, true));
    assert_eq!(
        (column("name").native_type.as_str(), &column("atz").data_type),
        ("VARCHAR(20)", &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))
    );
    let view = read_all(&subject, &tables[2]).await.unwrap();
    assert_eq!(view.column(3).as_string::<i32>().value(0), "2");
    // A table without an index has no statistics: unknown is said as unknown.
    assert_eq!(tables[0].rows_estimate, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn statistics_give_row_estimates() {
    let file = File::with(&format!("{CONFORMANCE} CREATE INDEX by_label ON conformance_rows (label); ANALYZE;")).await;
    assert_eq!(file.subject().find("conformance_rows").await.rows_estimate, Some(20_000));
}

async fn statistics(subject: &Subject, name: &str) -> weir_source::TableStatistics {
    let table = std::sync::Arc::new(subject.find(name).await);
    subject.source.statistics(subject.permit().await, &[table]).await.unwrap().remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn indexes_tell_how_many_values_there_are() {
    let script = "CREATE TABLE counted (id INTEGER PRIMARY KEY, kind TEXT, code TEXT UNIQUE, plain INT);
        CREATE INDEX by_kind ON counted (kind, plain);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO counted SELECT i, 'k' || (i % 10), 'c' || i, i FROM n;";
    let mut file = File::with(script).await;
    // Nobody has counted: the largest row id is a bound, and unique is unique.
    let found = statistics(&file.subject(), "counted").await;
    assert_eq!(found.rows, Some(1000));
    let distinct: Vec<Option<u64>> = found.columns.iter().map(|column| column.distinct).collect();
    assert_eq!(distinct, [Some(1000), None, Some(1000), None]);
    let indexed: Vec<bool> = found.columns.iter().map(|column| column.indexed).collect();
    assert_eq!(indexed, [true, true, true, false]);

    file.run("ANALYZE").await;
    let found = statistics(&file.subject(), "counted").await;
    let distinct: Vec<Option<u64>> = found.columns.iter().map(|column| column.distinct).collect();
    assert_eq!((found.rows, distinct.as_slice()), (Some(1000), [Some(1000), Some(10), Some(1000), None].as_slice()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_view_hides_nothing_else() {
    let file = File::with("CREATE TABLE a (x INT); CREATE TABLE b (y INT); CREATE VIEW v AS SELECT * FROM b; PRAGMA foreign_keys = off; DROP TABLE b;").await;
    let subject = file.subject();
    let discovered = subject.source.discover(subject.permit().await).await.unwrap();
    assert_eq!(discovered.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(discovered.warnings.len(), 1);
    assert!(discovered.warnings[0].starts_with("crm.main.v cannot be described"), "{}", discovered.warnings[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_called_exact_is_exact_there() {
    let file = File::with(TYPES).await;
    let subject = file.subject();
    let table = subject.find("typed").await;
    let tally = conformance::support_agrees_with_the_server(&subject, &table, &["ABC", "abc", "ABC ", "zoe", "", "\u{10ffff}"]).await;
    assert!(tally.exact > 20 && tally.superset > 100 && tally.never > 20, "{tally:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strays_are_loud_and_never_a_wrong_value() {
    let file = File::with(
        "CREATE TABLE strays (i INT, r REAL, t TEXT, b BLOB, o BOOLEAN, d DATE, p DECIMAL(5,2), a DATETIME);
         INSERT INTO strays (i) VALUES ('abc'); INSERT INTO strays (r) VALUES ('abc'); INSERT INTO strays (t) VALUES (X'FF');
         INSERT INTO strays (b) VALUES ('text'); INSERT INTO strays (o) VALUES (2); INSERT INTO strays (d) VALUES (20261130);
         INSERT INTO strays (p) VALUES (0.125); INSERT INTO strays (a) VALUES (1764547200); INSERT INTO strays (i) VALUES (5.5);
         INSERT INTO strays (p) VALUES (1000); INSERT INTO strays (t) VALUES (CAST(X'FFFE' AS TEXT));",
    )
    .await;
    let subject = file.subject();
    let table = subject.find("strays").await;
    for column in &table.columns {
        let sql = format!("SELECT \"{0}\" FROM main.strays WHERE \"{0}\" IS NOT NULL", column.name);
        let error = subject.fetch(&sql, &[(column.name.as_str(), column.data_type.clone())]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{}", column.name);
        assert_eq!(error.message(), format!("value of subject.t.{} cannot be represented exactly", column.name));
    }
    // An equality leaves strays out before they are read; anything that a stray could pass is checked again.
    let integer = &table.columns[0];
    assert_eq!(subject.source.support(&Operation::Equal(Operand::Int(5)), integer), Support::Exact);
    assert!(matches!(subject.source.support(&Operation::Greater(Operand::Int(5)), integer), Support::Superset(_)));
    let passed = subject.fetch("SELECT i FROM main.strays WHERE i > 5", &[("i", DataType::Int64)]).await.unwrap_err();
    assert_eq!(passed.code(), ErrorCode::ValueOutOfRange);
}

#[tokio::test(flavor = "multi_thread")]
async fn infinity_follows_its_policy() {
    let file = File::with("CREATE TABLE t (r REAL); INSERT INTO t VALUES (9e999), (-9e999);").await;
    let read = async |infinity| {
        let spec = SourceSpec { infinity, ..spec(&file.folder.path().join("crm.db"), Limits::default()) };
        Subject::new(connect(spec).unwrap(), Limits::default(), "main").fetch("SELECT r FROM main.t ORDER BY r", &[("r", DataType::Float64)]).await
    };
    let values = |batch: RecordBatch| batch.column(0).as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
    assert_eq!(values(read(ValuePolicy::Keep).await.unwrap()), [Some(f64::NEG_INFINITY), Some(f64::INFINITY)]);
    assert_eq!(values(read(ValuePolicy::Null).await.unwrap()), [None, None]);
    assert_eq!(values(read(ValuePolicy::Clamp).await.unwrap()), [Some(f64::MIN), Some(f64::MAX)]);
    assert_eq!(read(ValuePolicy::Error).await.unwrap_err().code(), ErrorCode::ValueOutOfRange);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_is_neither_seen_halfway_nor_stopped() {
    let mut file = File::with(&format!("PRAGMA journal_mode = WAL; {CONFORMANCE}")).await;
    let subject = file.subject();
    let outputs = [("id", DataType::Int64)];
    let mut fetched = subject.source.fetch(subject.permit().await, statement("SELECT id FROM main.conformance_rows", &outputs)).await.unwrap();
    let first = fetched.batches.next().await.unwrap().unwrap().num_rows();
    file.run("DELETE FROM conformance_rows WHERE id > 100").await;
    let rest: Vec<RecordBatch> = fetched.batches.try_collect().await.unwrap();
    assert_eq!(first + rest.iter().map(RecordBatch::num_rows).sum::<usize>(), 20_000);
    let after = subject.fetch("SELECT id FROM main.conformance_rows", &outputs).await.unwrap();
    assert_eq!(after.num_rows(), 100);
}

/// Counts to a billion: minutes of work that returns nothing until its end.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT COUNT(*) FROM n";

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_interrupts_a_silent_statement() {
    let file = File::with("CREATE TABLE t (x INT)").await;
    let subject = file.subject();
    let (permit, ledger, cancel) = subject.watched_permit().await;
    let running = tokio::spawn({
        let source = subject.source.clone();
        async move { source.fetch(permit, statement(ENDLESS, &[("n", DataType::Int64)])).await.map(|_| ()) }
    });
    eventually("the statement runs", async || !ledger.read()[0].sql.is_empty()).await;
    let asked = Instant::now();
    cancel.cancel();
    let error = running.await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.detail()), (ErrorCode::Cancelled, Some("while it read source crm")));
    eventually("the statement has let go", async || subject.guard.load().in_use == 0).await;
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!(ledger.read()[0].outcome, Outcome::Cancelled);
    assert_eq!(subject.fetch("SELECT 7", &[("n", DataType::Int64)]).await.unwrap().num_rows(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_call_interrupts_a_silent_statement() {
    let file = File::with("CREATE TABLE t (x INT)").await;
    let subject = file.subject();
    let (permit, ledger, _cancel) = subject.watched_permit().await;
    let source = subject.source.clone();
    let running = tokio::spawn(async move { source.fetch(permit, statement(ENDLESS, &[("n", DataType::Int64)])).await.map(|_| ()) });
    eventually("the statement runs", async || !ledger.read()[0].sql.is_empty()).await;
    running.abort();
    eventually("the statement has let go", async || subject.guard.load().in_use == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_beyond_their_time_are_ended() {
    let file = File::with("CREATE TABLE t (x INT)").await;
    let subject = file.subject_with(Limits { statement_timeout: Duration::from_millis(100), ..Limits::default() });
    let error = subject.fetch(ENDLESS, &[("n", DataType::Int64)]).await.unwrap_err();
    assert_eq!((error.code(), error.detail()), (ErrorCode::Cancelled, Some("statement timeout at source crm: limits.statement_timeout is 100ms")));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_not_there_or_no_database_are_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter.txt"), "Dear SQLite, this is no database, however long it gets. ".repeat(100)).unwrap();
    for name in ["missing.db", "letter.txt"] {
        let limits = Limits::default();
        let subject = Subject::new(connect(spec(&folder.path().join(name), limits.clone())).unwrap(), limits, "main");
        let error = subject.fetch("SELECT name FROM sqlite_master", &[("n", DataType::Utf8)]).await.unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::SourceUnreachable, "source crm is unreachable"), "{name}: {error:?}");
    }
    assert!(!folder.path().join("missing.db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_stays_as_it_is() {
    let file = File::with("CREATE TABLE t (x INT); INSERT INTO t VALUES (1)").await;
    let subject = file.subject();
    for sql in ["DELETE FROM t", "SELECT 1; DELETE FROM t", "PRAGMA query_only = off", "WITH y AS (SELECT 1) DELETE FROM t"] {
        let error = subject.fetch(sql, &[("x", DataType::Int64)]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ReadOnlySource, "{sql}: {error:?}");
    }
    assert_eq!(subject.fetch("SELECT x FROM main.t", &[("x", DataType::Int64)]).await.unwrap().num_rows(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_text_closes_its_batch() {
    let file = File::with("CREATE TABLE t (x TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO t SELECT printf('%.*c', 1000000, 'x') FROM n").await;
    let subject = file.subject();
    let outputs: Vec<OutputColumn> = statement("", &[("x", DataType::Utf8)]).outputs;
    let asked = Statement { sql: "SELECT x FROM main.t".into(), outputs, ..statement("", &[]) };
    let fetched = subject.source.fetch(subject.permit().await, asked).await.unwrap();
    let batches: Vec<RecordBatch> = fetched.batches.try_collect().await.unwrap();
    assert!(batches.len() >= 8, "{} batches", batches.len());
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_never_compared_as_texts() {
    let file = File::with(TYPES).await;
    let table = file.subject().find("typed").await;
    let at = table.columns.iter().find(|column| column.name == "at").unwrap();
    assert_eq!(at.data_type, naive());
    let support = file.subject().source.support(&Operation::Equal(Operand::Timestamp(0)), at);
    assert!(matches!(&support, Support::Never(reason) if reason.code == "text_time"), "{support:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_utf16_file_is_read_but_its_texts_are_not_ordered_there() {
    let file = File::with("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('Zoë \u{1f389}'), ('a')").await;
    let subject = file.subject();
    let table = subject.find("t").await;
    let column = &table.columns[0];
    assert_eq!((column.collation.as_deref(), column.bytewise_equality), (Some("BINARY (UTF-16)"), true));
    let sql = format!("SELECT x FROM main.t WHERE x = {}", subject.source.dialect().literal(Operand::Text("Zoë \u{1f389}"), &DataType::Utf8).unwrap());
    let rows = subject.fetch(&sql, &[("x", DataType::Utf8)]).await.unwrap();
    assert_eq!((rows.num_rows(), rows.column(0).as_string::<i32>().value(0)), (1, "Zoë \u{1f389}"));
    assert!(matches!(subject.source.support(&Operation::Less(Operand::Text("b")), column), Support::Never(_)));
}
