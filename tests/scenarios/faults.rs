// SPDX-License-Identifier: Apache-2.0
//! Sources that cannot be reached, refuse the login, or die in the middle of an answer.

use crate::kit::{SqliteFile, World, eventually, postgres};
use futures::{StreamExt, TryStreamExt};
use weir_api::{Query, QueryService};
use weir_base::{Error, ErrorCode};
use weir_sandbox::{MariaDb, Postgres};

/// Reads one batch, does something, and reads the rest.
async fn interrupted(world: &World, sql: &str, act: impl FnOnce()) -> Result<usize, Error> {
    let mut answer = world.engine.run(&world.session, Query::new(sql)).await?;
    let first = answer.batches().next().await.expect("a first batch")?;
    act();
    let rest: Vec<_> = answer.batches().try_collect().await?;
    Ok(first.num_rows() + rest.iter().map(|batch| batch.num_rows()).sum::<usize>())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_dies_and_comes_back() {
    let mut server = Postgres::start().await.unwrap();
    server
        .run("app", "CREATE TABLE t AS SELECT n AS id FROM generate_series(1, 5) n; CREATE VIEW endless AS SELECT generate_series(1, 50000000) AS n")
        .await
        .unwrap();
    let file = SqliteFile::with("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1);").await;
    let world = World::builder().source("app", "postgres", &server.url("app")).source("crm", "sqlite", &file.url()).start().await;
    assert_eq!(world.value("SELECT count(*) FROM app.public.t").await, "5");

    let error = interrupted(&world, "SELECT n FROM app.public.endless", || server.stop_hard().unwrap()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceBroke, "{error:?}");
    assert!(error.message().contains("app"), "{error:?}");

    let error = world.error("SELECT a.id FROM app.public.t a JOIN crm.main.t c ON a.id = c.id").await;
    assert_eq!(error.code(), ErrorCode::SourceUnreachable, "{error:?}");
    assert!(error.message().contains("app") && error.hint().is_some(), "{error:?}");
    assert_eq!(world.value("SELECT count(*) FROM crm.main.t").await, "1", "the others work");
    let states = world.rows("SELECT source, state FROM system.sources ORDER BY source").await;
    assert_eq!(states, [["app", "unreachable"], ["crm", "reachable"]]);
    assert_eq!(world.engine.readiness().await.unreachable, ["app"]);
    assert_eq!(world.value("SELECT count(*) FROM system.tables WHERE source = 'crm'").await, "1", "the others stay listed");

    server.restart().await.unwrap();
    eventually("the source is back", async || world.ask("SELECT count(*) FROM app.public.t").await.is_ok()).await;
    assert_eq!(world.value("SELECT count(*) FROM app.public.t").await, "5");
    assert_eq!(world.value("SELECT state FROM system.sources WHERE source = 'app'").await, "reachable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mariadb_that_dies_and_comes_back() {
    let mut server = MariaDb::start().await.unwrap();
    server.run("billing", "CREATE TABLE t AS SELECT seq AS id FROM seq_1_to_5; CREATE VIEW endless AS SELECT seq AS n FROM seq_1_to_1000000000").await.unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("billing")).start().await;
    assert_eq!(world.value("SELECT count(*) FROM billing.billing.t").await, "5");
    let error = interrupted(&world, "SELECT n FROM billing.billing.endless", || server.stop_hard().unwrap()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceBroke, "{error:?}");
    assert_eq!(world.error("SELECT count(*) FROM billing.billing.t").await.code(), ErrorCode::SourceUnreachable);
    server.restart().await.unwrap();
    eventually("the source is back", async || world.ask("SELECT count(*) FROM billing.billing.t").await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_breaks_under_a_write_leaves_no_table() {
    let mut server = Postgres::start().await.unwrap();
    server.run("app", "CREATE VIEW endless AS SELECT generate_series(1, 50000000) AS n").await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url("app")).start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    let writing = tokio::spawn({
        let (engine, session) = (world.engine.clone(), world.session.clone());
        async move { engine.run(&session, Query::new("CREATE TABLE lake.s.copy AS SELECT n FROM app.public.endless")).await.map(|_| ()) }
    });
    let watched = "SELECT coalesce(sum(rows_read), 0) FROM (SELECT 1 AS rows_read FROM system.queries WHERE state = 'running' AND sql LIKE 'CREATE TABLE%')";
    eventually("the write runs", async || world.value(watched).await == "1").await;
    server.stop_hard().unwrap();
    // The statement may have been on its way to the server still, or already at work there.
    let error = writing.await.unwrap().unwrap_err();
    assert!(matches!(error.code(), ErrorCode::SourceBroke | ErrorCode::SourceUnreachable), "{error:?}");
    assert_eq!(world.value("SELECT count(*) FROM system.tables WHERE source = 'lake'").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_there_and_a_wrong_password() {
    let server = postgres().await;
    let file = SqliteFile::with("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1);").await;
    let world = World::builder()
        .source("nobody", "postgres", "postgres://weir:secret-word@127.0.0.1:1/app")
        .source("absent", "mysql", "mysql://weir:secret-word@127.0.0.1:1/app")
        .source("wrong", "postgres", &server.url_as("postgres", "secret-word", "postgres"))
        .source("empty", "postgres", &server.url("there_is_no_such_database"))
        .source("missing", "sqlite", "sqlite:///nowhere/at/all.db")
        .source("crm", "sqlite", &file.url())
        .start()
        .await;
    for (source, schema) in [("nobody", "public"), ("absent", "app"), ("wrong", "public"), ("empty", "public"), ("missing", "main")] {
        let error = world.error(&format!("SELECT * FROM {source}.{schema}.t")).await;
        let refused = ["wrong", "empty"].contains(&source);
        assert_eq!(error.code(), if refused { ErrorCode::LoginRefused } else { ErrorCode::SourceUnreachable }, "{source}: {error:?}");
        let text = format!("{error:?}");
        assert!(error.message().contains(source), "{text}");
        assert!(!text.contains("secret-word"), "{text}");
    }
    assert!(world.error("SELECT * FROM wrong.public.t").await.message().contains("refused the login of user postgres"));
    assert_eq!(world.value("SELECT id FROM crm.main.t").await, "1");
    let states = world.rows("SELECT source FROM system.sources WHERE state = 'unreachable' ORDER BY source").await;
    assert_eq!(states.concat(), ["absent", "missing", "nobody"]);
    let states = world.rows("SELECT source FROM system.sources WHERE state = 'login refused' ORDER BY source").await;
    assert_eq!(states.concat(), ["empty", "wrong"]);
    let notes = world.rows("SELECT note FROM system.sources").await.concat().concat();
    assert!(!notes.contains("secret-word"), "{notes}");
}
