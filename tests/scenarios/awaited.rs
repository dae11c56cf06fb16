// SPDX-License-Identifier: Apache-2.0
//! Joins whose partitions wait for each other while a join above them has nothing in one of them.

use crate::kit::{SqliteFile, World, postgres};
use std::time::Duration;

/// Nobody waits longer for so few rows.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// Of `one` it is known how few rows it has, of the tables in the file nothing: so the joins are of both kinds. All rows that match are in
/// one partition.
#[tokio::test(flavor = "multi_thread")]
async fn a_partition_that_nobody_reads_keeps_nobody_waiting() {
    let database = "awaited";
    postgres()
        .await
        .run(database, "CREATE TABLE one (k bigint PRIMARY KEY, t text); INSERT INTO one VALUES (1, 'one'); VACUUM ANALYZE one")
        .await
        .expect("a table");
    let numbers = "WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 499)";
    let script = format!(
        "CREATE TABLE many (id INTEGER PRIMARY KEY, k INTEGER); {numbers} INSERT INTO many SELECT n, n % 50 FROM n;
         CREATE TABLE same (id INTEGER PRIMARY KEY, k INTEGER); {numbers} INSERT INTO same SELECT n, 1 FROM n WHERE n < 20;"
    );
    let file = SqliteFile::with(&script).await;
    let world = World::builder().source("app", "postgres", &postgres().await.url(database)).source("files", "sqlite", &file.url()).start().await;
    let groups = "SELECT k, count(*) AS n FROM files.main.many WHERE id % 7 <> 3 GROUP BY k";
    let queries = [
        format!(
            "SELECT g.k, g.n, o.t, count(s.id) FROM ({groups}) g JOIN app.public.one o ON o.k = g.k JOIN files.main.same s ON s.k = g.k GROUP BY g.k, g.n, o.t"
        ),
        format!("SELECT g.k, g.n, o.t, s.id FROM files.main.same s JOIN (({groups}) g JOIN app.public.one o ON o.k = g.k) ON s.k = g.k ORDER BY s.id"),
    ];
    for sql in &queries {
        for mode in (0..40).map(|round| format!("random:{round}")).chain(["off".to_owned(), "on".to_owned()]) {
            let session = world.session("local", None);
            world.ask_as(&session, &format!("SET weir.pushdown = '{mode}'")).await.expect("a setting");
            let answer = tokio::time::timeout(ANSWER_TIME_MAX, world.ask_as(&session, sql)).await;
            let (rows, _) = answer.unwrap_or_else(|_| panic!("no answer with {mode}: {sql}")).expect("an answer");
            assert!(!rows.is_empty() && rows[0][0] == "1", "{mode}: {rows:?}");
        }
    }
}

/// Every way of pushing keeps other joins here; each is run many times beside the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn joins_of_nothing_end_in_every_way() {
    const ASKERS: u64 = 6;
    let database = "joins_of_nothing";
    let script = "CREATE TABLE a (id int PRIMARY KEY, k int, t timestamptz, d date); INSERT INTO a VALUES (1, 0, now(), '2026-11-30');
        CREATE TABLE b (id int PRIMARY KEY, i int); INSERT INTO b SELECT n, n % 5 FROM generate_series(1, 29) n;
        CREATE TABLE c (id int PRIMARY KEY, big bigint, t text); INSERT INTO c VALUES (1, 0, 'A')";
    postgres().await.run(database, script).await.expect("tables");
    let file = SqliteFile::with("CREATE TABLE d (id INTEGER PRIMARY KEY); INSERT INTO d VALUES (1), (2), (3), (4), (5)").await;
    let world = World::builder().source("icu", "postgres", &postgres().await.url(database)).source("files", "sqlite", &file.url()).start().await;
    let sql =
        "SELECT c.t FROM icu.public.a JOIN icu.public.c ON a.k = c.big AND a.t = CAST('2026-10-25 00:30:00+00' AS timestamptz) JOIN icu.public.b ON c.id = b.i
        JOIN files.main.d ON a.id = d.id WHERE CAST(extract(year FROM a.d) AS int) < a.k OR a.t IS NULL";
    let rounds = std::env::var("WEIR_ROUNDS").map_or(20, |rounds| rounds.parse().expect("a number"));
    let askers = (0..ASKERS).map(|asker| {
        let world = &world;
        async move {
            let session = world.session("local", None);
            for round in 0..rounds {
                let mode = if round % 3 == 0 { "off".to_owned() } else { format!("random:{}", round * ASKERS + asker) };
                world.ask_as(&session, &format!("SET weir.pushdown = '{mode}'")).await.expect("a setting");
                let answer = tokio::time::timeout(ANSWER_TIME_MAX, world.ask_as(&session, sql)).await;
                let (rows, _) = answer.unwrap_or_else(|_| panic!("no answer with {mode}")).expect("an answer");
                assert!(rows.is_empty(), "{mode}: {rows:?}");
            }
        }
    });
    futures::future::join_all(askers).await;
}
