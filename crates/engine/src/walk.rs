// SPDX-License-Identifier: Apache-2.0
//! Walks that the rules of the planner share: over the expressions of a plan's node, over its sort orders, and over what is compared.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{InList, Sort};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Between, BinaryExpr, Distinct, Expr, LogicalPlan, Operator};

/// The columns that the expressions of a node are over.
pub(crate) fn seen_by(plan: &LogicalPlan) -> Result<DFSchema> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    Ok(schema)
}

/// The node with each of its expressions changed from the inside out. Each keeps its name, by which the nodes above know it.
pub(crate) fn expressions(plan: LogicalPlan, mut change: impl FnMut(Expr) -> Result<Transformed<Expr>>) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&plan);
    let changed = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let changed = expr.transform_up(&mut change)?;
        Ok(changed.update_data(|expr| name.restore(expr)))
    })?;
    if changed.transformed { changed.map_data(LogicalPlan::recompute_schema) } else { Ok(changed) }
}

/// The node with its rows in another order, where it is one that sorts.
pub(crate) fn orders(plan: LogicalPlan, change: impl Fn(Vec<Sort>) -> Vec<Sort>) -> LogicalPlan {
    match plan {
        LogicalPlan::Sort(mut sort) => {
            sort.expr = change(sort.expr);
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Distinct(Distinct::On(mut on)) => {
            on.sort_expr = on.sort_expr.map(change);
            LogicalPlan::Distinct(Distinct::On(on))
        }
        other => other,
    }
}

/// Whether an operator says that two values are equal, or which one is greater.
pub(crate) fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

/// What an expression compares; nothing for one that does not.
pub(crate) fn sides(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => vec![left, right],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr, low, high],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(expr.as_ref()).chain(list).collect(),
        _ => Vec::new(),
    }
}

/// The comparison with each side changed. Error: that of the change.
pub(crate) fn with_sides(comparison: Expr, change: impl Fn(Expr) -> Result<Expr>) -> Result<Expr> {
    let boxed = |side: Box<Expr>| change(*side).map(Box::new);
    Ok(match comparison {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(op) => Expr::BinaryExpr(BinaryExpr::new(boxed(left)?, op, boxed(right)?)),
        Expr::Between(Between { expr, negated, low, high }) => Expr::Between(Between::new(boxed(expr)?, negated, boxed(low)?, boxed(high)?)),
        Expr::InList(InList { expr, list, negated }) => {
            let list = list.into_iter().map(&change).collect::<Result<_>>()?;
            Expr::InList(InList::new(boxed(expr)?, list, negated))
        }
        other => other,
    })
}
