// SPDX-License-Identifier: Apache-2.0
//! Discovery, probes and forecasts.

use crate::{Held, shared, statement};
use arrow::datatypes::DataType;
use std::fs::hard_link;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use weir_base::ErrorCode;
use weir_sandbox::MariaDb;
use weir_source::{ServerRole, SourceSpec, TableKind};

const INT: DataType = DataType::Int64;

#[tokio::test]
async fn tables_are_listed_as_they_are_spelled() {
    let server = shared().await;
    server.create_database("Odd Names").await.unwrap();
    let script = "CREATE TABLE `My``Table` (`a\"b` VARCHAR(10) COLLATE utf8mb4_nopad_bin NOT NULL, `A B` TEXT) COMMENT 'what it is';
        CREATE TABLE cs_user (id INT); CREATE TABLE cs_User (id INT);
        CREATE VIEW v AS SELECT id + 1 AS next FROM cs_user; CREATE TABLE gone (id INT); CREATE VIEW broken AS SELECT id FROM gone; DROP TABLE gone;
        CREATE SEQUENCE not_a_table;
        INSERT INTO `My``Table` VALUES ('a', 'b'), ('c', 'd');";
    server.run("Odd Names", script).await.unwrap();
    server.run("Odd Names", "ANALYZE TABLE `My``Table`").await.unwrap();
    let held = Held::new(server.url("mysql"));
    let discovered = held.discover().await;
    let found: Vec<_> = discovered.tables.iter().filter(|table| table.schema == "Odd Names").collect();
    let mut names: Vec<&str> = found.iter().map(|table| table.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["My`Table", "cs_User", "cs_user", "v"]);
    let table = found.iter().find(|table| table.name == "My`Table").unwrap();
    assert_eq!((table.kind, table.rows_estimate, table.comment.as_deref()), (TableKind::Table, Some(2), Some("what it is")));
    assert!(table.bytes_estimate.unwrap() > 0);
    let columns: Vec<_> = table.columns.iter().map(|column| (column.name.as_str(), column.nullable, column.bytewise_equality)).collect();
    assert_eq!(columns, [("a\"b", false, true), ("A B", true, false)]);
    assert_eq!(table.columns[0].collation.as_deref(), Some("utf8mb4_nopad_bin"));
    assert_eq!(found.iter().find(|table| table.name == "v").unwrap().kind, TableKind::View);
    assert!(discovered.warnings.iter().any(|warning| warning.starts_with("Odd Names.broken is left out")), "{:?}", discovered.warnings);
    assert!(discovered.tables.iter().all(|table| !["mysql", "information_schema", "performance_schema", "sys"].contains(&table.schema.as_str())));
    let dialect = held.source.dialect();
    let sql = format!("SELECT {} FROM {} ORDER BY 1", dialect.quote("A B"), dialect.table(&table.schema, &table.name));
    assert_eq!(held.texts(&sql, &[DataType::Utf8]).await, [["b"], ["d"]]);
}

#[tokio::test]
async fn five_thousand_tables_are_listed_without_pain() {
    let server = MariaDb::start().await.unwrap();
    server.create_database("many").await.unwrap();
    let columns: String = (1..10).map(|column| format!(", c{column} VARCHAR(40)")).collect();
    server.run("many", &format!("CREATE TABLE t0 (id INT PRIMARY KEY{columns}) ENGINE = MyISAM; FLUSH TABLES;")).await.unwrap();
    // A MyISAM table is its files: links are made a thousand times faster than tables.
    let folder = PathBuf::from(server.query("many", "SELECT @@datadir").await.unwrap().trim()).join("many");
    for index in 1..5_000 {
        for extension in ["frm", "MYD", "MYI"] {
            hard_link(folder.join(format!("t0.{extension}")), folder.join(format!("t{index}.{extension}"))).unwrap();
        }
    }
    let held = Held::new(server.url("many"));
    let began = Instant::now();
    let discovered = held.discover().await;
    let took = began.elapsed();
    assert_eq!(discovered.tables.len(), 5_000);
    assert!(discovered.tables.iter().all(|table| table.columns.len() == 10));
    println!("5,000 tables of 10 columns in {took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[tokio::test]
async fn a_probe_tells_what_the_server_and_the_account_are() {
    let server = shared().await;
    server.run("mysql", "CREATE OR REPLACE USER reader@'%' IDENTIFIED BY 'pw'; GRANT SELECT ON *.* TO reader@'%'").await.unwrap();
    let root = Held::new(server.url("mysql"));
    let health = root.source.probe(root.permit().await).await.unwrap();
    assert!(health.version.starts_with("MariaDB 1"), "{}", health.version);
    assert_eq!((health.role, health.account_writes, health.replica_lag_ms), (ServerRole::Primary, Some(true), None));
    assert!(health.account_note.unwrap().starts_with("ALL PRIVILEGES on *.*"));
    assert!(health.clock_skew_ms.abs() < 1_000 && health.latency_ms > 0.0);
    let reader = Held::of(SourceSpec { allow_primary: false, ..crate::spec(server.url_as("reader", "pw", "mysql")) });
    let health = reader.source.probe(reader.permit().await).await.unwrap();
    assert_eq!((health.role, health.account_writes, health.account_note), (ServerRole::Primary, Some(false), None));
}

#[tokio::test]
async fn the_server_forecasts_rows() {
    let server = shared().await;
    server.create_database("forecast").await.unwrap();
    let script = "CREATE TABLE t (id INT PRIMARY KEY, kind INT, KEY (kind)); INSERT INTO t SELECT seq, seq % 10 FROM seq_1_to_10000; ANALYZE TABLE t;";
    server.run("forecast", script).await.unwrap();
    let held = Held::new(server.url("forecast"));
    let rows = async |sql: &str| held.source.estimate(held.permit().await, &statement(sql, &[INT])).await.unwrap().rows;
    let all = rows("SELECT id FROM t").await.unwrap();
    assert!((9_000..11_000).contains(&all), "{all}");
    let tenth = rows("SELECT id FROM t WHERE kind = 3").await.unwrap();
    assert!((800..1_300).contains(&tenth), "{tenth}");
    assert_eq!(rows("SELECT id FROM t LIMIT 7").await, Some(7));
    assert!(rows("SELECT id FROM t WHERE 1 = 0").await.unwrap() <= 1);
    let error = held.source.estimate(held.permit().await, &statement("DELETE FROM t", &[INT])).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ReadOnlySource);
}
