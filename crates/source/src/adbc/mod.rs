// SPDX-License-Identifier: Apache-2.0
//! The `adbc` connector: cloud warehouses through the vendor's own driver, loaded by the ADBC driver manager.
//!
//! Cancelling: while rows stream, the driver is told. While the warehouse still computes, the driver's execute cannot be
//! reached, so another session asks the server to end it where the product has such a call (Snowflake); elsewhere the
//! caller is free at once and the permit when the driver returns, at the latest after the server's statement timeout.
//!
//! A driver is foreign code (Go or C++) that gives no access to its socket, so the ledger counts the Arrow buffers it hands
//! over. It is loaded once per process and never unloaded, because a Go runtime cannot be; a process that has loaded one
//! must not fork without `exec`.

mod capability;
mod config;
mod convert;
mod dialect;
mod discover;
mod driver;
mod failure;
mod functions;
mod native_type;
mod session;
mod statement;
mod vendor;

use crate::{
    Aggregate, Argument, Column, ConnectorKind, Dialect, Discovered, Estimate, Fetched, Function, Health, Operation, ServerRole, Source, SourceSpec, Statement,
    Support, Term, Written,
};
use arrow::datatypes::DataType;
use async_trait::async_trait;
use config::AdbcConfig;
use dialect::WarehouseDialect;
use functions::Rules;
use session::Sessions;
use std::sync::Arc;
use std::time::Instant;
use weir_base::{AsOf, AsOfMethod, Clock, Error, ErrorCode, Result, SystemClock};
use weir_guard::{Outcome, Permit};

/// The line of the connector in the registry.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    word: "adbc",
    about: "cloud warehouses (Snowflake, BigQuery, Redshift, Databricks, Flight SQL) through the vendor's own ADBC driver",
    options: &[
        ("driver", "path of the driver's shared library, or a name that the ADBC driver manager finds"),
        ("entrypoint", "the library's init function, where it is not the usual one"),
        ("dialect", "snowflake, bigquery, redshift, databricks or generic; guessed from the driver's name"),
        ("database", "the database whose tables are listed; `catalog` is the same"),
        ("catalog", "the same as `database`"),
        ("location", "bigquery: the region whose tables are listed, such as us or eu (default us)"),
        ("username", "handed to the driver"),
        ("password", "handed to the driver, never printed"),
        ("adbc.*", "any option of the driver, such as adbc.snowflake.sql.account"),
        ("driver.*", "an option of the driver whose name has no point: driver.path is its `path`"),
    ],
    make,
};

fn make(spec: SourceSpec) -> Result<Arc<dyn Source>> {
    let config = Arc::new(AdbcConfig::resolve(spec)?);
    Ok(Arc::new(AdbcSource { dialect: WarehouseDialect(config.vendor), sessions: Arc::new(Sessions::new(config.clone())), config }))
}

/// One configured warehouse.
#[derive(Debug)]
pub struct AdbcSource {
    config: Arc<AdbcConfig>,
    dialect: WarehouseDialect,
    sessions: Arc<Sessions>,
}

#[async_trait]
impl Source for AdbcSource {
    fn kind(&self) -> &'static str {
        "adbc"
    }

    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    fn support(&self, operation: &Operation<'_>, column: &Column) -> Support {
        capability::support(self.config.vendor, self.config.infinity, self.config.nan, operation, column)
    }

    fn function(&self, function: Function<'_>, arguments: &[Argument<'_>], result: &DataType) -> Written {
        self.rules().function(function, arguments, result)
    }

    fn aggregate(&self, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
        self.rules().aggregate(aggregate, argument, distinct, result)
    }

    async fn probe(&self, permit: Permit) -> Result<Health> {
        let started = Instant::now();
        let vendor = self.config.vendor;
        let answer = self.metadata(permit, vendor.probe_sql()).await?;
        let clock_micros = answer.clock.at.micros();
        let skew_ms = (clock_micros - SystemClock.now().micros()) / 1000;
        let version = answer.rows.first().and_then(|row| row.first()).and_then(Option::as_deref).unwrap_or("unknown version");
        Ok(Health {
            version: format!("{} {version}", vendor.product()),
            role: ServerRole::NotApplicable,
            account_writes: None,
            account_note: self.sessions.shortcoming().map(str::to_owned),
            clock_skew_ms: skew_ms,
            replica_lag_ms: None,
            latency_ms: started.elapsed().as_secs_f64() * 1000.0,
        })
    }

    async fn discover(&self, permit: Permit) -> Result<Discovered> {
        let sql = self.config.vendor.catalog_sql(&self.dialect, self.config.database.as_deref(), &self.config.location);
        let answer = self.metadata(permit, &sql).await?;
        let mut discovered = discover::tables(self.config.vendor, &self.config.name, answer.rows)?;
        discovered.warnings.extend(self.sessions.shortcoming().map(str::to_owned));
        Ok(discovered)
    }

    /// Always unknown: no ADBC driver says what a statement would return, and a guess would be worse than none.
    async fn estimate(&self, _permit: Permit, _statement: &Statement) -> Result<Estimate> {
        Ok(Estimate::default())
    }

    async fn fetch(&self, permit: Permit, statement: Statement) -> Result<Fetched> {
        if !crate::read_only::reads_only(&statement.sql) {
            return Err(
                Error::new(ErrorCode::ReadOnlySource, format!("source {} is read-only", self.config.name)).with_detail("only SELECT statements are sent to it")
            );
        }
        statement::fetch(self.config.clone(), self.sessions.clone(), permit, statement).await
    }

    async fn close(&self) {
        let sessions = self.sessions.clone();
        // Closing says goodbye over the network, so it must not hold up a thread of the runtime.
        if let Err(error) = tokio::task::spawn_blocking(move || sessions.close()).await {
            tracing::warn!(source = %self.config.name, %error, "SessionsCloseFailed");
        }
    }
}

/// Rows of a metadata statement, every value as text.
struct Answer {
    rows: Vec<Vec<Option<String>>>,
    clock: AsOf,
}

impl AdbcSource {
    fn rules(&self) -> Rules {
        Rules { vendor: self.config.vendor, infinity: self.config.infinity, nan: self.config.nan }
    }

    async fn metadata(&self, permit: Permit, sql: &str) -> Result<Answer> {
        let sessions = self.sessions.clone();
        let name = self.config.name.clone();
        let sql = sql.to_owned();
        let cancel = permit.cancel_token().clone();
        let timeout = permit.limits().statement_timeout;
        let work = tokio::task::spawn_blocking(move || {
            permit.meter().describe(&sql);
            let (mut session, clock_micros) = sessions.take()?;
            let rows = session.rows_as_text(&sql)?;
            sessions.give_back(session);
            permit.meter().end(Outcome::Done);
            Ok(Answer { rows, clock: AsOf::new(weir_base::Timestamp::from_micros(clock_micros), AsOfMethod::Clock) })
        });
        tokio::select! {
            answer = work => answer.map_err(|error| Error::internal(format!("metadata worker failed: {error}")))?,
            () = cancel.cancelled() => Err(crate::handover::StopReason::Cancelled.error(&name)),
            () = tokio::time::sleep(timeout) => Err(crate::handover::StopReason::Timeout(timeout).error(&name)),
        }
    }
}
