// SPDX-License-Identifier: Apache-2.0
//! Partitions that wait for each other. A join that keeps its whole build side for all of its partitions gives its keys to the other side
//! once each partition has looked at that build side; a join above it that has nothing in one partition never reads that partition of what
//! is below, and the others would wait for ever. Something that reads all partitions is put between the two.
//! (The engine's own answer to such early ends, apache/datafusion#21666, is for joins that are partitioned on both sides.)

use super::Plan;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode, SortMergeJoinExec};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use std::sync::Arc;

/// The plan in which no partition waits for one that nobody reads.
pub(crate) fn all_awaited_read(plan: Plan) -> Result<Plan> {
    let parted = |node: Plan| {
        if !may_leave_partitions(&node) {
            return Ok(Transformed::no(node));
        }
        let children = node.children().into_iter().map(|child| if waits(child)? { reader(child) } else { Ok(child.clone()) });
        let children = children.collect::<Result<Vec<_>>>()?;
        node.with_new_children(children).map(Transformed::yes)
    };
    plan.transform_up(parted).data()
}

/// Whether it may end one of its partitions before it has read anything of the same partition of an input.
fn may_leave_partitions(node: &Plan) -> bool {
    let parted = node.downcast_ref::<HashJoinExec>().is_some_and(|join| *join.partition_mode() == PartitionMode::Partitioned);
    (parted || node.is::<SortMergeJoinExec>()) && node.output_partitioning().partition_count() > 1
}

/// Whether partitions of the plan wait for each other, and nothing above reads them all.
fn waits(plan: &Plan) -> Result<bool> {
    let mut waits = false;
    plan.apply(|node| {
        if reads_all(node) {
            return Ok(TreeNodeRecursion::Jump);
        }
        waits |= node.downcast_ref::<HashJoinExec>().is_some_and(shares_its_keys);
        Ok(if waits { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(waits)
}

fn shares_its_keys(join: &HashJoinExec) -> bool {
    let shared = *join.partition_mode() == PartitionMode::CollectLeft && join.dynamic_filter_expr().is_some();
    shared && join.right().output_partitioning().partition_count() > 1
}

fn reads_all(node: &Plan) -> bool {
    node.is::<RepartitionExec>() || node.is::<CoalescePartitionsExec>() || node.is::<SortPreservingMergeExec>()
}

/// The same rows in the same partitions, read by a task for each.
fn reader(input: &Plan) -> Result<Plan> {
    let partitioning = input.output_partitioning().clone();
    Ok(Arc::new(RepartitionExec::try_new(input.clone(), partitioning)?.with_preserve_order()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use arrow::array::{Int64Array, RecordBatch};
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::{JoinType, NullEquality};
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::execution::TaskContext;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{DynamicFilterPhysicalExpr, col, lit};
    use datafusion::physical_plan::{Partitioning, collect};
    use std::time::Duration;

    pub(in crate::operators) fn keys(values: std::ops::Range<i64>) -> Plan {
        let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, false)]));
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from_iter_values(values))]).unwrap();
        MemorySourceConfig::try_new_exec(&[vec![batch]], schema, None).unwrap()
    }

    pub(in crate::operators) fn key() -> Arc<dyn PhysicalExpr> {
        col("k", &keys(0..1).schema()).unwrap()
    }

    pub(in crate::operators) fn parted(input: Plan) -> Plan {
        Arc::new(RepartitionExec::try_new(input, Partitioning::Hash(vec![key()], 2)).unwrap())
    }

    pub(in crate::operators) fn join(left: Plan, right: Plan, mode: PartitionMode) -> HashJoinExec {
        let on = vec![(col("k", &left.schema()).unwrap(), col("k", &right.schema()).unwrap())];
        HashJoinExec::try_new(left, right, on, None, &JoinType::Inner, Some(vec![1]), mode, NullEquality::NullEqualsNothing, false).unwrap()
    }

    /// Of two partitions the upper join has rows in one; the lower join waits for both.
    fn plan(filter: &Arc<DynamicFilterPhysicalExpr>) -> Plan {
        let lower = join(keys(0..3), parted(keys(0..100)), PartitionMode::CollectLeft).with_dynamic_filter_expr(filter.clone()).unwrap();
        Arc::new(join(parted(keys(1..2)), Arc::new(lower), PartitionMode::Partitioned))
    }

    #[tokio::test]
    async fn a_partition_that_nobody_reads_keeps_nobody_waiting() {
        // A filter that somebody else holds too is one that is used.
        let filter = Arc::new(DynamicFilterPhysicalExpr::new(vec![key()], lit(true)));
        let plan = all_awaited_read(plan(&filter)).unwrap();
        let rows = tokio::time::timeout(Duration::from_secs(60), collect(plan, Arc::new(TaskContext::default()))).await;
        assert_eq!(rows.expect("an end").unwrap().iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    }

    #[test]
    fn only_what_waits_is_read_by_tasks_of_its_own() {
        let filter = Arc::new(DynamicFilterPhysicalExpr::new(vec![key()], lit(true)));
        let whole: Plan = Arc::new(join(keys(0..3), plan(&filter), PartitionMode::CollectLeft));
        let read = all_awaited_read(whole.clone()).unwrap();
        let tasks = |plan: &Plan| datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string().matches("RepartitionExec").count();
        assert_eq!((tasks(&whole), tasks(&read)), (2, 3), "below the parted join alone");
        assert_eq!(tasks(&all_awaited_read(read.clone()).unwrap()), 3, "once");
    }
}
