// SPDX-License-Identifier: Apache-2.0
//! Comparisons of rows such as `(a, b) = (c, d)`, said as comparisons of their fields. The query engine would compare them as values
//! of their own, of which two with a NULL are equal.

use super::operators::binary;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value};
use weir_base::{Error, ErrorCode, Result};

/// The comparison in other words; `None` for what compares no rows.
/// Errors: 42601 for rows of different lengths, 0A000 for a row beside something else.
pub(super) fn compared(expr: &Expr) -> Result<Option<Expr>> {
    Ok(match expr {
        Expr::BinaryOp { left, op, right } if comparison(op) => match sides(left, right)? {
            Some((left, right)) => Some(ordered(&left, op, &right)?),
            None => None,
        },
        Expr::IsDistinctFrom(left, right) => sides(left, right)?.map(|(left, right)| same(&left, &right)).transpose()?.map(not),
        Expr::IsNotDistinctFrom(left, right) => sides(left, right)?.map(|(left, right)| same(&left, &right)).transpose()?,
        Expr::InList { expr, list, negated } => listed(expr, list, *negated)?,
        Expr::Between { expr, negated, low, high } => between(expr, low, high, *negated)?,
        Expr::InSubquery { expr, .. } if fields(expr).is_some() => {
            let error = Error::new(ErrorCode::Unsupported, "(a, b) IN (SELECT …) is not in Weir");
            return Err(error.with_hint("write EXISTS (SELECT 1 FROM … WHERE x = a AND y = b)"));
        }
        Expr::Case { operand: Some(operand), .. } if fields(operand).is_some() => return Err(beside_another()),
        Expr::IsNull(row) => fields(row).map(|fields| all(fields.iter().map(|field| null(field, true)).collect())),
        Expr::IsNotNull(row) => fields(row).map(|fields| all(fields.iter().map(|field| null(field, false)).collect())),
        _ => None,
    })
}

fn comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// The fields of `(a, b)` or `ROW(a, b)`.
fn fields(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Tuple(fields) => Some(fields.clone()),
        Expr::Nested(inner) => fields(inner),
        Expr::Function(function) if function.over.is_none() && function.name.to_string().eq_ignore_ascii_case("row") => {
            let FunctionArguments::List(list) = &function.args else { return None };
            let field = |argument: &FunctionArg| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(field)) => Some(field.clone()),
                _ => None,
            };
            list.args.iter().map(field).collect()
        }
        _ => None,
    }
}

/// The fields of both sides, of which there are equally many; `None` where neither side is a row.
fn sides(left: &Expr, right: &Expr) -> Result<Option<(Vec<Expr>, Vec<Expr>)>> {
    match (fields(left), fields(right)) {
        (None, None) => Ok(None),
        (Some(left), Some(right)) if left.len() == right.len() && !left.is_empty() => Ok(Some((left, right))),
        (Some(_), Some(_)) => {
            Err(Error::new(ErrorCode::Syntax, "rows of different lengths are compared").with_hint("give both rows the same number of fields"))
        }
        _ => Err(beside_another()),
    }
}

fn beside_another() -> Error {
    Error::new(ErrorCode::Unsupported, "a row is compared with something that is not written as a row").with_hint("compare its fields: x = a AND y = b")
}

fn ordered(left: &[Expr], op: &BinaryOperator, right: &[Expr]) -> Result<Expr> {
    match op {
        BinaryOperator::Eq => equal(left, right),
        BinaryOperator::NotEq => equal(left, right).map(not),
        BinaryOperator::Lt | BinaryOperator::LtEq => first_that_differs(left, &BinaryOperator::Lt, op, right),
        _ => first_that_differs(left, &BinaryOperator::Gt, op, right),
    }
}

fn equal(left: &[Expr], right: &[Expr]) -> Result<Expr> {
    let pairs = left.iter().zip(right).map(|(left, right)| one(left, &BinaryOperator::Eq, right));
    Ok(all(pairs.collect::<Result<_>>()?))
}

/// `a < c OR (a = c AND b <= d)`: the last pair decides by `op`, those before it by `strict`.
fn first_that_differs(left: &[Expr], strict: &BinaryOperator, op: &BinaryOperator, right: &[Expr]) -> Result<Expr> {
    let ([a, left @ ..], [c, right @ ..]) = (left, right) else { return Err(beside_another()) };
    if left.is_empty() {
        return one(a, op, c);
    }
    let tied = binary(one(a, &BinaryOperator::Eq, c)?, BinaryOperator::And, first_that_differs(left, strict, op, right)?);
    Ok(binary(one(a, strict, c)?, BinaryOperator::Or, tied))
}

/// Two fields, which can be rows again.
fn one(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Expr> {
    match sides(left, right)? {
        Some((left, right)) => ordered(&left, op, &right),
        None => Ok(binary(left.clone(), op.clone(), right.clone())),
    }
}

fn same(left: &[Expr], right: &[Expr]) -> Result<Expr> {
    let pairs = left.iter().zip(right).map(|(left, right)| match sides(left, right)? {
        Some((left, right)) => same(&left, &right),
        None => Ok(nested(Expr::IsNotDistinctFrom(Box::new(left.clone()), Box::new(right.clone())))),
    });
    Ok(all(pairs.collect::<Result<_>>()?))
}

fn listed(row: &Expr, list: &[Expr], negated: bool) -> Result<Option<Expr>> {
    if fields(row).is_none() && list.iter().all(|item| fields(item).is_none()) {
        return Ok(None);
    }
    let equal_to = |item: &Expr| one(row, &BinaryOperator::Eq, item);
    let any = joined(list.iter().map(equal_to).collect::<Result<_>>()?, &BinaryOperator::Or);
    Ok(Some(if negated { not(any) } else { any }))
}

fn between(row: &Expr, low: &Expr, high: &Expr, negated: bool) -> Result<Option<Expr>> {
    if [row, low, high].into_iter().all(|side| fields(side).is_none()) {
        return Ok(None);
    }
    let inside = binary(one(row, &BinaryOperator::GtEq, low)?, BinaryOperator::And, one(row, &BinaryOperator::LtEq, high)?);
    Ok(Some(if negated { not(inside) } else { inside }))
}

/// Whether a field is NULL, or is not. A row in a row never is.
fn null(field: &Expr, asked: bool) -> Expr {
    if fields(field).is_some() {
        return Expr::value(Value::Boolean(!asked));
    }
    let field = Box::new(nested(field.clone()));
    nested(if asked { Expr::IsNull(field) } else { Expr::IsNotNull(field) })
}

fn all(conditions: Vec<Expr>) -> Expr {
    joined(conditions, &BinaryOperator::And)
}

/// A tree of even depth, however many there are. Nothing joined is true for AND, false for OR.
fn joined(mut conditions: Vec<Expr>, op: &BinaryOperator) -> Expr {
    if conditions.len() < 2 {
        return conditions.pop().unwrap_or_else(|| Expr::value(Value::Boolean(*op == BinaryOperator::And)));
    }
    let later = conditions.split_off(conditions.len() / 2);
    binary(joined(conditions, op), op.clone(), joined(later, op))
}

fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

fn not(expr: Expr) -> Expr {
    nested(Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expr) })
}

#[cfg(test)]
mod tests {
    use crate::bind::{operators, parse};
    use weir_base::ErrorCode;

    fn adapted(condition: &str) -> String {
        let mut statement = parse(&format!("SELECT {condition}")).unwrap();
        operators::adapt(&mut statement).unwrap();
        statement.to_string().trim_start_matches("SELECT ").to_owned()
    }

    fn refused(condition: &str) -> ErrorCode {
        operators::adapt(&mut parse(&format!("SELECT {condition}")).unwrap()).unwrap_err().code()
    }

    #[test]
    fn rows_are_compared_field_by_field() {
        assert_eq!(adapted("(a, b) = (c, d)"), "((a = c) AND (b = d))");
        assert_eq!(adapted("ROW(a, b) <> ROW(c, d)"), "(NOT ((a = c) AND (b = d)))");
        assert_eq!(adapted("(a, b) < (c, d)"), "((a < c) OR ((a = c) AND (b < d)))");
        assert_eq!(adapted("(a, b) >= (c, d)"), "((a > c) OR ((a = c) AND (b >= d)))");
        assert_eq!(adapted("(a, b) NOT IN ((1, 2), (3, 4))"), "(NOT (((a = 1) AND (b = 2)) OR ((a = 3) AND (b = 4))))");
        assert_eq!(adapted("(a, (b, c)) = (1, (2, 3))"), "((a = 1) AND ((b = 2) AND (c = 3)))");
        assert_eq!(adapted("(a, b) IS NULL"), "(((a) IS NULL) AND ((b) IS NULL))");
        assert_eq!(adapted("(a, b) IS NOT DISTINCT FROM (c, d)"), "((a IS NOT DISTINCT FROM c) AND (b IS NOT DISTINCT FROM d))");
        assert_eq!(adapted("a = (b)"), "a = (b)");
    }

    #[test]
    fn what_is_not_two_equal_rows_is_refused() {
        assert_eq!(refused("(a, b) = (1, 2, 3)"), ErrorCode::Syntax);
        assert_eq!(refused("(a, b) = 1"), ErrorCode::Unsupported);
        assert_eq!(refused("(a, b) IN ((1, 2), 3)"), ErrorCode::Unsupported);
        assert_eq!(refused("(a, b) IN (SELECT c, d FROM t)"), ErrorCode::Unsupported);
        assert_eq!(refused("CASE (a, b) WHEN (1, 2) THEN 1 END"), ErrorCode::Unsupported);
    }
}
