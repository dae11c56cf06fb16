// SPDX-License-Identifier: Apache-2.0
//! The order of an answer. The query engine looks for the sort that makes it from the top down, and stops where an operator has several
//! inputs: as the one has that computes scalar subqueries first, whose other inputs are these. The sort below it was then taken for one
//! that nobody needs.

use super::{Plan, Rule};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;

/// The rule that writes down which order the answer has, and the one that takes the note away.
#[derive(Debug)]
pub(super) struct BelowSubqueries(pub Rule);

impl PhysicalOptimizerRule for BelowSubqueries {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }

    fn optimize(&self, plan: Plan, config: &ConfigOptions) -> Result<Plan> {
        if !plan.is::<ScalarSubqueryExec>() {
            return self.0.optimize(plan, config);
        }
        let mut inputs: Vec<Plan> = plan.children().into_iter().cloned().collect();
        let Some(rows) = inputs.first_mut() else { return Ok(plan) };
        *rows = self.optimize(rows.clone(), config)?;
        plan.with_new_children(inputs)
    }
}
