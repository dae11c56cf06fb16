// SPDX-License-Identifier: Apache-2.0
//! Execute: runs an authorised plan as a stream that can be cancelled at any moment and that always leaves a record.

use crate::engine::Shared;
use crate::errors::from_datafusion;
use crate::residual::Physical;
use crate::run::QueryRun;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use weir_api::{Answer, AnswerKind, BatchStream, ReceiptMaker};
use weir_base::{Error, Result};
use weir_policy::Authorized;

/// Starts the plan. The answer is as old as its scans say.
pub(crate) fn execute(shared: &Arc<Shared>, run: &Arc<QueryRun>, physical: Authorized<Physical>) -> Result<Answer> {
    let stream = start(&physical)?;
    let schema = stream.schema();
    let guarded = Guarded::new(shared.clone(), run.clone(), stream);
    Ok(answer(shared, run, AnswerKind::Rows, schema, guarded.boxed()))
}

/// The batches of a plan whose record is somebody else's business: the input of a write.
pub(crate) fn start(physical: &Authorized<Physical>) -> Result<SendableRecordBatchStream> {
    let Physical { plan, state, names } = physical.plan();
    let stream = execute_stream(plan.clone(), state.task_ctx()).map_err(from_datafusion)?;
    if names.is_empty() {
        return Ok(stream);
    }
    let shown = names.show(&stream.schema());
    let schema = shown.clone();
    let renamed = stream.map(move |batch| batch.and_then(|batch| renamed(&batch, &schema)));
    Ok(Box::pin(RecordBatchStreamAdapter::new(shown, renamed)))
}

/// The same columns under other names.
fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> datafusion::common::Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)?)
}

/// An answer of this query, with its receipt.
pub(crate) fn answer(shared: &Arc<Shared>, run: &Arc<QueryRun>, kind: AnswerKind, schema: SchemaRef, batches: BatchStream) -> Answer {
    let (clock, receipt_of) = (shared.parts.clock.clone(), run.clone());
    let receipt: ReceiptMaker = Box::new(move || receipt_of.receipt(clock.as_ref()));
    Answer::new(run.id, kind, schema, batches, run.ages.clone(), receipt)
}

/// A stream of rows that are in memory already, with its record.
pub(crate) fn rows(shared: &Arc<Shared>, run: &Arc<QueryRun>, batch: RecordBatch) -> Answer {
    let schema = batch.schema();
    run.count_returned(batch.num_rows());
    shared.finish(run, None, false);
    answer(shared, run, AnswerKind::Rows, schema, futures::stream::iter([Ok(batch)]).boxed())
}

/// A command that was carried out.
pub(crate) fn command(shared: &Arc<Shared>, run: &Arc<QueryRun>, tag: String) -> Answer {
    shared.finish(run, None, false);
    let schema = Arc::new(arrow::datatypes::Schema::empty());
    answer(shared, run, AnswerKind::Command(tag), schema, futures::stream::empty().boxed())
}

/// A running stream. Its end, its first error or its drop ends the query, once.
struct Guarded {
    shared: Arc<Shared>,
    run: Arc<QueryRun>,
    inner: Option<SendableRecordBatchStream>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Guarded {
    fn new(shared: Arc<Shared>, run: Arc<QueryRun>, inner: SendableRecordBatchStream) -> Self {
        let token: CancellationToken = run.cancel.clone();
        Self { shared, run, inner: Some(inner), cancelled: Box::pin(token.cancelled_owned()) }
    }

    fn end(&mut self, error: Option<Error>) -> Poll<Option<Result<RecordBatch>>> {
        self.inner = None;
        self.shared.finish(&self.run, error.as_ref(), false);
        Poll::Ready(error.map(Err))
    }
}

impl Stream for Guarded {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.inner.is_none() {
            return Poll::Ready(None);
        }
        if self.cancelled.as_mut().poll(context).is_ready() {
            let error = self.run.cancelled_error();
            return self.end(Some(error));
        }
        let Some(inner) = self.inner.as_mut() else { return Poll::Ready(None) };
        match inner.poll_next_unpin(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => self.end(None),
            Poll::Ready(Some(Ok(batch))) => {
                self.run.count_returned(batch.num_rows());
                Poll::Ready(Some(Ok(batch)))
            }
            Poll::Ready(Some(Err(error))) => {
                let error = if self.run.cancel.is_cancelled() { self.run.cancelled_error() } else { from_datafusion(error) };
                self.end(Some(error))
            }
        }
    }
}

impl Drop for Guarded {
    /// Somebody stopped reading: a cancel, a client that went away, a limit further up.
    fn drop(&mut self) {
        if self.inner.take().is_some() {
            self.run.cancel.cancel();
            self.shared.finish(&self.run, None, true);
        }
    }
}
