// SPDX-License-Identifier: Apache-2.0
//! The `postgres` connector against real PostgreSQL servers: the conformance suite, and what only PostgreSQL has.

#[path = "../conformance/mod.rs"]
mod conformance;

mod capabilities;
mod catalog;
mod faults;
mod logins;
mod meaning;
mod parts;
mod replicas;
mod statistics;
mod values;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use arrow::util::display::array_value_to_string;
use conformance::Subject;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::OnceCell;
use weir_base::SourceName;
use weir_guard::Limits;
use weir_sandbox::Postgres;
use weir_source::{Source, SourceSpec, ValuePolicy, connect};

static SERVER: OnceCell<Postgres> = OnceCell::const_new();

/// One server for all tests that do not break it; each test has its own database.
async fn server() -> &'static Postgres {
    SERVER.get_or_init(async || Postgres::start().await.unwrap()).await
}

fn spec(url: String) -> SourceSpec {
    SourceSpec {
        name: SourceName::new("app_pg"),
        kind: "postgres".into(),
        url,
        allow_primary: true,
        nan: ValuePolicy::Keep,
        infinity: ValuePolicy::Keep,
        limits: Limits::default(),
        options: BTreeMap::new(),
    }
}

/// A source over its own database, which `script` fills.
async fn source(database: &str, script: &str) -> Arc<dyn Source> {
    server().await.run(database, script).await.unwrap();
    connect(spec(server().await.url(database))).unwrap()
}

async fn subject(database: &str, script: &str) -> Subject {
    Subject::new(source(database, script).await, Limits::default(), "public")
}

/// Every readable column of a table, in rows ordered by the first one, as the engine would ask for them.
async fn read_table(subject: &Subject, name: &str) -> weir_base::Result<RecordBatch> {
    let table = subject.find(name).await;
    let dialect = subject.source.dialect();
    let columns: Vec<_> = table.columns.iter().filter(|column| column.degraded.is_none()).collect();
    let selected: Vec<String> = columns.iter().map(|column| column.read_as.unwrap_or("{}").replace("{}", &dialect.quote(&column.name))).collect();
    let outputs: Vec<(&str, DataType)> = columns.iter().map(|column| (column.name.as_str(), column.data_type.clone())).collect();
    let sql = format!("SELECT {} FROM {} ORDER BY {}", selected.join(", "), subject.table(name), dialect.quote(&columns[0].name));
    subject.fetch(&sql, &outputs).await
}

/// The cells of a column as text; NULL is an empty text.
fn cells(batch: &RecordBatch, column: &str) -> Vec<String> {
    let array = batch.column_by_name(column).unwrap();
    (0..batch.num_rows()).map(|row| array_value_to_string(array, row).unwrap()).collect()
}

const CONFORMANCE_TABLES: &str = "
    CREATE TABLE conformance_rows (id int4 NOT NULL, label text, amount numeric(12,2), maybe int4);
    INSERT INTO conformance_rows SELECT n, 'row ' || n, n / 100.0, CASE WHEN n % 7 <> 0 THEN n END FROM generate_series(1, 20000) n;
    CREATE TABLE conformance_empty (LIKE conformance_rows);
    ANALYZE;
";

#[tokio::test]
async fn conforms() {
    let subject = subject("conforms", CONFORMANCE_TABLES).await;
    conformance::everything(&subject).await;
}

/// The way for Redshift and its like: `information_schema`, rows instead of COPY, read-only transactions.
#[tokio::test]
async fn conforms_as_a_merely_compatible_server() {
    server().await.run("compatible", CONFORMANCE_TABLES).await.unwrap();
    let mut spec = spec(server().await.url("compatible"));
    spec.options.insert("server".into(), "compatible".into());
    let subject = Subject::new(connect(spec).unwrap(), Limits::default(), "public");
    conformance::everything(&subject).await;
}
