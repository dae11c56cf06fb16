// SPDX-License-Identifier: Apache-2.0
//! Joins, sorts and aggregates beyond the memory limit spill and give the right answer, or say that memory is short.

use crate::kit::World;
use weir_base::ErrorCode;

const LIMIT: usize = 64 << 20;

async fn world() -> World {
    let world = World::builder().memory(LIMIT).start().await;
    world.rows("CREATE SCHEMA lake.m").await;
    let columns = "value AS id, value % 1000 AS bucket, concat('payload of row ', value, ' in this table') AS payload";
    world.rows(&format!("CREATE TABLE lake.m.a AS SELECT {columns} FROM generate_series(1, 1000000)")).await;
    world.rows(&format!("CREATE TABLE lake.m.b AS SELECT {columns} FROM generate_series(500001, 1500000)")).await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_join_a_sort_and_an_aggregate_of_a_million_rows_in_64_mib() {
    let world = world().await;
    let joined = "SELECT count(*), sum(a.id), max(length(a.payload || b.payload)) FROM lake.m.a a JOIN lake.m.b b ON a.id = b.id";
    assert_eq!(world.rows(joined).await, [["500000", "375000250000", "72"]]);
    let sorted = "SELECT id, payload FROM (SELECT * FROM lake.m.a UNION ALL SELECT * FROM lake.m.b) ORDER BY payload DESC, id OFFSET 1999999";
    assert_eq!(world.rows(sorted).await, [["1", "payload of row 1 in this table"]]);
    let grouped = "SELECT count(*) FROM (SELECT payload, count(*) FROM (SELECT * FROM lake.m.a UNION ALL SELECT * FROM lake.m.b) GROUP BY payload)";
    assert_eq!(world.value(grouped).await, "1500000");
    let left: Vec<_> = std::fs::read_dir(world.folder().join("spill")).unwrap().flat_map(|entry| std::fs::read_dir(entry.unwrap().path()).unwrap()).collect();
    assert!(left.is_empty(), "spilled files are gone: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_spill_is_a_clear_error() {
    let world = World::builder().memory(8 << 20).start().await;
    let error =
        world.error("SELECT length(string_agg(concat('some payload ', value), ',')), array_agg(concat('p', value)) FROM generate_series(1, 3000000)").await;
    assert_eq!(error.code(), ErrorCode::OutOfResources, "{error:?}");
    assert!(error.hint().unwrap_or_default().contains("memory_limit"), "{error:?}");
    assert_eq!(world.value("SELECT count(*) FROM generate_series(1, 10)").await, "10", "the memory came back");
}
