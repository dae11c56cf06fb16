// SPDX-License-Identifier: Apache-2.0
//! The control store: history written in the background, read back as plain structs.

use crate::pending::Pending;
use crate::usage::{DailyUsage, Usage, midnight};
use crate::writer::{Counts, Writer};
use crate::{HistoryFilter, LogStats, LoggedStatement, QueryRecord, ReceiptRecord, StatementRecord, migrations};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions, Row, SqliteConnection};
use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use weir_base::limits::{QUERY_LOG_ROWS_MAX, RECEIPTS_KEPT_MAX};
use weir_base::{Clock, Error, ErrorCode, QueryId, Result, SessionId, SourceName, Timestamp, UserName};

/// Records that may wait for the writer.
const PENDING_RECORDS_MAX: usize = 10_000;
/// How long a reader waits for records on their way, and a shutdown for the last ones.
const FLUSH_WAIT_MAX: Duration = Duration::from_secs(5);
const READERS_MAX: u32 = 2;

/// How much history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub queries_max: usize,
    pub receipts_max: usize,
    /// Records that may wait to be written before the oldest go.
    pub pending_max: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self { queries_max: QUERY_LOG_ROWS_MAX, receipts_max: RECEIPTS_KEPT_MAX, pending_max: PENDING_RECORDS_MAX }
    }
}

/// The store. Shared; one per data directory.
#[derive(Debug)]
pub struct ControlStore {
    readers: SqlitePool,
    pending: Arc<Pending>,
    counts: Arc<Counts>,
    usage: DailyUsage,
    clock: Arc<dyn Clock>,
    task: Mutex<Option<Task>>,
}

#[derive(Debug)]
struct Task {
    stop: oneshot::Sender<()>,
    done: JoinHandle<()>,
}

impl ControlStore {
    /// Opens or makes the store and starts its writer (on the current tokio runtime).
    /// Errors: a file that is broken, cannot be written, or was written by a newer Weir.
    pub async fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Arc<Self>> {
        Self::open_with(path, clock, Retention::default()).await
    }

    pub async fn open_with(path: &Path, clock: Arc<dyn Clock>, retention: Retention) -> Result<Arc<Self>> {
        let broken = |error: sqlx::Error| unusable(path, &error);
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(5));
        let mut connection = options.connect().await.map_err(broken)?;
        let version = migrations::version(&mut connection).await.map_err(broken)?;
        if version > migrations::VERSION {
            return Err(too_new(path, version));
        }
        migrations::migrate(&mut connection).await.map_err(broken)?;
        let now = clock.now();
        mark_lost(&mut connection, now).await.map_err(broken)?;
        let sums = load_usage(&mut connection, now).await.map_err(broken)?;
        let readers = SqlitePoolOptions::new().max_connections(READERS_MAX).connect_lazy_with(options.read_only(true));

        let pending = Arc::new(Pending::new(retention.pending_max));
        let counts = Arc::new(Counts::default());
        // Everything is unpruned at the start, so that a lowered limit takes effect with the first batch.
        let writer = Writer { connection, pending: pending.clone(), counts: counts.clone(), retention, unpruned: retention.queries_max };
        let (stop, stopped) = oneshot::channel();
        let task = Task { stop, done: tokio::spawn(writer.run(stopped)) };
        let usage = DailyUsage::load(now, sums);
        Ok(Arc::new(Self { readers, pending, counts, usage, clock, task: Mutex::new(Some(task)) }))
    }

    /// Takes a query into the history. Never waits and never fails: the log must not take the service down.
    pub fn record(&self, record: QueryRecord) {
        self.usage.add(&record);
        self.pending.push(record);
    }

    /// What the user took out of the source since midnight UTC, unwritten records included.
    pub fn used_today(&self, user: &UserName, source: &SourceName) -> Usage {
        self.usage.read(self.clock.now(), user, source)
    }

    pub fn stats(&self) -> LogStats {
        LogStats {
            written_count: self.counts.written.load(Ordering::SeqCst),
            dropped_count: self.pending.dropped_count(),
            failed_count: self.counts.failed.load(Ordering::SeqCst),
            pending_count: self.pending.waiting_count(),
        }
    }

    /// Waits until everything recorded so far is in the store. False when that took too long.
    pub async fn flush(&self) -> bool {
        tokio::time::timeout(FLUSH_WAIT_MAX, self.pending.drained()).await.unwrap_or(false)
    }

    /// Writes what is left and ends the writer. Records that come later are lost.
    pub async fn close(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(task) = task else { return };
        // A writer that has ended already needs no telling.
        let told = task.stop.send(()).is_ok();
        let ended = tokio::time::timeout(FLUSH_WAIT_MAX, task.done).await;
        if !told || !matches!(ended, Ok(Ok(()))) {
            tracing::error!(stats = ?self.stats(), "query log writer did not end cleanly");
        }
        self.readers.close().await;
    }

    /// Queries, newest first, without their statements.
    pub async fn queries(&self, filter: &HistoryFilter) -> Result<Vec<QueryRecord>> {
        self.flush().await;
        let select = "SELECT * FROM queries WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR session = ?2)
            ORDER BY started_us DESC, id DESC LIMIT ?3";
        self.read(select, filter, query_of).await
    }

    /// Statements with their queries, newest query first.
    pub async fn statements(&self, filter: &HistoryFilter) -> Result<Vec<LoggedStatement>> {
        self.flush().await;
        let select = "SELECT s.*, q.user, q.started_us FROM statements s JOIN queries q ON q.id = s.query_id
            WHERE (?1 IS NULL OR q.user = ?1) AND (?2 IS NULL OR q.session = ?2)
            ORDER BY q.started_us DESC, s.query_id DESC, s.position LIMIT ?3";
        self.read(select, filter, statement_of).await
    }

    /// Receipts, newest first.
    pub async fn receipts(&self, filter: &HistoryFilter) -> Result<Vec<ReceiptRecord>> {
        self.flush().await;
        let select = "SELECT * FROM receipts WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR session = ?2)
            ORDER BY ended_us DESC, query_id DESC LIMIT ?3";
        self.read(select, filter, receipt_of).await
    }

    async fn read<T>(&self, select: &'static str, filter: &HistoryFilter, parse: fn(&SqliteRow) -> sqlx::Result<T>) -> Result<Vec<T>> {
        let rows = sqlx::query(select)
            .bind(filter.user.as_ref().map(|user| user.as_str().to_owned()))
            .bind(filter.session.map(|session| session.to_string()))
            .bind(filter.rows_max.map_or(-1, |rows| rows as i64))
            .fetch_all(&self.readers)
            .await
            .map_err(|error| unreadable(&error))?;
        rows.iter().map(|row| parse(row).map_err(|error| unreadable(&error))).collect()
    }
}

/// Queries that were running when Weir ended will never tell how they ended.
async fn mark_lost(connection: &mut SqliteConnection, now: Timestamp) -> sqlx::Result<()> {
    sqlx::query("UPDATE queries SET state = 'lost', ended_us = ?, error = 'weir ended before the query did' WHERE ended_us IS NULL")
        .bind(now.micros())
        .execute(connection)
        .await?;
    Ok(())
}

async fn load_usage(connection: &mut SqliteConnection, now: Timestamp) -> sqlx::Result<HashMap<(UserName, SourceName), Usage>> {
    let select = "SELECT q.user AS user, s.source AS source, SUM(s.rows) AS rows, SUM(s.bytes) AS bytes
        FROM queries q JOIN statements s ON s.query_id = q.id WHERE q.ended_us >= ? GROUP BY q.user, s.source";
    let rows = sqlx::query(select).bind(midnight(now).micros()).fetch_all(connection).await?;
    let parse = |row: &SqliteRow| {
        let key = (UserName::new(text(row, "user")?), SourceName::new(text(row, "source")?));
        Ok((key, Usage { rows: count(row, "rows")?, bytes: count(row, "bytes")? }))
    };
    rows.iter().map(parse).collect()
}

fn query_of(row: &SqliteRow) -> sqlx::Result<QueryRecord> {
    Ok(QueryRecord {
        id: parsed(row, "id")?,
        session: session(row)?,
        user: UserName::new(text(row, "user")?),
        door: text(row, "door")?,
        sql: text(row, "sql")?,
        started_at: instant(row, "started_us")?,
        ended_at: row.try_get::<Option<i64>, _>("ended_us")?.map(Timestamp::from_micros),
        state: text(row, "state")?,
        rows_returned: count(row, "rows_returned")?,
        error_code: row.try_get("error_code")?,
        error: row.try_get("error")?,
        as_of: row.try_get::<Option<i64>, _>("as_of_us")?.map(Timestamp::from_micros),
        elapsed_ms: row.try_get("elapsed_ms")?,
        statements: Vec::new(),
        receipt: None,
    })
}

fn statement_of(row: &SqliteRow) -> sqlx::Result<LoggedStatement> {
    let statement = StatementRecord {
        source: SourceName::new(text(row, "source")?),
        sql: text(row, "sql")?,
        forecast_rows: optional_count(row, "forecast_rows")?,
        forecast_bytes: optional_count(row, "forecast_bytes")?,
        rows: count(row, "rows")?,
        bytes: count(row, "bytes")?,
        ms: row.try_get("ms")?,
        queued_ms: row.try_get("queued_ms")?,
        outcome: text(row, "outcome")?,
    };
    let user = UserName::new(text(row, "user")?);
    Ok(LoggedStatement { query_id: parsed(row, "query_id")?, user, started_at: instant(row, "started_us")?, statement })
}

fn receipt_of(row: &SqliteRow) -> sqlx::Result<ReceiptRecord> {
    Ok(ReceiptRecord {
        query_id: parsed(row, "query_id")?,
        session: session(row)?,
        user: UserName::new(text(row, "user")?),
        ended_at: instant(row, "ended_us")?,
        receipt: text(row, "receipt")?,
    })
}

fn text(row: &SqliteRow, column: &str) -> sqlx::Result<String> {
    row.try_get(column)
}

fn count(row: &SqliteRow, column: &str) -> sqlx::Result<u64> {
    Ok(row.try_get::<i64, _>(column)?.max(0) as u64)
}

fn optional_count(row: &SqliteRow, column: &str) -> sqlx::Result<Option<u64>> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(|count| count.max(0) as u64))
}

fn instant(row: &SqliteRow, column: &str) -> sqlx::Result<Timestamp> {
    row.try_get(column).map(Timestamp::from_micros)
}

fn parsed(row: &SqliteRow, column: &str) -> sqlx::Result<QueryId> {
    QueryId::from_str(&text(row, column)?).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

fn session(row: &SqliteRow) -> sqlx::Result<SessionId> {
    SessionId::from_str(&text(row, "session")?).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

fn too_new(path: &Path, version: i64) -> Error {
    Error::new(ErrorCode::Config, "control store was written by a newer weir")
        .with_detail(format!("{} has version {version}, this weir knows up to {}", path.display(), migrations::VERSION))
        .with_hint("run the newer weir, or give this one another data_dir")
}

/// Errors of SQLite name files and tables, never values.
fn unusable(path: &Path, error: &sqlx::Error) -> Error {
    let text = error.to_string();
    let (code, hint) = match () {
        () if text.contains("full") => (ErrorCode::OutOfResources, "free some disk space"),
        () if text.contains("malformed") || text.contains("not a database") => {
            (ErrorCode::Config, "move the file away; weir makes a new one, and only the history of queries is lost")
        }
        () => (ErrorCode::Config, "the data_dir must be a folder on a local disk that this user may write to"),
    };
    Error::new(code, "control store cannot be opened").with_detail(format!("{}: {text}", path.display())).with_hint(hint)
}

fn unreadable(error: &sqlx::Error) -> Error {
    Error::new(ErrorCode::OutOfResources, "query history cannot be read").with_detail(error.to_string())
}
