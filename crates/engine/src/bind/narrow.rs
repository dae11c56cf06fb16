// SPDX-License-Identifier: Apache-2.0
//! A whole number that is written out is an `integer` to PostgreSQL where it fits, and a `bigint` to the query engine. What a sum is,
//! a `bigint` or a `numeric`, depends on it; and with that, whether a quotient of sums is whole.

use super::operators::cast;
use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value};

/// Functions whose result has the type of their arguments.
const OF_THEIR_ARGUMENTS: [&str; 5] = ["coalesce", "greatest", "least", "nullif", "abs"];

/// Makes the literals that an argument of `sum` is made of integers.
pub(super) fn literals(sum: &mut Function) {
    arguments(sum).for_each(narrow);
}

fn arguments(function: &mut Function) -> impl Iterator<Item = &mut Expr> {
    let list = match &mut function.args {
        FunctionArguments::List(list) => list.args.as_mut_slice(),
        _ => &mut [],
    };
    list.iter_mut().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

fn narrow(expr: &mut Expr) {
    match expr {
        Expr::Value(value) if matches!(&value.value, Value::Number(digits, _) if digits.parse::<i32>().is_ok()) => {
            let literal = std::mem::replace(expr, Expr::value(Value::Null));
            *expr = cast(literal, DataType::Int(None));
        }
        Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Plus | UnaryOperator::Minus, expr: inner } => narrow(inner),
        Expr::BinaryOp { left, op, right } if arithmetic(op) => {
            narrow(left);
            narrow(right);
        }
        Expr::Case { conditions, else_result, .. } => {
            conditions.iter_mut().for_each(|branch| narrow(&mut branch.result));
            else_result.iter_mut().for_each(|otherwise| narrow(otherwise));
        }
        Expr::Function(function) if OF_THEIR_ARGUMENTS.iter().any(|name| function.name.to_string().eq_ignore_ascii_case(name)) => {
            arguments(function).for_each(narrow);
        }
        _ => {}
    }
}

fn arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(op, Plus | Minus | Multiply | Divide | Modulo)
}
