// SPDX-License-Identifier: Apache-2.0
//! Comparisons of types that have no operator in PostgreSQL are refused, as they are there.

use super::kind::{Met, comparable, sql_name};
use super::of;
use crate::errors::carry;
use crate::walk::{compares, sides};
use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast};
use weir_base::{Error, ErrorCode};

/// Error: 42883 as PostgreSQL says it, `operator does not exist: integer = text`.
pub(super) fn check(expr: &Expr, schema: &DFSchema) -> Result<()> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => check_pair(left, *op, right, schema),
        Expr::InSubquery(inner) => check_column(&inner.expr, Operator::Eq, &inner.subquery.subquery, schema),
        Expr::SetComparison(inner) => check_column(&inner.expr, inner.op, &inner.subquery.subquery, schema),
        Expr::InList(_) | Expr::Between(_) => {
            let operator = if matches!(expr, Expr::Between(Between { .. })) { Operator::GtEq } else { Operator::Eq };
            let mut sides = sides(expr).into_iter();
            let Some(first) = sides.next() else { return Ok(()) };
            sides.try_for_each(|other| check_pair(first, operator, other, schema))
        }
        _ => Ok(()),
    }
}

pub(super) fn check_pair(left: &Expr, operator: Operator, right: &Expr, schema: &DFSchema) -> Result<()> {
    match (of(left, schema), of(right, schema)) {
        (Some(Met::Known(left)), Some(Met::Known(right))) if !comparable(&left, &right) => Err(undefined(&left, operator, &right)),
        _ => Ok(()),
    }
}

/// A value beside the column of a subquery, in which a text that is written out is a text.
fn check_column(value: &Expr, operator: Operator, subquery: &LogicalPlan, schema: &DFSchema) -> Result<()> {
    let Some(field) = subquery.schema().fields().first() else { return Ok(()) };
    match of(value, schema) {
        Some(Met::Known(left)) if !field.data_type().is_null() && !comparable(&left, field.data_type()) => Err(undefined(&left, operator, field.data_type())),
        _ => Ok(()),
    }
}

pub(super) fn undefined(left: &DataType, operator: Operator, right: &DataType) -> DataFusionError {
    let operator = match operator {
        Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => Operator::Eq,
        other => other,
    };
    let message = format!("operator does not exist: {} {operator} {}", sql_name(left), sql_name(right));
    carry(Error::new(ErrorCode::UnknownFunction, message).with_hint("cast one side to the type of the other, such as x::text"))
}

/// A comparison of moments of two types, in the later of them.
pub(super) fn as_moments(equal: Expr, schema: &DFSchema) -> Expr {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = equal else { return equal };
    let types = [left.get_type(schema).ok(), right.get_type(schema).ok()].map(|found| found.map_or(Met::Unknown, Met::Known));
    let Ok(Some(to)) = super::kind::common(&types) else { return Expr::BinaryExpr(BinaryExpr { left, op, right }) };
    let turned = |side: Box<Expr>| match side.get_type(schema) {
        Ok(from) if from != to => Box::new(cast(*side, to.clone())),
        _ => side,
    };
    Expr::BinaryExpr(BinaryExpr::new(turned(left), op, turned(right)))
}
