// SPDX-License-Identifier: Apache-2.0
//! A table read in parts under one snapshot, on a primary and on a hot standby.

use crate::conformance::{Subject, statement};
use crate::spec;
use arrow::datatypes::DataType;
use futures::TryStreamExt;
use tokio_util::sync::CancellationToken;
use weir_guard::{Ledger, Limits};
use weir_sandbox::Postgres;
use weir_source::connect;

const N: [(&str, DataType); 1] = [("n", DataType::Int32)];

#[tokio::test]
async fn parts_are_the_whole_on_a_primary_and_on_a_replica() {
    let primary = Postgres::start().await.unwrap();
    primary.run("app", "CREATE TABLE t AS SELECT n FROM generate_series(1, 50000) n; ANALYZE t;").await.unwrap();
    let replica = primary.replica().await.unwrap();
    primary.wait_for(&replica).await.unwrap();
    for url in [primary.url("app"), replica.url("app")] {
        let mut spec = spec(url.clone());
        spec.options.insert("parallel_reads".into(), "3".into());
        let subject = Subject::new(connect(spec).unwrap(), Limits { connections: 8, ..Limits::default() }, "public");
        let table = subject.find("t").await;
        let conditions = subject.source.parts(&table, 3).unwrap();
        let whole = statement("SELECT n FROM t", &N);
        let parts: Vec<_> = conditions.iter().map(|condition| statement(&format!("SELECT n FROM t WHERE {condition}"), &N)).collect();
        let (ledger, cancel) = (Ledger::new(), CancellationToken::new());
        let admission = subject.guard.admit(&weir_guard::Asker::house(), 1, &ledger, &cancel, |_| ()).await.unwrap();
        let mut permits = vec![admission.permit().await.unwrap()];
        permits.extend(admission.spare(2));
        let fetched = subject.source.fetch_parts(permits, whole, parts).await.unwrap();
        assert_eq!(fetched.len(), 3, "{url}: the snapshot is shared");
        let mut read: Vec<i32> = Vec::new();
        for part in fetched {
            let batches: Vec<_> = part.batches.try_collect().await.unwrap();
            let before = read.len();
            for batch in &batches {
                read.extend(crate::cells(batch, "n").iter().map(|cell| cell.parse::<i32>().unwrap()));
            }
            assert!(read.len() > before, "each part has rows");
        }
        read.sort_unstable();
        assert_eq!(read, (1..=50_000).collect::<Vec<_>>());
        assert!(ledger.read().iter().all(|reading| reading.sql.contains("ctid")), "the ledger has the texts that were sent");
    }
}

#[tokio::test]
async fn a_number_of_readers_that_is_none_is_refused() {
    for word in ["0", "17", "many"] {
        let mut wrong = spec("postgres://u@h/d".into());
        wrong.options.insert("parallel_reads".into(), word.into());
        assert_eq!(connect(wrong).err().unwrap().message(), "parallel_reads is a number from 1 to 16", "{word}");
    }
}
