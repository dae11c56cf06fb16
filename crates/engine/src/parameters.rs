// SPDX-License-Identifier: Apache-2.0
//! Parameters: what types a statement wants for them, and their values bound into its plan. Never as text.

use crate::errors::from_datafusion;
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ParamValues;
use datafusion::common::ScalarValue;
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::logical_expr::LogicalPlan;
use weir_api::Parameter;
use weir_base::limits::PARAMETERS_MAX;
use weir_base::{Error, ErrorCode, Result};

/// The type of each parameter, `$1` first; `None` where the statement does not decide it.
pub(crate) fn types(plan: &LogicalPlan) -> Result<Vec<Option<DataType>>> {
    let by_name = plan.get_parameter_types().map_err(from_datafusion)?;
    let count = by_name.keys().map(|name| number(name)).collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(0);
    Ok((1..=count).map(|index| by_name.get(&format!("${index}")).cloned().flatten()).collect())
}

/// The plan with its parameters bound, each cast to the type that the plan wants.
pub(crate) fn fill(plan: LogicalPlan, params: &[Parameter]) -> Result<LogicalPlan> {
    let wanted = types(&plan)?;
    if wanted.len() > params.len() {
        return Err(Error::new(ErrorCode::Protocol, "a parameter has no value").with_detail(format!(
            "the statement has {}, {} were given",
            wanted.len(),
            params.len()
        )));
    }
    if params.is_empty() {
        return Ok(plan);
    }
    // A row to be written has the table's types; in a question the value keeps its own, and both sides meet in a wider one.
    let assigned = matches!(plan, LogicalPlan::Dml(_));
    let mut values = Vec::with_capacity(params.len());
    for (index, param) in params.iter().enumerate() {
        let target = wanted.get(index).cloned().flatten();
        values.push(ScalarAndMetadata::new(scalar(index + 1, param, target.as_ref(), assigned)?, None));
    }
    plan.replace_params_with_values(&ParamValues::List(values)).map_err(from_datafusion)
}

fn number(name: &str) -> Result<usize> {
    let number = name.strip_prefix('$').and_then(|digits| digits.parse().ok());
    number
        .filter(|number| (1..=PARAMETERS_MAX).contains(number))
        .ok_or_else(|| Error::new(ErrorCode::Syntax, format!("bad parameter {name}")).with_hint("write $1, $2 and so on"))
}

fn scalar(index: usize, param: &Parameter, target: Option<&DataType>, assigned: bool) -> Result<ScalarValue> {
    let Some(target) = target else { return plain(index, param) };
    let plain = digits_for(param, target).map_or_else(|| plain(index, param), Ok)?;
    if plain.is_null() {
        return ScalarValue::try_from(target).map_err(from_datafusion);
    }
    if plain.data_type() == *target {
        return Ok(plain);
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
        Parameter::TimestampUtc(micros) => ScalarValue::TimestampMicrosecond(Some(*micros), Some("UTC".into())),
    })
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
    fn a_text_is_cast_to_the_wanted_type_or_refused() {
        let value = scalar(1, &Parameter::Text("2026-11-30".into()), Some(&DataType::Date32), false).unwrap();
        assert_eq!(value.data_type(), DataType::Date32);
        let error = scalar(2, &Parameter::Text("soon".into()), Some(&DataType::Date32), false).unwrap_err();
        assert_eq!(error.message(), "value of parameter $2 does not fit type Date32");
    }

    #[test]
    fn a_number_is_never_cut_to_the_type_of_the_other_side() {
        let bound = |param: Parameter, target: DataType| scalar(1, &param, Some(&target), false).unwrap();
        assert_eq!(bound(Parameter::Decimal("1.10".into()), DataType::Int64), ScalarValue::Decimal128(Some(110), 38, 2));
        assert_eq!(bound(Parameter::Decimal("2.00".into()), DataType::Int64), ScalarValue::Int64(Some(2)));
        assert_eq!(bound(Parameter::Text("1.225".into()), DataType::Decimal128(10, 2)), ScalarValue::Decimal128(Some(1225), 38, 3));
        assert_eq!(bound(Parameter::Int(1 << 40), DataType::Int32), ScalarValue::Int64(Some(1 << 40)));
        assert_eq!(bound(Parameter::Float(1.5), DataType::Int32), ScalarValue::Float64(Some(1.5)));
        let error = scalar(1, &Parameter::Decimal("1.5".into()), Some(&DataType::Int32), true).unwrap_err();
        assert_eq!(error.message(), "value of parameter $1 does not fit type Int32");
    }
}
