// SPDX-License-Identifier: Apache-2.0
//! One statement from its text to its batches: preamble, check of the column types, COPY or rows, cancel, clean end.
//! Many rows come by COPY, which costs the server least for each of them, but tells no types: the statement is described first, and so
//! parsed twice. A statement of which few rows are likely is parsed once, and its rows come with their types.

use super::failure;
use super::framing::{Batches, CopyRows, Progress, Sink};
use super::pool::{Lease, Pool};
use super::session::{Flavour, Preamble, application_name, comment, primary_refused};
use super::value::{self, Policies};
use crate::{BatchStream, Fetched, Statement};
use arrow::array::RecordBatch;
use bytes::Bytes;
use futures::{Stream, StreamExt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Column, Row};
use tokio_util::sync::CancellationToken;
use weir_base::limits::{BATCHES_IN_FLIGHT_MAX, CANCEL_GRACE_MS};
use weir_base::{AsOf, Error, ErrorCode, Result, SourceName};
use weir_guard::{Meter, Outcome, Permit};

/// Messages taken from the protocol layer in one go, before cancels and budgets are looked at again.
const MESSAGES_AT_ONCE: usize = 512;

/// Up to so many likely rows, a second parse of the statement costs the server more than COPY saves it.
const FEW_ROWS: u64 = 1_000;

/// How often a statement that a replica's recovery cancelled is run again, as long as none of its rows has left.
const RECOVERY_RETRIES_MAX: usize = 2;

/// What a source's statements have in common.
pub struct Fetcher {
    pub pool: Arc<Pool>,
    pub policies: Policies,
    pub primary_allowed: bool,
}

/// The way from the running statement to the one who reads its batches.
pub(super) struct Outlet {
    head: Option<oneshot::Sender<Result<AsOf>>>,
    as_of: Option<AsOf>,
    batches: mpsc::Sender<Result<RecordBatch>>,
}

/// Why a statement stopped before its end.
enum Stop {
    /// Something failed; the session is at rest.
    Failed(Error),
    /// Something failed; the session may still be running.
    Abandon(Error),
    /// The reader went away.
    Unread,
}

impl Fetcher {
    /// Runs a statement. Errors before the first batch come from here, later ones from the stream.
    pub async fn fetch(self: &Arc<Self>, permit: Permit, statement: Statement) -> Result<Fetched> {
        permit.meter().describe(statement.shown());
        let (outlet, fetched) = Outlet::new();
        let fetcher = self.clone();
        tokio::spawn(async move { fetcher.run(permit, statement, outlet).await });
        fetched.await
    }

    /// Runs a statement in the transaction that the session is in, and ends it.
    pub(super) async fn read_part(&self, lease: Lease, statement: Statement, mut outlet: Outlet) {
        let (cancel, meter) = match lease.permit() {
            Ok(permit) => (permit.cancel_token().clone(), permit.meter().clone()),
            Err(error) => return outlet.fail(error).await,
        };
        let attempt = async {
            let started = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Stop::Abandon(failure::cancelled(&self.pool.opener().source))),
                () = outlet.unread() => return Err(Stop::Unread),
                started = self.prepare(&lease, &statement, false) => started.map_err(Prepared::into_stop)?,
            };
            self.stream(&lease, &statement, Started { in_transaction: true, ..started }, &mut outlet).await
        };
        let stopped = attempt.await.map_err(Stop::abandoned);
        end(stopped, meter, lease, outlet).await;
    }

    async fn run(&self, permit: Permit, statement: Statement, mut outlet: Outlet) {
        let meter = permit.meter().clone();
        let cancel = permit.cancel_token().clone();
        let leased = tokio::select! {
            leased = self.pool.lease(permit, false) => leased,
            () = outlet.batches.closed() => return,
        };
        let mut lease = match leased {
            Ok(lease) => lease,
            Err(error) => {
                meter.end(outcome_of(&error));
                return outlet.fail(error).await;
            }
        };
        let mut stopped = self.attempt(&mut lease, &statement, &cancel, &mut outlet).await;
        for _ in 0..RECOVERY_RETRIES_MAX {
            if !outlet.retries(&stopped) {
                break;
            }
            stopped = self.attempt(&mut lease, &statement, &cancel, &mut outlet).await;
        }
        end(stopped, meter, lease, outlet).await;
    }

    /// Runs the statement once.
    async fn attempt(&self, lease: &mut Lease, statement: &Statement, cancel: &CancellationToken, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        let started = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Stop::Abandon(failure::cancelled(&self.pool.opener().source))),
            () = outlet.unread() => return Err(Stop::Unread),
            started = self.start(lease, statement) => started?,
        };
        self.stream(lease, statement, started, outlet).await
    }

    /// Preamble and description, in one round trip. A session from the pool that turns out to be dead is replaced once.
    async fn start(&self, lease: &mut Lease, statement: &Statement) -> std::result::Result<Started, Stop> {
        let few = statement.rows_likely.is_some_and(|rows| rows <= FEW_ROWS);
        match self.prepare(lease, statement, few).await {
            Err(Prepared::Lost(_)) if !lease.fresh() => {}
            prepared => return prepared.map_err(Prepared::into_stop),
        }
        let permit = lease.take_over().await.map_err(Stop::Failed)?;
        *lease = self.pool.lease_fresh(permit, false).await.map_err(Stop::Failed)?;
        self.prepare(lease, statement, few).await.map_err(Prepared::into_stop)
    }

    /// `few` is whether the statement is left to be described with its rows.
    async fn prepare(&self, lease: &Lease, statement: &Statement, few: bool) -> std::result::Result<Started, Prepared> {
        let source = &self.pool.opener().source;
        let session = lease.session().map_err(Prepared::Failed)?;
        let began = Instant::now();
        let name = application_name(&statement.user, &statement.query_id);
        let note = comment(&statement.user, &statement.query_id);
        let failed = |error: tokio_postgres::Error| {
            let failed = failure::of_statement(source, &error, began.elapsed(), self.pool.opener().statement_timeout);
            if failure::connection_lost(&error) { Prepared::Lost(failed) } else { Prepared::Failed(failed) }
        };
        let text = format!("{note}{}", statement.sql);
        let by_copy = session.flavour == Flavour::Postgres;
        let few = few && by_copy;
        let described = async { if few { Ok(None) } else { session.client.prepare(&text).await.map(Some) } };
        let copy_text = format!("{note}COPY ({}) TO STDOUT (FORMAT binary)", statement.sql);
        let copy = async { if by_copy && !few { session.client.prepare(&copy_text).await.map(Some) } else { Ok(None) } };
        let (preamble, described, copy) = tokio::join!(session.preamble(&name), described, copy);
        let preamble = preamble.map_err(failed)?;
        if preamble.in_recovery == Some(false) && !self.primary_allowed {
            return Err(Prepared::Failed(primary_refused(source, session.endpoint())));
        }
        let (described, copy) = (described.map_err(failed)?, copy.map_err(failed)?);
        let sinks = match &described {
            Some(described) => self.sinks(source, statement, described.columns()).map_err(Prepared::Failed)?,
            None => Vec::new(),
        };
        let way = match (described, copy) {
            (_, Some(copy)) => Way::Copy(copy),
            (Some(described), None) => Way::Rows(described),
            (None, None) => Way::FewRows(text),
        };
        let as_of = as_of(source, &preamble).map_err(Prepared::Failed)?;
        Ok(Started { as_of, batches: Batches::new(statement.schema(), sinks), began, way, in_transaction: false })
    }

    /// A reader for each column. Error: the server returns other columns than the engine was told, which is a bug here or a changed table.
    fn sinks(&self, source: &SourceName, statement: &Statement, columns: &[Column]) -> Result<Vec<Sink>> {
        let wires: Vec<&Type> = columns.iter().map(Column::type_).collect();
        if wires.len() != statement.outputs.len() {
            return Err(Error::internal(format!("source {source} returns another number of columns than expected")).with_detail(format!(
                "{} instead of {}",
                wires.len(),
                statement.outputs.len()
            )));
        }
        let sink = |(wire, output): (&&Type, &crate::OutputColumn)| {
            let reader = value::reader(wire, &output.data_type, self.policies).ok_or_else(|| {
                Error::new(ErrorCode::TypeMismatch, format!("source {source} returns another type than expected"))
                    .with_detail(format!("column {} arrives as {} and is wanted as {}", output.label, wire.name(), output.data_type))
                    .with_hint("the table has changed there since it was listed; ask again")
            })?;
            Ok(Sink { reader, label: output.label.clone() })
        };
        wires.iter().zip(&statement.outputs).map(sink).collect()
    }

    /// Reads the result to its end.
    async fn stream(&self, lease: &Lease, statement: &Statement, mut started: Started, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        outlet.as_of = Some(started.as_of);
        let cancel = lease.permit().map_err(Stop::Failed)?.cancel_token().clone();
        let read = async {
            match started.way.clone() {
                Way::Copy(copy) => self.copy(lease, &copy, &mut started, outlet).await,
                Way::Rows(described) => self.rows(lease, &described, &mut started, outlet).await,
                Way::FewRows(text) => self.few_rows(lease, statement, &text, &mut started, outlet).await,
            }
        };
        tokio::select! {
            biased;
            ended = read => ended,
            () = cancel.cancelled() => Err(Stop::Abandon(failure::cancelled(&self.pool.opener().source))),
        }
    }

    async fn copy(&self, lease: &Lease, copy: &tokio_postgres::Statement, started: &mut Started, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        let source = &self.pool.opener().source;
        let client = &lease.session().map_err(Stop::Failed)?.client;
        let opened = self.patiently(outlet, client.copy_out(copy)).await?;
        let stream = opened.map_err(|error| self.statement_failed(&error, started.began))?;
        let messages = stream.ready_chunks(MESSAGES_AT_ONCE);
        tokio::pin!(messages);
        let mut rows = CopyRows::new();
        while let Some(chunk) = self.patiently(outlet, messages.next()).await? {
            self.check_leave(lease)?;
            for message in chunk {
                let message: Bytes = message.map_err(|error| self.statement_failed(&error, started.began))?;
                let mut progress = rows.push(&message, &mut started.batches).map_err(Stop::Abandon)?;
                while progress == Progress::Full {
                    self.hand_over(lease, started, outlet).await?;
                    progress = rows.resume(&mut started.batches).map_err(Stop::Abandon)?;
                }
            }
        }
        if !rows.complete() {
            return Err(Stop::Abandon(failure::broke(source)));
        }
        if started.in_transaction {
            client.batch_execute("COMMIT").await.map_err(|error| self.statement_failed(&error, started.began).abandoned())?;
        }
        self.finish(lease, started, outlet).await
    }

    /// The extended protocol's own rows, for servers without binary COPY; inside a read-only transaction, since their settings cannot be relied on.
    async fn rows(&self, lease: &Lease, described: &tokio_postgres::Statement, started: &mut Started, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        let client = &lease.session().map_err(Stop::Failed)?.client;
        let opening = async {
            client.batch_execute("BEGIN READ ONLY").await?;
            client.query_raw(described, std::iter::empty::<i32>()).await
        };
        let opened = self.patiently(outlet, opening).await?;
        let abandoned = |error: tokio_postgres::Error, began: Instant| self.statement_failed(&error, began).abandoned();
        let rows = opened.map_err(|error| abandoned(error, started.began))?;
        self.take_rows(lease, rows, started, outlet).await.map_err(Stop::abandoned)?;
        client.batch_execute("COMMIT").await.map_err(|error| abandoned(error, started.began))?;
        self.finish(lease, started, outlet).await
    }

    /// Parsed, described and run in one go. What comes back is checked with the first row.
    async fn few_rows(&self, lease: &Lease, statement: &Statement, text: &str, started: &mut Started, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        let client = &lease.session().map_err(Stop::Failed)?.client;
        let opened = self.patiently(outlet, client.query_typed_raw(text, std::iter::empty::<(i32, Type)>())).await?;
        let rows = opened.map_err(|error| self.statement_failed(&error, started.began))?.peekable();
        tokio::pin!(rows);
        if let Some(Ok(first)) = self.patiently(outlet, rows.as_mut().peek()).await? {
            let sinks = self.sinks(&self.pool.opener().source, statement, first.columns()).map_err(Stop::Abandon)?;
            started.batches = Batches::new(statement.schema(), sinks);
        }
        self.take_rows(lease, rows, started, outlet).await?;
        self.finish(lease, started, outlet).await
    }

    async fn take_rows(
        &self,
        lease: &Lease,
        rows: impl Stream<Item = std::result::Result<Row, tokio_postgres::Error>>,
        started: &mut Started,
        outlet: &mut Outlet,
    ) -> std::result::Result<(), Stop> {
        let failed = |error: tokio_postgres::Error, began: Instant| self.statement_failed(&error, began);
        let stream = rows.ready_chunks(MESSAGES_AT_ONCE);
        tokio::pin!(stream);
        while let Some(chunk) = self.patiently(outlet, stream.next()).await? {
            self.check_leave(lease)?;
            for row in chunk {
                let row = row.map_err(|error| failed(error, started.began))?;
                for column in 0..started.batches.columns() {
                    let Raw(raw) = row.try_get(column).map_err(|error| failed(error, started.began).abandoned())?;
                    started.batches.append(column, raw).map_err(Stop::Abandon)?;
                }
                started.batches.end_row();
                if started.batches.full() {
                    self.hand_over(lease, started, outlet).await?;
                }
            }
        }
        Ok(())
    }

    /// The last batch, and the head if there was none.
    async fn finish(&self, lease: &Lease, started: &mut Started, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        if started.batches.rows() > 0 {
            return self.hand_over(lease, started, outlet).await.map_err(Stop::at_rest);
        }
        outlet.open();
        Ok(())
    }

    async fn hand_over(&self, lease: &Lease, started: &mut Started, outlet: &mut Outlet) -> std::result::Result<(), Stop> {
        let batch = started.batches.finish().map_err(Stop::Abandon)?;
        let permit = lease.permit().map_err(Stop::Failed)?;
        permit.meter().count_rows(batch.num_rows() as u64).map_err(Stop::Abandon)?;
        outlet.open();
        outlet.batches.send(Ok(batch)).await.map_err(|_| Stop::Unread)
    }

    /// Waits for the server, but neither for a reader that has gone nor longer than a statement may run there.
    async fn patiently<T>(&self, outlet: &mut Outlet, waiting: impl Future<Output = T>) -> std::result::Result<T, Stop> {
        let longest = self.pool.opener().statement_timeout + Duration::from_millis(CANCEL_GRACE_MS);
        tokio::select! {
            biased;
            came = waiting => Ok(came),
            () = outlet.unread() => Err(Stop::Unread),
            () = tokio::time::sleep(longest) => Err(Stop::Abandon(failure::silent(&self.pool.opener().source, longest))),
        }
    }

    /// A fast server never lets the reading rest, so cancels are asked for as well as waited for.
    fn check_leave(&self, lease: &Lease) -> std::result::Result<(), Stop> {
        if lease.permit().map_err(Stop::Failed)?.cancel_token().is_cancelled() {
            return Err(Stop::Abandon(failure::cancelled(&self.pool.opener().source)));
        }
        let over = lease.session().map_err(Stop::Failed)?.tally.over_budget();
        over.map_or(Ok(()), |over| Err(Stop::Abandon(over)))
    }

    fn statement_failed(&self, error: &tokio_postgres::Error, began: Instant) -> Stop {
        let failed = failure::of_statement(&self.pool.opener().source, error, began.elapsed(), self.pool.opener().statement_timeout);
        if failure::connection_lost(error) { Stop::Abandon(failed) } else { Stop::Failed(failed) }
    }
}

/// How the rows come.
#[derive(Clone)]
enum Way {
    /// By COPY, for which there is a statement of its own.
    Copy(tokio_postgres::Statement),
    /// As rows of a statement that the server has described.
    Rows(tokio_postgres::Statement),
    /// As rows of this text, which describes itself.
    FewRows(String),
}

/// A statement that is ready to run.
struct Started {
    as_of: AsOf,
    batches: Batches,
    began: Instant,
    way: Way,
    /// A transaction is open that ends with the rows.
    in_transaction: bool,
}

enum Prepared {
    /// The connection is gone.
    Lost(Error),
    Failed(Error),
}

impl Prepared {
    fn into_stop(self) -> Stop {
        match self {
            Self::Lost(error) => Stop::Abandon(error),
            Self::Failed(error) => Stop::Failed(error),
        }
    }
}

impl Stop {
    /// The same, where a transaction is open that nobody will end.
    fn abandoned(self) -> Self {
        match self {
            Self::Failed(error) => Self::Abandon(error),
            other => other,
        }
    }

    /// The same, after the server has sent everything.
    fn at_rest(self) -> Self {
        match self {
            Self::Abandon(error) => Self::Failed(error),
            other => other,
        }
    }
}

/// The meter and the session get to know how it ended, and then the reader.
async fn end(stopped: std::result::Result<(), Stop>, meter: Arc<Meter>, lease: Lease, outlet: Outlet) {
    match stopped {
        Ok(()) => {
            meter.end(Outcome::Done);
            lease.give_back();
        }
        Err(Stop::Failed(error)) => {
            meter.end(outcome_of(&error));
            lease.give_back();
            outlet.fail(error).await;
        }
        Err(Stop::Abandon(error)) => {
            meter.end(outcome_of(&error));
            drop(lease);
            outlet.fail(error).await;
        }
        Err(Stop::Unread) => {
            meter.end(Outcome::Cancelled);
            drop(lease);
        }
    }
}

impl Outlet {
    /// An outlet, and what comes out of it once the first batch is there.
    pub(super) fn new() -> (Self, impl Future<Output = Result<Fetched>>) {
        let (head, first) = oneshot::channel();
        let (batches, stream) = mpsc::channel(BATCHES_IN_FLIGHT_MAX);
        let fetched = async move {
            let as_of = first.await.map_err(|_| Error::internal("statement ended without a word"))??;
            let batches: BatchStream = Box::pin(futures::stream::unfold(stream, |mut stream| async move { stream.recv().await.map(|item| (item, stream)) }));
            Ok(Fetched { as_of, batches })
        };
        (Self { head: Some(head), as_of: None, batches }, fetched)
    }

    /// The first batch is there, or there is none: the caller of `fetch` gets its answer.
    fn open(&mut self) {
        if let (Some(head), Some(as_of)) = (self.head.take(), self.as_of) {
            // A caller that has gone is noticed at the next batch.
            let _gone = head.send(Ok(as_of));
        }
    }

    /// Whether a replica's conflict of recovery may be tried again: only while nothing has left.
    fn retries(&self, stopped: &std::result::Result<(), Stop>) -> bool {
        self.head.is_some() && matches!(stopped, Err(Stop::Failed(error)) if error.code() == ErrorCode::RecoveryConflict)
    }

    async fn fail(self, error: Error) {
        match self.head {
            Some(head) => drop(head.send(Err(error))),
            None => drop(self.batches.send(Err(error)).await),
        }
    }

    /// Resolves when nobody will read any more.
    async fn unread(&mut self) {
        match &mut self.head {
            Some(head) => head.closed().await,
            None => self.batches.closed().await,
        }
    }
}

/// A value as it came.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn as_of(source: &SourceName, preamble: &Preamble) -> Result<AsOf> {
    preamble.as_of.ok_or_else(|| {
        Error::new(ErrorCode::NotFreshEnough, format!("replica {source} cannot say how old it is"))
            .with_detail("it has replayed no transaction yet")
            .with_hint("wait until it has replayed something from its primary")
    })
}

fn outcome_of(error: &Error) -> Outcome {
    if error.code() == ErrorCode::Cancelled { Outcome::Cancelled } else { Outcome::Failed }
}
