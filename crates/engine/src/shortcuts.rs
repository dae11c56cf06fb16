// SPDX-License-Identifier: Apache-2.0
//! Shortcuts of the planner that lead to other rows, and are not taken here.
//!
//! * GROUP BY of nothing but constants: no rows make no group, but one without keys is a row for all.
//! * What depends on what: the planner notes that the keys of a GROUP BY tell its rows apart, and drops what it holds for repeated behind
//!   ORDER BY, GROUP BY and DISTINCT. It counts columns wrongly where something computed stands in front of a key
//!   (`SELECT k % 2, k, count(*) … GROUP BY k ORDER BY 1, 3`), so nothing is dropped by that.

use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchemaRef, FunctionalDependencies, Result};
use datafusion::logical_expr::logical_plan::Distinct;
use datafusion::logical_expr::{Aggregate, LogicalPlan};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The planner's rules, with a guard around those that take such shortcuts.
pub(crate) fn optimizer_rules() -> Vec<Rule> {
    let guarded = |rule: Rule| match rule.name() {
        "eliminate_group_by_constant" => Arc::new(KeepOneKey(rule)) as Rule,
        "eliminate_duplicated_expr" | "replace_distinct_aggregate" => Arc::new(ForgetBelow(rule)) as Rule,
        "optimize_projections" => Arc::new(ForgetEverywhere(rule)) as Rule,
        _ => rule,
    };
    Optimizer::new().rules.into_iter().map(guarded).collect()
}

/// Removes constants from GROUP BY where something else groups.
#[derive(Debug)]
struct KeepOneKey(Rule);

impl OptimizerRule for KeepOneKey {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let constant = |aggregate: &Aggregate| aggregate.group_expr.iter().all(|key| key.column_refs().is_empty());
        match &plan {
            LogicalPlan::Aggregate(aggregate) if constant(aggregate) => Ok(Transformed::no(plan)),
            _ => self.0.rewrite(plan, config),
        }
    }
}

/// A rule for one node at a time, which must not ask what the columns below depend on.
#[derive(Debug)]
struct ForgetBelow(Rule);

impl OptimizerRule for ForgetBelow {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let plan = match plan {
            LogicalPlan::Sort(mut sort) => {
                sort.input = forgetful(sort.input)?;
                LogicalPlan::Sort(sort)
            }
            LogicalPlan::Distinct(Distinct::All(input)) => LogicalPlan::Distinct(Distinct::All(forgetful(input)?)),
            other => other,
        };
        self.0.rewrite(plan, config)
    }
}

/// A rule that walks the plan by itself.
#[derive(Debug)]
struct ForgetEverywhere(Rule);

impl OptimizerRule for ForgetEverywhere {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let plan = plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Aggregate(mut aggregate) if depends(&aggregate.input) => {
                aggregate.input = forgetful(aggregate.input)?;
                Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
            }
            other => Ok(Transformed::no(other)),
        });
        self.0.rewrite(plan.data()?, config)
    }
}

fn depends(plan: &LogicalPlan) -> bool {
    !plan.schema().functional_dependencies().is_empty()
}

/// The same plan, whose columns are not said to depend on each other.
fn forgetful(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    if !depends(&plan) {
        return Ok(plan);
    }
    let mut plan = Arc::unwrap_or_clone(plan);
    match &mut plan {
        LogicalPlan::Projection(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::SubqueryAlias(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Aggregate(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Join(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Window(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Union(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Unnest(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::TableScan(node) => node.projected_schema = independent(&node.projected_schema)?,
        // These have the columns of what is below.
        LogicalPlan::Filter(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Sort(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Limit(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Repartition(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Distinct(Distinct::All(input)) => *input = forgetful(input.clone())?,
        _ => {}
    }
    Ok(Arc::new(plan))
}

fn independent(schema: &DFSchemaRef) -> Result<DFSchemaRef> {
    Ok(Arc::new(schema.as_ref().clone().with_functional_dependencies(FunctionalDependencies::empty())?))
}
