// SPDX-License-Identifier: Apache-2.0
//! The part of a logical filter that the lake can use to leave out files and row groups.

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use weir_lake::{CompareOp, Literal, Predicate};

/// The predicate, weakened where a part of it cannot be used; `None` when nothing can.
pub(crate) fn prunable(filter: &Expr, schema: &SchemaRef) -> Option<Predicate> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => match (prunable(left, schema), prunable(right, schema)) {
            (Some(left), Some(right)) => Some(Predicate::And(vec![left, right])),
            (one, other) => one.or(other),
        },
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => Some(Predicate::Or(vec![prunable(left, schema)?, prunable(right, schema)?])),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => compare(left, *op, right, schema),
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let low = compare(expr, Operator::GtEq, low, schema);
            let high = compare(expr, Operator::LtEq, high, schema);
            match (low, high) {
                (Some(low), Some(high)) => Some(Predicate::And(vec![low, high])),
                (one, other) => one.or(other),
            }
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let column = column_index(expr, schema)?;
            let literals: Option<Vec<Literal>> = list.iter().map(literal).collect();
            Some(Predicate::In { column, literals: literals? })
        }
        Expr::IsNull(inner) => Some(Predicate::IsNull(column_index(inner, schema)?)),
        Expr::IsNotNull(inner) => Some(Predicate::IsNotNull(column_index(inner, schema)?)),
        _ => None,
    }
}

fn compare(left: &Expr, op: Operator, right: &Expr, schema: &Schema) -> Option<Predicate> {
    let (column, op, literal) = match (column_index(left, schema), literal(right)) {
        (Some(column), Some(literal)) => (column, op, literal),
        _ => (column_index(right, schema)?, op.swap()?, literal(left)?),
    };
    let op = match op {
        Operator::Eq => CompareOp::Equal,
        Operator::NotEq => CompareOp::NotEqual,
        Operator::Lt => CompareOp::Less,
        Operator::LtEq => CompareOp::LessOrEqual,
        Operator::Gt => CompareOp::Greater,
        Operator::GtEq => CompareOp::GreaterOrEqual,
        _ => return None,
    };
    Some(Predicate::Compare { column, op, literal })
}

fn column_index(expr: &Expr, schema: &Schema) -> Option<usize> {
    match expr {
        Expr::Column(column) => schema.index_of(&column.name).ok(),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<Literal> {
    let Expr::Literal(value, _) = expr else { return None };
    Some(match value {
        ScalarValue::Boolean(Some(value)) => Literal::Bool(*value),
        ScalarValue::Int32(Some(value)) => Literal::Int(i64::from(*value)),
        ScalarValue::Int64(Some(value)) => Literal::Int(*value),
        ScalarValue::Float32(Some(value)) => Literal::Float(f64::from(*value)),
        ScalarValue::Float64(Some(value)) => Literal::Float(*value),
        ScalarValue::Decimal128(Some(value), _, scale) => Literal::Decimal { unscaled: *value, scale: *scale },
        ScalarValue::Utf8(Some(value)) | ScalarValue::LargeUtf8(Some(value)) | ScalarValue::Utf8View(Some(value)) => Literal::Text(value.clone()),
        ScalarValue::Binary(Some(value)) | ScalarValue::LargeBinary(Some(value)) => Literal::Bytes(value.clone()),
        ScalarValue::Date32(Some(value)) => Literal::Date(*value),
        ScalarValue::Time64Microsecond(Some(value)) => Literal::Time(*value),
        ScalarValue::TimestampMicrosecond(Some(value), _) => Literal::Timestamp(*value),
        _ => return None,
    })
}
