// SPDX-License-Identifier: Apache-2.0
//! Sessions of one warehouse: opened under a permit, set up once, kept for the next one. Everything here blocks, as the
//! ADBC interface does, and runs on threads where that is fine.

use super::config::AdbcConfig;
use super::{convert, driver, failure};
use adbc_core::error::Error as DriverError;
use adbc_core::options::{OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Optionable, Statement};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedStatement};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use weir_base::{Error, Result};

/// A session that nobody used for so long is closed instead of used: firewalls may have forgotten it.
const IDLE_MAX: Duration = Duration::from_secs(300);

/// The sessions of one source. A permit holds one at a time and takes an idle one first, so idle and used ones together
/// never exceed what the permits allow.
pub(super) struct Sessions {
    config: Arc<AdbcConfig>,
    database: Mutex<Option<ManagedDatabase>>,
    idle: Mutex<Vec<Session>>,
    /// What the server was found not to have; asked once, told in `weir sources`.
    shortcoming: OnceLock<&'static str>,
    without_session_ids: OnceLock<()>,
}

const NO_SESSION_PARAMETERS: &str = "the server takes no session parameters; Weir alone keeps the statement timeout";
const NO_STATEMENT_OPTIONS: &str = "the driver takes no statement options; it may read ahead more than Weir would";

/// One open session.
pub(super) struct Session {
    connection: ManagedConnection,
    config: Arc<AdbcConfig>,
    /// The server's number of it, where it can be used to cancel from another session.
    pub(super) id: Option<u64>,
    idle_since: Instant,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("source", &self.config.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("source", &self.config.name).field("id", &self.id).finish_non_exhaustive()
    }
}

impl Sessions {
    pub(super) fn new(config: Arc<AdbcConfig>) -> Self {
        Self { config, database: Mutex::default(), idle: Mutex::default(), shortcoming: OnceLock::new(), without_session_ids: OnceLock::new() }
    }

    pub(super) fn shortcoming(&self) -> Option<&'static str> {
        self.shortcoming.get().copied()
    }

    /// A session that has just answered, and the warehouse's clock in microseconds since 1970. Errors: 08001.
    pub(super) fn take(&self) -> Result<(Session, i64)> {
        while let Some(mut session) = self.pop_idle() {
            if session.idle_since.elapsed() > IDLE_MAX {
                continue;
            }
            // Asking for the time doubles as the health check; a dead session is replaced without a word.
            if let Ok(now) = session.clock_micros() {
                return Ok((session, now));
            }
        }
        let mut session = self.open()?;
        let now = session.clock_micros()?;
        Ok((session, now))
    }

    pub(super) fn give_back(&self, mut session: Session) {
        session.idle_since = Instant::now();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }

    /// Ends what session `id` runs, from another session, as a cancel request does.
    pub(super) fn cancel(&self, id: u64) -> Result<()> {
        let Some(sql) = self.config.vendor.cancel_sql(id) else {
            return Ok(());
        };
        let connection = self.database()?.new_connection().map_err(|error| failure::unreachable(&self.config.name, &error))?;
        let mut session = Session { connection, config: self.config.clone(), id: None, idle_since: Instant::now() };
        session.rows_as_text(&sql).map(|_| ())
    }

    pub(super) fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        drop(idle);
        drop(self.database.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn pop_idle(&self) -> Option<Session> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn database(&self) -> Result<ManagedDatabase> {
        let mut database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*database {
            return Ok(known.clone());
        }
        let fresh = driver::database(&self.config)?;
        Ok(database.insert(fresh).clone())
    }

    fn open(&self) -> Result<Session> {
        let connection = self.database()?.new_connection().map_err(|error| failure::unreachable(&self.config.name, &error))?;
        let mut session = Session { connection, config: self.config.clone(), id: None, idle_since: Instant::now() };
        self.set_up(&mut session)?;
        session.id = self.ask_id(&mut session)?;
        Ok(session)
    }

    fn set_up(&self, session: &mut Session) -> Result<()> {
        if self.shortcoming.get() == Some(&NO_SESSION_PARAMETERS) {
            return Ok(());
        }
        for sql in self.config.vendor.session_sql(self.config.statement_timeout) {
            match session.run(&sql) {
                Ok(()) => {}
                Err(error) if failure::refusal(&error) => {
                    self.found_missing(NO_SESSION_PARAMETERS);
                    return Ok(());
                }
                Err(error) => return Err(failure::unreachable(&self.config.name, &error)),
            }
        }
        Ok(())
    }

    fn ask_id(&self, session: &mut Session) -> Result<Option<u64>> {
        let Some(sql) = self.config.vendor.session_id_sql().filter(|_| self.without_session_ids.get().is_none()) else {
            return Ok(None);
        };
        match session.text_rows(sql) {
            Ok(rows) => Ok(rows.into_iter().flatten().flatten().next().and_then(|text| text.parse().ok())),
            Err(error) if failure::refusal(&error) => {
                self.without_session_ids.get_or_init(|| ());
                Ok(None)
            }
            Err(error) => Err(failure::unreachable(&self.config.name, &error)),
        }
    }

    fn found_missing(&self, what: &'static str) {
        if self.shortcoming.set(what).is_ok() {
            tracing::info!(source = %self.config.name, what, "ShortcomingFound");
        }
    }

    /// A statement ready to be executed, tagged with who asks where the warehouse has such a thing.
    pub(super) fn prepare(&self, session: &mut Session, sql: &str, asker: &str) -> Result<ManagedStatement> {
        let failed = |error: DriverError| failure::statement(&self.config.name, &error);
        let mut statement = session.connection.new_statement().map_err(failed)?;
        for (key, value) in self.config.vendor.statement_options(asker) {
            match statement.set_option(OptionStatement::Other(key.to_owned()), OptionValue::String(value)) {
                Ok(()) => {}
                Err(error) if failure::refusal(&error) => self.found_missing(NO_STATEMENT_OPTIONS),
                Err(error) => return Err(failed(error)),
            }
        }
        statement.set_sql_query(sql).map_err(failed)?;
        Ok(statement)
    }
}

impl Session {
    /// Runs a metadata statement and returns every value as text. Errors as for statements.
    pub(super) fn rows_as_text(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.text_rows(sql).map_err(|error| failure::statement(&self.config.name, &error))
    }

    fn clock_micros(&mut self) -> Result<i64> {
        let failed = |error: DriverError| failure::unreachable(&self.config.name, &error);
        let mut statement = self.connection.new_statement().map_err(failed)?;
        statement.set_sql_query(self.config.vendor.clock_sql()).map_err(failed)?;
        let mut reader = statement.execute().map_err(failed)?;
        let batch = reader.next().transpose().map_err(|_| failure::stream(&self.config.name))?;
        let micros = batch.as_ref().and_then(|batch| convert::first_instant_micros(batch.columns().first()?));
        micros.ok_or_else(|| Error::internal(format!("source {} does not tell the time in a known type", self.config.name)))
    }

    fn run(&mut self, sql: &str) -> std::result::Result<(), DriverError> {
        self.text_rows(sql).map(|_| ())
    }

    fn text_rows(&mut self, sql: &str) -> std::result::Result<Vec<Vec<Option<String>>>, DriverError> {
        let mut statement = self.connection.new_statement()?;
        statement.set_sql_query(sql)?;
        let reader = statement.execute()?;
        let mut rows = Vec::new();
        for batch in reader {
            rows.extend(convert::text_rows(&batch?)?);
        }
        Ok(rows)
    }
}
