// SPDX-License-Identifier: Apache-2.0
//! Budgets, queues and permits: a source is never asked for more than it allows.

use crate::kit::{SqliteFile, World, eventually, postgres};
use futures::StreamExt;
use std::time::Duration;
use weir_api::{Query, QueryService};
use weir_base::ErrorCode;
use weir_guard::Limits;

#[tokio::test(flavor = "multi_thread")]
async fn a_query_over_its_budget_is_an_error_also_where_nobody_foresaw_it() {
    // The source takes the function to give ten rows: what comes is counted, and stopped.
    let script = "CREATE TABLE t AS SELECT n AS id, repeat('x', 100) AS wide FROM generate_series(1, 50000) n; ANALYZE t;
        CREATE FUNCTION many() RETURNS SETOF t LANGUAGE plpgsql ROWS 10 AS 'BEGIN RETURN QUERY SELECT * FROM t; END';
        CREATE VIEW unforeseen AS SELECT id, wide FROM many()";
    postgres().await.run("budget", script).await.unwrap();
    let url = postgres().await.url("budget");
    let world = World::builder()
        .limited("rows", "postgres", &url, Limits { rows_per_query: Some(100), ..Limits::default() })
        .limited("bytes", "postgres", &url, Limits { bytes_per_query: Some(64 * 1024), ..Limits::default() })
        .limited("time", "postgres", &url, Limits { time_per_query: Some(Duration::from_millis(40)), ..Limits::default() })
        .start()
        .await;
    assert_eq!(world.value("SELECT count(*) FROM (SELECT id FROM rows.public.t WHERE id <= 100)").await, "100");
    for (source, table) in [("rows", "t"), ("bytes", "t"), ("rows", "unforeseen"), ("bytes", "unforeseen")] {
        let table = format!("{source}.public.{table}");
        for sql in [
            format!("SELECT id, wide FROM {table}"),
            format!("SELECT max(length(wide || '')), string_agg(wide, '') IS NULL FROM {table}"),
            format!("SELECT count(*) FROM {table} a FULL JOIN {table} b ON a.wide = b.wide"),
        ] {
            let error = world.error(&sql).await;
            assert_eq!((error.code(), error.code().exit_code()), (ErrorCode::OverBudget, 3), "{sql}: {error:?}");
            assert!(error.detail().unwrap_or_default().contains(&format!("{source}_per_query allows")) && error.hint().is_some(), "{error:?}");
        }
    }
    let outcomes = world.rows("SELECT DISTINCT outcome FROM system.query_sources WHERE source = 'bytes'").await;
    assert_eq!(outcomes, [["failed"]]);
    assert_eq!(world.rows("SELECT DISTINCT error_code FROM system.queries WHERE state = 'failed'").await, [["53400"]]);
    // Silent statements are ended by the source.
    let slow = world.error("SELECT max(a.id + b.id) FROM time.public.t a JOIN time.public.t b ON a.wide = b.wide").await;
    assert!(matches!(slow.code(), ErrorCode::OverBudget | ErrorCode::Cancelled), "{slow:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_and_a_long_wait_are_refused() {
    postgres().await.run("queue", "CREATE TABLE t AS SELECT 1 AS id; CREATE VIEW slow AS SELECT 1 AS id FROM pg_sleep(60)").await.unwrap();
    let url = postgres().await.url("queue");
    let one = Limits { connections: 1, queue_waiting_max: 1, queue_wait_max: Duration::from_millis(400), ..Limits::default() };
    let world = World::builder().limited("app", "postgres", &url, one).start().await;
    assert_eq!(world.value("SELECT id FROM app.public.t").await, "1");
    let slow = Query::new("SELECT id FROM app.public.slow");
    let slow_id = slow.id;
    let holder = tokio::spawn({
        let (engine, session) = (world.engine.clone(), world.session.clone());
        async move { engine.run(&session, slow).await?.batches().next().await.unwrap() }
    });
    // Before it runs, its forecast has the connection for a moment.
    eventually("it runs", async || world.engine.status(&world.session, slow_id).await.is_ok_and(|status| status.state.word() == "running")).await;
    assert_eq!(world.engine.places().source("app").unwrap().guard.load().in_use, 1);

    let waiting = tokio::spawn({
        let (engine, session) = (world.engine.clone(), world.session("local", None));
        async move { engine.run(&session, Query::new("SELECT id FROM app.public.t")).await.map(|_| ()) }
    });
    eventually("somebody waits", async || world.engine.places().source("app").unwrap().guard.load().waiting == 1).await;
    let running = world.rows("SELECT state, note FROM system.queries WHERE state = 'waiting'").await;
    assert_eq!(running.len(), 1);
    assert!(running[0][1].starts_with("for a permit of source app: place 1 of 1, for ") && running[0][1].ends_with("; 1 of 1 in use (local 1)"), "{running:?}");
    let refused = world.error("SELECT id FROM app.public.t").await;
    assert_eq!((refused.code(), refused.message()), (ErrorCode::NoPermit, "queue for source app is full"));
    let waited = waiting.await.unwrap().unwrap_err();
    assert_eq!((waited.code(), waited.message()), (ErrorCode::NoPermit, "waited too long for a permit of source app"));

    world.engine.cancel(&world.session, slow_id).await.unwrap();
    assert_eq!(holder.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
    eventually("the connection is free again", async || world.ask("SELECT id FROM app.public.t").await.is_ok()).await;
}

/// Many queries over two sources, each of which allows few sessions, all end: nobody waits for somebody who waits.
#[tokio::test(flavor = "multi_thread")]
async fn crowds_share_few_connections_without_a_deadlock() {
    postgres().await.run("crowd", "CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 100) n").await.unwrap();
    let file = SqliteFile::with("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1), (2), (3);").await;
    let two = Limits { connections: 2, ..Limits::default() };
    let world =
        World::builder().limited("app", "postgres", &postgres().await.url("crowd"), two.clone()).limited("crm", "sqlite", &file.url(), two).start().await;
    let queries = (0..60).map(|n| {
        let (engine, session) = (world.engine.clone(), world.session("local", None));
        let sql = match n % 3 {
            0 => "SELECT count(*) FROM app.public.t a JOIN crm.main.t b ON a.id = b.id",
            1 => "SELECT count(*) FROM crm.main.t b JOIN app.public.t a ON a.id = b.id JOIN app.public.t c ON c.id = a.id",
            _ => "SELECT count(*) FROM app.public.t a JOIN app.public.t b ON a.id = b.id JOIN app.public.t c ON c.id = b.id WHERE c.id < 4",
        };
        tokio::spawn(async move {
            let mut answer = engine.run(&session, Query::new(sql)).await?;
            let batch = answer.batches().next().await.unwrap()?;
            Ok::<_, weir_base::Error>(arrow::util::pretty::pretty_format_batches(&[batch]).unwrap().to_string())
        })
    });
    for query in queries.collect::<Vec<_>>() {
        let told = query.await.unwrap().unwrap();
        assert!(told.contains("| 3 "), "{told}");
    }
    assert_eq!(world.rows("SELECT connections_in_use, waiting FROM system.sources").await, [["0", "0"], ["0", "0"]]);
    let open = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{}'", "crowd");
    let open: usize = postgres().await.query("postgres", &open).await.unwrap().parse().unwrap();
    assert!(open <= 2, "{open} sessions in a source that allows 2");
}
