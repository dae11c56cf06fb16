// SPDX-License-Identifier: Apache-2.0
//! Which columns a filter bounds at the source, for tables that may only be read with such a filter.

use super::terms::Scope;
use super::{Condition, condition};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};

/// Columns that the part of `filter` which is sent compares with constants. `<>` and either side of an OR bound nothing.
pub(crate) fn bounded_columns(filter: &Expr, scope: Scope<'_>) -> Vec<String> {
    if let Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) = filter {
        let mut columns = bounded_columns(left, scope);
        columns.extend(bounded_columns(right, scope));
        return columns;
    }
    let column = match filter {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if bounds(*op) => column(left).or_else(|| column(right)),
        Expr::InList(InList { expr, negated: false, .. }) | Expr::Between(Between { expr, negated: false, .. }) => column(expr),
        _ => None,
    };
    match condition(filter, scope) {
        Condition::Kept(_) => Vec::new(),
        Condition::Exact(_) | Condition::Superset(..) => column.into_iter().collect(),
    }
}

fn bounds(op: Operator) -> bool {
    matches!(op, Operator::Eq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Column(column) => Some(column.name.clone()),
        _ => None,
    }
}
