// SPDX-License-Identifier: Apache-2.0
//! Casts and functions that the query engine has, put right before it decides about types: numbers are rounded and not cut, floating
//! point numbers stay such beside decimals, a function has no value outside its domain.

use super::{numbers, shown, texts};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions::math::round;
use datafusion::logical_expr::expr::{Case, Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, Operator, cast, lit, try_cast};

#[derive(Debug)]
pub(super) struct PostgresMeaning;

impl FunctionRewrite for PostgresMeaning {
    fn name(&self) -> &str {
        "postgres_meaning"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let meant = match &expr {
            Expr::Cast(Cast { expr: inner, field }) => converted(inner, field.data_type(), schema, cast),
            Expr::TryCast(TryCast { expr: inner, field }) => converted(inner, field.data_type(), schema, try_cast),
            Expr::ScalarFunction(function) => function_meant(function, schema),
            Expr::Negative(inner) => negated(inner, schema),
            Expr::Case(case) => doubles_of_case(case, schema),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => compared_days(left, *op, right, schema),
            Expr::Between(Between { expr: inner, negated, low, high }) if is_day(inner, schema) => {
                let days = day_shifted(low, schema).zip(day_shifted(high, schema));
                days.map(|(low, high)| Expr::Between(Between::new(inner.clone(), *negated, Box::new(low), Box::new(high))))
            }
            _ => None,
        };
        Ok(meant.map_or_else(|| Transformed::no(expr), Transformed::yes))
    }
}

/// A cast to a whole number rounds: decimals away from zero at a half, floating point numbers to the even neighbour.
fn converted(inner: &Expr, to: &DataType, schema: &DFSchema, cast: fn(Expr, DataType) -> Expr) -> Option<Expr> {
    let from = inner.get_type(schema).ok()?;
    if to.is_integer() && from.is_floating() {
        return Some(cast(numbers::to_even().call(vec![inner.clone()]), to.clone()));
    }
    if to.is_integer() && decimal(&from) {
        let rounded = Expr::ScalarFunction(ScalarFunction::new_udf(round(), vec![inner.clone()]));
        return Some(cast(rounded, to.clone()));
    }
    if text(to) && shown::shown_differently(&from) {
        let shown = shown::as_text().call(vec![inner.clone()]);
        return Some(if *to == DataType::Utf8 { shown } else { cast(shown, to.clone()) });
    }
    None
}

/// What has no sign gets a type with one.
fn negated(inner: &Expr, schema: &DFSchema) -> Option<Expr> {
    let signed = match inner.get_type(schema).ok()? {
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        _ => return None,
    };
    Some(Expr::Negative(Box::new(cast(inner.clone(), signed))))
}

/// How many places to round to, as the type that the function takes: a cast around the constant would hide it, and the type of the
/// result would be another one before the cast is computed than after it.
fn places(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(places)), _) => i32::try_from(*places).ok(),
        Expr::Negative(inner) => places(inner).and_then(i32::checked_neg),
        _ => None,
    }
}

fn function_meant(function: &ScalarFunction, schema: &DFSchema) -> Option<Expr> {
    let arguments = &function.args;
    let with = |arguments: Vec<Expr>| Expr::ScalarFunction(ScalarFunction::new_udf(function.func.clone(), arguments));
    let type_of = |index: usize| arguments.get(index).and_then(|argument: &Expr| argument.get_type(schema).ok());
    match function.func.name() {
        "round" if arguments.len() == 1 && type_of(0).is_some_and(|from| from.is_floating()) => Some(numbers::to_even().call(arguments.clone())),
        "round" if arguments.len() == 2 => places(&arguments[1]).map(|places| with(vec![arguments[0].clone(), lit(places)])),
        "trunc" if matches!(type_of(0), Some(DataType::Decimal128(..))) => {
            let digits = arguments.get(1).cloned().unwrap_or_else(|| lit(0_i64));
            Some(numbers::truncate().call(vec![arguments[0].clone(), digits]))
        }
        "date_trunc" => singular(arguments).map(with),
        name @ ("ceil" | "floor") if matches!(type_of(0), Some(DataType::Decimal128(..))) => Some(numbers::whole(name == "ceil").call(arguments.clone())),
        "replace" | "encode" | "regexp_count" => texts::meant(function),
        "concat" | "concat_ws" => Some(with(arguments.iter().map(|argument| spelled(argument, schema)).collect())),
        // It is its first argument, whatever that is compared with.
        "nullif" if type_of(0) == Some(DataType::Float32) && type_of(1) == Some(DataType::Float64) => Some(cast(with(arguments.clone()), DataType::Float32)),
        "coalesce" | "greatest" | "least" | "nullif" => doubles(arguments, schema).map(with),
        "exp" | "power" => {
            let mut checked = vec![with(arguments.clone())];
            checked.extend(arguments.iter().cloned());
            Some(numbers::finite().call(checked))
        }
        name => {
            numbers::domain(name)?;
            let inside = arguments.iter().filter_map(|argument| Some(numbers::domain(name)?.call(vec![argument.clone()])));
            Some(with(inside.collect()))
        }
    }
}

/// Units are known to the query engine in the singular only.
fn singular(arguments: &[Expr]) -> Option<Vec<Expr>> {
    let [Expr::Literal(ScalarValue::Utf8(Some(unit)), _), at] = arguments else { return None };
    let one = unit.to_ascii_lowercase().strip_suffix('s').map(str::to_owned)?;
    Some(vec![lit(one), at.clone()])
}

/// What `concat` makes of a value: the text of a cast, but one letter of a truth.
fn spelled(argument: &Expr, schema: &DFSchema) -> Expr {
    match argument.get_type(schema) {
        Ok(DataType::Boolean) => shown::as_letter().call(vec![argument.clone()]),
        Ok(data_type) if shown::shown_differently(&data_type) => shown::as_text().call(vec![argument.clone()]),
        _ => argument.clone(),
    }
}

/// The values with the decimals among them as doubles, if there are floating point numbers too.
fn doubles(values: &[Expr], schema: &DFSchema) -> Option<Vec<Expr>> {
    let types: Vec<DataType> = values.iter().filter_map(|value| value.get_type(schema).ok()).collect();
    if !types.iter().any(DataType::is_floating) || !types.iter().any(decimal) {
        return None;
    }
    Some(values.iter().map(|value| as_double(value, schema)).collect())
}

fn as_double(value: &Expr, schema: &DFSchema) -> Expr {
    match value.get_type(schema) {
        Ok(data_type) if decimal(&data_type) => cast(value.clone(), DataType::Float64),
        _ => value.clone(),
    }
}

fn doubles_of_case(case: &Case, schema: &DFSchema) -> Option<Expr> {
    let results: Vec<Expr> = case.when_then_expr.iter().map(|(_, then)| then).chain(&case.else_expr).map(|result| result.as_ref().clone()).collect();
    let mut results = doubles(&results, schema)?.into_iter().map(Box::new);
    let when_then = case.when_then_expr.iter().zip(results.by_ref()).map(|((when, _), then)| (when.clone(), then)).collect();
    Some(Expr::Case(Case { expr: case.expr.clone(), when_then_expr: when_then, else_expr: results.next() }))
}

/// A day that is compared with a day and whole days or months stays a day, so that the source can be asked with its own type.
fn compared_days(left: &Expr, op: Operator, right: &Expr, schema: &DFSchema) -> Option<Expr> {
    let (left, right) = match (is_day(left, schema), is_day(right, schema)) {
        (true, false) => (left.clone(), day_shifted(right, schema)?),
        (false, true) => (day_shifted(left, schema)?, right.clone()),
        _ => return None,
    };
    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
}

fn is_day(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Date32))
}

/// `day ± interval` without a part of a day, as a day; a day as it is.
fn day_shifted(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    if is_day(expr, schema) {
        return Some(expr.clone());
    }
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return None };
    let Expr::Cast(Cast { expr: day, field }) = left.as_ref() else { return None };
    let Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(span)), _) = right.as_ref() else { return None };
    let to_midnight = *field.data_type() == DataType::Timestamp(TimeUnit::Microsecond, None) && is_day(day, schema);
    let whole = span.nanoseconds == 0 && matches!(op, Operator::Plus | Operator::Minus);
    (to_midnight && whole).then(|| Expr::BinaryExpr(BinaryExpr::new(day.clone(), *op, right.clone())))
}

fn decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..))
}

fn text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}
