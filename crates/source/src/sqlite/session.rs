// SPDX-License-Identifier: Apache-2.0
//! Open connections to one file. Each can be interrupted in the middle of a step, which is how a statement that returns
//! nothing for minutes is ended.

use super::{MAIN, SqliteConfig, failure};
use crate::handover::Stop;
use futures::StreamExt;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions, Connection, Row};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weir_base::Result;

/// How long a statement waits for a writer that holds the whole file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Virtual machine steps between two looks at the stop sign: about a tenth of a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;
/// Rows that SQLite's thread may be ahead.
const ROWS_AHEAD: usize = 512;

/// Idle connections. A permit holds one at a time, so there are never more than permits allow.
#[derive(Debug)]
pub(super) struct Sessions {
    config: Arc<SqliteConfig>,
    idle: Mutex<Vec<Session>>,
}

/// One connection, and the stop sign that its running statement obeys.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) connection: SqliteConnection,
    config: Arc<SqliteConfig>,
    obeys: Arc<Mutex<Option<Stop>>>,
}

impl Sessions {
    pub(super) fn new(config: Arc<SqliteConfig>) -> Self {
        Self { config, idle: Mutex::default() }
    }

    /// An idle connection or a new one. Error: 08001.
    pub(super) async fn take(&self) -> Result<Session> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(session) => Ok(session),
            None => self.open().await,
        }
    }

    pub(super) fn give_back(&self, session: Session) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }

    pub(super) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for session in idle {
            if let Err(error) = session.connection.close().await {
                let error = failure::statement(&self.config.name, &error);
                tracing::warn!(source = %self.config.name, %error, "SessionCloseFailed");
            }
        }
    }

    async fn open(&self) -> Result<Session> {
        let unreachable = |error: sqlx::Error| failure::unreachable(&self.config.name, &error);
        let options = SqliteConnectOptions::new()
            .filename(&self.config.path)
            .read_only(true)
            .create_if_missing(false)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("query_only", "ON")
            // A view in a foreign file must not be able to call into extensions or touch virtual tables with side effects.
            .pragma("trusted_schema", "OFF")
            .row_buffer_size(ROWS_AHEAD)
            // Texts of statements hold literals, which have no place in a log.
            .disable_statement_logging();
        let mut connection = options.connect().await.map_err(unreachable)?;
        if self.config.schema != MAIN {
            // The attached file is as read-only as the connection.
            let attach = format!("ATTACH DATABASE ? AS \"{}\"", self.config.schema.replace('"', "\"\""));
            sqlx::query(&attach).bind(self.config.path.to_string_lossy()).execute(&mut connection).await.map_err(unreachable)?;
        }
        let obeys: Arc<Mutex<Option<Stop>>> = Arc::default();
        let looks_at = obeys.clone();
        connection.lock_handle().await.map_err(unreachable)?.set_progress_handler(STEPS_BETWEEN_LOOKS, move || {
            let stop = looks_at.lock().unwrap_or_else(PoisonError::into_inner);
            stop.as_ref().is_none_or(|stop| stop.reason().is_none())
        });
        Ok(Session { connection, config: self.config.clone(), obeys })
    }
}

impl Session {
    /// From now on a raised `stop` interrupts whatever runs here.
    pub(super) fn obey(&self, stop: Stop) {
        *self.obeys.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
    }

    /// Waits until nothing runs here any more, then forgets the stop sign. False when the connection is lost.
    pub(super) async fn settle(&mut self) -> bool {
        let idle = self.connection.lock_handle().await.is_ok();
        *self.obeys.lock().unwrap_or_else(PoisonError::into_inner) = None;
        idle
    }

    /// Runs a metadata statement whose values are texts, integers or NULL; all as text.
    pub(super) async fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut stream = sqlx::query(sql).persistent(false).fetch(&mut self.connection);
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await {
            let row = row.map_err(|error| failure::statement(&self.config.name, &error))?;
            rows.push((0..row.len()).map(|index| text(&row, index)).collect());
        }
        Ok(rows)
    }
}

/// A value that is no valid text reads as NULL: names in a catalog are texts.
fn text(row: &SqliteRow, index: usize) -> Option<String> {
    let text: std::result::Result<Option<String>, sqlx::Error> = row.try_get_unchecked(index);
    text.unwrap_or(None)
}
