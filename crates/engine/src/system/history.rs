// SPDX-License-Identifier: Apache-2.0
//! `system.queries`, `system.query_sources` and `system.receipts`: what was asked, what it took out of each source, how old it was.

use super::columns::{Columns, count};
use crate::run::QueryRun;
use crate::shared::Shared;
use arrow::array::RecordBatch;
use weir_api::{Door, QueryStatus, Session};
use weir_base::Result;
use weir_catalog::{HistoryFilter, QueryRecord};
use weir_policy::Principal;

/// Rows that one look at the history may bring.
const ROWS_MAX: usize = 100_000;

/// One's own history; everybody's for somebody without restrictions.
fn own(principal: &Principal) -> HistoryFilter {
    let user = if principal.unrestricted() { None } else { Some(principal.user().clone()) };
    HistoryFilter { user, session: None, rows_max: Some(ROWS_MAX) }
}

/// A row of `system.queries`, from the log or from what runs now.
struct Row {
    query_id: String,
    user: String,
    door: String,
    sql: String,
    state: String,
    started_at: weir_base::Timestamp,
    ended_at: Option<weir_base::Timestamp>,
    elapsed_ms: f64,
    rows_returned: u64,
    error_code: Option<String>,
    note: Option<String>,
    as_of: Option<weir_base::Timestamp>,
}

impl From<QueryRecord> for Row {
    fn from(record: QueryRecord) -> Self {
        Self {
            query_id: record.id.to_string(),
            user: record.user.to_string(),
            door: record.door,
            sql: record.sql,
            state: record.state,
            started_at: record.started_at,
            ended_at: record.ended_at,
            elapsed_ms: record.elapsed_ms,
            rows_returned: record.rows_returned,
            error_code: record.error_code,
            note: record.error,
            as_of: record.as_of,
        }
    }
}

fn running(status: QueryStatus, door: &str) -> Row {
    Row {
        query_id: status.query_id.to_string(),
        user: status.user.to_string(),
        door: door.to_owned(),
        sql: status.sql,
        state: status.state.word().to_owned(),
        started_at: status.started_at,
        ended_at: status.ended_at,
        elapsed_ms: status.elapsed_ms,
        rows_returned: status.rows_returned,
        error_code: None,
        note: status.note,
        as_of: None,
    }
}

pub(super) async fn queries(shared: &Shared, principal: &Principal) -> Result<RecordBatch> {
    let running_now = shared.registry.running();
    let mine = running_now.iter().filter(|run| principal.unrestricted() || run.user == *principal.user());
    let mut rows: Vec<Row> = mine.map(|run| running(run.status(), run.door)).collect();
    shared.parts.store.flush().await;
    rows.extend(shared.parts.store.queries(&own(principal)).await?.into_iter().map(Row::from));
    Columns::default()
        .text("query_id", rows.iter().map(|row| Some(&row.query_id)))
        .text("user", rows.iter().map(|row| Some(&row.user)))
        .text("door", rows.iter().map(|row| Some(&row.door)))
        .text("sql", rows.iter().map(|row| Some(&row.sql)))
        .text("state", rows.iter().map(|row| Some(&row.state)))
        .instant("started_at", rows.iter().map(|row| Some(row.started_at)))
        .instant("ended_at", rows.iter().map(|row| row.ended_at))
        .decimal("elapsed_ms", rows.iter().map(|row| Some(row.elapsed_ms)))
        .number("rows_returned", rows.iter().map(|row| count(row.rows_returned)))
        .text("error_code", rows.iter().map(|row| row.error_code.as_ref()))
        .text("note", rows.iter().map(|row| row.note.as_ref()))
        .instant("as_of", rows.iter().map(|row| row.as_of))
        .batch()
}

pub(super) async fn query_sources(shared: &Shared, principal: &Principal) -> Result<RecordBatch> {
    shared.parts.store.flush().await;
    let rows = shared.parts.store.statements(&own(principal)).await?;
    Columns::default()
        .text("query_id", rows.iter().map(|row| Some(row.query_id.to_string())))
        .text("user", rows.iter().map(|row| Some(row.user.as_str())))
        .instant("started_at", rows.iter().map(|row| Some(row.started_at)))
        .text("source", rows.iter().map(|row| Some(row.statement.source.as_str())))
        .text("sql", rows.iter().map(|row| Some(&row.statement.sql)))
        .number("forecast_rows", rows.iter().map(|row| row.statement.forecast_rows.and_then(count)))
        .number("forecast_bytes", rows.iter().map(|row| row.statement.forecast_bytes.and_then(count)))
        .number("rows", rows.iter().map(|row| count(row.statement.rows)))
        .number("bytes", rows.iter().map(|row| count(row.statement.bytes)))
        .decimal("ms", rows.iter().map(|row| Some(row.statement.ms)))
        .decimal("queued_ms", rows.iter().map(|row| Some(row.statement.queued_ms)))
        .text("outcome", rows.iter().map(|row| Some(&row.statement.outcome)))
        .batch()
}

/// The receipts of this session's last queries, newest first.
pub(super) async fn receipts(shared: &Shared, session: &Session) -> Result<RecordBatch> {
    let clock = shared.parts.clock.as_ref();
    // Over HTTP each request is a session of its own, so there the user's last queries are the session's.
    let of_session = |run: &QueryRun| run.session == session.id || (session.door == Door::Http && run.user == session.user);
    let runs: Vec<_> = shared.registry.ended().into_iter().filter(|run| of_session(run)).collect();
    let receipts: Vec<_> = runs.iter().map(|run| run.receipt(clock)).collect();
    Columns::default()
        .text("query_id", receipts.iter().map(|receipt| Some(receipt.query_id.to_string())))
        .text("sql", runs.iter().map(|run| Some(&run.sql)))
        .instant("as_of", receipts.iter().map(|receipt| Some(receipt.as_of)))
        .number("skew_ms", receipts.iter().map(|receipt| Some(receipt.skew_ms)))
        .number("rows_read", receipts.iter().map(|receipt| count(receipt.sources.iter().map(|source| source.rows).sum())))
        .number("bytes_read", receipts.iter().map(|receipt| count(receipt.sources.iter().map(|source| source.bytes).sum())))
        .decimal("elapsed_ms", receipts.iter().map(|receipt| Some(receipt.elapsed_ms)))
        .text("receipt", receipts.iter().map(|receipt| serde_json::to_string(receipt).ok()))
        .batch()
}
