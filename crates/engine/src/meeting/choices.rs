// SPDX-License-Identifier: Apache-2.0
//! Expressions that give one of several values: CASE, `coalesce`, `greatest`, `least`, `nullif`, and arrays.

use super::compared::{check_pair, undefined};
use super::kind::{Category, Met, common, sql_name};
use super::{of, unmatched};
use crate::errors::carry;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Case, Expr, Operator, cast, lit};
use weir_base::{Error, ErrorCode};

/// Errors: 42804 for results that do not meet and for a WHEN that is no truth, 42883 for one that is not comparable with the value of the CASE.
pub(super) fn case(case: Case, schema: &DFSchema) -> Result<Transformed<Expr>> {
    for (when, _) in &case.when_then_expr {
        match &case.expr {
            Some(value) => check_pair(value, Operator::Eq, when, schema)?,
            None => check_truth(when, schema)?,
        }
    }
    let results: Vec<&Expr> = case.when_then_expr.iter().map(|(_, then)| then).chain(&case.else_expr).map(AsRef::as_ref).collect();
    let Some(results) = turned("CASE", &results, schema)? else { return Ok(Transformed::no(Expr::Case(case))) };
    let mut results = results.into_iter().map(Box::new);
    let when_then_expr = case.when_then_expr.into_iter().zip(results.by_ref()).map(|((when, _), then)| (when, then)).collect();
    Ok(Transformed::yes(Expr::Case(Case { expr: case.expr, when_then_expr, else_expr: results.next() })))
}

fn check_truth(when: &Expr, schema: &DFSchema) -> Result<()> {
    match of(when, schema) {
        Some(Met::Known(found)) if Category::of(&found) != Category::Truth => {
            let message = format!("argument of CASE/WHEN must be type boolean, not type {}", sql_name(&found));
            Err(carry(Error::new(ErrorCode::TypeMismatch, message).with_hint("write a condition, such as x <> 0")))
        }
        _ => Ok(()),
    }
}

/// Errors: 42804 for values that do not meet, 42883 for a `nullif` of values that are not comparable.
pub(super) fn function(function: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let place = match function.func.name() {
        "coalesce" => "COALESCE",
        "greatest" => "GREATEST",
        "least" => "LEAST",
        "make_array" => "ARRAY",
        "nullif" => return nullif(function, schema),
        _ => return Ok(Transformed::no(Expr::ScalarFunction(function))),
    };
    let values: Vec<&Expr> = function.args.iter().collect();
    match turned(place, &values, schema)? {
        Some(values) => Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(function.func, values)))),
        None => Ok(Transformed::no(Expr::ScalarFunction(function))),
    }
}

/// It is its first value, with the type of that, whatever it is compared with.
fn nullif(function: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if let [value, other] = function.args.as_slice() {
        if let (Some(Met::Known(left)), Some(Met::Known(right))) = (of(value, schema), of(other, schema))
            && !super::kind::comparable(&left, &right)
        {
            return Err(undefined(&left, Operator::Eq, &right));
        }
        if let (Some(Met::Known(left)), Some(Met::Known(right))) = (of(value, schema), of(other, schema))
            && Category::of(&left) == Category::Moment
            && left != right
        {
            let equal = super::compared::as_moments(value.clone().eq(other.clone()), schema);
            let null = Expr::Literal(ScalarValue::try_from(&left)?, None);
            let choice = Case { expr: None, when_then_expr: vec![(Box::new(equal), Box::new(null))], else_expr: Some(Box::new(value.clone())) };
            return Ok(Transformed::yes(Expr::Case(choice)));
        }
    }
    Ok(Transformed::no(Expr::ScalarFunction(function)))
}

/// The values in the type that they meet in; `None` where the query engine comes to the same by itself. Error: 42804.
fn turned(place: &str, values: &[&Expr], schema: &DFSchema) -> Result<Option<Vec<Expr>>> {
    // What has no type yet (a parameter without a value) is left as it is.
    let Some(met) = values.iter().map(|value| of(value, schema)).collect::<Option<Vec<Met>>>() else { return Ok(None) };
    let Some(to) = common(&met).map_err(|(one, other)| unmatched(place, &one, &other))? else { return Ok(None) };
    let turns = |met: &Met| match met {
        // Until the query engine has decided, the choice has the type of its first value, and a UNION around it would take that.
        Met::Known(from) => *from != to && matches!(Category::of(&to), Category::Moment | Category::Number),
        Met::Unknown => reads(&to),
    };
    if !met.iter().any(turns) {
        return Ok(None);
    }
    Ok(Some(values.iter().zip(&met).map(|(value, met)| if turns(met) { read((*value).clone(), &to) } else { (*value).clone() }).collect()))
}

/// Whether a text that is written beside such values is one of them.
pub(super) fn reads(to: &DataType) -> bool {
    matches!(Category::of(to), Category::Number | Category::Moment | Category::Time | Category::Truth)
}

/// NULL has the type at once; a text is read as it.
fn read(value: Expr, to: &DataType) -> Expr {
    match &value {
        Expr::Literal(literal, _) if literal.is_null() => ScalarValue::try_from(to).map_or_else(|_| cast(value.clone(), to.clone()), lit),
        _ => cast(value, to.clone()),
    }
}
