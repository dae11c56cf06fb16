// SPDX-License-Identifier: Apache-2.0
//! ROLLUP, CUBE and GROUPING SETS make NULLs of keys. The engine takes what held for a key below for the key above: two keys that a join
//! made equal, or one that a filter made constant, count as equal and constant still, and a sort leaves them out. So does a constant of the
//! side of an outer join that may be missing.

use super::{Plan, changed};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{JoinType, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use std::fmt;
use std::sync::Arc;

/// Puts `Apart` above each group of several sets, and each outer join with constants.
#[derive(Debug)]
pub(super) struct ApartFromBelow;

impl PhysicalOptimizerRule for ApartFromBelow {
    fn name(&self) -> &'static str {
        "apart_from_below"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Plan, _: &ConfigOptions) -> Result<Plan> {
        changed(plan, |node| {
            let sets = node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| aggregate.group_expr().has_grouping_set());
            // Which side that is may change when the sides are swapped.
            let missing = is_outer(node) && node.children().iter().any(|side| !side.equivalence_properties().constants().is_empty());
            (sets || missing).then(|| Apart::over(node.clone()))
        })
    }
}

/// Whether the columns of one side are NULL in rows without a partner.
fn is_outer(node: &Plan) -> bool {
    let hashed = node.downcast_ref::<HashJoinExec>().map(HashJoinExec::join_type);
    let sorted = node.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type);
    let looped = node.downcast_ref::<NestedLoopJoinExec>().map(NestedLoopJoinExec::join_type);
    hashed.copied().or(sorted).or(looped.copied()).is_some_and(|kind| matches!(kind, JoinType::Left | JoinType::Right | JoinType::Full))
}

/// The same rows, of whose keys nothing is known.
#[derive(Debug)]
struct Apart {
    inner: Plan,
    properties: Arc<PlanProperties>,
}

impl Apart {
    fn over(inner: Plan) -> Plan {
        let own = inner.properties();
        let nothing = EquivalenceProperties::new(inner.schema());
        let properties = PlanProperties::new(nothing, inner.output_partitioning().clone(), own.emission_type, own.boundedness);
        Arc::new(Self { inner, properties: Arc::new(properties) })
    }
}

impl DisplayAs for Apart {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Apart")
    }
}

impl ExecutionPlan for Apart {
    fn name(&self) -> &'static str {
        "Apart"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Plan> {
        vec![&self.inner]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Plan>) -> Result<Plan> {
        Ok(Self::over(children.into_iter().next().unwrap_or_else(|| self.inner.clone())))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        self.inner.partition_statistics(partition)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.inner.execute(partition, context)
    }
}

#[cfg(test)]
mod tests {
    use arrow::util::pretty::pretty_format_batches;
    use datafusion::execution::session_state::SessionStateBuilder;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn a_key_that_a_filter_makes_constant_is_sorted_above_the_groups() {
        let sql =
            "SELECT k, row_number() OVER (ORDER BY k NULLS FIRST) AS n FROM (VALUES (1), (2)) AS t(k) WHERE k = 2 GROUP BY ROLLUP (k) ORDER BY k NULLS LAST";
        let state = super::super::guarded(SessionStateBuilder::new().with_default_features().build());
        let rows = SessionContext::new_with_state(state).sql(sql).await.unwrap().collect().await.unwrap();
        let shown = pretty_format_batches(&rows).unwrap().to_string();
        assert!(shown.find("| 2 | 2 |") < shown.find("|   | 1 |"), "{shown}");
    }

    #[tokio::test]
    async fn a_constant_of_a_side_that_may_be_missing_is_sorted() {
        let sql =
            "SELECT a.k, b.c FROM (VALUES (1), (2), (3)) AS a(k) FULL JOIN (SELECT k, 7 AS c FROM (VALUES (2), (4)) AS t(k)) b ON a.k = b.k ORDER BY b.c, a.k";
        let state = super::super::guarded(SessionStateBuilder::new().with_default_features().build());
        let rows = SessionContext::new_with_state(state).sql(sql).await.unwrap().collect().await.unwrap();
        let shown = pretty_format_batches(&rows).unwrap().to_string();
        assert!(shown.find("| 2 | 7 |") < shown.find("| 1 |   |"), "{shown}");
    }
}
