// SPDX-License-Identifier: Apache-2.0
//! The ledger: what really left each source for one query, statement by statement, counted where the bytes arrive.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use weir_base::{ByteSize, Error, ErrorCode, Result, SourceName};

/// How a statement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Running,
    Done,
    Failed,
    Cancelled,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Rows and bytes of one query out of one source, over all its statements, against the budget.
#[derive(Debug)]
pub(crate) struct Spending {
    source: SourceName,
    rows: AtomicU64,
    bytes: AtomicU64,
    rows_max: Option<u64>,
    bytes_max: Option<u64>,
}

impl Spending {
    fn add_rows(&self, rows: u64) -> Result<()> {
        let total = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        match self.rows_max {
            Some(max) if total > max => Err(self.over("rows_per_query", &format!("{total} rows"), &format!("{max} rows"))),
            _ => Ok(()),
        }
    }

    fn add_bytes(&self, bytes: u64) -> Result<()> {
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        match self.bytes_max {
            Some(max) if total > max => Err(self.over("bytes_per_query", &ByteSize(total).to_string(), &ByteSize(max).to_string())),
            _ => Ok(()),
        }
    }

    fn over(&self, limit: &str, read: &str, allowed: &str) -> Error {
        Error::new(ErrorCode::OverBudget, format!("query took more out of {} than its budget", self.source))
            .with_detail(format!("{read} read, {limit} allows {allowed}"))
            .with_hint("add a filter that the source can apply, aggregate there, or read fewer columns; `weir plan` shows what is pushed")
    }
}

/// Counts one statement. Connectors call it as bytes and rows arrive and stop at the first error.
#[derive(Debug)]
pub struct Meter {
    spending: Arc<Spending>,
    sql: OnceLock<String>,
    rows: AtomicU64,
    bytes: AtomicU64,
    queued: Duration,
    started: Instant,
    ended: OnceLock<(Duration, Outcome)>,
    forecast_rows: OnceLock<u64>,
}

/// A meter at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MeterReading {
    pub source: SourceName,
    pub sql: String,
    pub rows: u64,
    pub bytes: u64,
    pub queued: Duration,
    pub elapsed: Duration,
    pub outcome: Outcome,
    pub forecast_rows: Option<u64>,
}

impl Meter {
    pub(crate) fn new(spending: Arc<Spending>, queued: Duration) -> Self {
        Self {
            spending,
            sql: OnceLock::new(),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            queued,
            started: Instant::now(),
            ended: OnceLock::new(),
            forecast_rows: OnceLock::new(),
        }
    }

    /// The text that is about to be sent; the first one stands.
    pub fn describe(&self, sql: &str) {
        let _ = self.sql.set(sql.to_owned());
    }

    pub fn forecast(&self, rows: u64) {
        let _ = self.forecast_rows.set(rows);
    }

    /// Bytes arrived from the source. Error: 53400 once the budget is passed.
    pub fn count_bytes(&self, bytes: u64) -> Result<()> {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.spending.add_bytes(bytes)
    }

    /// Rows arrived from the source. Error: 53400 once the budget is passed.
    pub fn count_rows(&self, rows: u64) -> Result<()> {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.spending.add_rows(rows)
    }

    /// The statement has ended; the first outcome stands.
    pub fn end(&self, outcome: Outcome) {
        let _ = self.ended.set((self.started.elapsed(), outcome));
    }

    pub fn read(&self) -> MeterReading {
        let (elapsed, outcome) = self.ended.get().copied().unwrap_or_else(|| (self.started.elapsed(), Outcome::Running));
        MeterReading {
            source: self.spending.source.clone(),
            sql: self.sql.get().cloned().unwrap_or_default(),
            rows: self.rows.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            queued: self.queued,
            elapsed,
            outcome,
            forecast_rows: self.forecast_rows.get().copied(),
        }
    }
}

/// All statements of one query over all its sources.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    spendings: Vec<Arc<Spending>>,
    meters: Vec<Arc<Meter>>,
}

impl Ledger {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Opens a meter for one more statement of this query on `source`.
    pub(crate) fn open(&self, source: &SourceName, limits: &crate::Limits, queued: Duration) -> Arc<Meter> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.spendings.iter().find(|spending| spending.source == *source).cloned();
        let spending = known.unwrap_or_else(|| {
            let fresh = Arc::new(Spending {
                source: source.clone(),
                rows: AtomicU64::new(0),
                bytes: AtomicU64::new(0),
                rows_max: limits.rows_per_query,
                bytes_max: limits.bytes_per_query,
            });
            entries.spendings.push(fresh.clone());
            fresh
        });
        let meter = Arc::new(Meter::new(spending, queued));
        entries.meters.push(meter.clone());
        meter
    }

    /// Every statement so far, in the order they were opened.
    pub fn read(&self) -> Vec<MeterReading> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.meters.iter().map(|meter| meter.read()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn statements_of_a_query_share_the_budget_of_a_source() {
        let ledger = Ledger::new();
        let limits = Limits { rows_per_query: Some(10), ..Limits::default() };
        let source = SourceName::new("app_pg");
        let first = ledger.open(&source, &limits, Duration::ZERO);
        let second = ledger.open(&source, &limits, Duration::ZERO);
        first.count_rows(6).unwrap();
        let error = second.count_rows(6).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OverBudget);
        assert_eq!(error.detail(), Some("12 rows read, rows_per_query allows 10 rows"));
        assert_eq!(ledger.read().iter().map(|reading| reading.rows).sum::<u64>(), 12);
    }
}
