// SPDX-License-Identifier: Apache-2.0
//! Forecast: what each fragment would take out of its source, as the source itself thinks, or its statistics, or not at all.

use crate::residual::Leaves;
use crate::run::QueryRun;
use crate::scan::{LakeScan, SourceScan};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use futures::future::join_all;
use std::time::Duration;
use tokio::time::timeout;
use tracing::debug;
use weir_api::{Forecast, ForecastMethod};
use weir_base::limits::FORECAST_WAIT_MS_MAX;
use weir_guard::Purpose;
use weir_source::{OutputColumn, Statement};

/// A source's estimate is taken to be within this factor either way; a range, not a promise.
pub(crate) const ESTIMATE_SPREAD: u64 = 2;

/// What each scan is going to take, asked before the first permit is taken: the plan and the receipt tell the same number.
pub(crate) async fn foretell(leaves: &Leaves, run: &QueryRun) {
    let scans: Vec<&SourceScan> = leaves.by_source().into_values().flatten().collect();
    join_all(scans.into_iter().map(|scan| of_source(scan, run))).await;
}

/// Asks the source for its own estimate; falls back to the statistics of the table, and says unknown as unknown.
pub(crate) async fn of_source(scan: &SourceScan, run: &QueryRun) -> Forecast {
    let forecast = match scan.forecast() {
        Some(forecast) => return forecast,
        None => asked(scan, run).await.unwrap_or_else(|| of_statistics(scan)),
    };
    scan.foretold(forecast.clone());
    forecast
}

/// What the source thinks, or thought of the same text a moment ago. A source that is busy with other statements is left alone.
async fn asked(scan: &SourceScan, run: &QueryRun) -> Option<Forecast> {
    let handle = &scan.handle;
    let sql = &scan.fragment.sql;
    if let Some(remembered) = handle.remembered_forecast(sql) {
        return Some(remembered);
    }
    let load = handle.guard.load();
    if load.in_use >= load.allowed {
        return None;
    }
    let estimate = async {
        let permit = handle.guard.permit(Purpose::Metadata).await?;
        handle.source.estimate(permit, &scan.statement(run)).await
    };
    let estimate = match timeout(Duration::from_millis(FORECAST_WAIT_MS_MAX), estimate).await {
        Ok(Ok(estimate)) => estimate,
        Ok(Err(error)) => {
            debug!(source = %handle.name(), error = %error, "EstimateFailed");
            return None;
        }
        Err(_) => {
            debug!(source = %handle.name(), "EstimateTimedOut");
            return None;
        }
    };
    let rows = estimate.rows?;
    let forecast = spread(Some(rows), estimate.bytes, ForecastMethod::Explain);
    handle.remember_forecast(sql, forecast.clone());
    Some(forecast)
}

/// So long a source may take to count what its estimate leaves open; then the estimate decides.
const COUNT_WAIT: Duration = Duration::from_millis(80);

/// How many rows the statements give, counted at the source up to one more than so many: the answer is exact below that. `None` where the
/// source could not tell in time.
pub(crate) async fn counted(scans: &[&SourceScan], run: &QueryRun, rows_max: u64) -> Option<u64> {
    let counting = async {
        let mut total = 0_u64;
        for scan in scans.iter().filter(|scan| !scan.waits_for_keys()) {
            let rows = count(scan, run, rows_max.saturating_add(1)).await?;
            scan.counted(
                Forecast { rows: Some(rows), rows_low: Some(rows), rows_high: Some(rows), bytes: None, method: ForecastMethod::Count },
                rows <= rows_max,
            );
            total = total.saturating_add(rows);
            if total > rows_max {
                break;
            }
        }
        Some(total)
    };
    timeout(COUNT_WAIT, counting).await.ok().flatten()
}

async fn count(scan: &SourceScan, run: &QueryRun, at_most: u64) -> Option<u64> {
    let handle = &scan.handle;
    let dialect = handle.source.dialect();
    let (one, inner, outer) = (dialect.quote("one"), dialect.quote("counted"), dialect.quote("at_most"));
    let sql = format!("SELECT COUNT(*) FROM (SELECT 1 AS {one} FROM ({}) AS {inner}{}) AS {outer}", scan.fragment.sql, dialect.limit(at_most));
    let outputs = vec![OutputColumn { name: "count".into(), data_type: DataType::Int64, label: "a count of rows".into() }];
    let statement = Statement { sql, outputs, rows_likely: Some(1), ..scan.statement(run) };
    let counted = async {
        let permit = handle.guard.permit(Purpose::Metadata).await?;
        let mut fetched = handle.source.fetch(permit, statement).await?;
        let batch = fetched.batches.next().await.transpose()?;
        Ok::<_, weir_base::Error>(
            batch.and_then(|batch| batch.column(0).as_primitive_opt::<Int64Type>().filter(|rows| !rows.is_empty()).map(|rows| rows.value(0))),
        )
    };
    match counted.await {
        Ok(rows) => rows.and_then(|rows| u64::try_from(rows).ok()),
        Err(error) => {
            debug!(source = %handle.name(), error = %error, "CountFailed");
            None
        }
    }
}

fn of_statistics(scan: &SourceScan) -> Forecast {
    let Ok(statistics) = scan.partition_statistics(None) else { return Forecast::UNKNOWN };
    let rows = statistics.num_rows.get_value().map(|rows| *rows as u64);
    let bytes = statistics.total_byte_size.get_value().map(|bytes| *bytes as u64);
    match rows {
        Some(_) => spread(rows, bytes, ForecastMethod::Stats),
        None => Forecast::UNKNOWN,
    }
}

fn spread(rows: Option<u64>, bytes: Option<u64>, method: ForecastMethod) -> Forecast {
    Forecast { rows, rows_low: rows.map(|rows| rows / ESTIMATE_SPREAD), rows_high: rows.map(|rows| rows.saturating_mul(ESTIMATE_SPREAD)), bytes, method }
}

/// From the manifests: an upper bound once files were left out.
pub(crate) fn of_lake(scan: &LakeScan) -> Forecast {
    let rows = scan.plan.rows();
    let low = if scan.words.is_empty() { rows } else { 0 };
    Forecast { rows: Some(rows), rows_low: Some(low), rows_high: Some(rows), bytes: Some(scan.plan.bytes()), method: ForecastMethod::Manifest }
}
