// SPDX-License-Identifier: Apache-2.0
//! Forecast: what each fragment would take out of its source, as the source itself thinks, or its statistics, or not at all.

use crate::run::QueryRun;
use crate::scan::{LakeScan, SourceScan};
use datafusion::physical_plan::ExecutionPlan;
use tracing::debug;
use weir_api::{Forecast, ForecastMethod};
use weir_guard::Purpose;

/// A source's estimate is taken to be within this factor either way; a range, not a promise.
const ESTIMATE_SPREAD: u64 = 2;

/// Asks the source for its own estimate; falls back to the statistics of the table, and says unknown as unknown.
pub(crate) async fn of_source(scan: &SourceScan, run: &QueryRun) -> Forecast {
    let estimate = match scan.handle.guard.permit(Purpose::Metadata).await {
        Ok(permit) => scan.handle.source.estimate(permit, &scan.statement(run)).await,
        Err(error) => Err(error),
    };
    match estimate {
        Ok(estimate) if estimate.rows.is_some() => spread(estimate.rows, estimate.bytes, ForecastMethod::Explain),
        Ok(_) => of_statistics(scan),
        Err(error) => {
            debug!(source = %scan.handle.name(), error = %error, "EstimateFailed");
            of_statistics(scan)
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
