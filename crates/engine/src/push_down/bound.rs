// SPDX-License-Identifier: Apache-2.0
//! Which columns a filter bounds at the source, for tables that may only be read with such a filter.

use super::terms::{Scope, value};
use super::{Condition, condition};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Like, Operator};

/// Columns that the part of `filter` which is sent compares with constants. `<>` and either side of an OR bound nothing.
pub(crate) fn bounded_columns(filter: &Expr, scope: Scope<'_>) -> Vec<String> {
    if let Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) = filter {
        let mut columns = bounded_columns(left, scope);
        columns.extend(bounded_columns(right, scope));
        return columns;
    }
    let column = match filter {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if bounds(*op) => column(left, scope).or_else(|| column(right, scope)),
        Expr::InList(InList { expr, negated: false, .. }) | Expr::Between(Between { expr, negated: false, .. }) => column(expr, scope),
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

/// A column, also one that is only cast here: the source compares it as it is.
fn column(expr: &Expr, scope: Scope<'_>) -> Option<String> {
    match expr {
        Expr::Column(column) => Some(column.name.clone()),
        Expr::Cast(cast) => {
            let bare = value(expr, scope).ok()?.sql == value(&cast.expr, scope).ok()?.sql;
            column(&cast.expr, scope).filter(|_| bare)
        }
        _ => None,
    }
}

/// Columns of which the part of `filter` that is sent says what their texts begin with.
pub(crate) fn prefixed_columns(filter: &Expr, scope: Scope<'_>) -> Vec<String> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            let mut columns = prefixed_columns(left, scope);
            columns.extend(prefixed_columns(right, scope));
            columns
        }
        Expr::Like(Like { negated: false, expr, pattern, escape_char, case_insensitive: false }) if begins(pattern, escape_char.unwrap_or('\\')) => {
            let sent = !matches!(condition(filter, scope), Condition::Kept(_));
            column(expr, scope).filter(|_| sent).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a pattern begins with a letter that stands for itself.
fn begins(pattern: &Expr, escape: char) -> bool {
    let Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)), _) = pattern else {
        return false;
    };
    text.chars().next().is_some_and(|letter| letter != '%' && letter != '_' && letter != escape)
}
