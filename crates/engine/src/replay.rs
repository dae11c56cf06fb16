// SPDX-License-Identifier: Apache-2.0
//! Replay: a source is read once for a recursive query. The query engine runs the recursive part again for each round, and every round
//! would send the same statement to the source.

use crate::scan::SourceScan;
use arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The plan with scans of sources kept in the recursive part of each recursive query. Its first part runs once by itself.
pub(crate) fn read_once(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let Some(recursive) = node.downcast_ref::<RecursiveQueryExec>() else { return Ok(Transformed::no(node)) };
        let (first, again) = (recursive.static_term().clone(), recursive.recursive_term().clone());
        let kept = again.transform_up(keep).data()?;
        node.clone().with_new_children(vec![first, kept]).map(Transformed::yes)
    })
    .data()
}

fn keep(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    // Kept already, where a recursive query stands inside another one.
    if node.children().iter().any(|child| child.is::<SourceScan>()) && !node.is::<Replayed>() {
        let children = node.children().into_iter().map(|child| if child.is::<SourceScan>() { Replayed::over(child) } else { child.clone() }).collect();
        return node.clone().with_new_children(children).map(Transformed::yes);
    }
    Ok(Transformed::no(node))
}

/// What was read, and the memory that it takes.
#[derive(Debug)]
struct Read {
    batches: Vec<RecordBatch>,
    _memory: MemoryReservation,
}

/// An input whose rows are kept when they are first asked for, one cell for each of its partitions.
#[derive(Debug)]
struct Replayed {
    inner: Arc<dyn ExecutionPlan>,
    read: Arc<Vec<OnceCell<Read>>>,
}

impl Replayed {
    fn over(inner: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        // Each round has other keys, and all rounds are given the same rows.
        let whole = inner.downcast_ref::<SourceScan>().map(|scan| Arc::new(scan.whole()) as Arc<dyn ExecutionPlan>);
        let inner = whole.as_ref().unwrap_or(inner);
        let partitions = inner.output_partitioning().partition_count();
        Arc::new(Self { inner: inner.clone(), read: Arc::new((0..partitions).map(|_| OnceCell::new()).collect()) })
    }
}

/// Error: 53200 when the rows do not fit into memory.
async fn read_all(inner: Arc<dyn ExecutionPlan>, partition: usize, context: Arc<TaskContext>) -> Result<Read> {
    let memory = MemoryConsumer::new("Replayed").register(context.memory_pool());
    let mut rows = inner.execute(partition, context)?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.try_next().await? {
        memory.try_grow(batch.get_array_memory_size())?;
        batches.push(batch);
    }
    Ok(Read { batches, _memory: memory })
}

impl DisplayAs for Replayed {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replayed: read once for all rounds")
    }
}

impl ExecutionPlan for Replayed {
    fn name(&self) -> &'static str {
        "Replayed"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.inner]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    /// The rows stay kept: for a new round all operators are made again.
    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self { inner: children.swap_remove(0), read: self.read.clone() }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (inner, read) = (self.inner.clone(), self.read.clone());
        let opening = async move {
            let kept = read[partition].get_or_try_init(|| read_all(inner, partition, context)).await?;
            Ok::<_, datafusion::common::DataFusionError>(stream::iter(kept.batches.clone().into_iter().map(Ok)))
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream::once(opening).try_flatten().boxed())))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        self.inner.partition_statistics(partition)
    }
}
