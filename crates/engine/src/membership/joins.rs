// SPDX-License-Identifier: Apache-2.0
//! What the joins of a plan forbid the planner to do: to pick another join, or to send filters down where they would go astray.

use datafusion::common::NullEquality;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use std::collections::HashSet;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Joins {
    /// Some join finds partners for NULL, or looks whether there is one on the other side: rows with NULL keys may not be left
    /// out before it.
    pub count_nulls: bool,
    /// Some join is a `NOT IN`, which only the hash join knows.
    pub need_hash_join: bool,
    /// A filter stands above two columns of the same name. On its way down the planner knows columns by their names, and takes the
    /// first one.
    pub confuse_filters: bool,
}

impl Joins {
    /// Of an optimized plan.
    pub fn of(plan: &LogicalPlan) -> Self {
        let mut found = Self::default();
        let _ = plan.apply_with_subqueries(|node| {
            if let LogicalPlan::Join(join) = node {
                found.count_nulls |= join.null_aware || join.null_equality == NullEquality::NullEqualsNull;
                found.need_hash_join |= join.null_aware;
            }
            found.confuse_filters |= filters(node) && node.inputs().into_iter().any(below_has_twins);
            Ok(TreeNodeRecursion::Continue)
        });
        found
    }
}

/// Whether the node, or what becomes of it, filters what is below it: also by what it learns while it runs.
fn filters(node: &LogicalPlan) -> bool {
    match node {
        LogicalPlan::Filter(_) | LogicalPlan::Join(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => true,
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

fn below_has_twins(plan: &LogicalPlan) -> bool {
    plan.exists(|node| {
        let mut names = HashSet::new();
        Ok(node.schema().fields().iter().any(|field| !names.insert(field.name())))
    })
    .unwrap_or(true)
}
