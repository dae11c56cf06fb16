// SPDX-License-Identifier: Apache-2.0
//! A large table read in parts, by as many sessions of its source as are free when it is read.

use super::source::SourceScan;
use crate::push_down::Fragment;
use crate::run::QueryRun;
use weir_base::Result;
use weir_guard::Permit;
use weir_source::{Fetched, Reason, Source, SourceTable, Statement};

/// Of less than that, one session is done before a second one has begun.
const ROWS_MIN: u64 = 500_000;
const BYTES_MIN: u64 = 64 << 20;
/// A statement that is foretold to give less than this share of the table may go by an index, which ranges of pages would keep it from.
const SHARE_MIN: u64 = 4;

fn large(table: &SourceTable) -> bool {
    table.rows_estimate.is_some_and(|rows| rows >= ROWS_MIN) || table.bytes_estimate.is_some_and(|bytes| bytes >= BYTES_MIN)
}

/// What EXPLAIN says of how a large table is read; nothing of others. `Err` is why it is one session.
pub(super) fn told(table: &SourceTable, fragment: &Fragment, filtered: bool, source: &dyn Source) -> Option<std::result::Result<String, Reason>> {
    if !large(table) || filtered || fragment.open.is_none() {
        return None;
    }
    let count = source.parallel_reads();
    let most = format!("in parts, by up to {count} sessions that see one snapshot, as far as they are free");
    Some(source.parts(table, count.max(2)).map(|_| most))
}

/// Fetches the scan's rows, in parts where the table is large and sessions are free. Errors: as those of the source.
pub(super) async fn fetch(scan: &SourceScan, run: &QueryRun, permit: Permit, statement: Statement) -> Result<Vec<Fetched>> {
    let source = &scan.handle.source;
    let closed = statement.shown.is_some() || scan.fragment.open.is_none();
    let table = match &scan.table {
        Some(table) if !closed && large(table) && worth_it(scan, table) => table,
        _ => return Ok(vec![source.fetch(permit, statement).await?]),
    };
    let most = source.parallel_reads();
    // The last count stands: with fewer sessions there are fewer parts.
    let more = if most > 1 && source.parts(table, most).is_ok() { run.spare_permits(scan.handle.name(), most - 1) } else { Vec::new() };
    let Some(parts) = source.parts(table, more.len() + 1).ok().filter(|_| !more.is_empty()) else {
        return Ok(vec![source.fetch(permit, statement).await?]);
    };
    let part = |condition: &String| Ok(Statement { sql: scan.fragment.narrowed(&[condition])?, ..statement.clone() });
    let parts = parts.iter().map(part).collect::<Result<Vec<_>>>()?;
    let permits = std::iter::once(permit).chain(more).collect();
    source.fetch_parts(permits, statement, parts).await
}

/// Whether most of the table is wanted, as far as anybody knows.
fn worth_it(scan: &SourceScan, table: &SourceTable) -> bool {
    match (scan.likely_rows(), table.rows_estimate) {
        (Some(likely), Some(rows)) => likely.saturating_mul(SHARE_MIN) >= rows,
        _ => true,
    }
}
