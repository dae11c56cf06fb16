// SPDX-License-Identifier: Apache-2.0
//! An answer that would be older than was asked for is refused, not given.

use crate::kit::{World, eventually};
use weir_base::ErrorCode;

#[tokio::test(flavor = "multi_thread")]
async fn a_lake_table_older_than_allowed_is_refused() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    world.rows("CREATE TABLE lake.s.t AS SELECT 1 AS x").await;
    world.rows("SET weir.max_staleness = '1h'").await;
    assert_eq!(world.value("SELECT x FROM lake.s.t").await, "1");

    world.rows("SET weir.max_staleness = '1ms'").await;
    eventually("the snapshot is more than a millisecond old", async || world.ask("SELECT x FROM lake.s.t").await.is_err()).await;
    let refused = world.error("SELECT x FROM lake.s.t").await;
    assert_eq!((refused.code(), refused.message()), (ErrorCode::NotFreshEnough, "lake.s.t is older than weir.max_staleness allows"));

    world.rows("RESET weir.max_staleness").await;
    assert_eq!(world.value("SELECT x FROM lake.s.t").await, "1");
}
