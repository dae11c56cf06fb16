// SPDX-License-Identifier: Apache-2.0
//! One running statement: a thread of its own that blocks in the driver, and a watch that ends it from outside.

use super::config::AdbcConfig;
use super::session::{Session, Sessions};
use super::{convert, failure};
use crate::handover::{self, Outlet, Stop, StopReason, Watch};
use crate::{Fetched, Statement};
use adbc_core::Statement as _;
use adbc_driver_manager::ManagedStatement;
use arrow::array::{RecordBatch, RecordBatchReader};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use weir_base::limits::CONNECT_TIMEOUT_MS;
use weir_base::{AsOf, AsOfMethod, Error, Result, Timestamp};
use weir_guard::{Outcome, Permit};

/// Sends the statement and waits for its first batch. The thread holds the permit until the driver has let go.
pub(super) async fn fetch(config: Arc<AdbcConfig>, sessions: Arc<Sessions>, permit: Permit, statement: Statement) -> Result<Fetched> {
    let stop = Stop::default();
    let (outlet, batches) = handover::channel(config.name.clone(), stop.clone());
    let (started, first) = oneshot::channel();
    let (connected, session_ready) = oneshot::channel();
    let done = CancellationToken::new();
    let phase = Arc::new(Phase::default());
    let watching = Watch::new(&stop, &outlet, &permit).until(done.clone());
    let (watched_phase, watched_sessions) = (phase.clone(), sessions.clone());
    tokio::spawn(async move {
        if watching.await {
            // Cancelling may talk to the server, so it must not hold up a thread of the runtime.
            drop(tokio::task::spawn_blocking(move || watched_phase.cancel(&watched_sessions)));
        }
    });
    let name = config.name.clone();
    let job = Job { config, sessions, permit, statement, stop: stop.clone(), outlet, phase };
    let thread = std::thread::Builder::new().name("weir-adbc".to_owned());
    let ends = done.drop_guard();
    thread
        .spawn(move || {
            let _ends = ends;
            job.run(connected, started);
        })
        .map_err(|error| Error::new(weir_base::ErrorCode::OutOfResources, "no thread for a statement").with_detail(error.kind().to_string()))?;
    let patience = tokio::time::sleep(std::time::Duration::from_millis(CONNECT_TIMEOUT_MS));
    tokio::select! {
        biased;
        // A login that failed drops its sender; the reason then comes through `first`.
        _ = session_ready => {}
        reason = stop.raised() => return Err(reason.error(&name)),
        () = patience => return Err(failure::no_answer(&name, CONNECT_TIMEOUT_MS)),
    }
    let as_of = tokio::select! {
        biased;
        first = first => first.map_err(|_| Error::internal("adbc statement thread ended without a word").with_detail("the driver handed over something that could not be imported"))??,
        reason = stop.raised() => return Err(reason.error(&name)),
    };
    Ok(Fetched { as_of, batches })
}

/// Where the thread is, for those who want to end it.
#[derive(Default)]
struct Phase(Mutex<State>);

#[derive(Default)]
enum State {
    /// No statement yet, or no longer.
    #[default]
    Elsewhere,
    /// Inside the driver's execute, which locks the statement: only another session can reach it.
    Executing(Option<u64>),
    /// Reading: the driver can be told directly.
    Streaming(ManagedStatement),
}

impl Phase {
    fn set(&self, state: State) -> State {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), state)
    }

    /// Holds the state until done, so that the session cannot go on to another statement, which would be cancelled instead.
    fn cancel(&self, sessions: &Sessions) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            State::Elsewhere | State::Executing(None) => {}
            State::Executing(Some(id)) => {
                if let Err(error) = sessions.cancel(*id) {
                    tracing::warn!(%error, "CancelFailed");
                }
            }
            // A driver that cannot cancel still stops when its reader is dropped, after the batch it is working on.
            State::Streaming(statement) => {
                if let Err(error) = statement.cancel() {
                    tracing::debug!(status = ?error.status, "CancelRefused");
                }
            }
        }
    }
}

type Reader = Box<dyn RecordBatchReader + Send>;

struct Job {
    config: Arc<AdbcConfig>,
    sessions: Arc<Sessions>,
    permit: Permit,
    statement: Statement,
    stop: Stop,
    outlet: Outlet,
    phase: Arc<Phase>,
}

impl Job {
    fn run(self, connected: oneshot::Sender<()>, started: oneshot::Sender<Result<AsOf>>) {
        let (session, mut reader, first, as_of) = match self.start(connected) {
            Ok(running) => running,
            Err(error) => {
                let error = self.ended(error);
                drop(self.permit);
                // Whoever asked may be gone; the outcome is in the ledger either way.
                drop(started.send(Err(error)));
                return;
            }
        };
        if started.send(Ok(as_of)).is_err() {
            self.stop.raise(StopReason::Abandoned);
        }
        let pumped = self.pump(first, &mut reader);
        drop(reader);
        drop(self.phase.set(State::Elsewhere));
        let end = match pumped {
            Ok(()) => {
                self.sessions.give_back(session);
                self.permit.meter().end(Outcome::Done);
                Ok(())
            }
            Err(error) => {
                // Closed with its half-read statement.
                drop(session);
                Err(self.ended(error))
            }
        };
        // Whoever sees the end may count on the permit being free.
        drop(self.permit);
        if !self.outlet.end_blocking(end) {
            tracing::debug!(source = %self.config.name, "ReaderGone");
        }
    }

    /// Notes how it ended. A stop explains every error that came after it.
    fn ended(&self, error: Error) -> Error {
        drop(self.phase.set(State::Elsewhere));
        match self.stop.reason() {
            Some(reason) => {
                self.permit.meter().end(Outcome::Cancelled);
                reason.error(&self.config.name)
            }
            None => {
                self.permit.meter().end(Outcome::Failed);
                error
            }
        }
    }

    /// Everything up to the first batch, whose errors belong to the call.
    fn start(&self, connected: oneshot::Sender<()>) -> Result<(Session, Reader, Option<RecordBatch>, AsOf)> {
        let (mut session, now) = self.sessions.take()?;
        if connected.send(()).is_err() {
            self.stop.raise(StopReason::Abandoned);
        }
        self.check_stop()?;
        let asker = format!("weir user={} query={}", comment_safe(self.statement.user.as_str()), self.statement.query_id);
        let sql = format!("/* {asker} */ {}", self.statement.sql);
        self.permit.meter().describe(self.statement.shown());
        let mut statement = self.sessions.prepare(&mut session, &sql, &asker)?;
        self.phase.set(State::Executing(session.id));
        let executed = statement.execute();
        self.phase.set(State::Streaming(statement));
        let mut reader = match executed {
            Ok(reader) => reader,
            Err(error) => {
                drop(self.phase.set(State::Elsewhere));
                // The statement was at fault, so the session is as good as before.
                if failure::refusal(&error) && self.stop.reason().is_none() {
                    self.sessions.give_back(session);
                }
                return Err(failure::statement(&self.config.name, &error));
            }
        };
        self.check_stop()?;
        convert::check_shape(&reader.schema(), &self.statement.outputs, &self.config.name)?;
        let first = self.next(&mut reader)?;
        Ok((session, reader, first, AsOf::new(Timestamp::from_micros(now), AsOfMethod::Clock)))
    }

    fn pump(&self, first: Option<RecordBatch>, reader: &mut Reader) -> Result<()> {
        let mut next = first;
        while let Some(batch) = next {
            self.hand_over(&batch)?;
            next = self.next(reader)?;
        }
        // A driver may end its stream quietly when it is cancelled: that is no end.
        self.check_stop()
    }

    fn next(&self, reader: &mut Reader) -> Result<Option<RecordBatch>> {
        self.check_stop()?;
        reader.next().transpose().map_err(|_| failure::stream(&self.config.name))
    }

    fn hand_over(&self, batch: &RecordBatch) -> Result<()> {
        self.permit.meter().count_bytes(convert::buffer_bytes(batch))?;
        self.permit.meter().count_rows(batch.num_rows() as u64)?;
        for piece in convert::pieces(batch) {
            let converted = convert::batch(&piece, &self.statement, self.config.nan, self.config.infinity)?;
            if !self.outlet.batch_blocking(converted) {
                self.stop.raise(StopReason::Abandoned);
                return self.check_stop();
            }
        }
        Ok(())
    }

    fn check_stop(&self) -> Result<()> {
        self.stop.reason().map_or(Ok(()), |reason| Err(reason.error(&self.config.name)))
    }
}

/// A user name that can neither end the comment nor break the tag.
fn comment_safe(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@') { c } else { '_' }).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_cannot_leave_the_comment() {
        assert_eq!(comment_safe("ana */ DROP TABLE x --"), "ana____DROP_TABLE_x_--");
    }
}
