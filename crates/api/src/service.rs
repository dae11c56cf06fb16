// SPDX-License-Identifier: Apache-2.0
//! The service behind every door.

use crate::{Answer, Parameter, PlanReport, Session};
use arrow::datatypes::{DataType, SchemaRef};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weir_base::{QueryId, Result, Timestamp, UserName};

/// One statement to run. The text is exactly one statement; doors split longer texts with `QueryService::split`.
#[derive(Debug, Clone)]
pub struct Query {
    pub id: QueryId,
    pub sql: String,
    pub params: Vec<Parameter>,
}

impl Query {
    pub fn new(sql: impl Into<String>) -> Self {
        Self { id: QueryId::fresh(), sql: sql.into(), params: Vec::new() }
    }

    pub fn with_params(mut self, params: Vec<Parameter>) -> Self {
        self.params = params;
        self
    }
}

/// A statement that was checked but not run.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Type of each parameter, `$1` first and as many as there are; `None` where nothing in the statement decides it (treated as text).
    pub parameters: Vec<Option<DataType>>,
    /// Columns of the result; empty for a command.
    pub schema: SchemaRef,
    /// True for SELECT, SHOW, EXPLAIN, VALUES …; false for a command.
    pub returns_rows: bool,
}

/// Where a query is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryState {
    Planning,
    Waiting,
    Running,
    Finished,
    Failed,
    Cancelled,
}

impl QueryState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What `GET /v1/queries/{id}` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryStatus {
    pub query_id: QueryId,
    pub user: UserName,
    pub sql: String,
    pub state: QueryState,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub elapsed_ms: f64,
    pub rows_returned: u64,
    pub rows_read: u64,
    pub bytes_read: u64,
    /// Why it waits, or why it failed.
    pub note: Option<String>,
}

/// What `/readyz` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readiness {
    pub ready: bool,
    /// Sources that do not answer; they do not make Weir unready.
    pub unreachable: Vec<String>,
}

/// Weir as its doors see it.
#[async_trait]
pub trait QueryService: Send + Sync + 'static {
    /// Cuts a text into its statements, leaving out empty ones. Errors: bad SQL, too long a text.
    fn split(&self, sql: &str) -> Result<Vec<String>>;

    /// The database that a login means that asks for this one. Error: 3D000 for one that is not there.
    async fn database(&self, _user: &UserName, asked: &str) -> Result<String> {
        Ok(asked.to_owned())
    }

    /// Checks one statement and tells its parameters and columns, without touching data. `declared` are the types that the client
    /// has for its parameters, `$1` first, where it has any.
    async fn prepare(&self, session: &Arc<Session>, sql: &str, declared: &[Option<DataType>]) -> Result<Prepared>;

    /// Runs one statement. The answer streams; dropping it cancels. Error: 08P01 for another number of values than it has parameters.
    async fn run(&self, session: &Arc<Session>, query: Query) -> Result<Answer>;

    /// The plan in words, without running it.
    async fn plan(&self, session: &Arc<Session>, query: Query) -> Result<PlanReport>;

    /// Cancels a running query of the same user (or of anyone, for an administrator). True if it was running.
    async fn cancel(&self, session: &Arc<Session>, id: QueryId) -> Result<bool>;

    /// Where a query of the same user is. Errors: `NotFound`.
    async fn status(&self, session: &Arc<Session>, id: QueryId) -> Result<QueryStatus>;

    /// Whether questions can be asked.
    async fn readiness(&self) -> Readiness;

    /// The same with only those sources named that this user may know of.
    async fn readiness_for(&self, _user: &UserName) -> Readiness {
        self.readiness().await
    }

    /// Whether this user may see what is counted of everybody. Error: 42501.
    async fn may_see_metrics(&self, user: &UserName) -> Result<()>;

    /// Names that may stand after `prefix` in a shell: tables, columns, keywords; for completion.
    async fn complete(&self, session: &Arc<Session>, prefix: &str) -> Vec<String>;
}
