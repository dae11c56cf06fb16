// SPDX-License-Identifier: Apache-2.0
//! Admit: takes leave of every source that a plan reads, in the order of their names, so that two queries never wait for each other.

use crate::forecast;
use crate::push_down::TableUse;
use crate::residual::{Leaves, Physical};
use crate::run::QueryRun;
use crate::scan::SourceScan;
use std::sync::Arc;
use weir_api::QueryState;
use weir_base::{Error, ErrorCode, Result};
use weir_policy::Authorized;

/// The first scan that breaks a rule of its table.
pub(crate) fn refusal(leaves: &Leaves) -> Option<Error> {
    leaves.by_source().into_values().flatten().find_map(unbounded)
}

fn unbounded(scan: &SourceScan) -> Option<Error> {
    scan.fragment.tables.iter().find_map(|used| unbounded_table(scan, used))
}

fn unbounded_table(scan: &SourceScan, used: &TableUse) -> Option<Error> {
    let table = &used.name;
    let rule = scan.handle.rule(&table.schema, &table.table)?;
    let missing = rule.require_filter.iter().find(|column| !used.bounded.contains(column))?;
    let error = Error::new(ErrorCode::OverBudget, format!("{table} may only be read with a filter on {missing}"))
        .with_detail("require_filter of the table; the filter must be one that the source applies")
        .with_hint(format!("add a condition such as {missing} >= …; `weir plan` shows what is pushed"));
    Some(error)
}

/// Errors: 53400 for a table that may not be read like that, 53300 for a full queue or too long a wait, 57014 when cancelled meanwhile.
pub(crate) async fn admit(physical: &Authorized<Physical>, run: &Arc<QueryRun>) -> Result<()> {
    let leaves = Leaves::of(&physical.plan().plan);
    if let Some(refusal) = refusal(&leaves) {
        return Err(refusal);
    }
    forecast::foretell(&leaves, run).await;
    for (source, scans) in leaves.by_source() {
        let Some(first) = scans.first() else { continue };
        let guard = &first.handle.guard;
        let load = guard.load();
        run.wait_for(format!("for a permit of source {source} ({} of {} in use, {} waiting)", load.in_use, load.connections_max, load.waiting));
        let admission = guard.admit(scans.len(), &run.ledger, &run.cancel).await?;
        for rows in scans.iter().filter_map(|scan| scan.likely_rows()) {
            run.forecast(&source, rows);
        }
        run.admitted(admission, source);
    }
    run.enter(QueryState::Running);
    Ok(())
}
