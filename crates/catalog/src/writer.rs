// SPDX-License-Identifier: Apache-2.0
//! The one task that writes the history, in batches. A store that fails is counted and said; queries go on.

use crate::history::bounded;
use crate::pending::Pending;
use crate::{QueryRecord, Retention, StatementRecord};
use sqlx::{Connection, SqliteConnection};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::oneshot;

/// Records in one transaction, at the most.
const BATCH_RECORDS_MAX: usize = 500;

/// What the writer counts; shared with the store.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) written: AtomicU64,
    pub(crate) failed: AtomicU64,
}

pub(crate) struct Writer {
    pub(crate) connection: SqliteConnection,
    pub(crate) pending: Arc<Pending>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) retention: Retention,
    pub(crate) unpruned: usize,
}

impl Writer {
    /// Writes until told to stop, and then once more what is left.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        loop {
            self.drain().await;
            tokio::select! {
                () = self.pending.arrival() => {}
                _ = &mut stop => break,
            }
        }
        self.drain().await;
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "control store could not be closed cleanly");
        }
    }

    async fn drain(&mut self) {
        loop {
            let batch = self.pending.take(BATCH_RECORDS_MAX);
            if batch.is_empty() {
                return;
            }
            let count = batch.len() as u64;
            match self.write(&batch).await {
                Ok(()) => {
                    self.counts.written.fetch_add(count, Ordering::SeqCst);
                }
                Err(error) => self.failed(count, &error),
            }
            self.pending.settle(count);
        }
    }

    fn failed(&self, count: u64, error: &sqlx::Error) {
        let before = self.counts.failed.fetch_add(count, Ordering::SeqCst);
        // Said at the first failure and then about each thousandth record.
        if before == 0 || before / 1000 != (before + count) / 1000 {
            tracing::error!(%error, failed = before + count, "query log cannot be written; queries go on without it");
        }
    }

    async fn write(&mut self, batch: &[QueryRecord]) -> sqlx::Result<()> {
        let mut transaction = self.connection.begin().await?;
        for record in batch {
            if !write_query(&mut transaction, record).await? {
                continue;
            }
            write_receipt(&mut transaction, record).await?;
            for (position, statement) in record.statements.iter().enumerate() {
                write_statement(&mut transaction, record, position, statement).await?;
            }
        }
        transaction.commit().await?;
        self.unpruned += batch.len();
        // Pruning costs a scan, so it runs when about a hundredth of what is kept has come in.
        if self.unpruned > self.retention.queries_max / 100 {
            prune(&mut self.connection, self.retention).await?;
            self.unpruned = 0;
        }
        Ok(())
    }
}

/// False when a query of that id has ended already: what was logged is never written over.
async fn write_query(connection: &mut SqliteConnection, record: &QueryRecord) -> sqlx::Result<bool> {
    let insert = "INSERT INTO queries
        (id, session, user, door, sql, started_us, ended_us, state, rows_returned, error_code, error, as_of_us, elapsed_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET ended_us = excluded.ended_us, state = excluded.state, rows_returned = excluded.rows_returned,
            error_code = excluded.error_code, error = excluded.error, as_of_us = excluded.as_of_us, elapsed_ms = excluded.elapsed_ms
        WHERE queries.ended_us IS NULL AND queries.session = excluded.session";
    let done = sqlx::query(insert)
        .bind(record.id.to_string())
        .bind(record.session.to_string())
        .bind(record.user.as_str())
        .bind(&record.door)
        .bind(bounded(&record.sql))
        .bind(record.started_at.micros())
        .bind(record.ended_at.map(|at| at.micros()))
        .bind(&record.state)
        .bind(integer(record.rows_returned))
        .bind(&record.error_code)
        .bind(&record.error)
        .bind(record.as_of.map(|at| at.micros()))
        .bind(record.elapsed_ms)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() == 1)
}

async fn write_receipt(connection: &mut SqliteConnection, record: &QueryRecord) -> sqlx::Result<()> {
    let Some(receipt) = &record.receipt else { return Ok(()) };
    sqlx::query("INSERT OR REPLACE INTO receipts (query_id, session, user, ended_us, receipt) VALUES (?, ?, ?, ?, ?)")
        .bind(record.id.to_string())
        .bind(record.session.to_string())
        .bind(record.user.as_str())
        .bind(record.ended_at.unwrap_or(record.started_at).micros())
        .bind(receipt)
        .execute(connection)
        .await?;
    Ok(())
}

async fn write_statement(connection: &mut SqliteConnection, record: &QueryRecord, position: usize, statement: &StatementRecord) -> sqlx::Result<()> {
    let insert = "INSERT OR REPLACE INTO statements
        (query_id, position, source, sql, forecast_rows, forecast_bytes, rows, bytes, ms, queued_ms, outcome)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    sqlx::query(insert)
        .bind(record.id.to_string())
        .bind(position as i64)
        .bind(statement.source.as_str())
        .bind(bounded(&statement.sql))
        .bind(statement.forecast_rows.map(integer))
        .bind(statement.forecast_bytes.map(integer))
        .bind(integer(statement.rows))
        .bind(integer(statement.bytes))
        .bind(statement.ms)
        .bind(statement.queued_ms)
        .bind(&statement.outcome)
        .execute(connection)
        .await?;
    Ok(())
}

/// Keeps the newest queries and receipts; the rest goes.
async fn prune(connection: &mut SqliteConnection, retention: Retention) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    sqlx::query("DELETE FROM queries WHERE id IN (SELECT id FROM queries ORDER BY started_us DESC, id DESC LIMIT -1 OFFSET ?)")
        .bind(retention.queries_max as i64)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("DELETE FROM receipts WHERE query_id IN (SELECT query_id FROM receipts ORDER BY ended_us DESC, query_id DESC LIMIT -1 OFFSET ?)")
        .bind(retention.receipts_max as i64)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("DELETE FROM statements WHERE query_id NOT IN (SELECT id FROM queries)").execute(&mut *transaction).await?;
    transaction.commit().await
}

/// SQLite counts in 63 bits; more than that was never counted honestly anyway.
fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
