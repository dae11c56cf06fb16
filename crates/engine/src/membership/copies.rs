// SPDX-License-Identifier: Apache-2.0
//! `INTERSECT ALL` and `EXCEPT ALL` match copies: the first copy on one side with the first on the other, the second with the
//! second. The planner makes a plain semi or anti join of them, in which one row on the right takes all copies on the left.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, JoinType, NullEquality, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct CountCopies;

impl AnalyzerRule for CountCopies {
    fn name(&self) -> &str {
        "count_copies"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Join(join) if counts_copies(&join) => copy_by_copy(join).map(Transformed::yes),
            other => Ok(Transformed::no(other)),
        })
        .data()
    }
}

/// A set operation over all columns that keeps copies. Without `ALL` the left side is distinct; with it a distinct left side has
/// no copies to count.
fn counts_copies(join: &Join) -> bool {
    let of_sets = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti) && join.null_equality == NullEquality::NullEqualsNull;
    let columns = join.left.schema().fields().len();
    of_sets && join.filter.is_none() && join.on.len() == columns && !matches!(join.left.as_ref(), LogicalPlan::Distinct(_))
}

fn copy_by_copy(join: Join) -> Result<LogicalPlan> {
    let (left_keys, right_keys): (Vec<Expr>, Vec<Expr>) = join.on.iter().cloned().unzip();
    let shown: Vec<Expr> = columns(&join.left);
    let (left, left_copy) = numbered(&join.left, left_keys, "weir_left_copy")?;
    let (right, right_copy) = numbered(&join.right, right_keys, "weir_right_copy")?;
    let mut on = join.on;
    on.push((left_copy, right_copy));
    let matched = Join::try_new(left, right, on, None, join.join_type, join.join_constraint, join.null_equality, false)?;
    LogicalPlanBuilder::from(LogicalPlan::Join(matched)).project(shown)?.build()
}

/// The plan with a column that says which copy of its row each row is.
fn numbered(plan: &Arc<LogicalPlan>, keys: Vec<Expr>, name: &str) -> Result<(Arc<LogicalPlan>, Expr)> {
    let shown = columns(plan);
    let number = row_number().partition_by(keys).build()?;
    let counted = LogicalPlanBuilder::from(plan.as_ref().clone()).window(vec![number])?.build()?;
    let number = columns(&counted).pop().map(|column| column.alias(name));
    let plan = LogicalPlanBuilder::from(counted).project(shown.into_iter().chain(number))?.build()?;
    Ok((Arc::new(plan), Expr::Column(Column::from_name(name))))
}

fn columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}
