// SPDX-License-Identifier: Apache-2.0
//! One running query: who asked, its admissions, its ledger, the ages its scans report, and the switch that cancels it.

use crate::key_use::KeysSent;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use weir_api::{Ages, QueryState, QueryStatus, Receipt, Session, SourceUse, TableReceipt, millis, to_micros};
use weir_base::{AsOf, AsOfMethod, Clock, Error, ErrorCode, QueryId, Result, SessionId, SourceName, Span, Timestamp, UserName};
use weir_guard::{Admission, Ledger, MeterReading, Permit, Waiting};
use weir_lake::ScanMeter;

/// Everything about one query from the moment it was taken in. Scans find it in the task context.
#[derive(Debug)]
pub struct QueryRun {
    pub id: QueryId,
    pub session: SessionId,
    /// The session as `pg_backend_pid()` calls it.
    pub number: i32,
    /// The name that its client gives itself.
    pub application_name: String,
    pub user: UserName,
    pub door: &'static str,
    pub sql: String,
    pub started_at: Timestamp,
    pub ledger: Arc<Ledger>,
    pub ages: Ages,
    pub cancel: CancellationToken,
    /// Set when it was the session's `statement_timeout` that cancelled.
    timed_out: AtomicBool,
    started: Instant,
    rows_returned: AtomicU64,
    state: Mutex<State>,
    ended: OnceLock<Ended>,
    admissions: Mutex<HashMap<SourceName, Admission>>,
    forecasts: Mutex<HashMap<(SourceName, Option<&'static str>), u64>>,
    ways: Mutex<Vec<Way>>,
    lake_reads: Mutex<Vec<Arc<LakeRead>>>,
    keys_sent: Mutex<Vec<KeysSent>>,
    timer: OnceLock<tokio::task::AbortHandle>,
}

/// One of the ways in which a question is asked that is asked more than once: where it begins among all that was read.
#[derive(Debug, Clone, Copy)]
struct Way {
    word: &'static str,
    statements_before: usize,
    lake_reads_before: usize,
}

/// One table of the lake, read for a query.
#[derive(Debug)]
pub(crate) struct LakeRead {
    source: SourceName,
    forecast_rows: u64,
    meter: Arc<ScanMeter>,
    started: Instant,
    /// Until the last batch so far.
    elapsed_micros: AtomicU64,
}

impl LakeRead {
    pub fn begin(source: SourceName, forecast_rows: u64, meter: Arc<ScanMeter>) -> Arc<Self> {
        Arc::new(Self { source, forecast_rows, meter, started: Instant::now(), elapsed_micros: AtomicU64::new(0) })
    }

    pub fn advanced(&self) {
        self.elapsed_micros.fetch_max(self.started.elapsed().as_micros() as u64, Ordering::Relaxed);
    }

    fn read(&self) -> SourceUse {
        SourceUse {
            source: self.source.to_string(),
            statements: 1,
            rows: self.meter.rows(),
            bytes: self.meter.bytes(),
            ms: self.elapsed_micros.load(Ordering::Relaxed) as f64 / 1000.0,
            queued_ms: 0.0,
            forecast_rows: Some(self.forecast_rows),
            pushdown: None,
        }
    }
}

#[derive(Debug, Clone)]
struct State {
    state: QueryState,
    note: Option<Note>,
}

/// Why a query is where it is. A place in a queue is told as it is when somebody looks.
#[derive(Debug, Clone)]
enum Note {
    Text(String),
    Waits(Waiting),
}

impl Note {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Waits(waiting) => waiting.to_string(),
        }
    }
}

#[derive(Debug, Clone)]
struct Ended {
    at: Timestamp,
    elapsed_ms: f64,
}

impl QueryRun {
    pub fn begin(session: &Session, id: QueryId, sql: &str, clock: &dyn Clock) -> Arc<Self> {
        let now = clock.now();
        Arc::new(Self {
            id,
            session: session.id,
            number: session.number,
            application_name: session.settings().application_name.clone(),
            user: session.user.clone(),
            door: session.door.word(),
            sql: sql.to_owned(),
            started_at: now,
            ledger: Ledger::new(),
            ages: Ages::new(AsOf::new(now, AsOfMethod::Clock)),
            cancel: CancellationToken::new(),
            timed_out: AtomicBool::new(false),
            started: Instant::now(),
            rows_returned: AtomicU64::new(0),
            state: Mutex::new(State { state: QueryState::Planning, note: None }),
            ended: OnceLock::new(),
            admissions: Mutex::default(),
            forecasts: Mutex::default(),
            ways: Mutex::default(),
            lake_reads: Mutex::default(),
            keys_sent: Mutex::default(),
            timer: OnceLock::new(),
        })
    }

    /// What was waited for is over.
    pub fn enter(&self, state: QueryState) {
        *self.lock_state() = State { state, note: None };
    }

    pub fn wait_for(&self, waiting: Waiting) {
        *self.lock_state() = State { state: QueryState::Waiting, note: Some(Note::Waits(waiting)) };
    }

    pub fn admitted(&self, admission: Admission, source: SourceName) {
        self.admissions.lock().unwrap_or_else(PoisonError::into_inner).insert(source, admission);
    }

    pub fn forecast(&self, source: &SourceName, rows: u64) {
        *self.forecasts.lock().unwrap_or_else(PoisonError::into_inner).entry((source.clone(), self.way())).or_default() += rows;
    }

    /// From here on, what is read is told apart in the receipt under this word.
    pub fn begin_way(&self, word: &'static str) {
        let statements_before = self.ledger.read().len();
        let lake_reads_before = self.lake_reads.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).push(Way { word, statements_before, lake_reads_before });
    }

    fn way(&self) -> Option<&'static str> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).last().map(|way| way.word)
    }

    pub(crate) fn reads_lake(&self, read: Arc<LakeRead>) {
        self.lake_reads.lock().unwrap_or_else(PoisonError::into_inner).push(read);
    }

    pub(crate) fn sends_keys(&self, sent: KeysSent) {
        self.keys_sent.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
    }

    /// The lists of keys that went to sources, in the order in which they did.
    pub(crate) fn keys_sent(&self) -> Vec<KeysSent> {
        self.keys_sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A permit for one statement of this query. Error: the source was not admitted, which is a bug.
    pub async fn permit(&self, source: &SourceName) -> Result<Permit> {
        let admission = self.admissions.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
        let admission = admission.ok_or_else(|| Error::internal("a scan of a source that was not admitted").with_detail(format!("source {source}")))?;
        admission.permit().await
    }

    /// Permits for more sessions of a source that are free, at most so many.
    pub fn spare_permits(&self, source: &SourceName, most: usize) -> Vec<Permit> {
        let admission = self.admissions.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
        admission.map(|admission| admission.spare(most)).unwrap_or_default()
    }

    /// Statements and sessions that nobody will use any more go back to their sources.
    pub fn release(&self) {
        self.admissions.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub fn count_returned(&self, rows: usize) {
        self.rows_returned.fetch_add(rows as u64, Ordering::Relaxed);
    }

    pub fn rows_returned(&self) -> u64 {
        self.rows_returned.load(Ordering::Relaxed)
    }

    /// Cancels the query once the session's `statement_timeout` has passed.
    pub fn time_limit(self: &Arc<Self>, limit: Option<Span>) {
        let Some(limit) = limit else { return };
        let run = Arc::downgrade(self);
        let timer = tokio::spawn(async move {
            tokio::time::sleep(limit.0).await;
            if let Some(run) = run.upgrade() {
                run.timed_out.store(true, Ordering::SeqCst);
                run.cancel.cancel();
            }
        });
        let _ = self.timer.set(timer.abort_handle());
    }

    /// 57014, with the detail that tells a cancel from a timeout.
    pub fn cancelled_error(&self) -> Error {
        if self.timed_out.load(Ordering::SeqCst) {
            return Error::new(ErrorCode::Cancelled, "query ran longer than statement_timeout").with_detail("the session's own statement_timeout");
        }
        Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail("on request")
    }

    /// Marks the end; the first end stands. Returns whether this call was the first.
    pub fn end(&self, error: Option<&Error>, abandoned: bool, clock: &dyn Clock) -> bool {
        let ended = Ended { at: clock.now(), elapsed_ms: self.elapsed_ms() };
        if self.ended.set(ended).is_err() {
            return false;
        }
        let cancelled = abandoned || error.is_some_and(|error| error.code() == ErrorCode::Cancelled);
        let state = match error {
            _ if cancelled => QueryState::Cancelled,
            Some(_) => QueryState::Failed,
            None => QueryState::Finished,
        };
        *self.lock_state() = State { state, note: error.map(|error| Note::Text(error.message().to_owned())) };
        self.release();
        if let Some(timer) = self.timer.get() {
            timer.abort();
        }
        true
    }

    pub fn elapsed_ms(&self) -> f64 {
        match self.ended.get() {
            Some(ended) => ended.elapsed_ms,
            None => millis(self.started.elapsed()),
        }
    }

    pub fn ended_at(&self) -> Option<Timestamp> {
        self.ended.get().map(|ended| ended.at)
    }

    pub fn state(&self) -> QueryState {
        self.lock_state().state
    }

    pub fn status(&self) -> QueryStatus {
        let readings = self.ledger.read();
        let state = self.lock_state().clone();
        QueryStatus {
            query_id: self.id,
            user: self.user.clone(),
            sql: self.sql.clone(),
            state: state.state,
            started_at: self.started_at,
            ended_at: self.ended_at(),
            elapsed_ms: self.elapsed_ms(),
            rows_returned: self.rows_returned(),
            rows_read: readings.iter().map(|reading| reading.rows).sum(),
            bytes_read: readings.iter().map(|reading| reading.bytes).sum(),
            note: state.note.as_ref().map(Note::text),
        }
    }

    pub fn receipt(&self, clock: &dyn Clock) -> Receipt {
        let read_at = self.ended_at().unwrap_or_else(|| clock.now());
        let tables = self.ages.tables().into_iter().map(|age| TableReceipt {
            table: age.table.to_string(),
            placement: age.placement.to_owned(),
            as_of: age.as_of.at,
            lag_ms: age.as_of.at.ms_until(read_at).max(0),
            method: age.as_of.method,
        });
        Receipt {
            query_id: self.id,
            user: self.user.clone(),
            as_of: self.ages.oldest().at,
            skew_ms: self.ages.skew_ms(),
            tables: tables.collect(),
            sources: self.source_uses(),
            definitions: Vec::new(),
            keys: None,
            policies: Vec::new(),
            elapsed_ms: self.elapsed_ms(),
            cache: "none".into(),
        }
    }

    fn source_uses(&self) -> Vec<SourceUse> {
        let forecasts = self.forecasts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let way = |at: usize, before: fn(&Way) -> usize| ways.iter().rev().find(|way| before(way) <= at).map(|way| way.word);
        let mut uses: Vec<SourceUse> = Vec::new();
        for (at, reading) in self.ledger.read().into_iter().enumerate() {
            let way = way(at, |way| way.statements_before);
            let forecast_rows = forecasts.get(&(reading.source.clone(), way)).copied();
            let (source, pushdown) = (reading.source.to_string(), way.map(str::to_owned));
            match uses.iter_mut().find(|known| known.source == source && known.pushdown == pushdown) {
                Some(known) => add(known, &reading),
                None => {
                    let mut fresh = SourceUse { source, statements: 0, rows: 0, bytes: 0, ms: 0.0, queued_ms: 0.0, forecast_rows, pushdown };
                    add(&mut fresh, &reading);
                    uses.push(fresh);
                }
            }
        }
        for (at, read) in self.lake_reads.lock().unwrap_or_else(PoisonError::into_inner).iter().enumerate() {
            let read = SourceUse { pushdown: way(at, |way| way.lake_reads_before).map(str::to_owned), ..read.read() };
            match uses.iter_mut().find(|known| known.source == read.source && known.pushdown == read.pushdown) {
                Some(known) => *known = together(known, &read),
                None => uses.push(read),
            }
        }
        uses.sort_by(|a, b| a.source.cmp(&b.source));
        uses
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn together(a: &SourceUse, b: &SourceUse) -> SourceUse {
    SourceUse {
        source: a.source.clone(),
        statements: a.statements + b.statements,
        rows: a.rows + b.rows,
        bytes: a.bytes + b.bytes,
        ms: to_micros(a.ms + b.ms),
        queued_ms: to_micros(a.queued_ms + b.queued_ms),
        forecast_rows: a.forecast_rows.zip(b.forecast_rows).map(|(a, b)| a + b),
        pushdown: a.pushdown.clone(),
    }
}

fn add(known: &mut SourceUse, reading: &MeterReading) {
    known.statements += 1;
    known.rows += reading.rows;
    known.bytes += reading.bytes;
    known.ms = to_micros(known.ms + millis(reading.elapsed));
    known.queued_ms = to_micros(known.queued_ms + millis(reading.queued));
}
