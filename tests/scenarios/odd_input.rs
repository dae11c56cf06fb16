// SPDX-License-Identifier: Apache-2.0
//! Input that breaks lesser things: very wide, very long, very deep, and parameters that do not fit.

use crate::kit::{SqliteFile, World};
use std::time::{Duration, Instant};
use weir_api::{Parameter, Query};
use weir_base::ErrorCode;
use weir_catalog::DataDir;

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_columns() {
    let world = World::builder().start().await;
    let began = Instant::now();
    let columns: Vec<String> = (0..10_000).map(|n| format!("{n} AS c{n}")).collect();
    let sql = format!("SELECT {}", columns.join(", "));
    let rows = world.rows(&sql).await;
    assert_eq!((rows.len(), rows[0].len(), rows[0][9_999].as_str()), (1, 10_000, "9999"));
    world.rows("CREATE SCHEMA lake.wide").await;
    world.rows(&format!("CREATE TABLE lake.wide.t AS {sql}")).await;
    assert_eq!(world.value("SELECT c9999 + c1 FROM lake.wide.t WHERE c5000 = 5000").await, "10000");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn too_wide_too_long_too_deep() {
    let world = World::builder().start().await;
    let columns: Vec<String> = (0..20_000).map(|n| format!("{n} AS c{n}")).collect();
    let parens = format!("SELECT {}1{}", "(".repeat(1_000), ")".repeat(1_000));
    let subqueries = format!("{}SELECT 1 AS a{}", "SELECT * FROM (".repeat(1_000), ")".repeat(1_000));
    let cases = format!("SELECT {}1{}", "CASE WHEN true THEN ".repeat(1_000), " END".repeat(1_000));
    let long = format!("SELECT '{}'", "x".repeat(2 << 20));
    let plus = format!("SELECT 1{}", " + 1".repeat(100_000));
    let or = format!("SELECT 1 WHERE 1 = 2{}", " OR 1 = 3".repeat(50_000));
    let union = format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(20_000));
    let casts = format!("SELECT 1{}", "::int".repeat(100_000));
    let nots = format!("SELECT {} true", "NOT ".repeat(100_000));
    let joins = format!("SELECT 1 FROM (SELECT 1 AS a) t{}", " CROSS JOIN (SELECT 1 AS b) u".repeat(20_000));
    let wide = format!("SELECT {}", columns.join(", "));
    for (what, sql) in [
        ("columns", wide),
        ("parens", parens),
        ("subqueries", subqueries),
        ("cases", cases),
        ("text", long),
        ("plus", plus),
        ("or", or),
        ("union", union),
        ("casts", casts),
        ("nots", nots),
        ("joins", joins),
    ] {
        let began = Instant::now();
        let error = world.error(&sql).await;
        assert_eq!(error.code(), ErrorCode::LimitExceeded, "{what}: {:.200}", format!("{error:?}"));
        assert!(error.hint().is_some(), "{what}: {error:?}");
        assert!(began.elapsed() < Duration::from_secs(10), "{what} took {:?}", began.elapsed());
    }
    assert_eq!(world.value("SELECT 1").await, "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lists_and_chains_of_generated_sql_work() {
    let file = SqliteFile::with("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1), (999), (5000);").await;
    let world = World::builder().source("crm", "sqlite", &file.url()).start().await;
    let list: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    assert_eq!(world.value(&format!("SELECT count(*) FROM crm.main.t WHERE id IN ({})", list.join(", "))).await, "2");
    let chain: Vec<String> = (0..300).map(|n| format!("id = {}", n * 3)).collect();
    assert_eq!(world.value(&format!("SELECT count(*) FROM crm.main.t WHERE {}", chain.join(" OR "))).await, "0");
    let values: Vec<String> = (0..5_000).map(|n| format!("({n}, -{n}, 'x')")).collect();
    assert_eq!(world.value(&format!("SELECT sum(a) FROM (VALUES {}) AS v(a, b, c)", values.join(", "))).await, "12497500");
    let sum: Vec<&str> = vec!["1"; 200];
    assert_eq!(world.value(&format!("SELECT {}", sum.join(" + "))).await, "200");
    let text = format!("SELECT length('{}')", "x".repeat(900_000));
    assert_eq!(world.value(&text).await, "900000");
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_values_and_never_text() {
    let file = SqliteFile::with("CREATE TABLE t (id INTEGER, name TEXT, day DATE, amount DECIMAL(10,2)); INSERT INTO t VALUES (1, 'a''; DROP TABLE t; --', '2026-11-30', 1.50), (2, NULL, NULL, NULL);").await;
    let world = World::builder().source("crm", "sqlite", &file.url()).start().await;
    let ask = async |sql: &str, params: Vec<Parameter>| world.tell(&world.session, Query::new(sql).with_params(params)).await.map(|told| told.rows);
    let text = |text: &str| Parameter::Text(text.into());
    assert_eq!(ask("SELECT id FROM crm.main.t WHERE name = $1", vec![text("a'; DROP TABLE t; --")]).await.unwrap(), [["1"]]);
    assert_eq!(
        ask("SELECT id FROM crm.main.t WHERE day = $1 AND amount = $2", vec![text("2026-11-30"), Parameter::Decimal("1.5".into())]).await.unwrap(),
        [["1"]]
    );
    assert_eq!(ask("SELECT id FROM crm.main.t WHERE id = $1 OR id = $1 + 1 ORDER BY id", vec![Parameter::Int(1)]).await.unwrap(), [["1"], ["2"]]);
    assert_eq!(ask("SELECT count(*) FROM crm.main.t WHERE name = $1", vec![Parameter::Null]).await.unwrap(), [["0"]]);
    assert_eq!(ask("SELECT id FROM crm.main.t ORDER BY id LIMIT $1", vec![Parameter::Int(1)]).await.unwrap(), [["1"]]);
    let error = ask("SELECT id FROM crm.main.t WHERE id = $1", vec![text("secret-word")]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::BadValue);
    assert!(!format!("{error:?}").contains("secret-word"), "{error:?}");
    assert_eq!(ask("SELECT $1 + $2", vec![Parameter::Int(1)]).await.unwrap_err().code(), ErrorCode::Protocol);
    assert_eq!(ask("SELECT $1 + 1", vec![Parameter::Int(i64::MAX)]).await.unwrap_err().code(), ErrorCode::ValueOutOfRange);
    assert_eq!(ask("SELECT $70000", vec![Parameter::Int(1)]).await.unwrap_err().code(), ErrorCode::Syntax);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_engines_do_not_share_a_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = DataDir::open(folder.path()).unwrap();
    let error = DataDir::open(folder.path()).unwrap_err();
    assert_eq!((error.code(), error.code().exit_code()), (ErrorCode::DataDirHeld, 2));
    assert!(error.detail().unwrap_or_default().contains(&std::process::id().to_string()), "{error:?}");
    drop(first);
    DataDir::open(folder.path()).unwrap();
}
