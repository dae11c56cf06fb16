// SPDX-License-Identifier: Apache-2.0
//! A query that is cancelled, dropped or out of time ends in its sources too.

use crate::kit::{World, eventually, mariadb, postgres};
use futures::StreamExt;
use std::time::Duration;
use weir_api::{Query, QueryService, Session};
use weir_base::{ErrorCode, QueryId};
use weir_guard::Limits;

/// Views that take a minute, and one that never stops giving rows.
const SLOW_POSTGRES: &str = "CREATE VIEW slow AS SELECT 1 AS id FROM pg_sleep(60); CREATE VIEW endless AS SELECT generate_series(1, 50000000) AS n";
const SLOW_MARIADB: &str = "CREATE VIEW slow AS SELECT sleep(60) AS id; CREATE VIEW endless AS SELECT seq AS n FROM seq_1_to_1000000000";

async fn world(database: &str, limits: Limits) -> World {
    postgres().await.run(database, SLOW_POSTGRES).await.unwrap();
    mariadb().await.run(database, SLOW_MARIADB).await.unwrap();
    let world = World::builder()
        .limited("app", "postgres", &postgres().await.url(database), limits.clone())
        .limited("billing", "mysql", &mariadb().await.url(database), limits)
        .start()
        .await;
    // The tables are listed before anything is measured.
    world.rows("SELECT count(*) FROM system.tables").await;
    world
}

/// Statements that run in a database of PostgreSQL, and of MariaDB.
async fn busy(database: &str) -> (bool, bool) {
    let running = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND state <> 'idle'");
    let in_postgres = postgres().await.query("postgres", &running).await.unwrap() != "0";
    let running = format!("SELECT count(*) FROM information_schema.processlist WHERE db = '{database}' AND command <> 'Sleep'");
    let in_mariadb = mariadb().await.query("mysql", &running).await.unwrap() != "0";
    (in_postgres, in_mariadb)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_reaches_the_sources() {
    let world = world("cancelled", Limits::default()).await;
    let query = Query::new("SELECT count(*) FROM app.public.slow a, billing.cancelled.slow b");
    let id = query.id;
    let running = tokio::spawn({
        let (engine, session) = (world.engine.clone(), world.session.clone());
        async move { engine.run(&session, query).await?.batches().next().await.unwrap() }
    });
    // A join reads one side first, so one of the two is at work.
    eventually("a source works", async || busy("cancelled").await != (false, false)).await;
    assert!(world.engine.cancel(&world.session, id).await.unwrap());
    let error = running.await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.message(), error.detail()), (ErrorCode::Cancelled, "query was cancelled", Some("on request")));
    eventually("both sources are idle", async || busy("cancelled").await == (false, false)).await;
    assert_eq!(state(&world, id).await, "cancelled");
    assert!(!world.engine.cancel(&world.session, id).await.unwrap(), "it has ended");
    assert!(!world.engine.cancel(&world.session, QueryId::fresh()).await.unwrap(), "nobody knows it");
}

async fn state(world: &World, id: QueryId) -> String {
    world.value(&format!("SELECT state FROM system.queries WHERE query_id = '{id}'")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_reads_any_more_ends_in_the_sources() {
    let world = world("dropped", Limits::default()).await;
    for table in ["app.public.endless", "billing.dropped.endless"] {
        let query = Query::new(format!("SELECT n FROM {table}"));
        let id = query.id;
        let mut answer = world.engine.run(&world.session, query).await.unwrap();
        let first = answer.batches().next().await.unwrap().unwrap();
        assert!(first.num_rows() > 0);
        assert_ne!(busy("dropped").await, (false, false));
        drop(answer);
        eventually(table, async || busy("dropped").await == (false, false)).await;
        assert_eq!(state(&world, id).await, "cancelled");
    }
    let load = async || world.rows("SELECT source, connections_in_use FROM system.sources ORDER BY source").await;
    eventually("the permits come back", async || load().await == [["app", "0"], ["billing", "0"]]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_dropped_before_its_answer_ends_too() {
    let world = world("unanswered", Limits::default()).await;
    world.rows("CREATE SCHEMA lake.x").await;
    let asked = tokio::spawn({
        let (engine, session) = (world.engine.clone(), world.session.clone());
        async move { engine.run(&session, Query::new("CREATE TABLE lake.x.y AS SELECT * FROM app.public.slow")).await.map(|_| ()) }
    });
    eventually("PostgreSQL works", async || busy("unanswered").await.0).await;
    asked.abort();
    eventually("PostgreSQL is idle", async || !busy("unanswered").await.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_details_tell_whose_timeout_it_was() {
    let at_source = Limits { statement_timeout: Duration::from_millis(300), ..Limits::default() };
    let world = world("timeouts", at_source).await;
    for table in ["app.public.slow", "billing.timeouts.slow"] {
        let error = world.error(&format!("SELECT id FROM {table}")).await;
        assert_eq!(error.code(), ErrorCode::Cancelled, "{error:?}");
        let detail = error.detail().unwrap_or_default();
        assert!(detail.contains("statement timeout") || detail.contains("statement_timeout"), "{error:?}");
        assert!(format!("{error:?}").contains("source"), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sessions_own_timeout_is_its_own() {
    let world = world("own_timeout", Limits::default()).await;
    let hurried = world.session("local", None);
    world.ask_as(&hurried, "SET statement_timeout = '300ms'").await.unwrap();
    for table in ["app.public.slow", "billing.own_timeout.slow"] {
        let error = timed_out(&world, &hurried, table).await;
        assert_eq!((error.code(), error.detail()), (ErrorCode::Cancelled, Some("the session's own statement_timeout")));
    }
    eventually("both sources are idle", async || busy("own_timeout").await == (false, false)).await;
    assert_eq!(world.value("SHOW statement_timeout").await, "0", "the other session has none");
}

async fn timed_out(world: &World, session: &std::sync::Arc<Session>, table: &str) -> weir_base::Error {
    match world.ask_as(session, &format!("SELECT id FROM {table}")).await {
        Ok((rows, _)) => panic!("{table} gives {rows:?}"),
        Err(error) => error,
    }
}

/// Questions that read nothing and never wait: only the operators themselves can notice a cancel.
const COMPUTING: [&str; 3] = [
    "SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000) b",
    "SELECT count(*) FROM generate_series(1, 1000000) a(x) JOIN generate_series(1, 1000000) b(y) ON x + y < 0",
    "SELECT count(*) FROM generate_series(1, 1000000) a(x) JOIN generate_series(1, 1000000) b(y) ON x % 2 = y % 2 AND x + y < 0",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_only_computes_ends_too() {
    let world = World::builder().start().await;
    for sql in COMPUTING {
        let query = Query::new(sql);
        let id = query.id;
        let running = tokio::spawn({
            let (engine, session) = (world.engine.clone(), world.session.clone());
            async move { engine.run(&session, query).await?.batches().next().await.unwrap() }
        });
        eventually("it computes", async || world.engine.status(&world.session, id).await.is_ok_and(|status| status.state.word() == "running")).await;
        assert!(world.engine.cancel(&world.session, id).await.unwrap());
        // The task ends: nothing of it keeps a core any more.
        let ended = tokio::time::timeout(Duration::from_secs(20), running).await.unwrap_or_else(|_| panic!("{sql} goes on"));
        assert_eq!(ended.unwrap().unwrap_err().code(), ErrorCode::Cancelled, "{sql}");
    }
}
