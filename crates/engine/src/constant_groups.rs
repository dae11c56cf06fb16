// SPDX-License-Identifier: Apache-2.0
//! Groups of nothing but constants: no rows make no group. The planner's own rule would make one of them.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::eliminate_group_by_constant::EliminateGroupByConstant;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The planner's rules, with this one in the place of the one that removes all keys.
pub(crate) fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let ours = |rule: Arc<dyn OptimizerRule + Send + Sync>| match rule.name() == EliminateGroupByConstant::new().name() {
        true => Arc::new(KeepOneKey::default()) as Arc<dyn OptimizerRule + Send + Sync>,
        false => rule,
    };
    Optimizer::new().rules.into_iter().map(ours).collect()
}

/// Removes constants from GROUP BY where something else groups.
#[derive(Debug, Default)]
struct KeepOneKey {
    inner: EliminateGroupByConstant,
}

impl OptimizerRule for KeepOneKey {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.inner.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let constant = |aggregate: &datafusion::logical_expr::Aggregate| aggregate.group_expr.iter().all(|key| key.column_refs().is_empty());
        match &plan {
            LogicalPlan::Aggregate(aggregate) if constant(aggregate) => Ok(Transformed::no(plan)),
            _ => self.inner.rewrite(plan, config),
        }
    }
}
