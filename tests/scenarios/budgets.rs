// SPDX-License-Identifier: Apache-2.0
//! What a source allows is decided before it is asked: refused with the number, the limit and a cheaper question that runs; what the
//! estimate leaves open is counted; what was taken today counts.

use crate::kit::{World, eventually, postgres};
use weir_base::ErrorCode;
use weir_engine::TableRule;
use weir_guard::Limits;

/// Fifty thousand events, one a minute, and how they are asked about.
async fn events(database: &str) -> String {
    let script = "CREATE TABLE events (id int PRIMARY KEY, at timestamptz NOT NULL, kind text NOT NULL, a int NOT NULL, b int NOT NULL);
        INSERT INTO events SELECT n, '2026-01-01'::timestamptz + n * interval '1 minute', 'kind ' || n % 7, n % 100, n % 100 FROM generate_series(1, 50000) n;
        CREATE INDEX ON events (at); ANALYZE events";
    postgres().await.run(database, script).await.unwrap();
    postgres().await.url(database)
}

async fn statements(world: &World) -> String {
    world.value("SELECT count(*) FROM system.query_sources WHERE source = 'app'").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_is_too_large_is_refused_with_one_that_runs() {
    let url = events("refused").await;
    let world = World::builder().limited("app", "postgres", &url, Limits { rows_per_query: Some(5_000), ..Limits::default() }).start().await;
    let error = world.error("SELECT id, kind FROM app.public.events e WHERE a < 90 ORDER BY id").await;
    assert_eq!((error.code(), error.code().exit_code()), (ErrorCode::OverBudget, 3));
    assert_eq!(error.message(), "query would take more out of app than its budget");
    let detail = error.detail().unwrap_or_default();
    assert!(detail.ends_with("rows expected out of app, rows_per_query allows 5,000 rows") && detail.starts_with("4"), "{detail}");
    assert_eq!(statements(&world).await, "0", "nothing was asked of the source");
    let hint = error.hint().unwrap_or_default().to_owned();
    let (why, cheaper) = hint.split_once(": ").unwrap_or_default();
    assert_eq!(why, "this runs, a smaller range of at");
    assert!(cheaper.starts_with("SELECT id, kind FROM app.public.events e WHERE a < 90 AND e.\"at\" >= TIMESTAMPTZ '2026-02-0"), "{cheaper}");
    let rows = world.rows(cheaper).await.len();
    assert!((500..5_000).contains(&rows), "{rows} rows of {cheaper}");
    // What an aggregate at the source gives is one row.
    assert_eq!(world.value("SELECT count(*) FROM app.public.events WHERE a < 90").await, "45000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_the_refusal_and_what_runs() {
    let url = events("refused_plan").await;
    let world = World::builder().limited("app", "postgres", &url, Limits { rows_per_query: Some(5_000), ..Limits::default() }).start().await;
    let plan: serde_json::Value = serde_json::from_str(&world.rows("EXPLAIN (FORMAT JSON) SELECT * FROM app.public.events").await.concat().join("\n")).unwrap();
    assert_eq!(plan["verdict"], "refuse");
    assert!(plan["why"].as_str().unwrap_or_default().contains("50,000 rows expected out of app, rows_per_query allows 5,000 rows"), "{}", plan["why"]);
    let suggested: Vec<&str> = plan["suggestions"].as_array().unwrap().iter().filter_map(|one| one["sql"].as_str()).collect();
    assert_eq!(suggested.len(), 3, "{suggested:?}");
    assert!(suggested[1].ends_with("FROM app.public.events LIMIT 1000") && suggested[2] == "SELECT count(*) FROM app.public.events", "{suggested:?}");
    for sql in suggested {
        world.rows(sql).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loose_estimate_is_counted() {
    // The source takes the two columns for independent, and 500 rows for 5.
    let url = events("counted").await;
    for (rows_per_query, runs) in [(600, true), (300, false)] {
        let limits = Limits { rows_per_query: Some(rows_per_query), ..Limits::default() };
        let world = World::builder().limited("app", "postgres", &url, limits).start().await;
        // `kind` is compared in another order there, so this stays here: the estimate is of what is sent.
        let asked = world.ask("SELECT id FROM app.public.events WHERE a = 7 AND (b = 7 OR b = 8 OR b = 9)").await;
        assert_eq!(asked.as_ref().map(Vec::len).ok(), runs.then_some(500), "{rows_per_query}: {asked:?}");
    }
    // Looser the other way: a third of the rows is expected of a condition that leaves out all.
    let world = World::builder().limited("app", "postgres", &url, Limits { rows_per_query: Some(10_000), ..Limits::default() }).start().await;
    let sql = "SELECT id FROM app.public.events WHERE a % 100 > 200";
    assert_eq!(world.rows(sql).await.len(), 0);
    let plan = world.rows(&format!("EXPLAIN {sql}")).await.concat().join("\n");
    assert!(plan.contains("forecast 0 rows (count)"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_has_a_budget_too() {
    let url = events("daily").await;
    let limits = Limits { rows_per_day: Some(1_000), ..Limits::default() };
    let world = World::builder().limited("app", "postgres", &url, limits).start().await;
    assert_eq!(world.rows("SELECT id FROM app.public.events WHERE id <= 700").await.len(), 700);
    let error = world.error("SELECT id FROM app.public.events WHERE id <= 900").await;
    let detail = error.detail().unwrap_or_default();
    assert_eq!(error.code(), ErrorCode::OverBudget);
    assert!(detail.ends_with("rows_per_day allows 1,000 rows, of which 700 are used today"), "{detail}");
    assert_eq!(world.rows("SELECT id FROM app.public.events WHERE id <= 200").await.len(), 200);
    let sources = world.rows("SELECT rows_per_day FROM system.sources").await;
    assert_eq!(sources, [["1000"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_table_takes_no_filter_that_stays() {
    let url = events("strict").await;
    let rule = TableRule { schema: "public".into(), table: "events".into(), require_filter: Vec::new(), strict: true };
    let world = World::builder().source("app", "postgres", &url).rules("app", vec![rule]).start().await;
    assert_eq!(world.rows("SELECT id FROM app.public.events WHERE a = 1 AND id < 200").await.len(), 2);
    let error = world.error("SELECT id FROM app.public.events WHERE initcap(kind) = 'Kind 1' AND id < 200").await;
    assert_eq!((error.code(), error.message()), (ErrorCode::OverBudget, "app.public.events may only be read with filters that app applies"));
    assert!(error.hint().is_some() && error.detail().unwrap_or_default().starts_with("strict of the table; filter "), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_gone_is_not_asked_again_and_again() {
    let url = "postgres://nobody@127.0.0.1:9/nothing?sslmode=disable";
    let world = World::builder().source("app", "postgres", url).start().await;
    let handle = world.engine.places().source("app").unwrap();
    eventually("it was tried a few times", async || {
        assert_eq!(handle.health().await.unwrap_err().code(), ErrorCode::SourceUnreachable);
        handle.guard.load().breaker.word() == "open"
    })
    .await;
    let error = world.error("SELECT id FROM app.public.t").await;
    assert_eq!(error.code(), ErrorCode::SourceUnreachable, "{error:?}");
    assert!(error.detail().unwrap_or_default().contains("times in a row"), "{error:?}");
    let told = world.rows("SELECT state, breaker, strain, connections_allowed FROM system.sources").await;
    assert_eq!(told, [["unreachable", "open", "it does not answer", "1"]]);
    eventually("somebody may look again", async || handle.guard.permit(weir_guard::Purpose::Metadata).await.is_ok()).await;
}
