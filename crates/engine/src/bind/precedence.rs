// SPDX-License-Identifier: Apache-2.0
//! `a IS DISTINCT FROM b AND c`: the parser reads everything up to the end as the right side of `IS DISTINCT FROM`. `AND`, `OR` and
//! `NOT` bind weaker; they get their places back. What the caller put into parentheses is `Nested` and stays together.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Statement, UnaryOperator, Value, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Puts the operators of a statement where their precedence wants them.
pub(super) fn restore(statement: &mut Statement) {
    let _ = statement.visit(&mut Precedence);
}

struct Precedence;

impl VisitorMut for Precedence {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let placeholder = Expr::Value(Value::Null.into());
        let read = std::mem::replace(expr, placeholder);
        *expr = meant(read);
        ControlFlow::Continue(())
    }
}

fn meant(expr: Expr) -> Expr {
    match expr {
        Expr::IsDistinctFrom(left, right) => first_of(*right, weak, |first| Expr::IsDistinctFrom(left, Box::new(first))),
        Expr::IsNotDistinctFrom(left, right) => first_of(*right, weak, |first| Expr::IsNotDistinctFrom(left, Box::new(first))),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => first_of(*expr, weak, |first| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(first) }),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let weaker = |op: &BinaryOperator| *op == BinaryOperator::Or;
            first_of(*right, weaker, |first| Expr::BinaryOp { left, op: BinaryOperator::And, right: Box::new(first) })
        }
        other => other,
    }
}

fn weak(op: &BinaryOperator) -> bool {
    matches!(op, BinaryOperator::And | BinaryOperator::Or)
}

/// Wraps the first operand of a chain of operators that bind weaker than the wrapper, instead of the whole chain.
fn first_of(chain: Expr, weaker: impl Fn(&BinaryOperator) -> bool + Copy, wrap: impl FnOnce(Expr) -> Expr) -> Expr {
    match chain {
        Expr::BinaryOp { left, op, right } if weaker(&op) => Expr::BinaryOp { left: Box::new(first_of(*left, weaker, wrap)), op, right },
        first => wrap(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;
    use datafusion::sql::sqlparser::ast::SetExpr;

    /// Each operator in parentheses of its own.
    fn shape(expr: &Expr) -> String {
        match expr {
            Expr::BinaryOp { left, op, right } if weak(op) => format!("({} {op} {})", shape(left), shape(right)),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => format!("(NOT {})", shape(expr)),
            Expr::IsDistinctFrom(left, right) => format!("[{} <> {}]", shape(left), shape(right)),
            Expr::IsNotDistinctFrom(left, right) => format!("[{} = {}]", shape(left), shape(right)),
            Expr::Nested(inner) => shape(inner),
            other => other.to_string(),
        }
    }

    fn meaning(condition: &str) -> String {
        let statement = parse(&format!("SELECT 1 WHERE {condition}")).unwrap();
        let Statement::Query(query) = statement else { panic!("a query") };
        let SetExpr::Select(select) = *query.body else { panic!("a SELECT") };
        shape(&select.selection.unwrap())
    }

    #[test]
    fn weaker_operators_end_the_right_side() {
        assert_eq!(meaning("a IS NOT DISTINCT FROM b AND c"), "([a = b] AND c)");
        assert_eq!(meaning("a IS DISTINCT FROM b AND c OR d"), "(([a <> b] AND c) OR d)");
        assert_eq!(meaning("a IS DISTINCT FROM b OR c AND d"), "([a <> b] OR (c AND d))");
        assert_eq!(meaning("a IS DISTINCT FROM b AND c IS NOT DISTINCT FROM d AND e"), "([a <> b] AND ([c = d] AND e))");
    }

    #[test]
    fn what_stands_before_keeps_its_place() {
        assert_eq!(meaning("p AND a IS DISTINCT FROM b OR q"), "((p AND [a <> b]) OR q)");
        assert_eq!(meaning("p OR a IS DISTINCT FROM b AND q"), "(p OR ([a <> b] AND q))");
        assert_eq!(meaning("NOT a IS DISTINCT FROM b AND c"), "((NOT [a <> b]) AND c)");
        assert_eq!(meaning("a < 1 AND b = 2 OR c = 3"), "((a < 1 AND b = 2) OR c = 3)");
    }

    #[test]
    fn parentheses_stay() {
        assert_eq!(meaning("a IS DISTINCT FROM (b AND c)"), "[a <> (b AND c)]");
        assert_eq!(meaning("p AND (a OR b) AND NOT (c OR d)"), "((p AND (a OR b)) AND (NOT (c OR d)))");
    }
}
