// SPDX-License-Identifier: Apache-2.0
//! A large table is read by several sessions that see one snapshot (F58, F61): within what is free, with the answer of one session, and
//! what ends one of them ends all.

use crate::kit::{World, eventually, mariadb, postgres};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weir_api::{Query, QueryService};
use weir_base::{ErrorCode, SourceName};
use weir_guard::Limits;
use weir_source::{SourceSpec, ValuePolicy};

/// Sums of floating point numbers are made here, so the rows come; these add up exactly in any order.
const LARGE: &str = "CREATE TABLE t AS SELECT n AS id, (n % 1000)::float8 AS f, n::numeric AS wide FROM generate_series(1, 600000) n; ANALYZE t";
const SUM: &str = "SELECT count(*), sum(f), count(DISTINCT id) FROM (SELECT id, f, random() FROM app.public.t) q";

async fn world(database: &str, connections: usize, readers: usize) -> World {
    let server = postgres().await;
    server.run(database, LARGE).await.unwrap();
    let spec = SourceSpec {
        name: SourceName::new("app"),
        kind: "postgres".into(),
        url: server.url(database),
        allow_primary: true,
        nan: ValuePolicy::default(),
        infinity: ValuePolicy::default(),
        limits: Limits { connections, ..Limits::default() },
        options: BTreeMap::from([("parallel_reads".to_owned(), readers.to_string())]),
    };
    let world = World::builder().configured(spec).start().await;
    // What the server can do is known once it has been asked for its tables.
    world.rows("SELECT count(*) FROM system.tables").await;
    world
}

async fn statements(world: &World, sql: &str) -> u64 {
    let receipt = world.receipt(sql).await;
    assert_eq!(receipt.sources[0].rows, 600_000, "{receipt:?}");
    receipt.sources[0].statements
}

/// Sessions of a database that are in a transaction or run something.
async fn busy(database: &str) -> String {
    postgres().await.query("postgres", &format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND state <> 'idle'")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_sessions_read_as_are_free() {
    for (database, connections, readers, used) in [("parts_wide", 8, 3, 3), ("parts_narrow", 4, 16, 3), ("parts_none", 2, 4, 1), ("parts_one", 8, 1, 1)] {
        let world = world(database, connections, readers).await;
        assert_eq!(world.every_way(SUM).await.unwrap(), [["600000", "299700000.0", "600000"]], "{database}");
        assert_eq!(statements(&world, SUM).await, used, "{database}");
        eventually("no session is left in a transaction", async || busy(database).await == "0").await;
        let told = world.explain(SUM).await;
        assert_eq!(told.contains("in parts, by up to"), readers > 1, "{told}");
        assert_eq!(told.contains("single_read"), readers == 1, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_read_the_same_rows_while_they_change() {
    let world = world("parts_moving", 8, 4).await;
    let done = Arc::new(AtomicBool::new(false));
    let server = postgres().await;
    let writer = tokio::spawn({
        let done = done.clone();
        async move {
            // Each moves two rows to the end of the table, and what one gains the other loses.
            let mut at = 1;
            while !done.load(Ordering::Relaxed) {
                let swap = format!("UPDATE t SET f = f + CASE WHEN id = {at} THEN 1 ELSE -1 END WHERE id IN ({at}, {})", 600_001 - at);
                server.run("parts_moving", &swap).await.unwrap();
                at = at % 1000 + 1;
            }
        }
    });
    for _ in 0..4 {
        assert_eq!(world.rows(SUM).await, [["600000", "299700000.0", "600000"]]);
    }
    done.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    assert_eq!(statements(&world, SUM).await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_one_part_ends_all() {
    let world = world("parts_failing", 8, 4).await;
    // A value that does not fit, in the last page.
    postgres().await.run("parts_failing", "INSERT INTO t VALUES (600001, 0, 1e30)").await.unwrap();
    let error = world.error("SELECT sum(f), min(wide) FROM app.public.t").await;
    assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{error:?}");
    eventually("all parts have ended", async || busy("parts_failing").await == "0").await;
    assert_eq!(world.rows("SELECT count(*) FROM app.public.t").await, [["600001"]]);

    let query = Query::new("SELECT id, f, random() FROM app.public.t");
    let id = query.id;
    let mut answer = world.engine.run(&world.session, query).await.unwrap();
    let batches = answer.batches();
    batches.next().await.unwrap().unwrap();
    assert!(world.engine.cancel(&world.session, id).await.unwrap());
    let mut last = None;
    while let Some(batch) = batches.next().await {
        last = Some(batch);
    }
    assert_eq!(last.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
    eventually("all parts have ended", async || busy("parts_failing").await == "0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_reads_with_one_session_and_says_so() {
    mariadb()
        .await
        .run("parts", "CREATE TABLE t (id int PRIMARY KEY, f double); INSERT INTO t SELECT seq, seq % 1000 FROM seq_1_to_700000; ANALYZE TABLE t")
        .await
        .unwrap();
    let world = World::builder().source("billing", "mysql", &mariadb().await.url("parts")).start().await;
    let sql = "SELECT sum(f) FROM billing.parts.t";
    let told = world.explain(sql).await;
    assert!(told.contains("single_read") && told.contains("one snapshot"), "{told}");
    assert_eq!(world.value(sql).await, "349650000.0");
}
