// SPDX-License-Identifier: Apache-2.0
//! The tables of the control store, as numbered steps. A step that was released never changes; new ones are added.

use sqlx::{Connection, SqliteConnection};

/// Each step brings the store from version `index` to `index + 1`.
const STEPS: &[&[&str]] = &[&[
    "CREATE TABLE queries (
        id TEXT PRIMARY KEY, session TEXT NOT NULL, user TEXT NOT NULL, door TEXT NOT NULL, sql TEXT NOT NULL,
        started_us INTEGER NOT NULL, ended_us INTEGER, state TEXT NOT NULL, rows_returned INTEGER NOT NULL,
        error_code TEXT, error TEXT, as_of_us INTEGER, elapsed_ms REAL NOT NULL) STRICT",
    "CREATE INDEX queries_by_start ON queries (started_us)",
    "CREATE INDEX queries_by_end ON queries (ended_us)",
    "CREATE TABLE statements (
        query_id TEXT NOT NULL, position INTEGER NOT NULL, source TEXT NOT NULL, sql TEXT NOT NULL,
        forecast_rows INTEGER, forecast_bytes INTEGER, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
        ms REAL NOT NULL, queued_ms REAL NOT NULL, outcome TEXT NOT NULL, PRIMARY KEY (query_id, position)) STRICT, WITHOUT ROWID",
    "CREATE TABLE receipts (
        query_id TEXT PRIMARY KEY, session TEXT NOT NULL, user TEXT NOT NULL, ended_us INTEGER NOT NULL, receipt TEXT NOT NULL) STRICT",
    "CREATE INDEX receipts_by_end ON receipts (ended_us)",
]];

/// The version that this build writes.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// The version of a store; 0 for a new file.
pub(crate) async fn version(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar("PRAGMA user_version").fetch_one(connection).await
}

/// Runs the steps that are missing, each as one transaction.
pub(crate) async fn migrate(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    let from = usize::try_from(version(connection).await?).unwrap_or(0);
    for (index, step) in STEPS.iter().enumerate().skip(from) {
        let mut transaction = connection.begin().await?;
        for statement in *step {
            sqlx::query(statement).execute(&mut *transaction).await?;
        }
        sqlx::query(&format!("PRAGMA user_version = {}", index + 1)).execute(&mut *transaction).await?;
        transaction.commit().await?;
    }
    Ok(())
}
