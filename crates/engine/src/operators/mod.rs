// SPDX-License-Identifier: Apache-2.0
//! What is changed about the engine's operators before a plan runs: where their rules lose rows, order, errors or the end of a query.

mod awaited;
mod computed;
mod fence;
mod found;
mod groupings;
mod top_order;
mod unasked;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

pub(crate) use awaited::all_awaited_read;
pub(crate) use found::scans_told;
pub(crate) use unasked::only_asked_keys;

type Plan = Arc<dyn ExecutionPlan>;
type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;
type Change = fn(&Plan) -> Option<Plan>;

/// The session whose rules keep within what is right.
pub(crate) fn guarded(state: SessionState) -> SessionState {
    let guarded = |rule: &Rule| -> Rule {
        match rule.name() {
            // Late filters have to pass filters that can fail: nobody fails for them.
            "FilterPushdown(Post)" => Arc::new(Guarded { inner: rule.clone(), close: fence::closed, open: fence::opened }),
            "FilterPushdown" => Arc::new(Guarded { inner: rule.clone(), close: fence::closed_beside_what_fails, open: fence::opened }),
            "ProjectionPushdown" => Arc::new(Guarded { inner: rule.clone(), close: computed::closed, open: computed::opened }),
            "OutputRequirements" => Arc::new(top_order::BelowSubqueries(rule.clone())),
            _ => rule.clone(),
        }
    };
    let first: Rule = Arc::new(groupings::ApartFromBelow);
    let rules = std::iter::once(first).chain(state.physical_optimizers().iter().map(guarded)).collect();
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build()
}

/// A rule that sees some operators as others while it works.
#[derive(Debug)]
struct Guarded {
    inner: Rule,
    close: Change,
    open: Change,
}

impl PhysicalOptimizerRule for Guarded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn schema_check(&self) -> bool {
        self.inner.schema_check()
    }

    fn optimize(&self, plan: Plan, config: &ConfigOptions) -> Result<Plan> {
        let moved = self.inner.optimize(changed(plan, self.close)?, config)?;
        changed(moved, self.open)
    }
}

fn changed(plan: Plan, change: Change) -> Result<Plan> {
    let node = |node: Plan| match change(&node) {
        Some(other) => Ok(Transformed::yes(other)),
        None => Ok(Transformed::no(node)),
    };
    plan.transform_up(node).data()
}
