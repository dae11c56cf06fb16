// SPDX-License-Identifier: Apache-2.0
//! Conditions that can fail are asked last, and only of rows that pass the others; of alternatives, of rows that pass none of the others. A source may have left those rows out already, and
//! whether a question fails must not depend on what was sent: `status = 'open' AND price / amount > 2`.

use super::guarded::can_fail;
use crate::walk;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{AggregateFunctionParams, Case};
use datafusion::logical_expr::logical_plan::{Filter, Join};
use datafusion::logical_expr::utils::{conjunction, disjunction, split_binary_owned, split_conjunction_owned};
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, lit};

/// The plan whose filters and joins ask in that order.
pub(crate) fn in_turn(plan: LogicalPlan) -> Result<LogicalPlan> {
    let turned = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Filter(filter) => {
            let schema = filter.input.schema().clone();
            let turned = ordered(filter.predicate.clone(), &schema);
            let Some(predicate) = turned else { return Ok(Transformed::no(LogicalPlan::Filter(filter))) };
            Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
        }
        LogicalPlan::Join(join) => {
            let Some(condition) = join.filter.clone() else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
            let pairs = join.left.schema().join(join.right.schema())?;
            let Some(condition) = ordered(condition, &pairs) else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
            Ok(Transformed::yes(LogicalPlan::Join(Join { filter: Some(condition), ..join })))
        }
        LogicalPlan::Aggregate(_) => {
            let schema = walk::seen_by(&node)?;
            walk::expressions(node, |expr| Ok(of_filtered(expr, &schema)))
        }
        other => Ok(Transformed::no(other)),
    });
    turned.data()
}

/// An aggregate whose argument is computed only for rows that its FILTER lets through: `sum(a / b) FILTER (WHERE b <> 0)`.
fn of_filtered(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let guarded = |params: &mut AggregateFunctionParams| {
        let Some(filter) = params.filter.as_mut() else { return false };
        let turned = ordered(filter.as_ref().clone(), schema);
        let changed = turned.is_some();
        turned.into_iter().for_each(|turned| **filter = turned);
        let condition = filter.as_ref().clone();
        let mut failing = params.args.iter_mut().filter(|argument| can_fail(argument, schema)).peekable();
        let changed = changed || failing.peek().is_some();
        failing.for_each(|argument| {
            let branch = (Box::new(condition.clone()), Box::new(argument.clone()));
            *argument = Expr::Case(Case { expr: None, when_then_expr: vec![branch], else_expr: None });
        });
        changed
    };
    match expr {
        Expr::AggregateFunction(mut function) => {
            let changed = guarded(&mut function.params);
            Transformed::new_transformed(Expr::AggregateFunction(function), changed)
        }
        other => Transformed::no(other),
    }
}

/// The conjunction in its order; `None` where it stays as it is.
pub(crate) fn ordered(condition: Expr, schema: &DFSchema) -> Option<Expr> {
    let mut guarded = false;
    let parts: Vec<Expr> = split_conjunction_owned(condition).into_iter().map(|part| one_or_another(part, schema, &mut guarded)).collect();
    let (failing, safe): (Vec<Expr>, Vec<Expr>) = parts.into_iter().partition(|part| can_fail(part, schema));
    if failing.is_empty() || failing.len() + safe.len() < 2 {
        return conjunction(safe.into_iter().chain(failing)).filter(|_| guarded);
    }
    let mut steps: Vec<Expr> = conjunction(safe.iter().cloned()).into_iter().chain(failing).collect();
    let last = steps.pop()?;
    let guarded = steps.into_iter().rev().fold(last, |then, when| {
        let branch = (Box::new(when), Box::new(then));
        Expr::Case(Case { expr: None, when_then_expr: vec![branch], else_expr: Some(Box::new(lit(false))) })
    });
    // The safe ones stand for themselves too: the scan below can use them.
    conjunction(safe.into_iter().chain([guarded]))
}

/// Of conditions one of which is enough, those that can fail are asked of rows for which no other one is true: `n = 0 OR 10 / n > 1`.
fn one_or_another(part: Expr, schema: &DFSchema, guarded: &mut bool) -> Expr {
    if !can_fail(&part, schema) {
        return part;
    }
    let alternatives: Vec<Expr> = split_binary_owned(part.clone(), Operator::Or);
    let (failing, safe): (Vec<Expr>, Vec<Expr>) = alternatives.into_iter().partition(|one| can_fail(one, schema));
    let (Some(safe), false) = (disjunction(safe), failing.is_empty()) else { return part };
    *guarded = true;
    let branch = |when: Expr, then: Expr| {
        let branch = (Box::new(when), Box::new(lit(true)));
        Expr::Case(Case { expr: None, when_then_expr: vec![branch], else_expr: Some(Box::new(then)) })
    };
    let failing = failing.into_iter().map(|one| ordered(one.clone(), schema).unwrap_or(one));
    let mut steps: Vec<Expr> = std::iter::once(safe).chain(failing).collect();
    let last = steps.pop().unwrap_or_else(|| lit(false));
    steps.into_iter().rev().fold(last, |then, when| branch(when, then))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::logical_expr::{cast, col};

    fn turned(condition: Expr) -> Option<String> {
        let fields = vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Int32, true), Field::new("t", DataType::Utf8, true)];
        ordered(condition, &DFSchema::try_from(Schema::new(fields)).unwrap()).map(|condition| condition.to_string())
    }

    #[test]
    fn what_can_fail_waits_for_the_others() {
        let quotient = (col("a") / col("b")).gt(lit(2));
        let number = cast(col("t"), DataType::Int32).eq(lit(1));
        assert_eq!(
            turned(quotient.clone().and(col("b").not_eq(lit(0)))).unwrap(),
            "b != Int32(0) AND CASE WHEN b != Int32(0) THEN a / b > Int32(2) ELSE Boolean(false) END"
        );
        assert_eq!(turned(quotient.clone().and(number)).unwrap(), "CASE WHEN a / b > Int32(2) THEN CAST(t AS Int32) = Int32(1) ELSE Boolean(false) END");
        assert_eq!(turned(quotient.clone()), None);
        assert_eq!(turned(quotient.clone().or(col("b").eq(lit(0)))).unwrap(), "CASE WHEN b = Int32(0) THEN Boolean(true) ELSE a / b > Int32(2) END");
        assert_eq!(
            turned(col("b").eq(lit(0)).or(quotient.and(col("a").gt(lit(1))))).unwrap(),
            "CASE WHEN b = Int32(0) THEN Boolean(true) ELSE a > Int32(1) AND CASE WHEN a > Int32(1) THEN a / b > Int32(2) ELSE Boolean(false) END END"
        );
        assert_eq!(turned(col("a").gt(lit(1)).and(cast(col("b"), DataType::Int64).gt(lit(1_i64)))), None);
    }
}
