// SPDX-License-Identifier: Apache-2.0
//! What a plan compares, once types are known: intervals by their length (a month of 30 days of 24 hours), where the query engine
//! compares months, days and time apart. What cannot be said so is refused, as are rows beside rows and texts no double holds.

use super::interval;
use crate::errors::carry;
use crate::functions::interval_length;
use crate::walk::{compares, expressions, orders, seen_by};
use arrow::datatypes::{DataType, IntervalMonthDayNano};
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, InList, InSubquery, ScalarFunction, Sort, WindowFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Distinct, Expr, ExprSchemable, LogicalPlan, Operator};
use weir_base::{Error, ErrorCode};

/// The plan with comparisons that mean what PostgreSQL means. Errors: 0A000 for those that have no counterpart, 22003 for the text of a
/// number that is out of range.
pub(super) fn exact(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(rewritten).data()
}

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = seen_by(&plan)?;
    check_node(&plan, &schema)?;
    let changed = expressions(plan, |node| compared(node, &schema))?;
    // Rows are put in the order of their intervals' lengths.
    changed.map_data(|plan| Ok(orders(plan, |order| by_length(order, &schema))))
}

fn by_length(order: Vec<Sort>, schema: &DFSchema) -> Vec<Sort> {
    let measured = |sort: Sort| if is_interval(&sort.expr, schema) { Sort { expr: interval_length(sort.expr), ..sort } } else { sort };
    order.into_iter().map(measured).collect()
}

/// Errors: 0A000 for rows that are the same or not by their intervals.
fn check_node(plan: &LogicalPlan, schema: &DFSchema) -> Result<()> {
    let of_output = |plan: &LogicalPlan| plan.schema().fields().iter().any(|field| holds_interval(field.data_type()));
    let any = |exprs: &[Expr]| exprs.iter().any(|expr| is_interval(expr, schema));
    match plan {
        LogicalPlan::Distinct(Distinct::All(input)) if of_output(input) => refuse("made distinct"),
        LogicalPlan::Distinct(Distinct::On(on)) if any(&on.on_expr) => refuse("made distinct"),
        LogicalPlan::RecursiveQuery(query) if query.is_distinct && of_output(plan) => refuse("made distinct"),
        LogicalPlan::Join(join) if join.on.iter().any(|(left, right)| is_interval(left, schema) || is_interval(right, schema)) => refuse("joined on"),
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.iter().any(|expr| groups_interval(expr, schema)) => refuse("grouped by"),
        _ => Ok(()),
    }
}

fn groups_interval(expr: &Expr, schema: &DFSchema) -> bool {
    match expr {
        Expr::GroupingSet(set) => set.distinct_expr().into_iter().any(|expr| is_interval(expr, schema)),
        other => is_interval(other, schema),
    }
}

fn refuse<T>(how: &str) -> Result<T> {
    let error = Error::new(ErrorCode::Unsupported, format!("intervals cannot be {how} here"));
    Err(carry(error.with_detail("1 day and 24 hours are equal, and are kept apart").with_hint("use EXTRACT(epoch FROM …), which is a number of seconds")))
}

fn compared(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match node {
        Expr::BinaryExpr(binary) => two(binary, schema),
        Expr::Between(Between { expr, negated, low, high }) => {
            check_rows([expr.as_ref(), &low, &high], schema)?;
            if ![&expr, &low, &high].into_iter().any(|side| is_interval(side, schema)) {
                return Ok(Transformed::no(Expr::Between(Between { expr, negated, low, high })));
            }
            let [expr, low, high] = [*expr, *low, *high].map(|side| measured(side, schema).map(Box::new));
            Ok(Transformed::yes(Expr::Between(Between::new(expr?, negated, low?, high?))))
        }
        Expr::InList(InList { expr, list, negated }) => {
            check_rows(std::iter::once(expr.as_ref()).chain(&list), schema)?;
            if !std::iter::once(expr.as_ref()).chain(&list).any(|side| is_interval(side, schema)) {
                return Ok(Transformed::no(Expr::InList(InList { expr, list, negated })));
            }
            let list = list.into_iter().map(|item| measured(item, schema)).collect::<Result<_>>()?;
            Ok(Transformed::yes(Expr::InList(InList::new(Box::new(measured(*expr, schema)?), list, negated))))
        }
        Expr::Cast(cast) => match (text_of(&cast.expr), cast.field.data_type()) {
            (Some(text), DataType::Interval(_)) => Ok(Transformed::yes(literal(text)?)),
            (Some(text), to) => check_range(text, to).map(|()| Transformed::no(Expr::Cast(cast))),
            (None, _) => Ok(Transformed::no(Expr::Cast(cast))),
        },
        other => check_expr(&other, schema).map(|()| Transformed::no(other)),
    }
}

/// Error: 0A000 for an expression that is left as it is.
fn check_expr(node: &Expr, schema: &DFSchema) -> Result<()> {
    let any = |exprs: &[Expr]| exprs.iter().any(|expr| is_interval(expr, schema));
    let by = |order: &[Sort]| order.iter().any(|sort| is_interval(&sort.expr, schema));
    match node {
        Expr::Case(Case { expr: Some(operand), when_then_expr, .. }) => {
            let sides = || std::iter::once(operand.as_ref()).chain(when_then_expr.iter().map(|(when, _)| when.as_ref()));
            check_rows(sides(), schema)?;
            if sides().any(|side| is_interval(side, schema)) { refuse("the operand of CASE") } else { Ok(()) }
        }
        Expr::InSubquery(InSubquery { expr, subquery, .. }) => {
            let selected = subquery.subquery.schema().fields().iter().any(|field| holds_interval(field.data_type()));
            if selected || is_interval(expr, schema) { refuse("looked for with IN (SELECT …)") } else { Ok(()) }
        }
        Expr::ScalarFunction(ScalarFunction { func, args }) if compares_arguments(func.name()) => {
            check_rows(args, schema)?;
            if any(args) { refuse(&format!("arguments of {}", func.name())) } else { Ok(()) }
        }
        Expr::AggregateFunction(AggregateFunction { func, params }) => {
            let chooses = params.distinct || matches!(func.name(), "min" | "max" | "median" | "mode");
            if chooses && any(&params.args) || by(&params.order_by) { refuse(&format!("compared by {}", func.name())) } else { Ok(()) }
        }
        Expr::WindowFunction(window) => check_window(window, schema),
        _ => Ok(()),
    }
}

fn check_window(window: &WindowFunction, schema: &DFSchema) -> Result<()> {
    let params = &window.params;
    let chooses = params.distinct || matches!(window.fun.name(), "min" | "max");
    let compared = params.partition_by.iter().chain(params.order_by.iter().map(|sort| &sort.expr)).chain(params.args.iter().filter(|_| chooses));
    let refused = compared.into_iter().any(|expr| is_interval(expr, schema));
    if refused { refuse("compared in a window") } else { Ok(()) }
}

/// Functions that say whether their arguments are equal, or which one is greater.
fn compares_arguments(function: &str) -> bool {
    const OF_LISTS: [&str; 11] = ["has", "position", "remove", "replace", "sort", "distinct", "union", "intersect", "except", "max", "min"];
    let of_list = function.strip_prefix("array_").is_some_and(|work| OF_LISTS.iter().any(|compares| work.starts_with(compares)));
    of_list || matches!(function, "nullif" | "greatest" | "least")
}

/// Two sides: intervals are compared by their lengths.
fn two(BinaryExpr { left, op, right }: BinaryExpr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if !compares(op) {
        if matches!(op, Operator::Plus | Operator::Minus) {
            check_clock(&left, &right, schema)?;
        }
        return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
    }
    check_rows([left.as_ref(), &right], schema)?;
    if !is_interval(&left, schema) && !is_interval(&right, schema) {
        return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
    }
    let (left, right) = (measured(*left, schema)?, measured(*right, schema)?);
    Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))))
}

/// A clock time beside an interval is planned as a function that goes round at midnight, where its type was known early enough.
/// Error: 0A000 where it was not.
fn check_clock(left: &Expr, right: &Expr, schema: &DFSchema) -> Result<()> {
    let clock = |side: &Expr| matches!(side.get_type(schema), Ok(DataType::Time64(_) | DataType::Time32(_)));
    if !(clock(left) && is_interval(right, schema) || is_interval(left, schema) && clock(right)) {
        return Ok(());
    }
    let error = Error::new(ErrorCode::Unsupported, "a time is moved by an interval of no known type");
    Err(carry(error.with_hint("cast both sides: $1::time + $2::interval")))
}

/// One side of a comparison of intervals as its length. Errors: 22007 for a text that is none, 0A000 for what has no known type.
fn measured(side: Expr, schema: &DFSchema) -> Result<Expr> {
    if matches!(&side, Expr::Literal(value, _) if value.is_null()) {
        return Ok(Expr::Literal(ScalarValue::Decimal128(None, 38, 0), None));
    }
    if let Some(text) = text_of(&side) {
        return Ok(interval_length(literal(text)?));
    }
    match side.get_type(schema) {
        Ok(DataType::Interval(_) | DataType::Duration(_)) => Ok(interval_length(side)),
        _ => {
            let error = Error::new(ErrorCode::Unsupported, "an interval is compared with something of another type");
            Err(carry(error.with_hint("cast it to interval")))
        }
    }
}

fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)), _) => Some(text),
        _ => None,
    }
}

fn literal(text: &str) -> Result<Expr> {
    let span = interval::read(text, None, None).map_err(carry)?;
    let parts = (i32::try_from(span.months), i32::try_from(span.days), span.micros.checked_mul(1000));
    let (Ok(months), Ok(days), Some(nanos)) = parts else {
        return Err(carry(Error::new(ErrorCode::MomentOutOfRange, "interval is out of range")));
    };
    Ok(Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(months, days, nanos))), None))
}

/// What has no type yet (a parameter without a value) is no interval.
fn is_interval(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|data_type| holds_interval(&data_type))
}

fn holds_interval(data_type: &DataType) -> bool {
    match data_type {
        DataType::Interval(_) => true,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => holds_interval(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_interval(field.data_type())),
        _ => false,
    }
}

/// Error: 0A000 for a row, which the query engine would compare as a value in which NULLs are equal.
fn check_rows<'a>(sides: impl IntoIterator<Item = &'a Expr>, schema: &DFSchema) -> Result<()> {
    let row = |side: &Expr| matches!(side.get_type(schema), Ok(DataType::Struct(_)));
    if !sides.into_iter().any(row) {
        return Ok(());
    }
    let error = Error::new(ErrorCode::Unsupported, "rows as values are not compared here");
    Err(carry(error.with_hint("compare their fields, or write them as rows: (a, b) = (c, d)")))
}

/// Error: 22003 for a text whose number is too large, or too close to zero, for a floating point number.
fn check_range(text: &str, to: &DataType) -> Result<()> {
    let said = text.trim();
    let (number, name) = match to {
        DataType::Float64 => (said.parse::<f64>(), "double precision"),
        DataType::Float32 => (said.parse::<f32>().map(f64::from), "real"),
        _ => return Ok(()),
    };
    let Ok(number) = number else { return Ok(()) };
    let mantissa = said.split(['e', 'E']).next().unwrap_or(said);
    let too_large = number.is_infinite() && said.contains(|c: char| c.is_ascii_digit());
    let too_small = number == 0.0 && mantissa.contains(|c: char| ('1'..='9').contains(&c));
    if !too_large && !too_small {
        return Ok(());
    }
    let error = Error::new(ErrorCode::ValueOutOfRange, format!("a text is out of range for type {name}"));
    Err(carry(error.with_hint("cast it to numeric, or leave it as text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(months: i32, days: i32, nanos: i64) -> Expr {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(months, days, nanos))), None)
    }

    #[test]
    fn texts_of_numbers_have_a_range() {
        for fine in ["1e308", "-1.5", "Infinity", "-inf", "NaN", "0", "0e999", "5e-324", "abc"] {
            assert!(check_range(fine, &DataType::Float64).is_ok(), "{fine}");
        }
        for wrong in ["1e400", " -1e309 ", "1e-400"] {
            assert!(check_range(wrong, &DataType::Float64).is_err(), "{wrong}");
        }
        assert!(check_range("1e39", &DataType::Float32).is_err());
        assert!(check_range("1e400", &DataType::Utf8).is_ok());
    }

    #[test]
    fn intervals_are_compared_by_their_lengths() {
        let schema = DFSchema::empty();
        let list = Expr::InList(InList::new(Box::new(interval(0, 1, 0)), vec![interval(0, 0, 1), Expr::Literal(ScalarValue::Null, None)], false));
        let shown = compared(list, &schema).unwrap().data.to_string();
        assert_eq!(shown.matches("interval_length").count(), 2, "{shown}");
        let texts = Expr::BinaryExpr(BinaryExpr::new(Box::new(interval(0, 1, 0)), Operator::Eq, Box::new(datafusion::logical_expr::lit("24 hours"))));
        assert_eq!(compared(texts, &schema).unwrap().data.to_string().matches("interval_length").count(), 2);
        let number = Expr::BinaryExpr(BinaryExpr::new(Box::new(interval(0, 1, 0)), Operator::Eq, Box::new(datafusion::logical_expr::lit(1))));
        assert!(compared(number, &schema).is_err());
    }
}
