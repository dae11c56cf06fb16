// SPDX-License-Identifier: Apache-2.0
//! Admit: decides by rules, forecasts and budgets whether a plan may run, and takes leave of every source that it reads, in the order of
//! their names, so that two queries never wait for each other.

use crate::forecast;
use crate::meters;
use crate::push_down::TableUse;
use crate::residual::{Leaves, Physical};
use crate::scan::SourceScan;
use crate::session::PlanningSession;
use weir_api::QueryState;
use weir_base::{Error, ErrorCode, Result, SourceName};
use weir_guard::{Asker, Refusal, UsedToday, Verdict, Wanted, verdict};
use weir_policy::Authorized;

/// Whether a plan may run, as its sources' owners want it. Nothing is read yet but what forecasts need.
/// Error: 53400, naming the rule or the limit, and what the plan wants.
pub(crate) async fn decide(leaves: &Leaves, planning: &PlanningSession<'_>) -> Result<()> {
    if let Some(broken) = leaves.by_source().into_values().flatten().find_map(breaks_a_rule) {
        return Err(broken);
    }
    forecast::foretell(leaves, planning.run).await;
    for (source, scans) in leaves.by_source() {
        within_budget(&source, &scans, planning).await?;
    }
    Ok(())
}

/// The first rule of its tables that a scan breaks.
fn breaks_a_rule(scan: &SourceScan) -> Option<Error> {
    scan.fragment.tables.iter().find_map(|used| unbounded(scan, used).or_else(|| loose(scan, used)))
}

fn unbounded(scan: &SourceScan, used: &TableUse) -> Option<Error> {
    let table = &used.name;
    let rule = scan.handle.rule(&table.schema, &table.table)?;
    let missing = rule.require_filter.iter().find(|column| !used.bounded.contains(column))?;
    let error = Error::new(ErrorCode::OverBudget, format!("{table} may only be read with a filter on {missing}"))
        .with_detail("require_filter of the table; the filter must be one that the source applies")
        .with_hint(format!("add a condition such as {missing} >= …; `weir plan` shows what is pushed"));
    Some(error)
}

/// A table under `strict` of which a filter stays here.
fn loose(scan: &SourceScan, used: &TableUse) -> Option<Error> {
    let table = &used.name;
    scan.handle.rule(&table.schema, &table.table).filter(|rule| rule.strict)?;
    let kept = scan.fragment.kept.iter().find(|kept| kept.what.starts_with("filter"))?;
    let remedy = kept.remedy.clone().unwrap_or_else(|| "write the condition so that the source can apply it".to_owned());
    let error = Error::new(ErrorCode::OverBudget, format!("{table} may only be read with filters that {} applies", scan.handle.name()))
        .with_detail(format!("strict of the table; {} would stay here ({}): {}", kept.what, kept.code, kept.reason))
        .with_hint(remedy);
    Some(error)
}

/// Error: 53400 for a plan that is going to take more out of the source than it may.
async fn within_budget(source: &SourceName, scans: &[&SourceScan], planning: &PlanningSession<'_>) -> Result<()> {
    let Some(first) = scans.first() else { return Ok(()) };
    let limits = first.handle.guard.limits();
    let used = used_today(planning, source);
    let wanted = scans.iter().map(|scan| wanted(scan)).fold(Wanted::NOTHING, Wanted::and);
    match verdict(source, limits, used, wanted) {
        Verdict::Run => Ok(()),
        Verdict::Refuse(refusal) => Err(refused(&refusal)),
        Verdict::Count { rows_max, otherwise } => match forecast::counted(scans, planning.run, rows_max).await {
            Some(rows) if rows <= rows_max => Ok(()),
            Some(_) => Err(refused(&Refusal { wants: format!("more than {rows_max} rows"), ..otherwise })),
            None => Err(refused(&otherwise)),
        },
    }
}

pub(crate) fn used_today(planning: &PlanningSession<'_>, source: &SourceName) -> UsedToday {
    let used = planning.engine.parts.store.used_today(planning.principal.user(), source);
    UsedToday { rows: used.rows, bytes: used.bytes }
}

/// What is known of a scan before it runs. Of one that a join is going to narrow by keys only the most is known: the ledger counts.
fn wanted(scan: &SourceScan) -> Wanted {
    let Some(forecast) = scan.forecast() else { return Wanted::default() };
    if scan.waits_for_keys() {
        return Wanted { rows_high: forecast.rows_high, ..Wanted::NOTHING };
    }
    Wanted {
        rows_low: forecast.rows_low,
        rows: forecast.rows,
        rows_high: forecast.rows_high,
        bytes: forecast.bytes.map(|bytes| bytes / forecast::ESTIMATE_SPREAD),
    }
}

fn refused(refusal: &Refusal) -> Error {
    Error::new(ErrorCode::OverBudget, format!("query would take more out of {} than its budget", refusal.source))
        .with_detail(refusal.to_string())
        .with_hint("add a filter that the source can apply, aggregate there, or read fewer columns; `weir plan` shows what is pushed")
}

/// Refusals are counted by the sources that the plan reads and by the limit, which the detail begins or ends with.
fn count_refusal(leaves: &Leaves, error: &Error) {
    let detail = error.detail().unwrap_or_default();
    let limit = LIMITS.into_iter().find(|limit| detail.contains(limit)).unwrap_or("other");
    for source in leaves.by_source().into_keys() {
        meters::refused(&source, limit);
    }
}

/// What a refusal can be for.
const LIMITS: [&str; 6] = ["require_filter", "strict", "rows_per_query", "bytes_per_query", "rows_per_day", "bytes_per_day"];

/// Errors: 53400 for a plan that may not run, 53300 for a full queue or too long a wait, 57014 when cancelled meanwhile, 08001 for a source
/// that did not answer lately.
pub(crate) async fn admit(physical: &Authorized<Physical>, planning: &PlanningSession<'_>) -> Result<()> {
    let (leaves, run) = (Leaves::of(&physical.plan().plan), planning.run);
    decide(&leaves, planning).await.inspect_err(|error| count_refusal(&leaves, error))?;
    let asker = Asker::new(physical.user().clone(), physical.priority());
    for (source, scans) in leaves.by_source() {
        let Some(first) = scans.first() else { continue };
        let guard = &first.handle.guard;
        run.ledger.day_left(&source, guard.limits(), used_today(planning, &source));
        meters::load(&first.handle);
        let admission = guard.admit(&asker, scans.len(), &run.ledger, &run.cancel, |waiting| run.wait_for(waiting)).await?;
        for rows in scans.iter().filter_map(|scan| scan.likely_rows()) {
            run.forecast(&source, rows);
        }
        run.admitted(admission, source);
    }
    run.enter(QueryState::Running);
    Ok(())
}
