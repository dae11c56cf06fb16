// SPDX-License-Identifier: Apache-2.0
//! Admit: takes leave of every source that a plan reads, in the order of their names, so that two queries never wait for each other.

use crate::residual::{Leaves, Physical};
use crate::run::QueryRun;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;
use weir_api::QueryState;
use weir_base::Result;
use weir_policy::Authorized;

/// Errors: 53300 for a full queue or too long a wait, 57014 when cancelled meanwhile.
pub(crate) async fn admit(physical: &Authorized<Physical>, run: &Arc<QueryRun>) -> Result<()> {
    let leaves = Leaves::of(&physical.plan().plan);
    for (source, scans) in leaves.by_source() {
        let Some(first) = scans.first() else { continue };
        let guard = &first.handle.guard;
        let load = guard.load();
        run.wait_for(format!("for a permit of source {source} ({} of {} in use, {} waiting)", load.in_use, load.connections_max, load.waiting));
        let admission = guard.admit(scans.len(), &run.ledger, &run.cancel).await?;
        for rows in scans.iter().filter_map(|scan| likely_rows(*scan)) {
            run.forecast(&source, rows);
        }
        run.admitted(admission, source);
    }
    run.enter(QueryState::Running);
    Ok(())
}

/// The rows that the source's own statistics make likely.
fn likely_rows(scan: &dyn ExecutionPlan) -> Option<u64> {
    scan.partition_statistics(None).ok()?.num_rows.get_value().map(|rows| *rows as u64)
}
