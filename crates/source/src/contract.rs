// SPDX-License-Identifier: Apache-2.0
//! The Source contract: what a connector does. SQL text goes in, Arrow comes out, and nothing happens without a `Permit`.

use crate::arms::{alike, different, unchanged};
use crate::expression::unknown_function;
use crate::{Aggregate, Argument, Dialect, Function, KeysMax, Operation, Reason, Support, TableStatistics, Term, Window, Written};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use async_trait::async_trait;
use futures::stream::BoxStream;
use std::sync::Arc;
use weir_base::{AsOf, QueryId, Result, UserName};
use weir_guard::Permit;

/// Batches as the source sends them, never more than a few in flight. Dropping the stream ends the statement at the source.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// One configured source.
#[async_trait]
pub trait Source: Send + Sync + std::fmt::Debug {
    /// The connector's word in `weir.yaml`: `postgres`, `mysql`, `sqlite`, `adbc`.
    fn kind(&self) -> &'static str;

    /// How SQL is written for this source.
    fn dialect(&self) -> &dyn Dialect;

    /// How many keys one statement may hold for it: as the server was found to be set up, or as its kind takes.
    fn keys_max(&self) -> KeysMax {
        self.dialect().keys_max()
    }

    /// Whether the source does `operation` on `column` with our meaning. The engine pushes nothing that this does not allow.
    fn support(&self, operation: &Operation<'_>, column: &Column) -> Support;

    /// Writes a function of these arguments with a result of this type, when the source computes exactly ours.
    fn function(&self, function: Function<'_>, arguments: &[Argument<'_>], result: &DataType) -> Written {
        let _ = (function, arguments, result);
        Err(unknown_function())
    }

    /// Writes an aggregate with a result of this type, when the source computes exactly ours. `distinct` takes each value once.
    fn aggregate(&self, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
        let _ = (aggregate, argument, distinct, result);
        Err(Reason::new("aggregate", "aggregates are not known to mean the same in the source"))
    }

    /// Writes a window function with a result of this type, when the source computes exactly ours. `over` is the window in
    /// parentheses, written for this source.
    fn window(&self, window: Window, argument: Option<&Term>, over: &str, result: &DataType) -> Written {
        let _ = (window, argument, over, result);
        Err(Reason::new("window", "window functions are not known to mean the same in the source"))
    }

    /// The values of one column of a UNION ALL, one from each of its arms, written so that they are of one type there while each
    /// keeps its value. All are read as one type here.
    fn arms(&self, values: &[&Term]) -> std::result::Result<Vec<Term>, Reason> {
        if alike(values) { Ok(unchanged(values)) } else { Err(different()) }
    }

    /// Version, role, rights and clock of the server, over a live connection.
    async fn probe(&self, permit: Permit) -> Result<Health>;

    /// Every table with its columns, in one catalog query or a few, whatever their number.
    async fn discover(&self, permit: Permit) -> Result<Discovered>;

    /// What the source has counted in these tables, one for each, in their order. Reads its catalog and none of their rows.
    /// What the account may not see is unknown, and no error.
    async fn statistics(&self, permit: Permit, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>> {
        drop(permit);
        Ok(tables.iter().map(|table| TableStatistics::unknown(table.columns.len())).collect())
    }

    /// What the source itself thinks the statement will return, without running it.
    async fn estimate(&self, permit: Permit, statement: &Statement) -> Result<Estimate>;

    /// Runs one read-only statement. Errors before the first batch come from the call, later ones from the stream; a
    /// source that breaks is an error, never a short answer. The permit lives as long as the stream.
    async fn fetch(&self, permit: Permit, statement: Statement) -> Result<Fetched>;

    /// How many sessions may read one large table together.
    fn parallel_reads(&self) -> usize {
        1
    }

    /// Conditions that split a table into so many parts, each row in one of them. The reason says why it is read by one session.
    fn parts(&self, table: &SourceTable, count: usize) -> std::result::Result<Vec<String>, Reason> {
        let _ = (table, count);
        Err(Reason::new("single_read", "sessions of this source cannot see one snapshot, so one of them reads the table"))
    }

    /// Runs statements that each read a part of what `whole` reads, one a permit, so that all see the same rows. A source that cannot, runs
    /// `whole` under the first permit. Errors: as those of `fetch`; when one part fails, so do all.
    async fn fetch_parts(&self, permits: Vec<Permit>, whole: Statement, parts: Vec<Statement>) -> Result<Vec<Fetched>> {
        let _ = parts;
        let first = permits.into_iter().next().ok_or_else(|| weir_base::Error::internal("a table is read without a permit"))?;
        Ok(vec![self.fetch(first, whole).await?])
    }

    /// Closes idle connections; running statements end with their streams.
    async fn close(&self);
}

/// One statement to send, and what must come back.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The text, written by the engine in the source's dialect. It returns exactly `outputs`, in order.
    pub sql: String,
    /// What logs and the ledger show instead, where the text holds values of rows.
    pub shown: Option<String>,
    pub outputs: Vec<OutputColumn>,
    /// Who asks; goes into a comment or the application name, and into the audit of the source.
    pub user: UserName,
    pub query_id: QueryId,
    /// About how many rows will come, where anybody can say; a source may choose its way by it, and gives all rows in any case.
    pub rows_likely: Option<u64>,
}

/// One column of a result: the Arrow type that must come back, and what it is called in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    pub name: String,
    pub data_type: DataType,
    /// `app_pg.public.orders.amount`, or the expression; named in 22003 errors.
    pub label: String,
}

impl Statement {
    /// The text for logs and the ledger.
    pub fn shown(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.sql)
    }

    /// The Arrow schema of the result; every column may be NULL.
    pub fn schema(&self) -> SchemaRef {
        let fields: Vec<arrow::datatypes::Field> =
            self.outputs.iter().map(|output| arrow::datatypes::Field::new(&output.name, output.data_type.clone(), true)).collect();
        Arc::new(arrow::datatypes::Schema::new(fields))
    }
}

/// A running statement.
pub struct Fetched {
    /// The instant the result is true for, taken on the same connection.
    pub as_of: AsOf,
    pub batches: BatchStream,
}

impl std::fmt::Debug for Fetched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetched").field("as_of", &self.as_of).finish_non_exhaustive()
    }
}

/// Whether a server is the one that takes writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerRole {
    Primary,
    Replica,
    /// A file, or a warehouse without such a difference.
    NotApplicable,
}

impl ServerRole {
    pub fn word(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Replica => "replica",
            Self::NotApplicable => "n/a",
        }
    }
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Product and version, such as `PostgreSQL 15.18`.
    pub version: String,
    pub role: ServerRole,
    /// Whether Weir's account can write there; `None` when that cannot be told.
    pub account_writes: Option<bool>,
    /// What the account may do beyond reading, in words: `superuser`, `INSERT on 3 tables`.
    pub account_note: Option<String>,
    /// The source's clock minus ours.
    pub clock_skew_ms: i64,
    /// How far a replica is behind.
    pub replica_lag_ms: Option<i64>,
    /// How long the probe took, round trip.
    pub latency_ms: f64,
}

/// All tables of a source.
#[derive(Debug, Clone, Default)]
pub struct Discovered {
    pub tables: Vec<SourceTable>,
    /// What could not be listed, in words.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    Table,
    View,
    MaterializedView,
    ForeignTable,
}

impl TableKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
            Self::MaterializedView => "materialized view",
            Self::ForeignTable => "foreign table",
        }
    }
}

/// One table as the source describes it. Names are exactly as the source spells them.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTable {
    pub schema: String,
    pub name: String,
    pub kind: TableKind,
    pub columns: Vec<Column>,
    /// The source's own guess; `None` when it has none.
    pub rows_estimate: Option<u64>,
    pub bytes_estimate: Option<u64>,
    pub comment: Option<String>,
    /// Columns, by their places, that together tell all rows apart and are never NULL. It may be old: nothing may be wrong where it is.
    pub unique: Vec<Vec<usize>>,
}

impl SourceTable {
    /// Where columns of these names stand; `None` when one is not listed.
    pub fn places(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.columns.iter().position(|column| column.name == *name)).collect()
    }
}

/// One column as the source describes it, and the Arrow type it is read as.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    /// As the source writes it: `numeric(12,2)`, `bigint unsigned`.
    pub native_type: String,
    pub data_type: DataType,
    pub nullable: bool,
    /// The collation that governs comparisons, where the source has such a thing.
    pub collation: Option<String>,
    /// True when two texts are equal in the source exactly when their bytes are.
    pub bytewise_equality: bool,
    /// What to select instead of the bare column, with `{}` for its quoted name: `{}::text`. `None` is the bare column.
    pub read_as: Option<&'static str>,
    /// The labels of an enum in their order, where the source sorts and compares by it.
    pub labels: Option<Arc<[String]>>,
    /// Why this column cannot be read, when it cannot; the rest of the table can.
    pub degraded: Option<String>,
    /// How its type could be changed at the source.
    pub altering: Altering,
}

/// How the type of a column is changed at its source, so that nothing else of it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Altering {
    /// The statement that names the new type keeps all else.
    #[default]
    ByType,
    /// The statement drops these attributes unless it says them again: ` DEFAULT 'x' COMMENT 'y'`.
    Saying(String),
    /// No one statement does it. What to do in words, with `{}` for the new type.
    InWords(&'static str),
}

impl Altering {
    /// What a view shows is of the type of the table beneath.
    pub(crate) const BENEATH_A_VIEW: Self = Self::InWords("give the column beneath the view the type {}");
    /// A table that stands for another one.
    pub(crate) const ELSEWHERE: Self = Self::InWords("give the column of the table that this one stands for the type {}");
}

/// The source's own forecast of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    /// In the source's own unit of cost.
    pub cost: Option<f64>,
}
