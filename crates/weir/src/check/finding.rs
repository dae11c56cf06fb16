// SPDX-License-Identifier: Apache-2.0
//! What a look at one source found: version, role, rights, clock, tables, and what is not as it should be.

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use std::sync::Arc;
use weir_base::{Error, Result, Span};
use weir_engine::SourceHandle;
use weir_guard::Purpose;
use weir_source::{Health, SourceTable};

/// Degraded columns that are named; the rest is counted.
const NAMED_MAX: usize = 5;
/// A clock that is off by more makes `as_of` doubtful.
const SKEW_MS_MAX: i64 = 1_000;

/// One source.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) source: String,
    pub(super) kind: &'static str,
    pub(super) health: Option<Health>,
    pub(super) tables: Option<usize>,
    /// `public.t.c: why`
    pub(super) degraded: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// Why it cannot be used.
    pub(super) failure: Option<Error>,
    pub(super) lag_max: Option<Span>,
    /// From here to there and back; not known of a source that the server was asked about.
    pub(super) round_trip_ms: Option<i64>,
}

/// Asks a source about itself and its tables, each time with a permit.
pub(super) async fn inspect(handle: &SourceHandle) -> Finding {
    let lag_max = handle.guard.limits().replica_lag_max.map(Span);
    let mut finding = Finding { kind: handle.source.kind(), lag_max, ..Finding::of(handle.name().to_string()) };
    if let Err(error) = look(handle, &mut finding).await {
        finding.failure = Some(error);
    }
    finding
}

async fn look(handle: &SourceHandle, finding: &mut Finding) -> Result<()> {
    let health = handle.source.probe(handle.guard.permit(Purpose::Health).await?).await?;
    finding.round_trip_ms = Some(health.latency_ms.ceil() as i64);
    finding.health = Some(health);
    let found = handle.source.discover(handle.guard.permit(Purpose::Metadata).await?).await?;
    finding.tables = Some(found.tables.len());
    finding.degraded = found.tables.iter().flat_map(degraded).collect();
    finding.warnings = found.warnings;
    Ok(())
}

fn degraded(table: &SourceTable) -> Vec<String> {
    let why = |column: &weir_source::Column| column.degraded.as_ref().map(|why| format!("{}.{}.{}: {why}", table.schema, table.name, column.name));
    table.columns.iter().filter_map(why).collect()
}

impl Finding {
    /// Nothing known yet.
    pub(super) fn of(source: String) -> Self {
        let (degraded, warnings) = (Vec::new(), Vec::new());
        Self { source, kind: "", health: None, tables: None, degraded, warnings, failure: None, lag_max: None, round_trip_ms: None }
    }

    /// Sentences below the table, each with its source.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(error) = &self.failure {
            remarks.push(error.to_string());
            remarks.extend(error.hint().map(|hint| format!("hint: {hint}")));
        }
        if let Some(health) = &self.health {
            remarks.extend(self.health_remarks(health));
        }
        remarks.extend(self.degraded.iter().take(NAMED_MAX).map(|column| format!("cannot be read: {column}")));
        if self.degraded.len() > NAMED_MAX {
            remarks.push(format!("and {} more columns; see system.columns", self.degraded.len() - NAMED_MAX));
        }
        remarks.extend(self.warnings.iter().cloned());
        remarks.into_iter().map(|remark| format!("{}: {remark}", self.source)).collect()
    }

    fn health_remarks(&self, health: &Health) -> Vec<String> {
        let mut remarks = Vec::new();
        if health.account_writes == Some(true) {
            let note = health.account_note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            remarks.push(format!("the account can write there{note}; Weir never does, but a read-only account is safer"));
        } else if let Some(note) = health.account_note.as_ref().filter(|note| !self.warnings.contains(note)) {
            remarks.push(format!("account: {note}"));
        }
        if health.clock_skew_ms.abs() > SKEW_MS_MAX {
            remarks.push(format!("its clock is {} ms off ours, which shifts as_of by as much", health.clock_skew_ms));
        }
        if let (Some(lag), Some(max)) = (health.replica_lag_ms, self.lag_max)
            && u64::try_from(lag).is_ok_and(|lag| lag > max.as_millis())
        {
            remarks.push(format!("is {lag} ms behind its primary, limits.replica_lag allows {max}"));
        }
        remarks
    }

    fn account(&self) -> Option<&'static str> {
        match self.health.as_ref()?.account_writes {
            Some(true) => Some("can write"),
            Some(false) => Some("read-only"),
            None => Some("unknown"),
        }
    }
}

/// One row per source.
pub(super) fn table(findings: &[Finding]) -> Result<RecordBatch> {
    let text = |value: &dyn Fn(&Finding) -> Option<String>| -> ArrayRef { Arc::new(findings.iter().map(value).collect::<StringArray>()) };
    let number = |value: &dyn Fn(&Finding) -> Option<i64>| -> ArrayRef { Arc::new(findings.iter().map(value).collect::<Int64Array>()) };
    let health = |finding: &Finding, value: &dyn Fn(&Health) -> Option<i64>| finding.health.as_ref().and_then(value);
    let reachable: ArrayRef = Arc::new(findings.iter().map(|finding| Some(finding.health.is_some())).collect::<BooleanArray>());
    let columns: [(&str, ArrayRef); 11] = [
        ("source", text(&|finding| Some(finding.source.clone()))),
        ("type", text(&|finding| Some(finding.kind.to_owned()))),
        ("reachable", reachable),
        ("version", text(&|finding| finding.health.as_ref().map(|health| health.version.clone()))),
        ("role", text(&|finding| finding.health.as_ref().map(|health| health.role.word().to_owned()))),
        ("account", text(&|finding| finding.account().map(str::to_owned))),
        ("skew_ms", number(&|finding| health(finding, &|health| Some(health.clock_skew_ms)))),
        ("lag_ms", number(&|finding| health(finding, &|health| health.replica_lag_ms))),
        ("round_trip_ms", number(&|finding| finding.round_trip_ms)),
        ("tables", number(&|finding| finding.tables.and_then(|count| i64::try_from(count).ok()))),
        ("degraded_columns", number(&|finding| finding.tables.and_then(|_| i64::try_from(finding.degraded.len()).ok()))),
    ];
    RecordBatch::try_from_iter(columns).map_err(|error| Error::internal("findings do not fit their table").with_detail(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_base::ErrorCode;
    use weir_source::ServerRole;

    fn finding(health: Option<Health>, failure: Option<Error>) -> Finding {
        let degraded = (0..7).map(|index| format!("public.t.c{index}: no counterpart")).collect();
        Finding {
            source: "app_pg".into(),
            kind: "postgres",
            health,
            tables: Some(3),
            degraded,
            warnings: vec![],
            failure,
            lag_max: Some(Span::from_millis(60_000)),
            round_trip_ms: None,
        }
    }

    fn health() -> Health {
        Health {
            version: "PostgreSQL 15.18".into(),
            role: ServerRole::Replica,
            account_writes: Some(true),
            account_note: Some("superuser".into()),
            clock_skew_ms: -4_000,
            replica_lag_ms: Some(61_000),
            latency_ms: 0.4,
        }
    }

    #[test]
    fn what_is_not_right_is_said() {
        assert_eq!(
            finding(Some(health()), None).remarks(),
            [
                "app_pg: the account can write there (superuser); Weir never does, but a read-only account is safer",
                "app_pg: its clock is -4000 ms off ours, which shifts as_of by as much",
                "app_pg: is 61000 ms behind its primary, limits.replica_lag allows 1m",
                "app_pg: cannot be read: public.t.c0: no counterpart",
                "app_pg: cannot be read: public.t.c1: no counterpart",
                "app_pg: cannot be read: public.t.c2: no counterpart",
                "app_pg: cannot be read: public.t.c3: no counterpart",
                "app_pg: cannot be read: public.t.c4: no counterpart",
                "app_pg: and 2 more columns; see system.columns",
            ]
        );
        let unreachable = finding(None, Some(Error::new(ErrorCode::SourceUnreachable, "source app_pg is unreachable").with_hint("start it")));
        assert_eq!(unreachable.remarks()[..2], ["app_pg: source app_pg is unreachable", "app_pg: hint: start it"]);
        assert_eq!(table(&[finding(Some(health()), None), unreachable]).unwrap().num_rows(), 2);
    }
}
