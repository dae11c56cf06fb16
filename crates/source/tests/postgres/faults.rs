// SPDX-License-Identifier: Apache-2.0
//! What goes wrong, and what must not: cancels, timeouts, servers that die, writes, too many sessions.

use crate::conformance::{DEADLINE, Subject, eventually, statement};
use crate::{server, source, spec, subject};
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};
use weir_base::limits::{BATCH_ROWS_MAX, BATCHES_IN_FLIGHT_MAX};
use weir_base::{Error, ErrorCode, Result};
use weir_guard::{Limits, Outcome};
use weir_sandbox::Postgres;
use weir_source::{Fetched, connect};

/// In the select list it streams; in FROM the server would first write all of it to a file.
const NUMBERS: &str = "SELECT generate_series(1, 50000000) AS n";
const N: [(&str, DataType); 1] = [("n", DataType::Int32)];
const SLEEP: &str = "SELECT 1 AS n FROM pg_sleep(60)";

/// A superuser's view of the sessions of one database.
struct Watch {
    client: tokio_postgres::Client,
    database: String,
}

impl Watch {
    async fn over(server: &Postgres, database: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(&server.url("postgres"), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        Self { client, database: database.to_owned() }
    }

    async fn count(&self, condition: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' AND {condition}");
        self.client.query_one(&sql, &[&self.database]).await.unwrap().get(0)
    }

    async fn active(&self) -> i64 {
        self.count("state = 'active'").await
    }

    /// How long until no session runs anything.
    async fn until_quiet(&self) -> Duration {
        let began = Instant::now();
        while self.active().await > 0 {
            assert!(began.elapsed() < DEADLINE);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        began.elapsed()
    }

    async fn terminate_all(&self) {
        self.client.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", &[&self.database]).await.unwrap();
    }
}

async fn rest(fetched: Fetched) -> Result<usize> {
    let batches: Vec<RecordBatch> = fetched.batches.try_collect().await?;
    Ok(batches.iter().map(RecordBatch::num_rows).sum())
}

/// How soon a statement has to end that would run for hours. What it takes on a quiet machine is a figure of the benchmarks.
const QUIET_WITHIN: Duration = Duration::from_secs(3);
const ATTEMPTS: usize = 4;

#[tokio::test]
async fn a_cancel_ends_the_statement_at_once() {
    let subject = subject("cancel", "").await;
    let watch = Watch::over(server().await, "cancel").await;
    for sql in [SLEEP, NUMBERS, "SELECT count(*)::int4 AS n FROM generate_series(1, 10000) a, generate_series(1, 1000000) b"] {
        let mut soonest = Duration::MAX;
        for _ in 0..ATTEMPTS {
            soonest = soonest.min(cancelled_after(&subject, &watch, sql).await);
            if soonest < QUIET_WITHIN {
                break;
            }
        }
        assert!(soonest < QUIET_WITHIN, "{sql} ran on for {soonest:?}");
    }
}

/// Begins a statement, cancels it, and says how long it took to end.
async fn cancelled_after(subject: &Subject, watch: &Watch, sql: &'static str) -> Duration {
    let (permit, ledger, cancel) = subject.watched_permit().await;
    let running = tokio::spawn({
        let source = subject.source.clone();
        async move { rest(source.fetch(permit, statement(sql, &N)).await?).await }
    });
    eventually("the statement runs", async || watch.active().await == 1).await;
    cancel.cancel();
    let quiet = watch.until_quiet().await;
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert!(error.detail().unwrap().contains("while it read source app_pg"), "{error:?}");
    assert_eq!(ledger.read()[0].outcome, Outcome::Cancelled);
    quiet
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_statement() {
    let subject = subject("vanish", "").await;
    let watch = Watch::over(server().await, "vanish").await;
    let mut fetched = subject.source.fetch(subject.permit().await, statement(NUMBERS, &N)).await.unwrap();
    fetched.batches.next().await.unwrap().unwrap();
    assert_eq!(watch.active().await, 1);
    drop(fetched);
    let quiet = watch.until_quiet().await;
    assert!(quiet < QUIET_WITHIN, "it ran on for {quiet:?}");

    // The caller gives up before the first batch.
    let (source, permit) = (subject.source.clone(), subject.permit().await);
    let waiting = tokio::spawn(async move { source.fetch(permit, statement(SLEEP, &N)).await.map(|_| ()) });
    eventually("the statement runs", async || watch.active().await == 1).await;
    waiting.abort();
    assert!(watch.until_quiet().await < QUIET_WITHIN);
    eventually("the permits are given back", async || subject.guard.load().in_use == 0).await;
}

/// A reader that does not read holds the server back; nothing piles up here.
#[tokio::test]
async fn a_slow_reader_slows_the_server() {
    let subject = subject("slow", "").await;
    let watch = Watch::over(server().await, "slow").await;
    let (permit, ledger, _cancel) = subject.watched_permit().await;
    let fetched =
        subject.source.fetch(permit, statement("SELECT repeat('x', 1000 + 0 * generate_series(1, 10000000)) AS n", &[("n", DataType::Utf8)])).await.unwrap();
    eventually("the server waits for us", async || watch.count("wait_event = 'ClientWrite'").await == 1).await;
    let rows = ledger.read()[0].rows as usize;
    assert!(rows <= (BATCHES_IN_FLIGHT_MAX + 2) * BATCH_ROWS_MAX, "{rows} rows were taken");
    drop(fetched);
    assert!(watch.until_quiet().await < QUIET_WITHIN);
}

#[tokio::test]
async fn a_statement_timeout_is_told_from_a_cancel() {
    server().await.run("timeout", "").await.unwrap();
    let limits = Limits { statement_timeout: Duration::from_millis(200), ..Limits::default() };
    let mut spec = spec(server().await.url("timeout"));
    spec.limits = limits.clone();
    let subject = Subject::new(connect(spec).unwrap(), limits, "public");
    let error = subject.fetch(SLEEP, &N).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    assert!(error.detail().unwrap().starts_with("statement timeout"), "{error:?}");
}

#[tokio::test]
async fn a_server_that_dies_is_an_error_and_never_a_short_answer() {
    let mut server = Postgres::start().await.unwrap();
    server.create_database("app").await.unwrap();
    let subject = Subject::new(connect(spec(server.url("app"))).unwrap(), Limits::default(), "public");
    let mut fetched = subject.source.fetch(subject.permit().await, statement(NUMBERS, &N)).await.unwrap();
    fetched.batches.next().await.unwrap().unwrap();
    server.stop_hard().unwrap();
    assert_eq!(rest(fetched).await.unwrap_err().code(), ErrorCode::SourceBroke);
    let error = subject.fetch("SELECT 1 AS n", &N).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceUnreachable, "{error:?}");
    server.restart().await.unwrap();
    assert_eq!(subject.fetch("SELECT 1 AS n", &N).await.unwrap().num_rows(), 1);
}

#[tokio::test]
async fn a_terminated_session_is_an_error_in_use_and_replaced_when_idle() {
    let subject = subject("terminated", "").await;
    let watch = Watch::over(server().await, "terminated").await;
    let mut fetched = subject.source.fetch(subject.permit().await, statement(NUMBERS, &N)).await.unwrap();
    fetched.batches.next().await.unwrap().unwrap();
    watch.terminate_all().await;
    assert_eq!(rest(fetched).await.unwrap_err().code(), ErrorCode::SourceBroke);
    for _ in 0..20 {
        assert_eq!(subject.fetch("SELECT 1 AS n", &N).await.unwrap().num_rows(), 1);
        watch.terminate_all().await;
    }
}

#[tokio::test]
async fn an_error_in_the_middle_comes_out_of_the_stream() {
    let subject = subject("middle", "").await;
    let watch = Watch::over(server().await, "middle").await;
    let sql = "SELECT 1 / (40000 - n) AS n FROM generate_series(1, 50000) n";
    let mut fetched = subject.source.fetch(subject.permit().await, statement(sql, &N)).await.unwrap();
    assert_eq!(fetched.batches.next().await.unwrap().unwrap().num_rows(), BATCH_ROWS_MAX);
    let error = rest(fetched).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DivisionByZero);
    // The session was at rest and is used again.
    assert_eq!(subject.fetch("SELECT pg_backend_pid() AS n", &N).await.unwrap().num_rows(), 1);
    assert_eq!(watch.count("true").await, 1);
}

/// Whatever the account may do: no statement writes, and none can switch that off for the next.
#[tokio::test]
async fn nothing_is_written_even_by_a_superuser() {
    let script = "
        CREATE TABLE target (id int);
        CREATE FUNCTION write() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN INSERT INTO target VALUES (1); RETURN 1; END';
        CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN PERFORM set_config(''default_transaction_read_only'', ''off'', false); RETURN 1; END';
        CREATE FUNCTION force() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN SET transaction_read_only = off; INSERT INTO target VALUES (1); RETURN 1; END';";
    source("readonly", script).await;
    for word in ["auto", "compatible"] {
        let mut spec = spec(server().await.url("readonly"));
        spec.options.insert("server".into(), word.into());
        let subject = Subject::new(connect(spec).unwrap(), Limits::default(), "public");
        let error = subject.fetch("SELECT write() AS n", &N).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ReadOnlySource, "{error:?}");
        let _allowed = subject.fetch("SELECT sneak() AS n", &N).await;
        let error = subject.fetch("SELECT write() AS n", &N).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ReadOnlySource, "{error:?}");
        assert!(subject.fetch("SELECT force() AS n", &N).await.is_err());
    }
    assert_eq!(server().await.query("readonly", "SELECT count(*) FROM target").await.unwrap().trim(), "0");
}

/// Fifty readers, some of which leave early: the server never sees more sessions than the cap, idle ones and cancelled ones included.
#[tokio::test]
async fn sessions_never_pass_the_cap() {
    let limits = Limits { connections: 3, ..Limits::default() };
    server().await.run("cap", "").await.unwrap();
    let mut spec = spec(server().await.url("cap"));
    spec.limits = limits.clone();
    let subject = Arc::new(Subject::new(connect(spec).unwrap(), limits, "public"));
    let watch = Watch::over(server().await, "cap").await;
    let (done, most) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
    let watching = tokio::spawn({
        let (done, most) = (done.clone(), most.clone());
        async move {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(watch.count("true").await, Ordering::Relaxed);
            }
            assert_eq!(watch.count("state LIKE 'idle in transaction%'").await, 0);
        }
    });
    let one = async |reader: usize| {
        let mut fetched = subject.source.fetch(subject.permit().await, statement("SELECT n FROM generate_series(1, 30000) n", &N)).await?;
        fetched.batches.next().await.transpose()?;
        if usize::is_multiple_of(reader, 3) { Ok(30_000) } else { rest(fetched).await.map(|rows| rows + BATCH_ROWS_MAX) }
    };
    let counts: Vec<Result<usize, Error>> = futures::future::join_all((0..50).map(one)).await;
    done.store(true, Ordering::Relaxed);
    watching.await.unwrap();
    assert!(counts.iter().all(|count| *count.as_ref().unwrap() == 30_000), "{counts:?}");
    let most = most.load(Ordering::Relaxed);
    assert!((2..=3).contains(&most), "{most} sessions");
}

/// The source's own log and monitoring show who asked.
#[tokio::test]
async fn the_asking_user_and_query_are_visible_at_the_source() {
    let subject = subject("attributed", "").await;
    let watch = Watch::over(server().await, "attributed").await;
    let (permit, _ledger, cancel) = subject.watched_permit().await;
    let asked = statement(SLEEP, &N);
    let query_id = asked.query_id;
    let running = tokio::spawn({
        let source = subject.source.clone();
        async move { source.fetch(permit, asked).await.map(|_| ()) }
    });
    let condition =
        format!("state = 'active' AND application_name = 'weir/ana/{query_id}' AND query LIKE '/* weir user=ana query={query_id} */ COPY (SELECT%'");
    eventually("the statement is attributed", async || watch.count(&condition).await == 1).await;
    cancel.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
}

#[tokio::test]
async fn closing_ends_idle_sessions() {
    let subject = subject("closing", "").await;
    let watch = Watch::over(server().await, "closing").await;
    subject.fetch("SELECT 1 AS n", &N).await.unwrap();
    assert_eq!(watch.count("state = 'idle'").await, 1);
    subject.source.close().await;
    assert_eq!(watch.count("true").await, 0);
}
