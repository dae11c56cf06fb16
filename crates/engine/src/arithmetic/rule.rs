// SPDX-License-Identifier: Apache-2.0
//! The rule that puts checked functions in the place of operators, once the types of both sides are known and equal.

use super::checked::Checked;
use super::settled::settle;
use crate::walk::{expressions, seen_by};
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;

#[derive(Debug)]
pub(super) struct CheckArithmetic;

impl AnalyzerRule for CheckArithmetic {
    fn name(&self) -> &str {
        "check_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(check_plan).data()
    }
}

fn check_plan(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = seen_by(&plan)?;
    expressions(plan, |node| check_expr(node, &schema))
}

fn check_expr(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    Ok(match node {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if checks(&left, op, &right, schema) => Transformed::yes(Checked::call(op, *left, *right)),
        Expr::Negative(inner) if type_of(&inner, schema).is_some_and(|data_type| data_type.is_integer()) => {
            let zero = ScalarValue::new_zero(&inner.get_type(schema)?)?;
            Transformed::yes(Checked::call(Operator::Minus, Expr::Literal(zero, None), *inner))
        }
        other => match settled_at_once(&other, schema) {
            Some(settled) => Transformed::yes(settled),
            None => Transformed::no(other),
        },
    })
}

/// An expression that may give a zero with a sign, or another NaN, so that it does not.
fn settled_at_once(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    let computes = matches!(expr, Expr::Literal(..) | Expr::ScalarFunction(_) | Expr::Negative(_) | Expr::Cast(_) | Expr::TryCast(_) | Expr::BinaryExpr(_));
    // What is checked is settled in the same pass.
    if !computes || Checked::first(expr).is_some() {
        return None;
    }
    settle(expr, &type_of(expr, schema)?)
}

fn checks(left: &Expr, operator: Operator, right: &Expr, schema: &DFSchema) -> bool {
    if !Checked::checks_floating(operator) {
        return false;
    }
    let (Some(left), Some(right)) = (type_of(left, schema), type_of(right, schema)) else { return false };
    let floating = |data_type: &DataType| matches!(data_type, DataType::Float32 | DataType::Float64);
    left.is_integer() && right.is_integer() && Checked::checks_whole(operator) || floating(&left) && floating(&right)
}

/// What has no type yet (a parameter without a value) is left as it is.
fn type_of(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    match Checked::first(expr) {
        Some(first) => type_of(first, schema),
        None => expr.get_type(schema).ok(),
    }
}
