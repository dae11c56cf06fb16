// SPDX-License-Identifier: Apache-2.0
//! `sum(x), count(DISTINCT y)` may not become a sum of sums: that of `integer` is a `bigint`, and the sum of those a `numeric`.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::single_distinct_to_groupby::SingleDistinctToGroupBy;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The query engine's rule, but for plans that add up something beside the distinct values.
#[derive(Debug)]
struct OneDistinct {
    inner: SingleDistinctToGroupBy,
}

/// Puts ours in the place of the query engine's rule.
pub(super) fn register(state: &mut SessionState) {
    let inner = SingleDistinctToGroupBy::new();
    let replaced = inner.name().to_owned();
    let ours: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(OneDistinct { inner });
    let rules = state.optimizers().iter().map(|rule| if rule.name() == replaced { ours.clone() } else { rule.clone() }).collect();
    *state = SessionStateBuilder::new_from_existing(state.clone()).with_optimizer_rules(rules).build();
}

fn adds_up(expr: &Expr) -> bool {
    matches!(expr, Expr::AggregateFunction(aggregate) if aggregate.func.name() == "sum" && !aggregate.params.distinct)
}

impl OptimizerRule for OneDistinct {
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
        match &plan {
            LogicalPlan::Aggregate(aggregate) if aggregate.aggr_expr.iter().any(adds_up) => Ok(Transformed::no(plan)),
            _ => self.inner.rewrite(plan, config),
        }
    }
}
