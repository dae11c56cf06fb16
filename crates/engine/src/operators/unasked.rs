// SPDX-License-Identifier: Apache-2.0
//! A join collects its keys for the other side while somebody there holds the filter that they go into. It counts who does, in each of its
//! partitions at the time when that one begins; another copy of the plan counts too. When that copy is dropped in between, one partition
//! waits for the keys of another, which collects none. So joins whose keys nobody asks for are told before: nothing is collected, and
//! nobody waits.

use super::Plan;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_plan::joins::HashJoinExec;
use std::sync::Arc;

/// The plan, of which there must be no copy, whose joins collect keys only for scans that ask for them.
pub(crate) fn only_asked_keys(plan: Plan) -> Result<Plan> {
    let mut unasked = Vec::new();
    plan.apply(|node| {
        unasked.extend(filter(node).filter(|filter| !filter.is_used()).map(Arc::as_ptr));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if unasked.is_empty() {
        return Ok(plan);
    }
    let told = |node: Plan| match filter(&node).is_some_and(|filter| unasked.contains(&Arc::as_ptr(filter))) {
        true => node.reset_state().map(Transformed::yes),
        false => Ok(Transformed::no(node)),
    };
    plan.transform_up(told).data()
}

fn filter(node: &Plan) -> Option<&Arc<DynamicFilterPhysicalExpr>> {
    node.downcast_ref::<HashJoinExec>()?.dynamic_filter_expr()
}

#[cfg(test)]
mod tests {
    use super::super::awaited::tests::{join, key, keys, parted};
    use super::*;
    use datafusion::execution::TaskContext;
    use datafusion::physical_expr::expressions::lit;
    use datafusion::physical_plan::joins::PartitionMode;
    use futures::TryStreamExt;
    use std::time::Duration;

    fn plan(filter: Arc<DynamicFilterPhysicalExpr>) -> Plan {
        Arc::new(join(keys(0..3), parted(keys(0..100)), PartitionMode::CollectLeft).with_dynamic_filter_expr(filter).unwrap())
    }

    /// There is a copy when one of two partitions begins, and none when the other does.
    async fn rows(plan: Plan) -> usize {
        let context = Arc::new(TaskContext::default());
        let first = plan.execute(0, context.clone()).unwrap();
        let _copy = plan.clone().with_new_children(plan.children().into_iter().cloned().collect()).unwrap();
        let second = plan.execute(1, context).unwrap();
        let (first, second) = futures::try_join!(first.try_collect::<Vec<_>>(), second.try_collect::<Vec<_>>()).unwrap();
        first.iter().chain(&second).map(|batch| batch.num_rows()).sum()
    }

    #[tokio::test]
    async fn nobody_waits_for_keys_that_nobody_asks_for() {
        let unheld = || plan(Arc::new(DynamicFilterPhysicalExpr::new(vec![key()], lit(true))));
        let told = only_asked_keys(unheld()).unwrap();
        assert_eq!(tokio::time::timeout(Duration::from_secs(60), rows(told)).await.expect("an end"), 3);
        // Once this ends too, nobody has to be told.
        assert!(tokio::time::timeout(Duration::from_secs(1), rows(unheld())).await.is_err());
    }

    #[tokio::test]
    async fn keys_that_are_asked_for_are_collected() {
        let asked = Arc::new(DynamicFilterPhysicalExpr::new(vec![key()], lit(true)));
        let plan = only_asked_keys(plan(asked.clone())).unwrap();
        assert_eq!(rows(plan).await, 3);
        assert_ne!(asked.current().unwrap().to_string(), "true");
    }
}
