// SPDX-License-Identifier: Apache-2.0
//! Explain: the same stages in words. Nothing is explained that is not also what runs.

use crate::bind::{Bound, Explain, ExplainFormat, bind};
use crate::key_use::KeysSent;
use crate::plain_words::{in_sql, plainly};
use crate::plan::plan_to_tell;
use crate::push_down::addressed;
use crate::residual::{Leaves, Physical};
use crate::scan::{LakeScan, SourceScan};
use crate::session::PlanningSession;
use crate::shared::Shared;
use crate::{admit, advice, cheaper, execute, forecast, key_use, route};
use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::sql::sqlparser::ast::Statement;
use futures::StreamExt;
use std::sync::Arc;
use weir_api::{Answer, AwaitedKeys, Budget, FragmentReport, Kept, Parameter, PlacementReport, PlanReport, SourceReport, Suggestion, UsedToday, Verdict};
use weir_base::{ByteSize, Error, Result, SourceName};
use weir_policy::Authorized;

/// One text column, a row per line, as Postgres clients expect it.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("QUERY PLAN", DataType::Utf8, false)]))
}

/// EXPLAIN and EXPLAIN ANALYZE. The latter runs the question and throws its rows away.
pub(crate) async fn explain(planning: &PlanningSession<'_>, shared: &Arc<Shared>, request: Explain, params: &[Parameter]) -> Result<Answer> {
    let (report, physical) = reported(planning, *request.inner, params).await?;
    let mut lines: Vec<String> = match request.format {
        ExplainFormat::Words => report.to_text().lines().map(str::to_owned).collect(),
        ExplainFormat::Json => {
            vec![serde_json::to_string_pretty(&report).map_err(|error| Error::internal("plan does not print").with_detail(error.to_string()))?]
        }
        ExplainFormat::Tree => report.residual.clone(),
    };
    if request.analyze {
        let rows = run_to_end(planning, &physical).await?;
        lines.push(format!("actual      {rows} rows in {:.1} ms", planning.run.elapsed_ms()));
        lines.extend(actual(planning, &physical.plan().plan));
    }
    let column = Arc::new(StringArray::from_iter_values(lines));
    let batch = RecordBatch::try_new(schema(), vec![column]).map_err(|error| Error::internal("plan does not fit its schema").with_detail(error.to_string()))?;
    Ok(execute::rows(shared, planning.run, batch))
}

async fn run_to_end(planning: &PlanningSession<'_>, physical: &Authorized<Physical>) -> Result<usize> {
    admit::admit(physical, planning).await?;
    let mut batches = execute::start(physical)?;
    let mut rows = 0;
    while let Some(batch) = batches.next().await {
        rows += batch.map_err(crate::errors::from_datafusion)?.num_rows();
    }
    Ok(rows)
}

/// What left each source, from the ledger: all of it, then each statement, then the keys that went the other way.
fn actual(planning: &PlanningSession<'_>, plan: &Arc<dyn ExecutionPlan>) -> Vec<String> {
    let receipt = planning.run.receipt(planning.engine.parts.clock.as_ref());
    let read = planning.run.ledger.read();
    let several = |source: &SourceName| read.iter().filter(|reading| reading.source == *source).count() > 1;
    let statements = read
        .iter()
        .filter(|reading| several(&reading.source))
        .map(|reading| format!("            {}: {} rows, {}, by {}", reading.source, reading.rows, ByteSize(reading.bytes), reading.sql.replace('\n', " ")));
    let keys = planning.run.keys_sent().into_iter().map(|sent| {
        let Some(count) = sent.keys else {
            return format!("            {} was asked for {} beside the value that a subquery found", sent.source, sent.column);
        };
        let origin = key_use::origin(plan, &sent).into_iter().collect::<Vec<_>>().join(", ");
        let from = if origin.is_empty() { String::new() } else { format!(", found in {origin}") };
        format!("            {} was asked for {} keys of {}{from}", sent.source, count, sent.column)
    });
    let sources = receipt.sources.iter().map(|source| {
        let forecast = source.forecast_rows.map(|rows| format!(" (forecast {rows})")).unwrap_or_default();
        format!("            {} gave {} rows{forecast}, {}, in {:.1} ms", source.source, source.rows, ByteSize(source.bytes), source.ms)
    });
    let tables = receipt.tables.iter().map(|table| format!("            {} as of {} ({})", table.table, table.as_of, table.method.word()));
    sources.chain(statements).chain(keys).chain(tables).collect()
}

/// The plan of one question as an object.
pub(crate) async fn report(planning: &PlanningSession<'_>, statement: Statement, params: &[Parameter]) -> Result<PlanReport> {
    Ok(reported(planning, statement, params).await?.0)
}

async fn reported(planning: &PlanningSession<'_>, statement: Statement, params: &[Parameter]) -> Result<(PlanReport, Authorized<Physical>)> {
    let bound = bind(planning, statement, params).await?;
    let placements = placements(planning, &bound)?;
    let physical = plan_to_tell(planning, bound).await?;
    let leaves = Leaves::of(&physical.plan().plan);
    let mut sources = Vec::new();
    let mut suggestions: Vec<Suggestion> = Vec::new();
    let mut waits = Vec::new();
    let refusal = admit::decide(&leaves, planning).await.err();
    for (name, scans) in leaves.by_source() {
        let mut statements = Vec::with_capacity(scans.len());
        for scan in &scans {
            let report = of_source(scan, &physical.plan().plan, planning).await;
            suggestions.extend(advice::on_scan(scan, &report.forecast).await);
            statements.push(report);
        }
        let Some(first) = scans.first() else { continue };
        let load = first.handle.guard.load();
        if load.allowed.saturating_sub(load.in_use) < scans.len().min(load.allowed) {
            waits.push(format!("source {name} has {} of {} connections in use", load.in_use, load.allowed));
        }
        sources.push(SourceReport { statements, budget: budget(planning, &name, first), source: name.to_string() });
    }
    if refusal.is_some() {
        let runs = cheaper::cheaper(planning, &leaves, params).await;
        suggestions.splice(0..0, runs);
    }
    if let Some(lake) = of_lake(&leaves, planning) {
        sources.push(lake);
    }
    let (verdict, why) = match waits.is_empty() {
        _ if refusal.is_some() => (Verdict::Refuse, refusal.map(|error| error.to_string()).unwrap_or_default()),
        true if leaves.by_source().is_empty() => (Verdict::Run, "it needs no source".to_owned()),
        true => (Verdict::Run, "every source it needs has a free connection".to_owned()),
        false => (Verdict::Queue, waits.join("; ")),
    };
    let residual = displayable(physical.plan().plan.as_ref()).indent(false).to_string().lines().map(operator_line).collect();
    let report = PlanReport { verdict, why, sources, placements, materialized: Vec::new(), policies: Vec::new(), suggestions, residual };
    Ok((report, physical))
}

fn placements(planning: &PlanningSession<'_>, bound: &Bound) -> Result<Vec<PlacementReport>> {
    let settings = planning.session.settings().clone();
    let routed = route::route(&bound.tables, &settings, planning.engine.parts.clock.now())?;
    Ok(routed.iter().map(route::Placement::report).collect())
}

async fn of_source(scan: &SourceScan, plan: &Arc<dyn ExecutionPlan>, planning: &PlanningSession<'_>) -> FragmentReport {
    let fragment = &scan.fragment;
    FragmentReport {
        sql: fragment.sql.clone(),
        table: fragment.tables.iter().map(|used| format!("{}.{}", used.name.schema, used.name.table)).collect(),
        pushed: fragment.pushed.iter().map(|pushed| in_sql(pushed)).collect(),
        kept: fragment.kept.iter().map(|kept| in_plain_words(addressed(kept.clone(), fragment, scan.handle.source.dialect()))).collect(),
        forecast: forecast::of_source(scan, planning.run).await,
        keys: awaited_keys(scan, plan),
    }
}

/// Keys that a join will send, and from where.
fn awaited_keys(scan: &SourceScan, plan: &Arc<dyn ExecutionPlan>) -> Vec<AwaitedKeys> {
    let told = |column: String| {
        let sent = KeysSent { source: scan.handle.name().clone(), sql: scan.fragment.sql.clone(), column: column.clone(), keys: None };
        AwaitedKeys { column, from: key_use::origin(plan, &sent).into_iter().collect() }
    };
    scan.awaits().into_iter().map(told).collect()
}

/// An operator of the query engine; what is sent to a source is told as it is sent.
fn operator_line(line: &str) -> String {
    if line.contains("sql=") { line.to_owned() } else { plainly(line) }
}

fn in_plain_words(kept: Kept) -> Kept {
    Kept { what: in_sql(&kept.what), ..kept }
}

fn of_lake(leaves: &Leaves, planning: &PlanningSession<'_>) -> Option<SourceReport> {
    let scans = leaves.of_lake();
    if scans.is_empty() {
        return None;
    }
    let place = planning.engine.parts.places.lake.as_ref()?;
    let statements = scans.iter().map(|scan| of_lake_table(scan)).collect();
    Some(SourceReport { source: place.name.to_string(), statements, budget: Budget::default() })
}

fn of_lake_table(scan: &LakeScan) -> FragmentReport {
    let mut pushed: Vec<String> = scan.words.iter().map(|filter| format!("filter {filter}")).collect();
    pushed.extend(scan.plan.describe());
    let columns = scan.schema().fields().iter().map(|field| weir_base::quote_ident(field.name())).collect::<Vec<_>>().join(", ");
    let columns = if columns.is_empty() { "1".to_owned() } else { columns };
    FragmentReport {
        sql: format!("SELECT {columns} FROM {} FOR VERSION AS OF {}", scan.name, scan.table.snapshot_id().unwrap_or_default()),
        table: vec![format!("{}.{}", scan.name.schema, scan.name.table)],
        pushed,
        kept: Vec::<Kept>::new(),
        forecast: forecast::of_lake(scan),
        keys: Vec::new(),
    }
}

fn budget(planning: &PlanningSession<'_>, source: &SourceName, scan: &SourceScan) -> Budget {
    let limits = scan.handle.guard.limits();
    let used = planning.engine.parts.store.used_today(planning.principal.user(), source);
    Budget { rows: limits.rows_per_query, bytes: limits.bytes_per_query, used_today: UsedToday { rows: used.rows, bytes: used.bytes } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_column() {
        assert_eq!(schema().field(0).name(), "QUERY PLAN");
    }
}
