// SPDX-License-Identifier: Apache-2.0
//! The history as plain structs: a query, the statements it sent to sources, its receipt.

use weir_base::{QueryId, SessionId, SourceName, Timestamp, UserName};

/// Longest SQL text kept, in bytes; longer ones end in `…`.
pub(crate) const SQL_KEPT_BYTES_MAX: usize = 16 * 1024;

/// One query. Recorded when it begins (without `ended_at`) and again, under the same id, when it has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRecord {
    pub id: QueryId,
    pub session: SessionId,
    pub user: UserName,
    /// `postgres`, `http`, `flight`, `mcp`, `cli`.
    pub door: String,
    pub sql: String,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// `running`, `finished`, `failed`, `cancelled`; `lost` when Weir ended before the query did.
    pub state: String,
    pub rows_returned: u64,
    /// SQLSTATE, for a query that failed.
    pub error_code: Option<String>,
    pub error: Option<String>,
    /// The oldest input.
    pub as_of: Option<Timestamp>,
    pub elapsed_ms: f64,
    /// What it sent to sources. Empty in what `ControlStore::queries` returns: ask `statements` for those.
    pub statements: Vec<StatementRecord>,
    /// The receipt as JSON.
    pub receipt: Option<String>,
}

/// One statement that a query sent to a source.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementRecord {
    pub source: SourceName,
    pub sql: String,
    pub forecast_rows: Option<u64>,
    pub forecast_bytes: Option<u64>,
    pub rows: u64,
    pub bytes: u64,
    pub ms: f64,
    pub queued_ms: f64,
    /// `done`, `failed`, `cancelled`.
    pub outcome: String,
}

/// A statement with the query it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedStatement {
    pub query_id: QueryId,
    pub user: UserName,
    pub started_at: Timestamp,
    pub statement: StatementRecord,
}

/// A receipt that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptRecord {
    pub query_id: QueryId,
    pub session: SessionId,
    pub user: UserName,
    pub ended_at: Timestamp,
    /// JSON, as in CONTRACT 6.
    pub receipt: String,
}

/// Which part of the history to read; newest first.
#[derive(Debug, Clone, Default)]
pub struct HistoryFilter {
    /// Only this user's.
    pub user: Option<UserName>,
    /// Only this session's (receipts).
    pub session: Option<SessionId>,
    /// At most so many; `None` is all that is kept.
    pub rows_max: Option<usize>,
}

/// How the log is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogStats {
    /// Records written so far.
    pub written_count: u64,
    /// Records thrown away because the writer could not keep up.
    pub dropped_count: u64,
    /// Records that the store refused (disk full, broken file).
    pub failed_count: u64,
    /// Records that wait to be written.
    pub pending_count: u64,
}

/// The text, cut at a character where it is too long to keep.
pub(crate) fn bounded(sql: &str) -> String {
    if sql.len() <= SQL_KEPT_BYTES_MAX {
        return sql.to_owned();
    }
    format!("{}…", &sql[..sql.floor_char_boundary(SQL_KEPT_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let long = format!("{}é", "x".repeat(SQL_KEPT_BYTES_MAX - 1));
        assert_eq!(bounded(&long), format!("{}…", "x".repeat(SQL_KEPT_BYTES_MAX - 1)));
        assert_eq!(bounded("SELECT 1"), "SELECT 1");
    }
}
