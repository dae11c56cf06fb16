// SPDX-License-Identifier: Apache-2.0
//! Parameters: what types a statement wants for them, and their values bound into its plan. Never as text.

use crate::bind::{Bound, Spread, interval_of_text};
use crate::errors::from_datafusion;
use crate::moments;
use arrow::datatypes::{DataType, Field, IntervalMonthDayNano, TimeUnit};
use datafusion::common::ParamValues;
use datafusion::common::ScalarValue;
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::sync::Arc;
use weir_api::Parameter;
use weir_base::limits::PARAMETERS_MAX;
use weir_base::{Error, ErrorCode, Result};

/// The type of each parameter, `$1` first; `None` where the statement does not decide it.
pub(crate) fn types(plan: &LogicalPlan) -> Result<Vec<Option<DataType>>> {
    let by_name = plan.get_parameter_types().map_err(from_datafusion)?;
    let count = by_name.keys().map(|name| number(name)).collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(0);
    Ok((1..=count).map(|index| by_name.get(&format!("${index}")).cloned().flatten()).collect())
}

/// As `types`, for a client that is told before it sends values: a parameter that is cast (`$1::int`) has that type, and `lists` are lists of theirs.
/// There are as many as the statement has parameters, also where the plan has no use for one.
pub(crate) fn told_types(bound: &Bound) -> Result<Vec<Option<DataType>>> {
    let (plan, lists) = (&bound.plan, &bound.lists);
    let mut types = types(plan)?;
    types.resize(bound.parameter_count.max(types.len()), None);
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|inner| {
                if let Expr::Cast(cast) = inner
                    && let Expr::Placeholder(placeholder) = cast.expr.as_ref()
                    && let Some(known) = placeholder.id.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok()?.checked_sub(1))
                    && let Some(open @ None) = types.get_mut(known)
                {
                    *open = Some(cast.field.data_type().clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })
    .map_err(from_datafusion)?;
    let list = |item: DataType| DataType::List(Arc::new(Field::new("item", told(item), true)));
    let numbered = types.into_iter().enumerate();
    Ok(numbered.map(|(place, known)| if lists.contains(&(place + 1)) { Some(list(known.unwrap_or(DataType::Utf8))) } else { known.map(told) }).collect())
}

/// The plan with its parameters bound, each cast to the type that the plan wants; dates and times without an offset are meant in `zone`.
pub(crate) fn fill(plan: LogicalPlan, spread: &Spread, zone: &str) -> Result<LogicalPlan> {
    let params = &spread.params;
    let wanted = types(&plan)?;
    if params.is_empty() {
        return Ok(plan);
    }
    // A row to be written has the table's types; in a question the value keeps its own, and both sides meet in a wider one.
    let assigned = matches!(plan, LogicalPlan::Dml(_));
    let mut values = Vec::with_capacity(params.len());
    for (index, param) in params.iter().enumerate() {
        let target = wanted.get(index).cloned().flatten();
        values.push(ScalarAndMetadata::new(scalar(spread.origin(index + 1), param, target.as_ref(), assigned, zone)?, None));
    }
    plan.replace_params_with_values(&ParamValues::List(values)).map_err(from_datafusion)
}

fn number(name: &str) -> Result<usize> {
    let number = name.strip_prefix('$').and_then(|digits| digits.parse().ok());
    number
        .filter(|number| (1..=PARAMETERS_MAX).contains(number))
        .ok_or_else(|| Error::new(ErrorCode::Syntax, format!("bad parameter {name}")).with_hint("write $1, $2 and so on"))
}

fn scalar(index: usize, param: &Parameter, target: Option<&DataType>, assigned: bool, zone: &str) -> Result<ScalarValue> {
    // Beside a bare NULL any value is as it is.
    let Some(target) = target.filter(|target| **target != DataType::Null) else { return plain(index, param) };
    let plain = digits_for(param, target).map_or_else(|| plain(index, param), Ok)?;
    if plain.is_null() {
        return ScalarValue::try_from(target).map_err(from_datafusion);
    }
    if plain.data_type() == *target {
        return Ok(plain);
    }
    let moment = moments::cast_value(&plain, target, zone);
    if let Some(moment) = moment.map_err(|error| error.with_detail(format!("parameter ${index}")))? {
        return Ok(moment);
    }
    let both_numbers = plain.data_type().is_numeric() && target.is_numeric();
    let cast = plain.cast_to(target).ok().filter(|cast| !cast.is_null() && (!both_numbers || target.is_floating() || unchanged(&plain, cast)));
    match cast {
        Some(cast) => Ok(cast),
        // 1.5 beside an integer stays 1.5.
        None if both_numbers && !assigned => Ok(plain),
        None => Err(misfit(index, target)),
    }
}

/// A text of digits that meets a decimal is that decimal, with every digit it has.
fn digits_for(param: &Parameter, target: &DataType) -> Option<ScalarValue> {
    match (param, target) {
        (Parameter::Text(digits), DataType::Decimal128(..) | DataType::Decimal256(..)) => decimal(digits.trim()),
        _ => None,
    }
}

/// Whether a number is the same one after a cast and back.
fn unchanged(before: &ScalarValue, after: &ScalarValue) -> bool {
    after.cast_to(&before.data_type()).is_ok_and(|back| back == *before)
}

fn misfit(index: usize, target: &DataType) -> Error {
    Error::new(ErrorCode::BadValue, format!("value of parameter ${index} does not fit type {target}"))
}

fn plain(index: usize, param: &Parameter) -> Result<ScalarValue> {
    Ok(match param {
        Parameter::Null => ScalarValue::Utf8(None),
        Parameter::Bool(value) => ScalarValue::Boolean(Some(*value)),
        Parameter::Int(value) => ScalarValue::Int64(Some(*value)),
        Parameter::Float(value) => ScalarValue::Float64(Some(*value)),
        Parameter::Decimal(digits) => decimal(digits).ok_or_else(|| misfit(index, &DataType::Decimal128(38, 0)))?,
        Parameter::Text(value) => ScalarValue::Utf8(Some(value.clone())),
        Parameter::Bytes(value) => ScalarValue::Binary(Some(value.clone())),
        Parameter::Date(days) => ScalarValue::Date32(Some(*days)),
        Parameter::Time(micros) => ScalarValue::Time64Microsecond(Some(*micros)),
        Parameter::Timestamp(micros) => ScalarValue::TimestampMicrosecond(Some(*micros), None),
        Parameter::Array { element, items } => array(index, element, items)?,
        Parameter::TimestampUtc(micros) => ScalarValue::TimestampMicrosecond(Some(*micros), Some("UTC".into())),
        Parameter::Interval { months, days, micros } => interval(index, *months, *days, *micros)?,
        Parameter::IntervalText(text) => {
            let span = interval_of_text(text).map_err(|error| error.with_detail(format!("parameter ${index}")))?;
            let narrow = |count: i64| i32::try_from(count).map_err(|_| far(index));
            interval(index, narrow(span.months)?, narrow(span.days)?, span.micros)?
        }
    })
}

/// The query engine counts nanoseconds, so that the part below a day ends at 292 years. Error: 22008 beyond.
fn interval(index: usize, months: i32, days: i32, micros: i64) -> Result<ScalarValue> {
    let nanos = micros.checked_mul(1_000).ok_or_else(|| far(index))?;
    Ok(ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(months, days, nanos))))
}

fn far(index: usize) -> Error {
    Error::new(ErrorCode::MomentOutOfRange, "interval out of range").with_detail(format!("parameter ${index}"))
}

/// The type of the items of a list parameter that is unnested; a text is read as the list that it spells.
/// Errors: 42804 for a value that is no list or has items of different types, 22P02 for a text that is none.
pub(crate) fn item_type(number: usize, params: &mut [Parameter]) -> Result<DataType> {
    let Some(param) = params.get_mut(number - 1) else { return Ok(DataType::Utf8) };
    if let Parameter::Text(text) = param {
        let items = Parameter::array_items(text).ok_or_else(|| {
            let error = Error::new(ErrorCode::BadValue, "a parameter is not a list").with_detail(format!("parameter ${number}"));
            error.with_hint("write a list as {1,2,3}")
        })?;
        let items = items.into_iter().map(|item| item.map_or(Parameter::Null, Parameter::Text)).collect();
        *param = Parameter::Array { element: DataType::Utf8, items };
    }
    match param {
        Parameter::Null => Ok(DataType::Utf8),
        Parameter::Array { element, items } if *element == DataType::Utf8 => {
            let items = items.iter().map(|item| plain(number, item)).collect::<Result<Vec<_>>>()?;
            common(number, &items)
        }
        Parameter::Array { element, .. } => Ok(element.clone()),
        _ => Err(Error::new(ErrorCode::TypeMismatch, "unnest needs a list").with_detail(format!("parameter ${number} is a single value"))),
    }
}

/// A list whose items all have one type: the one that the client declared, or the one that holds them all.
fn array(index: usize, declared: &DataType, items: &[Parameter]) -> Result<ScalarValue> {
    let items = items.iter().map(|item| plain(index, item)).collect::<Result<Vec<_>>>()?;
    let element = if *declared == DataType::Utf8 { common(index, &items)? } else { declared.clone() };
    let cast = |item: ScalarValue| match item.is_null() {
        true => ScalarValue::try_from(&element).map_err(from_datafusion),
        false => item.cast_to(&element).ok().filter(|cast| !cast.is_null()).ok_or_else(|| misfit(index, &element)),
    };
    let items = items.into_iter().map(cast).collect::<Result<Vec<_>>>()?;
    Ok(ScalarValue::List(ScalarValue::new_list(&items, &element, true)))
}

/// The type that holds every item of a list exactly. Error: 42804 for items that have nothing in common.
fn common(index: usize, items: &[ScalarValue]) -> Result<DataType> {
    let mut types: Vec<DataType> = items.iter().filter(|item| !item.is_null()).map(ScalarValue::data_type).collect();
    types.dedup();
    match types.as_slice() {
        [] => Ok(DataType::Utf8),
        [one] => Ok(one.clone()),
        several if several.iter().any(DataType::is_floating) && several.iter().all(DataType::is_numeric) => Ok(DataType::Float64),
        several if several.iter().all(DataType::is_numeric) => {
            let scale = |data_type: &DataType| if let DataType::Decimal128(_, scale) = data_type { *scale } else { 0 };
            Ok(DataType::Decimal128(38, several.iter().map(scale).max().unwrap_or(0)))
        }
        _ => Err(Error::new(ErrorCode::TypeMismatch, "items of a list have different types").with_detail(format!("parameter ${index}"))),
    }
}

/// `12.50` as an exact decimal of its own scale.
fn decimal(digits: &str) -> Option<ScalarValue> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let scale = i8::try_from(fraction.len()).ok().filter(|scale| *scale <= 38)?;
    let unscaled: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(ScalarValue::Decimal128(Some(unscaled), 38, scale))
}

/// The engine works in microseconds; parameters of a finer or coarser unit are asked for as that.
pub(crate) fn told(data_type: DataType) -> DataType {
    match data_type {
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_digits() {
        assert_eq!(decimal("-12.50"), Some(ScalarValue::Decimal128(Some(-1250), 38, 2)));
        assert_eq!(decimal("1e5"), None);
    }

    #[test]
    fn intervals_keep_their_three_parts() {
        let parts = |param: Parameter| match plain(1, &param) {
            Ok(ScalarValue::IntervalMonthDayNano(Some(interval))) => Ok((interval.months, interval.days, interval.nanoseconds)),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.code()),
        };
        assert_eq!(parts(Parameter::Interval { months: 14, days: -3, micros: 5 }), Ok((14, -3, 5_000)));
        assert_eq!(parts(Parameter::IntervalText("1 years 2 mons -3 days 04:05:06.789".into())), Ok((14, -3, 14_706_789_000_000)));
        assert_eq!(parts(Parameter::IntervalText("P1Y2M3DT4H".into())), Ok((14, 3, 14_400_000_000_000)));
        assert_eq!(parts(Parameter::Interval { months: 0, days: 0, micros: i64::MAX }), Err(ErrorCode::MomentOutOfRange));
        assert_eq!(parts(Parameter::IntervalText("soon".into())), Err(ErrorCode::BadMoment));
    }

    #[test]
    fn a_text_is_cast_to_the_wanted_type_or_refused() {
        let value = scalar(1, &Parameter::Text("2026-11-30".into()), Some(&DataType::Date32), false, "UTC").unwrap();
        assert_eq!(value.data_type(), DataType::Date32);
        let error = scalar(2, &Parameter::Text("soon".into()), Some(&DataType::Date32), false, "UTC").unwrap_err();
        assert_eq!(error.message(), "a text is no date");
    }

    #[test]
    fn a_number_is_never_cut_to_the_type_of_the_other_side() {
        let bound = |param: Parameter, target: DataType| scalar(1, &param, Some(&target), false, "UTC").unwrap();
        assert_eq!(bound(Parameter::Decimal("1.10".into()), DataType::Int64), ScalarValue::Decimal128(Some(110), 38, 2));
        assert_eq!(bound(Parameter::Decimal("2.00".into()), DataType::Int64), ScalarValue::Int64(Some(2)));
        assert_eq!(bound(Parameter::Text("1.225".into()), DataType::Decimal128(10, 2)), ScalarValue::Decimal128(Some(1225), 38, 3));
        assert_eq!(bound(Parameter::Int(1 << 40), DataType::Int32), ScalarValue::Int64(Some(1 << 40)));
        assert_eq!(bound(Parameter::Float(1.5), DataType::Int32), ScalarValue::Float64(Some(1.5)));
        let error = scalar(1, &Parameter::Decimal("1.5".into()), Some(&DataType::Int32), true, "UTC").unwrap_err();
        assert_eq!(error.message(), "value of parameter $1 does not fit type Int32");
    }

    #[test]
    fn a_list_is_of_the_type_that_was_declared_or_that_holds_its_items() {
        let list = |element: DataType, items: &[Parameter]| plain(1, &Parameter::Array { element, items: items.to_vec() });
        let shown = |list: Result<ScalarValue>| list.map(|list| (list.to_string(), list.data_type())).unwrap();
        let of = |item: DataType| DataType::List(Arc::new(Field::new("item", item, true)));
        let ints = list(DataType::Int32, &[Parameter::Int(1), Parameter::Null]);
        assert_eq!(shown(ints), ("[1, ]".into(), of(DataType::Int32)));
        let mixed = list(DataType::Utf8, &[Parameter::Decimal("1.5".into()), Parameter::Int(2)]);
        assert_eq!(shown(mixed), ("[1.5, 2.0]".into(), of(DataType::Decimal128(38, 1))));
        assert_eq!(list(DataType::Int32, &[Parameter::Int(1 << 40)]).unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(list(DataType::Utf8, &[Parameter::Int(1), Parameter::Text("a".into())]).unwrap_err().code(), ErrorCode::TypeMismatch);
    }
}
