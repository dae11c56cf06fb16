// SPDX-License-Identifier: Apache-2.0
//! What a join or the first rows of an order have found out keeps parts of the lake unread. The receipt counts the bytes that were.

use crate::kit::World;

const FILES: u64 = 16;
const ROWS_PER_FILE: u64 = 10_000;

/// A table in files that hold one range of ids each, and high ranks in its first and its last file.
async fn world() -> World {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.g").await;
    world.rows("CREATE TABLE lake.g.facts (id bigint, rank bigint, payload text)").await;
    for file in 0..FILES {
        let (first, last) = (file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE - 1);
        let rank = if file == 0 || file == FILES - 1 { "1000000 + value" } else { "value % 1000" };
        let select = format!("SELECT value, {rank}, md5(CAST(value AS text)) FROM generate_series({first}, {last})");
        world.rows(&format!("INSERT INTO lake.g.facts {select}")).await;
    }
    world
        .rows("CREATE TABLE lake.g.names AS SELECT column1 AS id, column2 AS name FROM (VALUES (3, 'in the first'), (155000, 'in the last'), (7, 'too'))")
        .await;
    world
}

async fn bytes(world: &World, sql: &str) -> u64 {
    world.receipt(sql).await.sources.iter().map(|source| source.bytes).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_join_reads_only_the_parts_that_its_keys_are_in() {
    let world = world().await;
    let joined = |name: &str| format!("SELECT f.id, f.payload FROM lake.g.facts f JOIN lake.g.names n ON n.id = f.id WHERE n.name = '{name}'");
    let all = bytes(&world, "SELECT max(id), max(payload) FROM lake.g.facts").await;
    assert_eq!(world.rows(&joined("in the last")).await, [["155000", "92a95823d965195d84a664aade60b79b"]]);
    let read = bytes(&world, &joined("in the last")).await;
    assert!(read > 0 && read * 4 < all, "{read} of {all} bytes were read for a key in one of {FILES} files");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_rows_of_an_order_leave_the_rest_unread() {
    let world = world().await;
    let top = "SELECT id FROM lake.g.facts ORDER BY rank DESC, payload LIMIT 3";
    assert_eq!(world.rows(top).await, [["159999"], ["159998"], ["159997"]]);
    let all = bytes(&world, "SELECT max(id), max(rank), max(payload) FROM lake.g.facts").await;
    let read = bytes(&world, top).await;
    assert!(read > 0 && read < all, "{read} of {all} bytes were read for three rows");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_join_in_several_partitions_reads_only_the_parts_that_its_keys_are_in() {
    let server = crate::kit::postgres().await;
    // More rows than one partition of a join takes, all of them in two of the files.
    let wide = "CREATE TABLE wide AS SELECT n AS id, repeat('x', 60) AS note FROM generate_series(0, 19999) n; ANALYZE wide";
    server.run("skipping", wide).await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url("skipping")).start().await;
    world.rows("CREATE SCHEMA lake.g").await;
    world.rows("CREATE TABLE lake.g.facts (id bigint, payload text)").await;
    for file in 0..FILES {
        let (first, last) = (file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE - 1);
        world.rows(&format!("INSERT INTO lake.g.facts SELECT value, md5(CAST(value AS text)) FROM generate_series({first}, {last})")).await;
    }
    let lake = |receipt: weir_api::Receipt| receipt.sources.iter().find(|source| source.source == "lake").map_or(0, |source| source.bytes);
    let all = lake(world.receipt("SELECT max(id), max(payload) FROM lake.g.facts").await);
    let sql = "SELECT count(*), max(f.payload), max(w.note) FROM lake.g.facts f JOIN app.public.wide w ON w.id::bigint = f.id";
    let receipt = world.receipt(sql).await;
    assert_eq!(world.rows(sql).await[0][0], "20000");
    let read = lake(receipt);
    assert!(read > 0 && read * 4 < all, "{read} of {all} bytes were read for keys in two of {FILES} files");
}
