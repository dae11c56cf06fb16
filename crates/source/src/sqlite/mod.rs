// SPDX-License-Identifier: Apache-2.0
//! The `sqlite` connector: a database file, opened read-only, read exactly although SQLite lets any value into any column.
//!
//! A stray (a text in an INTEGER column) is error 22003 when it is read. A pushed filter may leave a stray out before it is
//! read: that is right, because a stray is neither equal to nor less than any value of the column's type, and what a filter
//! keeps is checked again here unless no stray can pass it. So an answer never contains a stray and never lacks a proper row.

mod arms;
mod capability;
mod collation;
mod declared_type;
mod decode;
mod dialect;
mod discover;
mod failure;
mod session;
mod statement;
mod statistics;

use crate::{
    Aggregate, Column, ConnectorKind, Dialect, Discovered, Estimate, Fetched, Health, Operation, Reason, ServerRole, Source, SourceSpec, SourceTable,
    Statement, Support, TableStatistics, Term, ValuePolicy, Window, Written,
};
use arrow::datatypes::DataType;
use async_trait::async_trait;
use dialect::SqliteDialect;
use session::Sessions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use weir_base::{Error, ErrorCode, Result, SourceName};
use weir_guard::{Outcome, Permit};

/// The line of the connector in the registry.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    word: "sqlite",
    about: "an SQLite database file: sqlite://path/to/file.db, opened read-only",
    options: &[("schema", "what the schema of its tables is called in SQL (default main)")],
    make,
};

/// What SQLite itself calls the schema of an opened file.
const MAIN: &str = "main";

fn make(spec: SourceSpec) -> Result<Arc<dyn Source>> {
    let schema = spec.options.get("schema").filter(|schema| !schema.is_empty()).cloned().unwrap_or_else(|| MAIN.to_owned());
    let config = Arc::new(SqliteConfig { path: path(&spec)?, schema, name: spec.name, infinity: spec.infinity });
    Ok(Arc::new(SqliteSource { sessions: Arc::new(Sessions::new(config.clone())), config }))
}

/// A resolved source.
#[derive(Debug)]
struct SqliteConfig {
    name: SourceName,
    path: PathBuf,
    /// SQLite's `main`, or the name under which the file is attached a second time.
    schema: String,
    infinity: ValuePolicy,
}

fn path(spec: &SourceSpec) -> Result<PathBuf> {
    let wrong = |detail: &str| {
        Error::new(ErrorCode::Config, "sqlite url is not usable")
            .with_detail(format!("source {}, {detail}", spec.name))
            .with_hint("write sqlite://relative/path.db or sqlite:///absolute/path.db")
    };
    let rest = spec.url.strip_prefix("sqlite:").ok_or_else(|| wrong("it does not begin with sqlite:"))?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !matches!(query, "" | "mode=ro") {
        return Err(wrong("it has parameters other than mode=ro"));
    }
    if path.is_empty() || path == ":memory:" {
        return Err(wrong("it names no file"));
    }
    Ok(PathBuf::from(path))
}

/// One configured file.
#[derive(Debug)]
pub struct SqliteSource {
    config: Arc<SqliteConfig>,
    sessions: Arc<Sessions>,
}

#[async_trait]
impl Source for SqliteSource {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn dialect(&self) -> &dyn Dialect {
        &SqliteDialect
    }

    fn support(&self, operation: &Operation<'_>, column: &Column) -> Support {
        capability::support(self.config.infinity, operation, column)
    }

    fn window(&self, window: Window, argument: Option<&Term>, over: &str, result: &DataType) -> Written {
        capability::window(self.config.infinity, window, argument, over, result)
    }

    fn arms(&self, values: &[&Term]) -> std::result::Result<Vec<Term>, Reason> {
        arms::arms(values)
    }

    fn aggregate(&self, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
        capability::aggregate(self.config.infinity, aggregate, argument, distinct, result)
    }

    async fn probe(&self, permit: Permit) -> Result<Health> {
        let started = Instant::now();
        let mut session = self.sessions.take().await?;
        let rows = session.rows("SELECT sqlite_version()").await?;
        self.sessions.give_back(session);
        permit.meter().end(Outcome::Done);
        let version = rows.into_iter().flatten().flatten().next().unwrap_or_default();
        Ok(Health {
            version: format!("SQLite {version}"),
            role: ServerRole::NotApplicable,
            // The file is opened read-only, whatever its permissions allow.
            account_writes: Some(false),
            account_note: None,
            clock_skew_ms: 0,
            replica_lag_ms: None,
            latency_ms: started.elapsed().as_secs_f64() * 1000.0,
        })
    }

    async fn discover(&self, permit: Permit) -> Result<Discovered> {
        let mut session = self.sessions.take().await?;
        let discovered = discover::discover(&mut session, &self.config.name, &self.config.schema).await?;
        self.sessions.give_back(session);
        permit.meter().end(Outcome::Done);
        Ok(discovered)
    }

    async fn statistics(&self, permit: Permit, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>> {
        let mut session = self.sessions.take().await?;
        let found = statistics::statistics(&mut session, tables).await?;
        self.sessions.give_back(session);
        permit.meter().end(Outcome::Done);
        Ok(found)
    }

    /// Always unknown: SQLite's planner tells no row counts.
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
        self.sessions.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(url: &str) -> SourceSpec {
        SourceSpec {
            name: SourceName::new("crm"),
            kind: "sqlite".into(),
            url: url.into(),
            allow_primary: false,
            nan: ValuePolicy::Keep,
            infinity: ValuePolicy::Keep,
            limits: weir_guard::Limits::default(),
            options: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn urls_name_a_file() {
        assert_eq!(path(&spec("sqlite://data/crm.db")).unwrap(), PathBuf::from("data/crm.db"));
        assert_eq!(path(&spec("sqlite:///srv/crm.db?mode=ro")).unwrap(), PathBuf::from("/srv/crm.db"));
        assert_eq!(path(&spec("sqlite::memory:")).unwrap_err().code(), ErrorCode::Config);
        assert_eq!(path(&spec("sqlite://x.db?mode=rwc")).unwrap_err().code(), ErrorCode::Config);
        assert_eq!(path(&spec("postgres://x")).unwrap_err().code(), ErrorCode::Config);
    }
}
