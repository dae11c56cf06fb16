// SPDX-License-Identifier: Apache-2.0
//! What ANALYZE has counted: of tables, of partitions and of tables that inherit, as far as the account may read it.

use crate::conformance::Subject;
use crate::{server, source, spec, subject};
use std::sync::Arc;
use weir_guard::Limits;
use weir_source::{TableStatistics, Value, connect};

async fn statistics(subject: &Subject, name: &str) -> TableStatistics {
    let table = Arc::new(subject.find(name).await);
    subject.source.statistics(subject.permit().await, &[table]).await.unwrap().remove(0)
}

const COUNTED: &str = "
    CREATE TABLE counted (id int PRIMARY KEY, kind text, amount numeric(12,2), day date, many int[], state text);
    INSERT INTO counted SELECT n, CASE WHEN n % 4 = 0 THEN NULL ELSE 'k' || n % 10 END, n / 10.0, date '2026-01-01' + n % 100,
        CASE WHEN n % 2 = 0 THEN ARRAY[n] ELSE ARRAY[n, n] END, CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'paid' END FROM generate_series(1, 1000) n;
    CREATE TABLE parted (id int, day date) PARTITION BY RANGE (id);
    CREATE TABLE parted_a PARTITION OF parted FOR VALUES FROM (0) TO (1000);
    CREATE TABLE parted_b PARTITION OF parted FOR VALUES FROM (1000) TO (3000);
    INSERT INTO parted SELECT n, date '2026-01-01' + n % 10 FROM generate_series(0, 2999) n;
    CREATE TABLE parent (id int); CREATE TABLE child (more int) INHERITS (parent);
    INSERT INTO parent SELECT generate_series(1, 100); INSERT INTO child SELECT n, n FROM generate_series(1, 900) n;
    CREATE TABLE never (id int);
    ANALYZE counted; ANALYZE parted_a; ANALYZE parted_b; ANALYZE child; ANALYZE parent;";

#[tokio::test]
async fn rows_values_and_their_spread_are_known() {
    let subject = subject("counted", COUNTED).await;
    let found = statistics(&subject, "counted").await;
    assert_eq!(found.rows, Some(1000));
    let [id, kind, amount, day, many, state] = found.columns.as_slice() else { panic!("{:?}", found.columns) };
    assert_eq!((id.distinct, id.null_fraction, id.indexed), (Some(1000), Some(0.0), true));
    assert_eq!((id.quantiles.first(), id.quantiles.last()), (Some(&1.0), Some(&1000.0)));
    assert_eq!((kind.distinct, kind.null_fraction, kind.indexed), (Some(10), Some(0.25), false));
    assert_eq!((amount.quantiles.first(), amount.quantiles.last()), (Some(&0.1), Some(&100.0)));
    assert_eq!(day.distinct, Some(100));
    assert!(many.quantiles.is_empty());
    let failed = state.common.iter().find(|(value, _)| *value == Value::Text("failed".into())).unwrap();
    assert!((failed.1 - 0.05).abs() < 1e-6, "{failed:?}");
    let never = statistics(&subject, "never").await;
    assert_eq!((never.rows, never.columns[0].distinct), (None, None));
}

#[tokio::test]
async fn parts_are_added_up() {
    let subject = subject("counted_parts", COUNTED).await;
    let parted = statistics(&subject, "parted").await;
    assert_eq!(parted.rows, Some(3000));
    // Each part has a range of ids of its own, and all have the same days.
    assert_eq!(parted.columns[0].distinct, Some(3000));
    assert_eq!(parted.columns[0].quantiles, [0.0, 2999.0]);
    assert_eq!((parted.columns[1].distinct, parted.columns[1].null_fraction), (Some(10), Some(0.0)));
    let parent = statistics(&subject, "parent").await;
    assert_eq!(parent.rows, Some(1000));
    assert_eq!(parent.columns[0].distinct, Some(900));
    assert_eq!(subject.find("parent").await.rows_estimate, Some(1000));

    server().await.run("counted_parts", "ANALYZE parted").await.unwrap();
    let whole = statistics(&subject, "parted").await;
    assert_eq!((whole.columns[0].distinct, whole.columns[1].distinct), (Some(3000), Some(10)));
}

#[tokio::test]
async fn what_the_account_may_not_read_is_unknown() {
    let rights = "CREATE ROLE counts LOGIN PASSWORD 'counts'; GRANT SELECT (id, kind) ON counted TO counts;";
    source("counted_rights", &format!("{COUNTED} {rights}")).await;
    let url = server().await.url_as("counts", "counts", "counted_rights");
    let limited = Subject::new(connect(spec(url)).unwrap(), Limits::default(), "public");
    let found = statistics(&limited, "counted").await;
    assert_eq!((found.rows, found.columns[0].distinct, found.columns[2].distinct), (Some(1000), Some(1000), None));
}
