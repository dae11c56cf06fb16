// SPDX-License-Identifier: Apache-2.0
//! Execute: runs an authorised plan as a stream that can be cancelled at any moment and that always leaves a record.

use crate::errors::from_datafusion;
use crate::residual::Physical;
use crate::run::QueryRun;
use crate::scan::running_query;
use crate::shared::Shared;
use crate::watch::watch;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{FieldRef, SchemaRef};
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
    let context = state.task_ctx();
    let watched = running_query(&context).and_then(|run| watch(plan.clone(), &run)).map_err(from_datafusion)?;
    let stream = execute_stream(watched, context).map_err(from_datafusion)?;
    let shown = names.show(&stream.schema());
    if shown == stream.schema() {
        return Ok(stream);
    }
    let schema = shown.clone();
    let shown_batches = stream.map(move |batch| batch.and_then(|batch| as_shown(&batch, &schema)));
    Ok(Box::pin(RecordBatchStreamAdapter::new(shown, shown_batches)))
}

/// The same columns under other names, and as plain texts where they are views.
fn as_shown(batch: &RecordBatch, schema: &SchemaRef) -> datafusion::common::Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let shown = |(column, field): (&ArrayRef, &FieldRef)| match column.data_type() == field.data_type() {
        true => Ok(column.clone()),
        false => cast(column, field.data_type()),
    };
    let columns: Vec<ArrayRef> = batch.columns().iter().zip(schema.fields()).map(shown).collect::<std::result::Result<_, _>>()?;
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
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
