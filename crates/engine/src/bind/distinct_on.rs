// SPDX-License-Identifier: Apache-2.0
//! `DISTINCT ON (a, b) … ORDER BY b, a`: the expressions may come in any order there, and the query engine wants that of ORDER BY.

use super::rewrite::folded;
use datafusion::sql::sqlparser::ast::{Distinct, Expr, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, Value, VisitMut, VisitorMut};
use std::ops::ControlFlow;

pub(super) fn order(statement: &mut Statement) {
    let _ = statement.visit(&mut Order);
}

struct Order;

impl VisitorMut for Order {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = query.body.as_mut() {
            name_outputs(select);
        }
        let Some(OrderByKind::Expressions(keys)) = query.order_by.as_ref().map(|order| &order.kind) else { return ControlFlow::Continue(()) };
        let SetExpr::Select(select) = query.body.as_mut() else { return ControlFlow::Continue(()) };
        if let Some(Distinct::On(wanted)) = &mut select.distinct {
            sort(wanted, keys.iter().map(|key| &key.expr));
        }
        ControlFlow::Continue(())
    }
}

/// What stands in `ON` may be the name of an output or its place, as in ORDER BY.
fn name_outputs(select: &mut Select) {
    let outputs = select.projection.clone();
    let Some(Distinct::On(wanted)) = &mut select.distinct else { return };
    for expr in wanted {
        let output = match &*expr {
            Expr::Identifier(name) => outputs.iter().find_map(|output| match output {
                SelectItem::ExprWithAlias { expr, alias } if folded(alias) == folded(name) => Some(expr),
                _ => None,
            }),
            Expr::Value(value) => place(&value.value).and_then(|place| match outputs.get(place)? {
                SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => Some(expr),
                _ => None,
            }),
            _ => None,
        };
        if let Some(output) = output {
            *expr = output.clone();
        }
    }
}

/// A place among the outputs, counted from nought.
fn place(value: &Value) -> Option<usize> {
    let Value::Number(number, _) = value else { return None };
    number.to_string().parse::<usize>().ok()?.checked_sub(1)
}

/// Without parentheses.
fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => bare(inner),
        other => other,
    }
}

/// Stays as it is where the first keys are not these expressions: the query engine says so.
fn sort<'k>(wanted: &mut Vec<Expr>, keys: impl Iterator<Item = &'k Expr>) {
    let mut rest = wanted.clone();
    let mut sorted = Vec::with_capacity(rest.len());
    for key in keys {
        let Some(place) = rest.iter().position(|expr| bare(expr) == bare(key)) else { break };
        sorted.push(rest.remove(place));
    }
    if rest.is_empty() {
        *wanted = sorted;
    }
}
