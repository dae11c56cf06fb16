// SPDX-License-Identifier: Apache-2.0
//! What a source allows is kept: sessions, time, rows, bytes, and reading only.

use crate::{Held, limits, shared, statement, until};
use arrow::datatypes::DataType;
use futures::StreamExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use weir_base::ErrorCode;
use weir_guard::{Ledger, Limits, Outcome};
use weir_sandbox::MariaDb;

const INT: DataType = DataType::Int64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_at_once_stay_inside_the_cap() {
    let server = MariaDb::start().await.unwrap();
    server.run("mysql", "CREATE USER weir_ro@'%' IDENTIFIED BY 'pw'; GRANT SELECT ON test.* TO weir_ro@'%'").await.unwrap();
    server.create_database("test").await.unwrap();
    let held = Arc::new(Held::limited(server.url_as("weir_ro", "pw", "test"), Limits { connections: 3, ..limits() }));
    let done = Arc::new(AtomicBool::new(false));
    let fetches: Vec<_> = (0..50)
        .map(|index| {
            let held = held.clone();
            tokio::spawn(async move { held.texts(&format!("SELECT {index} + 0 * SUM(seq) FROM seq_1_to_100000"), &[DataType::Decimal128(38, 0)]).await })
        })
        .collect();
    let most = Arc::new(OnceLock::new());
    let watching = tokio::spawn({
        let (server_done, most) = (done.clone(), most.clone());
        async move {
            let mut seen = 0;
            while !server_done.load(Ordering::Acquire) {
                let answer = server.query("mysql", "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'weir_ro'").await.unwrap();
                seen = seen.max(answer.trim().parse::<usize>().unwrap());
            }
            most.set(seen).unwrap();
            server
        }
    });
    for (index, fetch) in fetches.into_iter().enumerate() {
        assert_eq!(fetch.await.unwrap(), [[index.to_string()]]);
    }
    done.store(true, Ordering::Release);
    let server = watching.await.unwrap();
    let most = *most.get().unwrap();
    assert!((1..=3).contains(&most), "{most} sessions at once");
    let connections = server.query("mysql", "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'weir_ro'").await.unwrap();
    assert!(connections.trim().parse::<usize>().unwrap() <= 3);
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_ended_there() {
    let server = shared().await;
    let held = Held::limited(server.url("test"), Limits { statement_timeout: Duration::from_millis(200), ..limits() });
    let sql = "SELECT COUNT(*) AS too_long FROM seq_1_to_100000 a JOIN seq_1_to_100000 b";
    let error = held.rows(sql, &[INT]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert_eq!(error.detail(), Some("statement timeout of 200ms at the source"));
    until(server, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* weir %too_long%'", "0").await;
}

#[tokio::test]
async fn the_budget_stops_a_stream_and_its_statement() {
    let server = shared().await;
    let budgets = [Limits { rows_per_query: Some(20_000), ..limits() }, Limits { bytes_per_query: Some(1_000_000), ..limits() }];
    for limits in budgets {
        let held = Held::limited(server.url("test"), limits);
        let ledger = Ledger::new();
        let permit = held.admission(&ledger, &CancellationToken::new()).await.permit().await.unwrap();
        let sql = "SELECT CAST(seq AS SIGNED) AS over_budget FROM seq_1_to_20000000";
        let mut rows = 0;
        let error = match held.source.fetch(permit, statement(sql, &[INT])).await {
            Err(error) => error,
            Ok(mut fetched) => loop {
                match fetched.batches.next().await.unwrap() {
                    Ok(batch) => rows += batch.num_rows(),
                    Err(error) => break error,
                }
            },
        };
        assert_eq!(error.code(), ErrorCode::OverBudget);
        assert!(rows <= 120_000, "{rows} rows got through");
        until(server, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* weir %over_budget%'", "0").await;
        assert_eq!(ledger.read()[0].outcome, Outcome::Failed);
    }
}

#[tokio::test]
async fn nothing_is_written_though_the_account_could() {
    let server = shared().await;
    server.create_database("readonly").await.unwrap();
    let script = "CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE m (id INT) ENGINE = MyISAM; INSERT INTO t VALUES (1);
        CREATE FUNCTION sneaky() RETURNS INT MODIFIES SQL DATA RETURN sneak();
        CREATE OR REPLACE FUNCTION sneak() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO readonly.t VALUES (99); RETURN 1; END";
    let (first, function) = script.split_once("CREATE OR REPLACE").unwrap();
    server.run("readonly", first).await.unwrap();
    server.run("readonly", &format!("DELIMITER //\nCREATE OR REPLACE{function} //\nDELIMITER ;")).await.unwrap();
    let held = Held::new(server.url("readonly"));
    let attempts = [
        "INSERT INTO t VALUES (2)",
        "DELETE FROM t",
        "SET SESSION tx_read_only = 0",
        "DROP TABLE t",
        "SELECT sneak()",
        "SELECT sneaky()",
        "WITH a AS (SELECT 1 AS id) SELECT sneak() FROM a",
    ];
    for sql in attempts {
        let error = held.rows(sql, &[INT]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ReadOnlySource, "{sql}: {error:?}");
    }
    assert_eq!(server.query("readonly", "SELECT COUNT(*), MIN(id) FROM t").await.unwrap().trim(), "1\t1");
}

#[tokio::test]
async fn rights_that_are_missing_are_named() {
    let server = shared().await;
    server.create_database("rights").await.unwrap();
    let script = "CREATE TABLE t (id INT, secret INT); CREATE USER few@'%' IDENTIFIED BY 'pw'; GRANT SELECT (id) ON rights.t TO few@'%'";
    server.run("rights", script).await.unwrap();
    let held = Held::new(server.url_as("few", "pw", "rights"));
    assert_eq!(held.rows("SELECT id FROM t", &[INT]).await.unwrap().num_rows(), 0);
    assert_eq!(held.rows("SELECT secret FROM t", &[INT]).await.unwrap_err().code(), ErrorCode::Forbidden);
    assert_eq!(held.rows("SELECT id FROM nowhere", &[INT]).await.unwrap_err().code(), ErrorCode::Forbidden);
    let root = Held::new(server.url("rights"));
    assert_eq!(root.rows("SELECT id FROM nowhere", &[INT]).await.unwrap_err().code(), ErrorCode::UnknownTable);
    assert_eq!(root.rows("SELECT ide FROM t", &[INT]).await.unwrap_err().code(), ErrorCode::UnknownColumn);
    assert_eq!(root.rows("SELECT FROM t", &[INT]).await.unwrap_err().code(), ErrorCode::Syntax);
}

#[tokio::test]
async fn sessions_read_in_utc_and_utf8_with_plain_backslashes() {
    let held = Held::new(shared().await.url("test"));
    let sql = "SELECT @@time_zone, @@character_set_results, '\\', \"1\" || '2' FROM (SELECT 3 AS \"1\") t";
    let rows = held.texts(sql, &[DataType::Utf8, DataType::Utf8, DataType::Utf8, DataType::Utf8]).await;
    assert_eq!(rows, [["+00:00", "utf8mb4", "\\", "32"]]);
}
