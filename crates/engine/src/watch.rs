// SPDX-License-Identifier: Apache-2.0
//! Watch: operators that compute for long without waiting for anybody look at the query's cancel switch themselves. A task that
//! never waits is never polled by anyone who could end it.

use crate::errors::carry;
use crate::run::QueryRun;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder, SortMergeJoinExec};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The plan with a watch over every operator that makes rows out of nothing or out of few, and inside every join condition.
pub(crate) fn watch(plan: Arc<dyn ExecutionPlan>, run: &Arc<QueryRun>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let node = watch_condition(node, run)?;
        if !multiplies(&node) {
            return Ok(Transformed::yes(node));
        }
        let watched: Arc<dyn ExecutionPlan> = Arc::new(Watched { inner: node, run: run.clone() });
        Ok(Transformed::yes(watched))
    })
    .data()
}

fn multiplies(node: &Arc<dyn ExecutionPlan>) -> bool {
    let joins = node.is::<CrossJoinExec>() || node.is::<NestedLoopJoinExec>() || node.is::<HashJoinExec>() || node.is::<SortMergeJoinExec>();
    joins || node.children().is_empty() || node.is::<UnnestExec>() || node.is::<RecursiveQueryExec>()
}

/// A join that finds nothing hands nothing on, however long it looks; its condition is what it evaluates all the time.
fn watch_condition(node: Arc<dyn ExecutionPlan>, run: &Arc<QueryRun>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>()
        && let Some(filter) = join.filter()
    {
        let filter = watched_filter(filter, run);
        return Ok(Arc::new(NestedLoopJoinExecBuilder::from(join).with_filter(Some(filter)).build()?));
    }
    if let Some(join) = node.downcast_ref::<HashJoinExec>()
        && let Some(filter) = join.filter()
    {
        let filter = watched_filter(filter, run);
        return Ok(Arc::new(join.builder().with_filter(Some(filter)).build()?));
    }
    if let Some(join) = node.downcast_ref::<SortMergeJoinExec>()
        && let Some(filter) = join.filter()
    {
        let filter = Some(watched_filter(filter, run));
        let (left, right) = (join.left().clone(), join.right().clone());
        let watched =
            SortMergeJoinExec::try_new(left, right, join.on().to_vec(), filter, join.join_type(), join.sort_options().to_vec(), join.null_equality())?;
        return Ok(Arc::new(watched));
    }
    Ok(node)
}

fn watched_filter(filter: &JoinFilter, run: &Arc<QueryRun>) -> JoinFilter {
    let watched = Arc::new(WatchedCondition { inner: filter.expression().clone(), run: run.clone() });
    JoinFilter::new(watched, filter.column_indices().to_vec(), filter.schema().clone())
}

/// Error: 57014 once the query is cancelled.
fn check(run: &QueryRun) -> Result<()> {
    if run.cancel.is_cancelled() { Err(carry(run.cancelled_error())) } else { Ok(()) }
}

/// An operator whose batches come only while the query is wanted. After some batches it also gives way to other tasks.
#[derive(Debug)]
struct Watched {
    inner: Arc<dyn ExecutionPlan>,
    run: Arc<QueryRun>,
}

impl DisplayAs for Watched {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watched")
    }
}

impl ExecutionPlan for Watched {
    fn name(&self) -> &'static str {
        "Watched"
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

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self { inner: children.swap_remove(0), run: self.run.clone() }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let inner = self.inner.execute(partition, context)?;
        let run = self.run.clone();
        let watched = inner.map(move |batch| check(&run).and(batch));
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(self.schema(), watched))))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        self.inner.partition_statistics(partition)
    }
}

/// A condition that is an error once the query is cancelled.
#[derive(Debug)]
struct WatchedCondition {
    inner: Arc<dyn PhysicalExpr>,
    run: Arc<QueryRun>,
}

impl PartialEq for WatchedCondition {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner) && self.run.id == other.run.id
    }
}

impl Eq for WatchedCondition {}

impl Hash for WatchedCondition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for WatchedCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PhysicalExpr for WatchedCondition {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.inner.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.inner.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        check(&self.run)?;
        self.inner.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self { inner: children.swap_remove(0), run: self.run.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
