// SPDX-License-Identifier: Apache-2.0
//! The `mysql` connector against a real MariaDB: every type, streams and their ends, limits, rights, and what is pushed.

mod capabilities;
#[path = "../conformance/mod.rs"]
mod conformance;
mod faults;
mod limits;
mod metadata;
mod pushdown;
mod replica;
mod statistics;
mod streams;
mod types;
mod unhurt;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use weir_base::{QueryId, Result, SourceName, UserName};
use weir_guard::{Admission, Asker, Guard, Ledger, Limits, Permit, Purpose};
use weir_sandbox::MariaDb;
use weir_source::{Discovered, OutputColumn, Source, SourceSpec, Statement, ValuePolicy, connect};

/// The server that tests share when they do not hurt it; each uses a database of its own.
pub async fn shared() -> &'static MariaDb {
    static SHARED: OnceCell<MariaDb> = OnceCell::const_new();
    let start = async {
        let server = MariaDb::start().await.unwrap();
        server.create_database("test").await.unwrap();
        server
    };
    SHARED.get_or_init(|| start).await
}

/// A source with its guard, as the engine holds them.
pub struct Held {
    pub source: Arc<dyn Source>,
    pub guard: Arc<Guard>,
}

pub fn limits() -> Limits {
    Limits { connections: 4, ..Limits::default() }
}

pub fn spec(url: String) -> SourceSpec {
    SourceSpec {
        name: SourceName::new("billing"),
        kind: "mysql".to_owned(),
        url,
        allow_primary: true,
        nan: ValuePolicy::default(),
        infinity: ValuePolicy::default(),
        limits: limits(),
        options: BTreeMap::new(),
    }
}

impl Held {
    pub fn new(url: String) -> Self {
        Self::of(spec(url))
    }

    pub fn limited(url: String, limits: Limits) -> Self {
        Self::of(SourceSpec { limits, ..spec(url) })
    }

    pub fn of(spec: SourceSpec) -> Self {
        let guard = Guard::new(spec.name.clone(), spec.limits.clone());
        Self { source: connect(spec).unwrap(), guard }
    }

    pub async fn permit(&self) -> Permit {
        self.guard.permit(Purpose::Metadata).await.unwrap()
    }

    pub async fn admission(&self, ledger: &Arc<Ledger>, cancel: &CancellationToken) -> Admission {
        self.guard.admit(&Asker::house(), 1, ledger, cancel, |_| ()).await.unwrap()
    }

    pub async fn discover(&self) -> Discovered {
        self.source.discover(self.permit().await).await.unwrap()
    }

    /// All rows of a statement.
    pub async fn rows(&self, sql: &str, types: &[DataType]) -> Result<RecordBatch> {
        let statement = statement(sql, types);
        let schema = statement.schema();
        let mut fetched = self.source.fetch(self.permit().await, statement).await?;
        let mut batches = Vec::new();
        while let Some(batch) = fetched.batches.next().await {
            batches.push(batch?);
        }
        Ok(concat_batches(&schema, &batches).unwrap())
    }

    /// All rows of a statement as text, `NULL` for NULL.
    pub async fn texts(&self, sql: &str, types: &[DataType]) -> Vec<Vec<String>> {
        texts(&self.rows(sql, types).await.unwrap())
    }
}

pub fn statement(sql: &str, types: &[DataType]) -> Statement {
    let outputs = types.iter().enumerate().map(|(index, data_type)| OutputColumn {
        name: format!("c{index}"),
        data_type: data_type.clone(),
        label: format!("billing.t.c{index}"),
    });
    Statement { sql: sql.to_owned(), shown: None, outputs: outputs.collect(), user: UserName::new("ana"), query_id: QueryId::fresh(), rows_likely: None }
}

pub fn texts(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<ArrayFormatter<'_>> = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap()).collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|column| column.value(row).to_string()).collect()).collect()
}

/// Waits until the server answers `sql` with `wanted`; how long that took.
pub async fn until(server: &MariaDb, sql: &str, wanted: &str) -> Duration {
    let began = Instant::now();
    loop {
        let answer = server.query("mysql", sql).await.unwrap();
        if answer.trim() == wanted {
            return began.elapsed();
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{sql} answers {answer}, not {wanted}");
    }
}

#[tokio::test]
async fn the_connector_keeps_the_contract() {
    let server = shared().await;
    server.create_database("contract").await.unwrap();
    let columns = "(id INT NOT NULL PRIMARY KEY, label VARCHAR(40), amount DECIMAL(12,2), maybe INT)";
    let script = format!(
        "CREATE TABLE conformance_rows {columns}; CREATE TABLE conformance_empty {columns};
         INSERT INTO conformance_rows SELECT seq, CONCAT('row ', seq), seq / 100, IF(seq % 7 = 0, NULL, seq) FROM seq_1_to_20000;
         CREATE TABLE few (id INT NOT NULL PRIMARY KEY, a VARCHAR(9) COLLATE utf8mb4_unicode_ci, b DATE, c DOUBLE, KEY (a), KEY (b));
         INSERT INTO few VALUES (1, 'abc', '2024-02-29', 1.5), (2, 'ABC', '1969-12-31', -1e300), (3, '', NULL, 0), (4, NULL, '2024-03-01', NULL);
         ANALYZE TABLE conformance_rows, few;"
    );
    server.run("contract", &script).await.unwrap();
    let subject = conformance::Subject::new(connect(spec(server.url("contract"))).unwrap(), limits(), "contract");
    conformance::everything(&subject).await;
    let few = subject.find("few").await;
    let tally = conformance::support_agrees_with_the_server(&subject, &few, &["abc ", "ÁBC", "zz"]).await;
    assert!(tally.exact > 100 && tally.superset == 0 && tally.never == 0, "{tally:?}");
}
