// SPDX-License-Identifier: Apache-2.0
//! Lists of values beside each other on one expression, with the three values of SQL. The planner's simplifier makes one list of
//! `x IN (1, 2) AND x IN (5, 6)`, finds it empty, and says false where `x` is NULL; it takes a NULL in a list for a value like others,
//! and names in a list for different values. So what it would merge is merged here first, or written without lists.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, disjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, lit, not};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

#[derive(Debug)]
pub(crate) struct ListLogic;

impl OptimizerRule for ListLogic {
    fn name(&self) -> &str {
        "list_logic"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let names = NamePreserver::new(&plan);
        let filters = matches!(plan, LogicalPlan::Filter(_));
        plan.map_expressions(|expr| {
            if !risky(&expr)? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            let plain = plain(expr)?;
            let plain = if filters { only_true(plain) } else { plain };
            Ok(Transformed::yes(name.restore(plain)))
        })
    }
}

/// Whether there are two lists, or one with a NULL.
fn risky(expr: &Expr) -> Result<bool> {
    let (mut lists, mut missing) = (0, false);
    expr.apply(|node| {
        if let Expr::InList(list) = node {
            lists += 1;
            missing |= list.list.iter().any(is_null);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(lists > 1 || missing)
}

fn is_null(value: &Expr) -> bool {
    matches!(value, Expr::Literal(value, _) if value.is_null())
}

fn unknown() -> Expr {
    lit(ScalarValue::Boolean(None))
}

/// The expression with each of its conditions told by `AND`, `OR` and lists that nobody merges.
fn plain(expr: Expr) -> Result<Expr> {
    let replaced = expr.transform_down(|node| match node {
        node if is_logic(&node) => Ok(Transformed::new(logic(node, false)?, true, TreeNodeRecursion::Jump)),
        other => Ok(Transformed::no(other)),
    });
    replaced.data()
}

fn is_logic(expr: &Expr) -> bool {
    matches!(expr, Expr::Not(_) | Expr::InList(_) | Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }))
}

/// A condition, or what it denies: `NOT` stands before conditions of other kinds only.
fn logic(expr: Expr, denied: bool) -> Result<Expr> {
    match expr {
        Expr::Not(inner) => logic(*inner, !denied),
        Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) => {
            let joins = if denied { other(op) } else { op };
            let mut parts = Vec::new();
            for part in flat(expr, op) {
                parts.extend(flat(logic(part, denied)?, joins));
            }
            Ok(joined(merged(parts, joins), joins))
        }
        Expr::InList(list) => known_and_unknown(InList { negated: list.negated != denied, ..list }),
        other => {
            let other = other.map_children(|child| plain(child).map(Transformed::yes)).data()?;
            Ok(if denied { not(other) } else { other })
        }
    }
}

fn other(op: Operator) -> Operator {
    if op == Operator::And { Operator::Or } else { Operator::And }
}

/// The parts of a chain, which can be hundreds long: not by recursion.
fn flat(expr: Expr, op: Operator) -> Vec<Expr> {
    let (mut parts, mut open) = (Vec::new(), vec![expr]);
    while let Some(expr) = open.pop() {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: inner, right }) if inner == op => open.extend([*right, *left]),
            other => parts.push(other),
        }
    }
    parts
}

fn joined(parts: Vec<Expr>, op: Operator) -> Expr {
    match op {
        Operator::And => conjunction(parts).unwrap_or_else(|| lit(true)),
        _ => disjunction(parts).unwrap_or_else(|| lit(false)),
    }
}

/// `x IN (1, NULL)` is true for 1 and else unknown.
fn known_and_unknown(list: InList) -> Result<Expr> {
    let InList { expr, list, negated } = list;
    let expr = Box::new(plain(*expr)?);
    let list = list.into_iter().map(plain).collect::<Result<Vec<_>>>()?;
    if !list.iter().any(is_null) {
        return Ok(Expr::InList(InList { expr, list, negated }));
    }
    let known: Vec<Expr> = list.into_iter().filter(|value| !is_null(value)).collect();
    if known.is_empty() {
        return Ok(unknown());
    }
    let known = Expr::InList(InList { expr, list: known, negated });
    Ok(if negated { known.and(unknown()) } else { known.or(unknown()) })
}

/// The parts with one list at most for each expression, where the simplifier would make one.
fn merged(parts: Vec<Expr>, op: Operator) -> Vec<Expr> {
    let mut merged: Vec<Expr> = Vec::with_capacity(parts.len());
    let mut lists: Vec<Vec<InList>> = Vec::new();
    for part in parts {
        let Expr::InList(list) = part else {
            merged.push(part);
            continue;
        };
        match lists.iter_mut().find(|known| known[0].expr == list.expr) {
            Some(known) => known.push(list),
            None => lists.push(vec![list]),
        }
    }
    for of_one in lists {
        merged.extend(together(of_one, op));
    }
    merged
}

/// Lists on one expression, all of which must be true (`AND`), or one (`OR`).
fn together(lists: Vec<InList>, op: Operator) -> Vec<Expr> {
    let apart = |lists: Vec<InList>| lists.into_iter().map(Expr::InList).collect();
    let denied = lists.iter().filter(|list| list.negated).count();
    // Values that one of several lists may have are one list; a value in one list or out of another is left alone.
    if lists.len() < 2 || (op == Operator::Or && denied < 2) {
        return apart(lists);
    }
    if lists[0].expr.is_volatile() {
        return apart(lists);
    }
    if !lists.iter().all(comparable) || lists.iter().any(|list| kind(list) != kind(&lists[0])) {
        return lists.into_iter().map(written_out).collect();
    }
    let expr = lists[0].expr.clone();
    let (inside, outside): (Vec<InList>, Vec<InList>) = lists.into_iter().partition(|list| !list.negated);
    if op == Operator::Or {
        let rest = common(outside).map(|list| Expr::InList(InList { expr: expr.clone(), list, negated: true }));
        // Whatever it is, it is missing in one of the lists.
        let rest = rest.unwrap_or_else(|| expr.as_ref().clone().is_not_null().or(unknown()));
        return apart(inside).into_iter().chain([rest]).collect();
    }
    if inside.is_empty() {
        let mut list: Vec<Expr> = Vec::new();
        for value in outside.into_iter().flat_map(|list| list.list) {
            if !list.contains(&value) {
                list.push(value);
            }
        }
        return vec![Expr::InList(InList { expr, list, negated: true })];
    }
    let mut list = common(inside).unwrap_or_default();
    list.retain(|value| !outside.iter().any(|list| list.list.contains(value)));
    // Nothing is in all of them.
    let none = || expr.as_ref().clone().is_null().and(unknown());
    vec![if list.is_empty() { none() } else { Expr::InList(InList { expr, list, negated: false }) }]
}

/// The values that are in all lists; `None` where there are none.
fn common(lists: Vec<InList>) -> Option<Vec<Expr>> {
    let mut lists = lists.into_iter();
    let mut list = lists.next()?.list;
    lists.for_each(|other| list.retain(|value| other.list.contains(value)));
    (!list.is_empty()).then_some(list)
}

fn kind(list: &InList) -> Option<DataType> {
    match list.list.first()? {
        Expr::Literal(value, _) => Some(value.data_type()),
        _ => None,
    }
}

/// Whether values are equal exactly when they are written alike.
fn comparable(list: &InList) -> bool {
    let Some(kind) = kind(list) else { return false };
    let plain = kind.is_integer()
        || matches!(
            kind,
            DataType::Utf8
                | DataType::Utf8View
                | DataType::LargeUtf8
                | DataType::Binary
                | DataType::BinaryView
                | DataType::Boolean
                | DataType::Date32
                | DataType::Timestamp(..)
                | DataType::Time64(_)
                | DataType::Decimal128(..)
        );
    plain && list.list.iter().all(|value| matches!(value, Expr::Literal(value, _) if value.data_type() == kind))
}

fn written_out(list: InList) -> Expr {
    let InList { expr, list, negated } = list;
    let each = list.into_iter().map(|value| if negated { expr.as_ref().clone().not_eq(value) } else { expr.as_ref().clone().eq(value) });
    joined(each.collect(), if negated { Operator::And } else { Operator::Or })
}

/// A row for which a filter is not known is left out as one for which it is false.
fn only_true(expr: Expr) -> Expr {
    let op = match &expr {
        Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) => *op,
        Expr::Literal(ScalarValue::Boolean(None), _) => return lit(false),
        _ => return expr,
    };
    let mut parts = Vec::new();
    for part in flat(expr, op).into_iter().map(only_true) {
        match part {
            Expr::Literal(ScalarValue::Boolean(Some(value)), _) if value == (op == Operator::Or) => return lit(value),
            Expr::Literal(ScalarValue::Boolean(Some(_)), _) => {}
            other => parts.push(other),
        }
    }
    joined(parts, op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::col;

    fn list(values: &[i32], negated: bool) -> Expr {
        col("g").in_list(values.iter().map(|value| lit(*value)).collect(), negated)
    }

    fn told(expr: Expr) -> String {
        plain(expr).unwrap().to_string()
    }

    #[test]
    fn lists_on_one_expression_are_one() {
        assert_eq!(told(list(&[1, 2, 3], false).and(list(&[2, 3, 4], false))), list(&[2, 3], false).to_string());
        assert_eq!(told(list(&[1, 2], false).and(col("b")).and(list(&[2], true))), col("b").and(list(&[1], false)).to_string());
        assert_eq!(told(list(&[1, 2], true).and(list(&[2, 3], true))), list(&[1, 2, 3], true).to_string());
        assert_eq!(told(list(&[1, 2], true).or(list(&[2, 3], true))), list(&[2], true).to_string());
        assert_eq!(told(list(&[1, 2], false).or(list(&[2, 3], true))), list(&[1, 2], false).or(list(&[2, 3], true)).to_string());
    }

    #[test]
    fn nothing_in_common_is_unknown_for_a_null() {
        let none = col("g").is_null().and(unknown());
        assert_eq!(told(list(&[1, 2], false).and(list(&[5, 6], false))), none.to_string());
        assert_eq!(told(list(&[1], false).and(list(&[1, 2], true))), none.to_string());
        let all = col("g").is_not_null().or(unknown());
        assert_eq!(told(not(list(&[1, 2], false).and(list(&[5, 6], false)))), all.to_string());
        assert_eq!(told(not(list(&[1], true)).and(list(&[2], false))), none.to_string());
    }

    #[test]
    fn a_null_in_a_list_makes_it_unknown() {
        let with = |negated| col("g").in_list(vec![lit(1), lit(ScalarValue::Int32(None))], negated);
        assert_eq!(told(with(false)), list(&[1], false).or(unknown()).to_string());
        assert_eq!(told(with(true).and(list(&[1, 2], false))), unknown().and(list(&[2], false)).to_string());
        assert_eq!(only_true(plain(with(false)).unwrap()), list(&[1], false));
        assert_eq!(only_true(plain(with(true)).unwrap()), lit(false));
        assert_eq!(told(col("g").in_list(vec![lit(ScalarValue::Int32(None))], true)), unknown().to_string());
    }

    #[test]
    fn values_that_are_not_known_may_be_equal() {
        let names = col("g").in_list(vec![col("a")], false).and(col("g").in_list(vec![col("b"), col("c")], true));
        let out = col("g").eq(col("a")).and(col("g").not_eq(col("b")).and(col("g").not_eq(col("c"))));
        assert_eq!(told(names), out.to_string());
        let floats = |value: f64| col("g").in_list(vec![lit(value)], false);
        assert_eq!(told(floats(0.0).and(floats(-0.0))), col("g").eq(lit(0.0)).and(col("g").eq(lit(-0.0))).to_string());
    }
}
