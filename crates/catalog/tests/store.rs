// SPDX-License-Identifier: Apache-2.0
//! The control store on real files: what is recorded is read back, kept within bounds, and survives a restart.

use sqlx::{ConnectOptions, Executor};
use std::path::Path;
use std::sync::Arc;
use weir_base::{ErrorCode, ManualClock, QueryId, SessionId, SourceName, Timestamp, UserName};
use weir_catalog::{ControlStore, HistoryFilter, LogStats, QueryRecord, Retention, StatementRecord, Usage};

/// 2026-11-30 12:00:00 UTC.
const NOON: Timestamp = Timestamp::from_millis(1_796_040_000_000);
const HOUR_MS: i64 = 3_600_000;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(NOON))
}

fn statement(source: &str, rows: u64) -> StatementRecord {
    StatementRecord {
        source: SourceName::new(source),
        sql: "SELECT c1 FROM t".into(),
        forecast_rows: Some(rows + 1),
        forecast_bytes: None,
        rows,
        bytes: rows * 10,
        ms: 1.5,
        queued_ms: 0.25,
        outcome: "done".into(),
    }
}

fn ended(user: &str, started_at: Timestamp, statements: Vec<StatementRecord>) -> QueryRecord {
    QueryRecord {
        id: QueryId::fresh(),
        session: SessionId::fresh(),
        user: UserName::new(user),
        door: "cli".into(),
        sql: "SELECT 'naïve'".into(),
        started_at,
        ended_at: Some(Timestamp::from_micros(started_at.micros() + 2_000)),
        state: "finished".into(),
        rows_returned: 3,
        error_code: None,
        error: None,
        as_of: Some(started_at),
        elapsed_ms: 2.0,
        statements,
        receipt: Some("{\"cache\":\"none\"}".into()),
    }
}

async fn open(path: &Path) -> Arc<ControlStore> {
    ControlStore::open(path, clock()).await.unwrap()
}

fn of(user: &str) -> HistoryFilter {
    HistoryFilter { user: Some(UserName::new(user)), ..HistoryFilter::default() }
}

#[tokio::test]
async fn what_is_recorded_is_read_back_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.db");
    let store = open(&path).await;
    let record = ended("ana", NOON, vec![statement("app_pg", 4), statement("billing_mysql", 5)]);
    let other = ended("bo", Timestamp::from_millis(NOON.millis() + 1), vec![]);
    store.record(record.clone());
    store.record(other.clone());
    assert!(store.flush().await);
    store.close().await;
    let store = open(&path).await;
    let bare = |record: &QueryRecord| QueryRecord { statements: vec![], receipt: None, ..record.clone() };
    assert_eq!(store.queries(&HistoryFilter::default()).await.unwrap(), vec![bare(&other), bare(&record)]);
    assert_eq!(store.queries(&of("ana")).await.unwrap(), vec![bare(&record)]);
    let statements = store.statements(&of("ana")).await.unwrap();
    assert_eq!(statements.iter().map(|logged| logged.statement.clone()).collect::<Vec<_>>(), record.statements);
    assert!(statements.iter().all(|logged| logged.query_id == record.id && logged.started_at == NOON));
    let receipts = store.receipts(&HistoryFilter { session: Some(record.session), ..HistoryFilter::default() }).await.unwrap();
    assert_eq!(receipts.iter().map(|receipt| (receipt.query_id, receipt.receipt.as_str())).collect::<Vec<_>>(), vec![(record.id, "{\"cache\":\"none\"}")]);
}

#[tokio::test]
async fn a_query_is_one_row_from_its_start_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.db");
    let store = open(&path).await;
    let end = ended("ana", NOON, vec![statement("app_pg", 1)]);
    let start = QueryRecord { ended_at: None, state: "running".into(), statements: vec![], receipt: None, ..end.clone() };
    store.record(start.clone());
    assert_eq!(store.queries(&of("ana")).await.unwrap()[0].state, "running");
    store.record(end);
    let queries = store.queries(&of("ana")).await.unwrap();
    assert_eq!((queries.len(), queries[0].state.as_str()), (1, "finished"));
    let never_ended = QueryRecord { id: QueryId::fresh(), ..start };
    store.record(never_ended.clone());
    store.close().await;
    let lost = open(&path).await.queries(&of("ana")).await.unwrap().into_iter().find(|query| query.id == never_ended.id).unwrap();
    assert_eq!((lost.state.as_str(), lost.ended_at), ("lost", Some(NOON)));
}

#[tokio::test]
async fn usage_is_per_user_and_source_since_midnight() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.db");
    let clock = clock();
    let store = ControlStore::open(&path, clock.clone()).await.unwrap();
    let yesterday = Timestamp::from_millis(NOON.millis() - 13 * HOUR_MS);
    store.record(ended("ana", yesterday, vec![statement("app_pg", 1000)]));
    store.record(ended("ana", NOON, vec![statement("app_pg", 4), statement("app_pg", 6), statement("lake", 1)]));
    store.record(ended("bo", NOON, vec![statement("app_pg", 7)]));
    let (ana, app_pg) = (UserName::new("ana"), SourceName::new("app_pg"));
    assert_eq!(store.used_today(&ana, &app_pg), Usage { rows: 10, bytes: 100 });
    store.close().await;
    let reopened = ControlStore::open(&path, clock.clone()).await.unwrap();
    assert_eq!(reopened.used_today(&ana, &app_pg), Usage { rows: 10, bytes: 100 });
    clock.advance_ms(12 * HOUR_MS);
    assert_eq!(reopened.used_today(&ana, &app_pg), Usage::default());
}

#[tokio::test]
async fn only_the_newest_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.db");
    let retention = Retention { queries_max: 50, receipts_max: 10, ..Retention::default() };
    let store = ControlStore::open_with(&path, clock(), retention).await.unwrap();
    for second in 0..200 {
        store.record(ended("ana", Timestamp::from_millis(NOON.millis() + second * 1000), vec![statement("app_pg", 1)]));
        store.flush().await;
    }
    let queries = store.queries(&HistoryFilter::default()).await.unwrap();
    assert_eq!(queries.len(), 50);
    assert_eq!(queries[0].started_at.millis(), NOON.millis() + 199_000);
    assert_eq!(store.statements(&HistoryFilter::default()).await.unwrap().len(), 50);
    assert_eq!(store.receipts(&HistoryFilter::default()).await.unwrap().len(), 10);
    assert_eq!(store.queries(&HistoryFilter { rows_max: Some(3), ..HistoryFilter::default() }).await.unwrap().len(), 3);
}

/// On a runtime with one thread the writer cannot run while we record, so the queue is certain to overflow.
#[tokio::test]
async fn a_full_queue_drops_the_oldest_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention { pending_max: 8, ..Retention::default() };
    let store = ControlStore::open_with(&folder.path().join("weir.db"), clock(), retention).await.unwrap();
    let records: Vec<QueryRecord> = (0..20).map(|ms| ended("ana", Timestamp::from_millis(ms), vec![])).collect();
    records.iter().for_each(|record| store.record(record.clone()));
    assert!(store.flush().await);
    assert_eq!(store.stats(), LogStats { written_count: 8, dropped_count: 12, failed_count: 0, pending_count: 0 });
    let kept: Vec<QueryId> = store.queries(&HistoryFilter::default()).await.unwrap().iter().map(|query| query.id).collect();
    assert_eq!(kept, records[12..].iter().rev().map(|record| record.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_store_that_breaks_at_run_time_is_counted_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weir.db");
    let store = open(&path).await;
    let mut saboteur = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    saboteur.execute("ALTER TABLE queries RENAME TO hidden").await.unwrap();
    store.record(ended("ana", NOON, vec![statement("app_pg", 2)]));
    assert!(store.flush().await);
    assert_eq!(store.stats(), LogStats { written_count: 0, dropped_count: 0, failed_count: 1, pending_count: 0 });
    assert_eq!(store.queries(&of("ana")).await.unwrap_err().code(), ErrorCode::OutOfResources);
    assert_eq!(store.used_today(&UserName::new("ana"), &SourceName::new("app_pg")).rows, 2);
    saboteur.execute("ALTER TABLE hidden RENAME TO queries").await.unwrap();
    store.record(ended("ana", NOON, vec![]));
    assert_eq!(store.queries(&of("ana")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn broken_and_newer_files_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.db");
    std::fs::write(&broken, "this is not a database, it only has the name of one ".repeat(100)).unwrap();
    let error = ControlStore::open(&broken, clock()).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::Config, "control store cannot be opened"));
    assert_eq!(error.hint(), Some("move the file away; weir makes a new one, and only the history of queries is lost"));

    let newer = folder.path().join("newer.db");
    let mut connection = sqlx::sqlite::SqliteConnectOptions::new().filename(&newer).create_if_missing(true).connect().await.unwrap();
    connection.execute("PRAGMA user_version = 999").await.unwrap();
    drop(connection);
    let error = ControlStore::open(&newer, clock()).await.unwrap_err();
    assert_eq!(error.message(), "control store was written by a newer weir");

    let nowhere = folder.path().join("absent/weir.db");
    assert_eq!(ControlStore::open(&nowhere, clock()).await.unwrap_err().code(), ErrorCode::Config);
}
