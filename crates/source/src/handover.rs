// SPDX-License-Identifier: Apache-2.0
//! How a worker hands batches to whoever asked: a bounded channel (back-pressure) that knows the difference between
//! "finished" and "fell silent", and one place that remembers why a statement was stopped.

use crate::BatchStream;
use arrow::array::RecordBatch;
use futures::StreamExt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use weir_base::limits::BATCHES_IN_FLIGHT_MAX;
use weir_base::{Error, ErrorCode, Result, SourceName, Span};
use weir_guard::{Meter, Outcome, Permit};

/// Why a statement must end before its last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The query was cancelled by somebody.
    Cancelled,
    /// Nobody reads the stream any more.
    Abandoned,
    /// `limits.statement_timeout` has passed.
    Timeout(Duration),
}

impl StopReason {
    pub(crate) fn error(self, source: &SourceName) -> Error {
        let error = |detail: String| Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail(detail);
        match self {
            Self::Cancelled => error(format!("while it read source {source}")),
            Self::Abandoned => error(format!("nobody read the rows of source {source} any more")),
            Self::Timeout(after) => error(format!("statement timeout at source {source}: limits.statement_timeout is {}", Span(after)))
                .with_hint("add a filter that the source can apply, or ask for the limit to be raised"),
        }
    }
}

/// A stop sign for one statement: raised once, seen by everybody who works on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    raised: CancellationToken,
    reason: Arc<OnceLock<StopReason>>,
}

impl Stop {
    /// The first reason stands.
    pub(crate) fn raise(&self, reason: StopReason) {
        self.reason.get_or_init(|| reason);
        self.raised.cancel();
    }

    pub(crate) fn reason(&self) -> Option<StopReason> {
        self.reason.get().copied()
    }

    pub(crate) async fn raised(&self) -> StopReason {
        self.raised.cancelled().await;
        self.reason().unwrap_or(StopReason::Cancelled)
    }
}

/// The worker's end.
#[derive(Debug, Clone)]
pub(crate) struct Outlet(mpsc::Sender<Handed>);

#[derive(Debug)]
enum Handed {
    Batch(RecordBatch),
    Failed(Error),
    Finished,
}

impl Outlet {
    /// Waits for room; from a plain thread. False when nobody reads any more.
    pub(crate) fn batch_blocking(&self, batch: RecordBatch) -> bool {
        self.0.blocking_send(Handed::Batch(batch)).is_ok()
    }

    /// Waits for room; from a task. False when nobody reads any more.
    pub(crate) async fn batch(&self, batch: RecordBatch) -> bool {
        self.0.send(Handed::Batch(batch)).await.is_ok()
    }

    /// The end from a plain thread: without it, readers take the silence for a broken source. False when nobody reads any more.
    pub(crate) fn end_blocking(&self, end: Result<()>) -> bool {
        self.0.blocking_send(Handed::of(end)).is_ok()
    }

    /// The end from a task. False when nobody reads any more.
    pub(crate) async fn end(&self, end: Result<()>) -> bool {
        self.0.send(Handed::of(end)).await.is_ok()
    }

    /// Resolves when nobody reads any more.
    pub(crate) async fn abandoned(&self) {
        self.0.closed().await;
    }
}

impl Handed {
    fn of(end: Result<()>) -> Self {
        end.map_or_else(Self::Failed, |()| Self::Finished)
    }
}

/// A channel of batches. The stream ends early, with the reason as its error, when `stop` is raised.
pub(crate) fn channel(source: SourceName, stop: Stop) -> (Outlet, BatchStream) {
    let (sender, receiver) = mpsc::channel(BATCHES_IN_FLIGHT_MAX);
    let reading = Some((receiver, source, stop));
    let stream = futures::stream::unfold(reading, |reading| async move {
        let (mut receiver, source, stop) = reading?;
        let handed = tokio::select! {
            biased;
            reason = stop.raised() => return Some((Err(reason.error(&source)), None)),
            handed = receiver.recv() => handed,
        };
        match handed {
            Some(Handed::Batch(batch)) => Some((Ok(batch), Some((receiver, source, stop)))),
            Some(Handed::Failed(error)) => Some((Err(error), None)),
            Some(Handed::Finished) => None,
            None => Some((Err(fell_silent(&source)), None)),
        }
    });
    (Outlet(sender), stream.boxed())
}

fn fell_silent(source: &SourceName) -> Error {
    Error::new(ErrorCode::SourceBroke, format!("source {source} broke mid-query")).with_detail("its worker ended before the last row")
}

/// What decides when a statement must stop.
pub(crate) struct Watch {
    stop: Stop,
    outlet: Outlet,
    cancel: CancellationToken,
    timeout: Duration,
    meter: Arc<Meter>,
}

impl Watch {
    pub(crate) fn new(stop: &Stop, outlet: &Outlet, permit: &Permit) -> Self {
        let (cancel, timeout) = (permit.cancel_token().clone(), permit.limits().statement_timeout);
        Self { stop: stop.clone(), outlet: outlet.clone(), cancel, timeout, meter: permit.meter().clone() }
    }

    /// Raises the stop when the query is cancelled, nobody reads, or time is up, and notes it in the ledger. True when it
    /// was raised, false when `done` fired first.
    pub(crate) async fn until(self, done: CancellationToken) -> bool {
        let reason = tokio::select! {
            () = done.cancelled() => return false,
            () = self.cancel.cancelled() => StopReason::Cancelled,
            () = self.outlet.abandoned() => StopReason::Abandoned,
            () = tokio::time::sleep(self.timeout) => StopReason::Timeout(self.timeout),
        };
        self.meter.end(Outcome::Cancelled);
        self.stop.raise(reason);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn silence_is_not_the_end() {
        let (outlet, mut stream) = channel(SourceName::new("s"), Stop::default());
        drop(outlet);
        assert_eq!(stream.next().await.unwrap().unwrap_err().code(), ErrorCode::SourceBroke);
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn a_raised_stop_ends_the_stream_with_its_reason() {
        let stop = Stop::default();
        let (_outlet, mut stream) = channel(SourceName::new("s"), stop.clone());
        stop.raise(StopReason::Timeout(Duration::from_secs(30)));
        stop.raise(StopReason::Cancelled);
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!((error.code(), error.detail()), (ErrorCode::Cancelled, Some("statement timeout at source s: limits.statement_timeout is 30s")));
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn finished_is_the_end() {
        let (outlet, mut stream) = channel(SourceName::new("s"), Stop::default());
        assert!(outlet.end(Ok(())).await);
        assert!(stream.next().await.is_none());
    }
}
