// SPDX-License-Identifier: Apache-2.0
//! Receipts: every table says what instant it was read at and how that is known; the answer is as old as the oldest.

use crate::kit::{World, mariadb, postgres};
use weir_api::{Query, QueryService};
use weir_base::AsOfMethod;
use weir_guard::Limits;
use weir_sandbox::Postgres;
use weir_source::{SourceSpec, ValuePolicy};

const ALL: &str = "SELECT count(*) FROM app.public.t a, standby.public.t b, billing.receipts.t c, lake.r.t d";

#[tokio::test(flavor = "multi_thread")]
async fn each_table_has_its_age_and_the_answer_is_as_old_as_the_oldest() {
    let primary = Postgres::start().await.unwrap();
    primary.run("app", "CREATE TABLE t AS SELECT 1 AS id").await.unwrap();
    let replica = primary.replica().await.unwrap();
    primary.wait_for(&replica).await.unwrap();
    postgres().await.run("receipts", "CREATE TABLE t AS SELECT 1 AS id").await.unwrap();
    mariadb().await.run("receipts", "CREATE TABLE t AS SELECT 1 AS id").await.unwrap();
    let world = World::builder()
        .source("app", "postgres", &postgres().await.url("receipts"))
        .configured(replica_spec(&replica.url("app")))
        .source("billing", "mysql", &mariadb().await.url("receipts"))
        .start()
        .await;
    world.rows("CREATE SCHEMA lake.r").await;
    world.rows("CREATE TABLE lake.r.t AS SELECT 1 AS id").await;

    let receipt = world.receipt(ALL).await;
    let methods: Vec<(&str, AsOfMethod)> = receipt.tables.iter().map(|table| (table.table.as_str(), table.method)).collect();
    assert_eq!(
        methods,
        [
            ("app.public.t", AsOfMethod::Clock),
            ("billing.receipts.t", AsOfMethod::Clock),
            ("lake.r.t", AsOfMethod::Snapshot),
            ("standby.public.t", AsOfMethod::ReplicaReplay)
        ]
    );
    let oldest = receipt.tables.iter().map(|table| table.as_of).min().unwrap();
    let newest = receipt.tables.iter().map(|table| table.as_of).max().unwrap();
    assert_eq!((receipt.as_of, receipt.skew_ms), (oldest, oldest.ms_until(newest)));
    assert!(receipt.skew_ms > 0, "the lake's snapshot is older than the clocks");
    assert!(receipt.tables.iter().all(|table| table.placement == "live" && table.lag_ms >= 0));

    let kept = world.rows("SELECT sql, as_of, skew_ms, rows_read FROM system.receipts WHERE sql LIKE 'SELECT count(*) FROM app.%'").await;
    assert_eq!(kept, [[ALL.to_owned(), kept[0][1].clone(), receipt.skew_ms.to_string(), "4".to_owned()]]);
    let other = world.session("local", None);
    assert_eq!(world.ask_as(&other, "SELECT count(*) FROM system.receipts").await.unwrap().0, [["0"]], "receipts are the session's own");
}

/// A replica needs no leave to be read.
fn replica_spec(url: &str) -> SourceSpec {
    let (nan, infinity) = (ValuePolicy::default(), ValuePolicy::default());
    let name = weir_base::SourceName::new("standby");
    SourceSpec { name, kind: "postgres".into(), url: url.into(), allow_primary: false, nan, infinity, limits: Limits::default(), options: Default::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_is_refused_unless_it_is_allowed() {
    postgres().await.run("primaries", "CREATE TABLE t AS SELECT 1 AS id").await.unwrap();
    let world = World::builder().configured(replica_spec(&postgres().await.url("primaries"))).start().await;
    let error = world.error("SELECT * FROM standby.public.t").await;
    assert!(error.hint().unwrap_or_default().contains("allow_primary"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_tables_is_as_old_as_the_question() {
    let world = World::builder().start().await;
    let receipt = world.receipt("SELECT 1").await;
    assert_eq!((receipt.tables.len(), receipt.sources.len(), receipt.skew_ms), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_analyze_tells_what_really_happened() {
    postgres().await.run("analyze", "CREATE TABLE t AS SELECT n AS id, n % 10 AS digit FROM generate_series(1, 1000) n; ANALYZE t").await.unwrap();
    let world = World::builder().source("app", "postgres", &postgres().await.url("analyze")).start().await;
    let lines = world
        .rows("EXPLAIN ANALYZE SELECT id FROM app.public.t WHERE digit = 3 ORDER BY -id DESC, to_char(TIMESTAMP '2026-01-01', 'YYYY') || md5(id::text) LIMIT 5")
        .await
        .concat();
    let text = lines.join("\n");
    assert!(lines.iter().any(|line| line.starts_with("actual      5 rows in ")), "{text}");
    assert!(lines.iter().any(|line| line.trim_start().starts_with("app gave 100 rows (forecast ")), "{text}");
    assert!(lines.iter().any(|line| line.trim_start().starts_with("app.public.t as of ")), "{text}");
    let forecast = lines.iter().find(|line| line.trim_start().starts_with("forecast")).unwrap_or_else(|| panic!("{text}"));
    assert!(forecast.contains("100 rows"), "{forecast}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_of_the_lake_is_counted() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.r").await;
    world.rows("CREATE TABLE lake.r.t AS SELECT n AS id, repeat('x', 100) AS payload FROM generate_series(1, 1000) s(n)").await;
    let read = world.receipt("SELECT id FROM lake.r.t").await.sources;
    assert_eq!((read.len(), read[0].source.as_str(), read[0].statements, read[0].rows, read[0].forecast_rows), (1, "lake", 1, 1000, Some(1000)));
    let twice = world.receipt("SELECT count(*) FROM lake.r.t a JOIN lake.r.t b ON a.id = b.id").await.sources;
    assert_eq!((twice.len(), twice[0].statements, twice[0].rows), (1, 2, 2000));
    let wide = world.receipt("SELECT id, payload FROM lake.r.t").await.sources;
    assert!(0 < read[0].bytes && read[0].bytes < wide[0].bytes, "{} bytes of one column, {} of two", read[0].bytes, wide[0].bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_and_receipt_tell_the_same_forecast() {
    postgres().await.run("foretold", "CREATE TABLE t AS SELECT n AS id, n % 10 AS digit FROM generate_series(1, 1000) n; ANALYZE t").await.unwrap();
    let world = World::builder().source("app", "postgres", &postgres().await.url("foretold")).start().await;
    let sql = "SELECT id FROM app.public.t WHERE digit = 3";
    let receipt = world.receipt(sql).await;
    assert_eq!(receipt.sources[0].forecast_rows, Some(100));
    let plan = world.engine.plan(&world.session, Query::new(sql)).await.unwrap();
    assert_eq!(plan.sources[0].statements[0].forecast.rows, Some(100));
}
