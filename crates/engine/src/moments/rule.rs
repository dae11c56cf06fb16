// SPDX-License-Identifier: Apache-2.0
//! The rule that puts our casts and our calendar in the place of the query engine's, once the types of both sides are known.

use super::convert::Convert;
use super::shift::{Shift, refused};
use super::to_char::ToChar;
use crate::walk::{expressions, seen_by};
use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions::math::expr_fn::round;
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, cast, lit};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

#[derive(Debug)]
pub(super) struct ReadMoments;

impl AnalyzerRule for ReadMoments {
    fn name(&self) -> &str {
        "read_moments"
    }

    fn analyze(&self, plan: LogicalPlan, options: &ConfigOptions) -> Result<LogicalPlan> {
        let zone: Arc<str> = options.execution.time_zone.as_deref().unwrap_or("UTC").into();
        plan.transform_up_with_subqueries(|node| rewritten(node, &zone)).data()
    }
}

fn rewritten(plan: LogicalPlan, zone: &Arc<str>) -> Result<Transformed<LogicalPlan>> {
    let schema = seen_by(&plan)?;
    expressions(plan, |node| changed(node, &schema, zone))
}

fn changed(node: Expr, schema: &DFSchema, zone: &Arc<str>) -> Result<Transformed<Expr>> {
    match node {
        Expr::Cast(Cast { expr, field }) => match conversion(&expr, field.data_type(), schema, zone, false)? {
            Some(converted) => Ok(Transformed::yes(converted)),
            None => Ok(Transformed::no(Expr::Cast(Cast { expr, field }))),
        },
        Expr::TryCast(TryCast { expr, field }) => match conversion(&expr, field.data_type(), schema, zone, true)? {
            Some(converted) => Ok(Transformed::yes(converted)),
            None => Ok(Transformed::no(Expr::TryCast(TryCast { expr, field }))),
        },
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) if !utc(zone) => {
            Ok(match (instant(&left, schema), interval(&right, schema), interval(&left, schema), instant(&right, schema)) {
                (true, true, ..) => Transformed::yes(Shift::add(*left, *right, op == Operator::Minus, zone)),
                (_, _, true, true) if op == Operator::Plus => Transformed::yes(Shift::add(*right, *left, false, zone)),
                _ if op == Operator::Minus => difference(*left, *right, schema, zone)?,
                _ => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
            })
        }
        Expr::ScalarFunction(function) => calendar(function, schema, zone),
        other => Ok(Transformed::no(other)),
    }
}

/// `instant - clock` and the reverse: the clock is read in the zone first.
fn difference(left: Expr, right: Expr, schema: &DFSchema, zone: &Arc<str>) -> Result<Transformed<Expr>> {
    let read = |clock: &Expr, beside: &Expr| match (clock.get_type(schema), beside.get_type(schema)) {
        (Ok(DataType::Timestamp(_, None) | DataType::Date32), Ok(to @ DataType::Timestamp(_, Some(_)))) => conversion(clock, &to, schema, zone, false),
        _ => Ok(None),
    };
    let (from_left, from_right) = (read(&left, &right)?, read(&right, &left)?);
    let changed = from_left.is_some() || from_right.is_some();
    let (left, right) = (from_left.unwrap_or(left), from_right.unwrap_or(right));
    Ok(Transformed::new_transformed(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), Operator::Minus, Box::new(right))), changed))
}

/// Seconds since 1970 as an instant. The query engine would read them as a clock in the zone. `None` for what is no number.
fn seconds_since_1970(seconds: &Expr, to: &DataType, schema: &DFSchema) -> Result<Option<Expr>> {
    let in_utc = |unit: TimeUnit| DataType::Timestamp(unit, Some("UTC".into()));
    Ok(match seconds.get_type(schema)? {
        whole if whole.is_integer() => Some(cast(cast(cast(seconds.clone(), DataType::Int64), in_utc(TimeUnit::Second)), to.clone())),
        number if number.is_numeric() => {
            let micros = cast(seconds.clone(), DataType::Float64) * lit(1e6);
            Some(cast(cast(cast(round(vec![micros]), DataType::Int64), in_utc(TimeUnit::Microsecond)), to.clone()))
        }
        _ => None,
    })
}

/// The cast as ours; a literal is cast now, so that what cannot be read is an error before anything runs.
fn conversion(expr: &Expr, to: &DataType, schema: &DFSchema, zone: &Arc<str>, tries: bool) -> Result<Option<Expr>> {
    // What has no type yet (a parameter without a value) is left as it is.
    let Ok(from) = expr.get_type(schema) else { return Ok(None) };
    let convert = match Convert::between(&from, to, zone, tries) {
        Ok(Some(convert)) => convert,
        Ok(None) => return Ok(None),
        Err(error) => return refused(error),
    };
    match expr {
        Expr::Literal(value, _) => Ok(Some(Expr::Literal(convert.value(value)?, None))),
        _ => Ok(Some(convert.call(expr.clone()))),
    }
}

/// `date_trunc` and `date_part` of an instant, by the clock of the zone.
fn calendar(function: ScalarFunction, schema: &DFSchema, zone: &Arc<str>) -> Result<Transformed<Expr>> {
    let ScalarFunction { func, mut args } = function;
    let of_instant = matches!(args.as_slice(), [_, at] if instant(at, schema));
    let of_clock = matches!(args.as_slice(), [_, at] if matches!(at.get_type(schema), Ok(DataType::Timestamp(_, None))));
    match func.name() {
        "date_trunc" if of_instant && !ours(&func) => Ok(Transformed::yes(Shift::truncate(args, zone))),
        "date_trunc" if of_clock && !ours(&func) => Ok(Transformed::yes(Shift::truncate(args, &"UTC".into()))),
        // Seconds since 1970 are the same everywhere.
        "date_part" if of_instant && !utc(zone) && !epoch(&args[0]) => {
            let local = DataType::Timestamp(TimeUnit::Microsecond, None);
            if let Some(shown) = conversion(&args[1], &local, schema, zone, false)? {
                args[1] = shown;
            }
            Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })))
        }
        "to_timestamp" if args.len() == 1 && !utc(zone) => {
            let call = Expr::ScalarFunction(ScalarFunction { func, args });
            let to = call.get_type(schema)?;
            let Expr::ScalarFunction(ScalarFunction { args, .. }) = &call else { return Ok(Transformed::no(call)) };
            let read = match seconds_since_1970(&args[0], &to, schema)? {
                Some(read) => Some(read),
                None => conversion(&args[0], &to, schema, zone, false)?,
            };
            Ok(read.map_or_else(|| Transformed::no(call), Transformed::yes))
        }
        "to_char" if args.get(1).and_then(letters).is_some() => printed(&args, schema, zone).map(Transformed::yes),
        // The pattern is applied to what a clock in the zone shows.
        "to_char" | "date_format" if matches!(args.first(), Some(at) if instant(at, schema)) && !utc(zone) => {
            let local = DataType::Timestamp(TimeUnit::Microsecond, None);
            if let Some(shown) = conversion(&args[0], &local, schema, zone, false)? {
                args[0] = shown;
            }
            Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })))
        }
        _ => Ok(Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args }))),
    }
}

/// A pattern in letters, as PostgreSQL has them; one with `%` is the query engine's own.
fn letters(pattern: &Expr) -> Option<&str> {
    match pattern {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)), _) => {
            Some(text.as_str()).filter(|text| !text.contains('%'))
        }
        _ => None,
    }
}

/// `to_char` of a date or timestamp. Error: 0A000 for anything else.
fn printed(args: &[Expr], schema: &DFSchema, zone: &Arc<str>) -> Result<Expr> {
    let pattern = letters(&args[1]).unwrap_or_default();
    if pattern.is_empty() {
        return Ok(Expr::Literal(ScalarValue::Utf8(None), None));
    }
    let moment = match args[0].get_type(schema)? {
        DataType::Timestamp(..) => args[0].clone(),
        // A date is the instant at which it begins.
        DataType::Date32 => {
            let begin = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
            conversion(&args[0], &begin, schema, zone, false)?.unwrap_or_else(|| cast(args[0].clone(), begin))
        }
        _ => {
            let error = Error::new(ErrorCode::Unsupported, "to_char takes dates and timestamps");
            return refused(error.with_hint("cast the value to text"));
        }
    };
    ToChar::call(moment, pattern, zone).or_else(refused)
}

fn ours(function: &datafusion::logical_expr::ScalarUDF) -> bool {
    let inner = function.inner().as_ref() as &dyn std::any::Any;
    inner.is::<Shift>()
}

fn epoch(unit: &Expr) -> bool {
    match unit {
        Expr::Literal(ScalarValue::Utf8(Some(unit)) | ScalarValue::Utf8View(Some(unit)) | ScalarValue::LargeUtf8(Some(unit)), _) => {
            unit.eq_ignore_ascii_case("epoch")
        }
        _ => false,
    }
}

fn utc(zone: &str) -> bool {
    super::Zone::named(zone).is_ok_and(super::Zone::utc)
}

fn instant(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Timestamp(_, Some(_))))
}

fn interval(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Interval(IntervalUnit::MonthDayNano)))
}
