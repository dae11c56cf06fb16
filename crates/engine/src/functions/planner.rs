// SPDX-License-Identifier: Apache-2.0
//! Operators whose meaning depends on the types of both sides, planned as PostgreSQL plans them.

use super::fields::DatePart;
use super::{numbers, shown, spans};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, ScalarUDF, cast};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Operators;

impl ExprPlanner for Operators {
    fn plan_binary_op(&self, raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        // What has no type yet (a parameter without a value) is left as it is.
        let (Ok(left), Ok(right)) = (raw.left.get_type(schema), raw.right.get_type(schema)) else { return Ok(PlannerResult::Original(raw)) };
        let RawBinaryExpr { op, left: a, right: b } = raw;
        let (a, left) = beside_interval(a, left, &right, &op);
        let (b, right) = beside_interval(b, right, &left, &op);
        Ok(PlannerResult::Planned(match &op {
            BinaryOperator::Multiply if span(&left) && number(&right) => spans::times().call(vec![a, double(b)]),
            BinaryOperator::Multiply if number(&left) && span(&right) => spans::times().call(vec![b, double(a)]),
            BinaryOperator::Divide if span(&left) && number(&right) => spans::over().call(vec![a, double(b)]),
            BinaryOperator::Divide if quotient(&left, &right) => numbers::divide().call(vec![decimal(a, &left), decimal(b, &right)]),
            BinaryOperator::Plus if left == DataType::Date32 && interval(&right) => binary(midnight(a), Operator::Plus, b),
            BinaryOperator::Plus if interval(&left) && right == DataType::Date32 => binary(midnight(b), Operator::Plus, a),
            BinaryOperator::Minus if left == DataType::Date32 && interval(&right) => binary(midnight(a), Operator::Minus, b),
            BinaryOperator::Plus if clock(&left) && interval(&right) => spans::clock_moved(true).call(vec![a, b]),
            BinaryOperator::Plus if interval(&left) && clock(&right) => spans::clock_moved(true).call(vec![b, a]),
            BinaryOperator::Minus if clock(&left) && interval(&right) => spans::clock_moved(false).call(vec![a, b]),
            BinaryOperator::StringConcat if text(&left) && shown::shown_differently(&right) => concat(a, shown::as_text().call(vec![b])),
            BinaryOperator::StringConcat if shown::shown_differently(&left) && text(&right) => concat(shown::as_text().call(vec![a]), b),
            compared if span(&left) && span(&right) && (interval(&left) || interval(&right)) => match comparison(compared) {
                Some(operator) => binary(spans::length().call(vec![a]), operator, spans::length().call(vec![b])),
                None => return Ok(PlannerResult::Original(RawBinaryExpr { op, left: a, right: b })),
            },
            _ => return Ok(PlannerResult::Original(RawBinaryExpr { op, left: a, right: b })),
        }))
    }

    fn plan_extract(&self, arguments: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        let exact = Arc::new(ScalarUDF::from(DatePart::new(true)));
        Ok(PlannerResult::Planned(Expr::ScalarFunction(ScalarFunction::new_udf(exact, arguments))))
    }
}

/// A text that is written beside an interval and compared with it is one too.
fn beside_interval(side: Expr, data_type: DataType, other: &DataType, op: &BinaryOperator) -> (Expr, DataType) {
    let read = text(&data_type) && interval(other) && comparison(op).is_some() && matches!(side, Expr::Literal(..));
    if read { (cast(side, spans::INTERVAL), spans::INTERVAL) } else { (side, data_type) }
}

fn binary(left: Expr, operator: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), operator, Box::new(right)))
}

fn concat(left: Expr, right: Expr) -> Expr {
    binary(left, Operator::StringConcat, right)
}

fn double(expr: Expr) -> Expr {
    cast(expr, DataType::Float64)
}

/// The begin of a day: a date and an interval make a timestamp.
fn midnight(day: Expr) -> Expr {
    cast(day, DataType::Timestamp(TimeUnit::Microsecond, None))
}

fn decimal(expr: Expr, data_type: &DataType) -> Expr {
    if data_type.is_integer() { cast(expr, DataType::Decimal128(20, 0)) } else { expr }
}

fn interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_))
}

fn clock(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Time64(_) | DataType::Time32(_))
}

fn span(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_) | DataType::Duration(_))
}

fn number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

fn text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether a quotient is one of decimals: one side is a decimal, the other too or a whole number.
fn quotient(left: &DataType, right: &DataType) -> bool {
    let exact = |data_type: &DataType| data_type.is_integer() || matches!(data_type, DataType::Decimal128(..));
    exact(left) && exact(right) && !(left.is_integer() && right.is_integer())
}

fn comparison(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        _ => return None,
    })
}
