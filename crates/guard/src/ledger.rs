// SPDX-License-Identifier: Apache-2.0
//! The ledger: what really left each source for one query, statement by statement, counted where the bytes arrive.

use crate::UsedToday;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use weir_base::{ByteSize, Error, ErrorCode, Result, SourceName, Span};

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
    rows_max: Most,
    bytes_max: Most,
    time_max: Option<Duration>,
}

/// The most that may come, and which limit says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Most {
    limit: &'static str,
    allowed: Option<u64>,
}

impl Most {
    /// The tighter of what one query may take and what is left of the day.
    fn of(per_query: (&'static str, Option<u64>), left: (&'static str, Option<u64>)) -> Self {
        let (limit, allowed) = match (per_query.1, left.1) {
            (Some(query), Some(day)) if day < query => (left.0, Some(day)),
            (None, Some(day)) => (left.0, Some(day)),
            (query, _) => (per_query.0, query),
        };
        Self { limit, allowed }
    }
}

impl Spending {
    fn new(source: &SourceName, limits: &crate::Limits, used: UsedToday) -> Self {
        let left = |most: Option<u64>, used: u64| most.map(|most| most.saturating_sub(used));
        Self {
            source: source.clone(),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            rows_max: Most::of(("rows_per_query", limits.rows_per_query), ("what is left of rows_per_day", left(limits.rows_per_day, used.rows))),
            bytes_max: Most::of(("bytes_per_query", limits.bytes_per_query), ("what is left of bytes_per_day", left(limits.bytes_per_day, used.bytes))),
            time_max: limits.time_per_query,
        }
    }

    fn add_rows(&self, rows: u64) -> Result<()> {
        let total = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        match self.rows_max.allowed {
            Some(max) if total > max => Err(self.over(self.rows_max.limit, &format!("{total} rows"), &format!("{max} rows"))),
            _ => Ok(()),
        }
    }

    fn add_bytes(&self, bytes: u64) -> Result<()> {
        let total = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        match self.bytes_max.allowed {
            Some(max) if total > max => Err(self.over(self.bytes_max.limit, &ByteSize(total).to_string(), &ByteSize(max).to_string())),
            _ => Ok(()),
        }
    }

    /// Checked for the statement that counts; what the others took is in the time that the source is given for it.
    fn time(&self, elapsed: Duration) -> Result<()> {
        match self.time_max {
            Some(max) if elapsed > max => {
                Err(self.over("time_per_query", &Span(Duration::from_millis(elapsed.as_millis() as u64)).to_string(), &Span(max).to_string()))
            }
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
        self.spending.add_rows(rows)?;
        self.spending.time(self.started.elapsed())
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

impl Entries {
    fn spending(&mut self, source: &SourceName, limits: &crate::Limits, used: UsedToday) -> Arc<Spending> {
        let fresh = Arc::new(Spending::new(source, limits, used));
        self.spendings.push(fresh.clone());
        fresh
    }
}

impl Ledger {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What the user has taken out of the source today counts too, from the first statement on.
    pub fn day_left(&self, source: &SourceName, limits: &crate::Limits, used: UsedToday) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if !entries.spendings.iter().any(|spending| spending.source == *source) {
            entries.spending(source, limits, used);
        }
    }

    /// How long the statements of one source have run, all together.
    pub(crate) fn elapsed(&self, source: &SourceName) -> Duration {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.meters.iter().filter(|meter| meter.spending.source == *source).map(|meter| meter.read().elapsed).sum()
    }

    /// Opens a meter for one more statement of this query on `source`.
    pub(crate) fn open(&self, source: &SourceName, limits: &crate::Limits, queued: Duration) -> Arc<Meter> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.spendings.iter().find(|spending| spending.source == *source).cloned();
        let spending = known.unwrap_or_else(|| entries.spending(source, limits, UsedToday::default()));
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
    fn what_was_taken_today_counts() {
        let ledger = Ledger::new();
        let limits = Limits { rows_per_query: Some(10), rows_per_day: Some(12), bytes_per_day: Some(100), ..Limits::default() };
        let source = SourceName::new("app_pg");
        ledger.day_left(&source, &limits, UsedToday { rows: 8, bytes: 10 });
        let meter = ledger.open(&source, &limits, Duration::ZERO);
        meter.count_rows(4).unwrap();
        meter.count_bytes(90).unwrap();
        assert_eq!(meter.count_rows(1).unwrap_err().detail(), Some("5 rows read, what is left of rows_per_day allows 4 rows"));
        assert_eq!(meter.count_bytes(1).unwrap_err().detail(), Some("91 B read, what is left of bytes_per_day allows 90 B"));
    }

    #[test]
    fn time_is_a_budget_too() {
        let ledger = Ledger::new();
        let limits = Limits { time_per_query: Some(Duration::from_nanos(1)), ..Limits::default() };
        let meter = ledger.open(&SourceName::new("app_pg"), &limits, Duration::ZERO);
        let error = meter.count_rows(1).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OverBudget);
        assert!(error.detail().unwrap_or_default().contains("time_per_query allows"), "{error}");
    }

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
