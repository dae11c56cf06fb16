// SPDX-License-Identifier: Apache-2.0
//! Primaries and replicas: which may be read, how old what they say is, and what a conflict of recovery looks like.

use crate::conformance::{Subject, eventually, statement};
use crate::{server, source, spec};
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use futures::TryStreamExt;
use weir_base::{AsOfMethod, Clock, ErrorCode, SystemClock};
use weir_guard::Limits;
use weir_sandbox::Postgres;
use weir_source::{ServerRole, SourceSpec, connect};

const N: [(&str, DataType); 1] = [("n", DataType::Int32)];

fn careful(url: String) -> SourceSpec {
    SourceSpec { allow_primary: false, ..spec(url) }
}

fn subject_of(spec: SourceSpec) -> Subject {
    Subject::new(connect(spec).unwrap(), Limits::default(), "public")
}

#[tokio::test]
async fn a_primary_is_refused_unless_it_is_allowed() {
    source("primary", "CREATE TABLE t (id int);").await;
    let subject = subject_of(careful(server().await.url("primary")));
    let refused = subject.fetch("SELECT 1 AS n", &N).await.unwrap_err();
    assert_eq!((refused.code(), refused.message()), (ErrorCode::Forbidden, "source app_pg is a primary"));
    assert!(refused.hint().unwrap().contains("allow_primary: true"));
    assert_eq!(subject.source.discover(subject.permit().await).await.unwrap_err().code(), ErrorCode::Forbidden);
    // A probe says what it is.
    let health = subject.source.probe(subject.permit().await).await.unwrap();
    assert_eq!((health.role, health.account_note.as_deref()), (ServerRole::Primary, Some("superuser")));
    assert!(health.version.starts_with("PostgreSQL "));
    // The session that the probe made is not used for a statement.
    assert_eq!(subject.fetch("SELECT 1 AS n", &N).await.unwrap_err().code(), ErrorCode::Forbidden);
}

#[tokio::test]
async fn the_as_of_of_a_primary_is_its_clock() {
    let subject = subject_of(spec({
        source("clock", "").await;
        server().await.url("clock")
    }));
    let before = SystemClock.now();
    let fetched = subject.source.fetch(subject.permit().await, statement("SELECT 1 AS n", &N)).await.unwrap();
    let after = SystemClock.now();
    assert_eq!(fetched.as_of.method, AsOfMethod::Clock);
    assert!(before <= fetched.as_of.at && fetched.as_of.at <= after, "{before} {} {after}", fetched.as_of);
}

/// The whole life of a replica, in order: caught up, held back, in conflict, promoted.
#[tokio::test]
async fn a_replica_says_how_old_it_is() {
    let primary = Postgres::start().await.unwrap();
    primary.run("app", "CREATE TABLE t (id int); INSERT INTO t SELECT generate_series(1, 1000); CREATE UNLOGGED TABLE u (id int);").await.unwrap();
    let replica = primary.replica().await.unwrap();
    primary.wait_for(&replica).await.unwrap();
    let subject = subject_of(careful(replica.url("app")));

    // Caught up: as fresh as its own clock.
    let before = SystemClock.now();
    let fetched = subject.source.fetch(subject.permit().await, statement("SELECT id AS n FROM t", &N)).await.unwrap();
    assert_eq!(fetched.as_of.method, AsOfMethod::ReplicaReplay);
    assert!(fetched.as_of.at >= before, "{before} {}", fetched.as_of);
    drop(fetched);
    let found = subject.source.discover(subject.permit().await).await.unwrap();
    assert_eq!(found.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["t"]);
    assert_eq!(found.warnings, ["public.u is unlogged: a replica has no rows of it"]);
    assert_eq!(subject.source.probe(subject.permit().await).await.unwrap().role, ServerRole::Replica);

    held_back(&primary, &replica, &subject).await;
    in_conflict(&primary, &replica, &subject).await;

    replica.query("app", "SELECT pg_promote(true, 30)").await.unwrap();
    assert_eq!(subject.fetch("SELECT id AS n FROM t", &N).await.unwrap_err().code(), ErrorCode::Forbidden);
}

async fn held_back(primary: &Postgres, replica: &Postgres, subject: &Subject) {
    primary.run("app", "INSERT INTO t VALUES (0)").await.unwrap();
    primary.wait_for(replica).await.unwrap();
    replica.query("app", "SELECT pg_wal_replay_pause()").await.unwrap();
    eventually("the replay is paused", async || replica.query("app", "SELECT pg_get_wal_replay_pause_state()").await.unwrap().trim() == "paused").await;
    let replayed = replica.query("app", "SELECT (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000000)::int8").await.unwrap();
    primary.run("app", "INSERT INTO t VALUES (-1)").await.unwrap();
    let received = "SELECT pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn()";
    eventually("the replica has received more than it shows", async || replica.query("app", received).await.unwrap().trim() == "t").await;
    let fetched = subject.source.fetch(subject.permit().await, statement("SELECT id AS n FROM t WHERE id = -1", &N)).await.unwrap();
    assert_eq!(fetched.as_of.at.micros().to_string(), replayed.trim());
    let health = subject.source.probe(subject.permit().await).await.unwrap();
    assert!(health.replica_lag_ms.unwrap() > 0);
    replica.query("app", "SELECT pg_wal_replay_resume()").await.unwrap();
    primary.wait_for(replica).await.unwrap();
}

async fn in_conflict(primary: &Postgres, replica: &Postgres, subject: &Subject) {
    replica.query("app", "ALTER SYSTEM SET max_standby_streaming_delay = '50ms'").await.unwrap();
    replica.query("app", "SELECT pg_reload_conf()").await.unwrap();
    let active = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'weir/%' AND state = 'active'";
    let running = start(subject, "SELECT count(*)::int4 AS n FROM t, pg_sleep(2)").await;
    eventually("the statement runs", async || replica.query("app", active).await.unwrap().trim() == "1").await;
    primary.run("app", "DELETE FROM t; VACUUM t;").await.unwrap();
    // One conflict is tried again, from a new snapshot.
    assert_eq!(running.await.unwrap().unwrap(), ["0"]);

    // One conflict after the other is an error.
    let running = start(subject, "SELECT (SELECT count(*)::int4 FROM t) AS n FROM pg_sleep(60)").await;
    while !running.is_finished() {
        primary.run("app", "INSERT INTO t SELECT generate_series(1, 100); DELETE FROM t; VACUUM t;").await.unwrap();
    }
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::RecoveryConflict, "{error:?}");
}

/// A statement in a task of its own; gives the cells of its column `n`.
async fn start(subject: &Subject, sql: &'static str) -> tokio::task::JoinHandle<weir_base::Result<Vec<String>>> {
    let (source, permit) = (subject.source.clone(), subject.permit().await);
    tokio::spawn(async move {
        let batches: Vec<RecordBatch> = source.fetch(permit, statement(sql, &N)).await?.batches.try_collect().await?;
        Ok(batches.iter().flat_map(|batch| crate::cells(batch, "n")).collect())
    })
}
