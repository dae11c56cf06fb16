// SPDX-License-Identifier: Apache-2.0
//! What the server has counted: of indexes always, of other columns where somebody asked for it and the account may read it.

use crate::{Held, shared};
use std::sync::Arc;
use weir_source::{SourceTable, TableStatistics};

async fn statistics(held: &Held, schema: &str, name: &str) -> TableStatistics {
    let tables = held.discover().await.tables;
    let table: SourceTable = tables.into_iter().find(|table| table.schema == schema && table.name == name).unwrap();
    held.source.statistics(held.permit().await, &[Arc::new(table)]).await.unwrap().remove(0)
}

#[tokio::test]
async fn indexes_and_counted_columns() {
    let server = shared().await;
    server.create_database("counted").await.unwrap();
    let script = "CREATE TABLE `it's` (id INT PRIMARY KEY, kind VARCHAR(10), amount DECIMAL(12,2) NULL, day DATE, KEY (kind, day), KEY (day));
        INSERT INTO `it's` SELECT seq, CONCAT('k', seq % 10), IF(seq % 4 = 0, NULL, seq / 10), '2026-01-01' + INTERVAL seq % 50 DAY FROM seq_1_to_1000;
        ANALYZE TABLE `it's`";
    server.run("counted", script).await.unwrap();
    let held = Held::new(server.url("counted"));
    let found = statistics(&held, "counted", "it's").await;
    assert_eq!(found.rows, Some(1000));
    let distinct: Vec<Option<u64>> = found.columns.iter().map(|column| column.distinct).collect();
    assert_eq!((distinct[0], distinct[2]), (Some(1000), None));
    assert!(distinct[1].is_some_and(|distinct| (5..=20).contains(&distinct)), "{distinct:?}");
    let indexed: Vec<bool> = found.columns.iter().map(|column| column.indexed).collect();
    assert_eq!(indexed, [true, true, false, true]);
    assert_eq!(found.columns[2].null_fraction, None);

    server.run("counted", "ANALYZE TABLE `it's` PERSISTENT FOR ALL").await.unwrap();
    let found = statistics(&held, "counted", "it's").await;
    let amount = &found.columns[2];
    assert_eq!((amount.distinct, amount.null_fraction), (Some(750), Some(0.25)));
    assert_eq!((amount.quantiles.first(), amount.quantiles.last()), (Some(&0.1), Some(&99.9)));
}

#[tokio::test]
async fn an_account_that_may_not_read_what_was_counted_has_the_indexes() {
    let server = shared().await;
    server.create_database("counted_for_others").await.unwrap();
    let script = "CREATE TABLE t (id INT PRIMARY KEY, n INT); INSERT INTO t SELECT seq, seq FROM seq_1_to_100; ANALYZE TABLE t PERSISTENT FOR ALL;
        CREATE OR REPLACE USER counts@'%' IDENTIFIED BY 'counts'; GRANT SELECT ON counted_for_others.* TO counts@'%'";
    server.run("counted_for_others", script).await.unwrap();
    let held = Held::new(server.url_as("counts", "counts", "counted_for_others"));
    let found = statistics(&held, "counted_for_others", "t").await;
    assert_eq!((found.rows, found.columns[0].distinct, found.columns[1].distinct), (Some(100), Some(100), None));
}
