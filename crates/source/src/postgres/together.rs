// SPDX-License-Identifier: Apache-2.0
//! One large table read by several sessions that see one snapshot, each a range of its pages.
//!
//! The first session exports its snapshot, the others take it over, and only then is anything read. Each ends its transaction when it
//! has all its rows. Where the sharing does not come about, the first session reads everything.

use super::failure;
use super::fetch::{Fetcher, Outlet};
use super::pool::Lease;
use crate::{Fetched, Reason, SourceTable, Statement, TableKind};
use futures::future::{join_all, try_join_all};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use weir_base::limits::CANCEL_GRACE_MS;
use weir_base::{Error, Result};
use weir_guard::Permit;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Nearly every server has pages of this size; with others the parts are not equally large, and together the same.
const PAGE_BYTES: u64 = 8192;

/// Conditions that split a table, each row in one of them; the last one has no end, since the table may have grown.
pub fn parts(table: &SourceTable, count: usize) -> std::result::Result<Vec<String>, Reason> {
    if !matches!(table.kind, TableKind::Table | TableKind::MaterializedView) {
        return Err(single("only a table can be read by its pages"));
    }
    let pages = table.bytes_estimate.unwrap_or(0) / PAGE_BYTES;
    let count = count as u64;
    if count < 2 || pages < count {
        return Err(single("the server does not say that the table has so many pages"));
    }
    let begin = |part: u64| format!("ctid >= '({},0)'::tid", pages * part / count);
    let end = |part: u64| format!("ctid < '({},0)'::tid", pages * (part + 1) / count);
    let range = |part: u64| match part {
        0 => end(part),
        last if last + 1 == count => begin(part),
        _ => format!("{} AND {}", begin(part), end(part)),
    };
    Ok((0..count).map(range).collect())
}

/// Why a table is read by one session.
pub fn single(why: &str) -> Reason {
    Reason::new("single_read", why)
}

impl Fetcher {
    /// Runs the parts, one a permit, or `whole` under the first permit alone. Errors: as those of `fetch`.
    pub async fn fetch_parts(self: &Arc<Self>, permits: Vec<Permit>, whole: Statement, parts: Vec<Statement>) -> Result<Vec<Fetched>> {
        let several = permits.len() > 1 && permits.len() == parts.len();
        let mut permits = permits.into_iter();
        let Some(first) = permits.next() else { return Err(Error::internal("a table is read without a permit")) };
        if !several {
            return Ok(vec![self.fetch(first, whole).await?]);
        }
        let cancel = first.cancel_token().clone();
        let mut leases = vec![self.pool.lease(first, false).await?];
        for permit in permits {
            leases.push(self.pool.lease(permit, false).await?);
        }
        if let Err(error) = self.share_in_time(&leases, &cancel).await {
            if cancel.is_cancelled() {
                return Err(error);
            }
            tracing::debug!(source = %self.pool.opener().source, %error, "SnapshotNotShared");
            let mut first = leases.swap_remove(0);
            drop(leases);
            let permit = first.take_over().await?;
            return Ok(vec![self.fetch(permit, whole).await?]);
        }
        let begun = leases.into_iter().zip(parts).map(|(lease, part)| self.begin(lease, part));
        join_all(begun).await.into_iter().collect()
    }

    async fn share_in_time(&self, leases: &[Lease], cancel: &CancellationToken) -> Result<()> {
        let source = &self.pool.opener().source;
        let longest = self.pool.opener().statement_timeout.min(Duration::from_millis(CANCEL_GRACE_MS));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(failure::cancelled(source)),
            shared = tokio::time::timeout(longest, self.share(leases)) => shared.unwrap_or_else(|_| Err(failure::silent(source, longest))),
        }
    }

    /// Puts the sessions into transactions that see the same rows.
    async fn share(&self, leases: &[Lease]) -> Result<()> {
        let opener = self.pool.opener();
        let began = Instant::now();
        let failed = |error: tokio_postgres::Error| failure::of_statement(&opener.source, &error, began.elapsed(), opener.statement_timeout);
        let Some((first, others)) = leases.split_first() else { return Ok(()) };
        let client = &first.session()?.client;
        client.batch_execute(BEGIN).await.map_err(failed)?;
        let exported = client.query_one("SELECT pg_export_snapshot()", &[]).await.map_err(failed)?;
        let name: String = exported.try_get(0).map_err(failed)?;
        if !name.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-') {
            return Err(Error::internal(format!("source {} names its snapshot in an unknown way", opener.source)));
        }
        let take_over = format!("{BEGIN}; SET TRANSACTION SNAPSHOT '{name}'");
        let sessions = others.iter().map(Lease::session).collect::<Result<Vec<_>>>()?;
        try_join_all(sessions.into_iter().map(|session| session.client.batch_execute(&take_over))).await.map_err(failed)?;
        Ok(())
    }

    async fn begin(self: &Arc<Self>, lease: Lease, part: Statement) -> Result<Fetched> {
        lease.permit()?.meter().describe(part.shown());
        let (outlet, fetched) = Outlet::new();
        let fetcher = self.clone();
        tokio::spawn(async move { fetcher.read_part(lease, part, outlet).await });
        fetched.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(kind: TableKind, bytes: Option<u64>) -> SourceTable {
        SourceTable {
            schema: "s".into(),
            name: "t".into(),
            kind,
            columns: vec![],
            unique: vec![],
            rows_estimate: Some(9),
            bytes_estimate: bytes,
            comment: None,
        }
    }

    #[test]
    fn every_page_is_in_one_part() {
        let pages = Some(10 * PAGE_BYTES);
        let split = parts(&table(TableKind::Table, pages), 3).unwrap();
        assert_eq!(split, ["ctid < '(3,0)'::tid", "ctid >= '(3,0)'::tid AND ctid < '(6,0)'::tid", "ctid >= '(6,0)'::tid"]);
        for whole in [table(TableKind::View, pages), table(TableKind::Table, None), table(TableKind::ForeignTable, pages)] {
            assert_eq!(parts(&whole, 2).unwrap_err().code, "single_read");
        }
    }
}
