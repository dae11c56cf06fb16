// SPDX-License-Identifier: Apache-2.0
//! What the joins of a plan forbid the planner to do: to pick another join, or to leave out rows early.

use datafusion::common::NullEquality;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Joins {
    /// Some join finds partners for NULL, or looks whether there is one on the other side: rows with NULL keys may not be left
    /// out before it.
    pub count_nulls: bool,
    /// Some join is a `NOT IN`, which only the hash join knows.
    pub need_hash_join: bool,
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
            Ok(TreeNodeRecursion::Continue)
        });
        found
    }
}
