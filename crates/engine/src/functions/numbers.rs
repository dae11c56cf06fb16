// SPDX-License-Identifier: Apache-2.0
//! Numbers as PostgreSQL means them: quotients with digits enough, halves to even for doubles, no answer outside a function's domain.

use super::scalar::Scalar;
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, AsArray, Decimal128Array, Float64Array, Int32Array};
use arrow::compute::cast;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Float32Type, Float64Type, i256};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

/// Digits behind the point that a quotient has at least.
pub(crate) const QUOTIENT_SCALE: i8 = 16;

pub(super) fn all() -> Vec<Scalar> {
    vec![width_bucket()]
}

fn out_of_range(what: &str) -> DataFusionError {
    carry(Error::new(ErrorCode::ValueOutOfRange, what))
}

/// `a / b` of two decimals.
pub(super) fn divide() -> Scalar {
    Scalar::any(QUOTIENT, 2, |types, _| quotient_type(types), quotient)
}

pub(super) const QUOTIENT: &str = "numeric_divide";

fn quotient_type(types: &[DataType]) -> Result<DataType> {
    match types {
        [DataType::Decimal128(_, a), DataType::Decimal128(_, b)] => Ok(DataType::Decimal128(DECIMAL128_MAX_PRECISION, QUOTIENT_SCALE.max(*a).max(*b))),
        other => internal_err!("no quotient of {other:?}"),
    }
}

fn quotient(arrays: &[ArrayRef], returns: &DataType) -> Result<ArrayRef> {
    let (DataType::Decimal128(_, a), DataType::Decimal128(_, b), DataType::Decimal128(precision, scale)) =
        (arrays[0].data_type(), arrays[1].data_type(), returns)
    else {
        return internal_err!("no quotient of {}", arrays[0].data_type());
    };
    let shift = u32::try_from(i32::from(*scale) + i32::from(*b) - i32::from(*a)).map_err(|_| out_of_range("a quotient needs more digits than there are"))?;
    let pairs = arrays[0].as_primitive::<Decimal128Type>().iter().zip(arrays[1].as_primitive::<Decimal128Type>());
    let made: Result<Decimal128Array> = pairs.map(|(a, b)| a.zip(b).map(|(a, b)| rounded_quotient(a, shift, b)).transpose()).collect();
    checked_decimal(made?, *precision, *scale)
}

fn checked_decimal(made: Decimal128Array, precision: u8, scale: i8) -> Result<ArrayRef> {
    let made = made.with_precision_and_scale(precision, scale)?;
    made.validate_decimal_precision(precision).map_err(|_| out_of_range("a decimal needs more digits than there are"))?;
    Ok(Arc::new(made))
}

/// `a * 10^shift / b`, halves away from zero. Errors: 22012, 22003.
pub(crate) fn rounded_quotient(a: i128, shift: u32, b: i128) -> Result<i128> {
    if b == 0 {
        return Err(carry(Error::new(ErrorCode::DivisionByZero, "division by zero")));
    }
    let wide = 10_i128.checked_pow(shift).and_then(|power| a.checked_mul(power));
    if let Some(a) = wide {
        let (whole, rest) = (a / b, a % b);
        let up = rest.unsigned_abs() >= b.unsigned_abs() - rest.unsigned_abs();
        return Ok(if up && rest != 0 { whole + away(a, b) } else { whole });
    }
    let too_large = || out_of_range("a quotient needs more digits than there are");
    let power = i256::from_i128(10).pow_checked(shift).map_err(|_| too_large())?;
    let a = i256::from_i128(a).checked_mul(power).ok_or_else(too_large)?;
    let b = i256::from_i128(b);
    let (whole, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
    let up = rest.wrapping_abs() >= b.wrapping_abs().wrapping_sub(rest.wrapping_abs()) && rest != i256::ZERO;
    let whole = whole.to_i128().ok_or_else(too_large)?;
    Ok(if up { whole + if (a < i256::ZERO) == (b < i256::ZERO) { 1 } else { -1 } } else { whole })
}

fn away(a: i128, b: i128) -> i128 {
    if (a < 0) == (b < 0) { 1 } else { -1 }
}

/// A floating point number as a whole one, halves to the even neighbour.
pub(super) fn to_even() -> Scalar {
    Scalar::any(
        "round_to_even",
        1,
        |types, _| Ok(types[0].clone()),
        |arrays, returns| {
            Ok(match returns {
                DataType::Float32 => Arc::new(arrays[0].as_primitive::<Float32Type>().unary::<_, Float32Type>(f32::round_ties_even)),
                _ => Arc::new(cast(&arrays[0], &DataType::Float64)?.as_primitive::<Float64Type>().unary::<_, Float64Type>(f64::round_ties_even)),
            })
        },
    )
}

/// `ceil` and `floor` of a decimal: a whole number, which can have one digit more.
pub(super) fn whole(up: bool) -> Scalar {
    match up {
        true => Scalar::any("ceil", 1, whole_type, |arrays, returns| whole_numbers(arrays, returns, true)),
        false => Scalar::any("floor", 1, whole_type, |arrays, returns| whole_numbers(arrays, returns, false)),
    }
}

fn whole_type(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<DataType> {
    let [DataType::Decimal128(precision, scale)] = types else { return internal_err!("no whole number of {types:?}") };
    let digits = i16::from(*precision) - i16::from(*scale) + i16::from(*scale > 0);
    Ok(DataType::Decimal128(u8::try_from(digits).unwrap_or(DECIMAL128_MAX_PRECISION).clamp(1, DECIMAL128_MAX_PRECISION), 0))
}

fn whole_numbers(arrays: &[ArrayRef], returns: &DataType, up: bool) -> Result<ArrayRef> {
    let (DataType::Decimal128(_, scale), DataType::Decimal128(precision, _)) = (arrays[0].data_type(), returns) else {
        return internal_err!("no whole number of {}", arrays[0].data_type());
    };
    let too_large = || out_of_range("a decimal needs more digits than there are");
    let unit = 10_i128.checked_pow(u32::from(scale.unsigned_abs())).ok_or_else(too_large)?;
    let cut = |value: i128| match (*scale > 0, up) {
        (true, true) => Ok(-(-value).div_euclid(unit)),
        (true, false) => Ok(value.div_euclid(unit)),
        _ => value.checked_mul(unit).ok_or_else(too_large),
    };
    let made: Result<Decimal128Array> = arrays[0].as_primitive::<Decimal128Type>().iter().map(|value| value.map(cut).transpose()).collect();
    checked_decimal(made?, *precision, 0)
}

/// `trunc(decimal, digits)`, exact.
pub(super) fn truncate() -> Scalar {
    Scalar::any("numeric_trunc", 2, truncated_type, truncated)
}

fn truncated_type(types: &[DataType], literals: &[Option<&ScalarValue>]) -> Result<DataType> {
    let DataType::Decimal128(precision, scale) = types[0] else { return internal_err!("no digits to cut off {}", types[0]) };
    let wanted = match literals[1] {
        Some(literal) => i8::try_from(digits(literal)?).unwrap_or(scale),
        None => scale,
    };
    Ok(DataType::Decimal128(precision, wanted.clamp(0, scale.max(0))))
}

fn digits(literal: &ScalarValue) -> Result<i64> {
    match literal.cast_to(&DataType::Int64)? {
        ScalarValue::Int64(Some(digits)) => Ok(digits),
        _ => Ok(0),
    }
}

fn truncated(arrays: &[ArrayRef], returns: &DataType) -> Result<ArrayRef> {
    let (DataType::Decimal128(_, from), DataType::Decimal128(precision, to)) = (arrays[0].data_type(), returns) else {
        return internal_err!("no digits to cut off {}", arrays[0].data_type());
    };
    let counts = cast(&arrays[1], &DataType::Int64)?;
    let pairs = arrays[0].as_primitive::<Decimal128Type>().iter().zip(counts.as_primitive::<arrow::datatypes::Int64Type>());
    let cut = |value: i128, digits: i64| {
        // Beyond what a decimal holds nothing is left, or nothing is cut.
        let gone = u32::try_from((i64::from(*from) - digits).clamp(0, 39)).unwrap_or(39);
        let kept = 10_i128.checked_pow(gone).map_or(0, |power| value / power * power);
        let narrower = u32::try_from(from - to).unwrap_or(0);
        10_i128.checked_pow(narrower).map_or(0, |power| kept / power)
    };
    let made: Decimal128Array = pairs.map(|(value, digits)| value.zip(digits).map(|(value, digits)| cut(value, digits))).collect();
    checked_decimal(made, *precision, *to)
}

/// The argument of a function, if that is defined there. One function for each domain, since a plan tells them apart by name.
pub(super) fn domain(function: &str) -> Option<Scalar> {
    let returns = |types: &[DataType], _: &[Option<&ScalarValue>]| Ok(types[0].clone());
    Some(match function {
        "sqrt" => Scalar::any("not_negative", 1, returns, |arrays, _| inside(arrays, |x| x < 0.0, "cannot take square root of a negative number")),
        "ln" | "log" | "log10" | "log2" => {
            Scalar::any("positive", 1, returns, |arrays, _| inside(arrays, |x| x <= 0.0, "cannot take logarithm of zero or of a negative number"))
        }
        "asin" | "acos" => Scalar::any("a_sine", 1, returns, |arrays, _| inside(arrays, |x| x.abs() > 1.0, "input is out of range")),
        _ => return None,
    })
}

fn inside(arrays: &[ArrayRef], outside: fn(f64) -> bool, message: &str) -> Result<ArrayRef> {
    let numbers = cast(&arrays[0], &DataType::Float64)?;
    match numbers.as_primitive::<Float64Type>().iter().flatten().any(outside) {
        true => Err(out_of_range(message)),
        false => Ok(arrays[0].clone()),
    }
}

/// A result that must be finite where its inputs are: the first argument, checked against the others.
pub(super) fn finite() -> Scalar {
    Scalar::variadic(
        "finite",
        |types, _| Ok(types[0].clone()),
        |arrays, _| {
            let numbers = cast(&arrays[0], &DataType::Float64)?;
            let inputs = arrays[1..].iter().map(|input| cast(input, &DataType::Float64)).collect::<std::result::Result<Vec<_>, _>>()?;
            let numbers = numbers.as_primitive::<Float64Type>();
            let finite = |row: usize| inputs.iter().all(|input| input.as_primitive::<Float64Type>().value(row).is_finite());
            let wrong = (0..numbers.len()).any(|row| numbers.is_valid(row) && !numbers.value(row).is_finite() && finite(row));
            if wrong { Err(out_of_range("result of a function is out of range")) } else { Ok(arrays[0].clone()) }
        },
    )
}

/// `width_bucket(x, low, high, count)`: exact for decimals, as doubles where one is a double.
fn width_bucket() -> Scalar {
    Scalar::any(
        "width_bucket",
        4,
        |_, _| Ok(DataType::Int32),
        |arrays, _| {
            let counts = cast(&arrays[3], &DataType::Int64)?;
            let counts = counts.as_primitive::<arrow::datatypes::Int64Type>();
            let rows = 0..arrays[0].len();
            let made: Result<Int32Array> = match arrays[..3].iter().any(|array| array.data_type().is_floating()) {
                true => {
                    let sides = doubles(&arrays[..3])?;
                    rows.map(|row| bucket(row, &sides, counts, |[x, low, high], count| floating_bucket(x, low, high, count))).collect()
                }
                false => {
                    let sides = decimals(&arrays[..3])?;
                    rows.map(|row| bucket(row, &sides, counts, |[x, low, high], count| exact_bucket(x, low, high, count))).collect()
                }
            };
            Ok(Arc::new(made?))
        },
    )
}

fn doubles(arrays: &[ArrayRef]) -> Result<Vec<Vec<Option<f64>>>> {
    arrays.iter().map(|array| Ok(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().iter().collect())).collect()
}

fn decimals(arrays: &[ArrayRef]) -> Result<Vec<Vec<Option<i128>>>> {
    let scale = |data_type: &DataType| if let DataType::Decimal128(_, scale) = data_type { *scale } else { 0 };
    let common = arrays.iter().map(|array| scale(array.data_type())).max().unwrap_or(0);
    let to = DataType::Decimal128(DECIMAL128_MAX_PRECISION, common);
    arrays.iter().map(|array| Ok(cast(array, &to)?.as_primitive::<Decimal128Type>().iter().collect())).collect()
}

fn bucket<T: Copy>(row: usize, sides: &[Vec<Option<T>>], counts: &arrow::array::Int64Array, place: impl Fn([T; 3], i64) -> Option<i64>) -> Result<Option<i32>> {
    let (Some(x), Some(low), Some(high), true) = (sides[0][row], sides[1][row], sides[2][row], counts.is_valid(row)) else { return Ok(None) };
    let count = counts.value(row);
    if count <= 0 {
        return Err(carry(Error::new(ErrorCode::BadSetting, "count must be greater than zero").with_detail("width_bucket")));
    }
    let placed = place([x, low, high], count).and_then(|bucket| i32::try_from(bucket).ok());
    placed.map(Some).ok_or_else(|| carry(Error::new(ErrorCode::BadSetting, "bounds of width_bucket must be finite and differ")))
}

fn floating_bucket(x: f64, low: f64, high: f64, count: i64) -> Option<i64> {
    if low == high || !low.is_finite() || !high.is_finite() || x.is_nan() {
        return None;
    }
    let (from, to, sign) = if low < high { (low, high, 1.0) } else { (high, low, -1.0) };
    let before = if sign > 0.0 { x < from } else { x > to };
    let after = if sign > 0.0 { x >= to } else { x <= from };
    if before || after {
        return Some(if before { 0 } else { count + 1 });
    }
    let share = (x - low) / (high - low);
    Some((share * count as f64) as i64 + 1).map(|bucket| bucket.min(count))
}

fn exact_bucket(x: i128, low: i128, high: i128, count: i64) -> Option<i64> {
    let width = high.checked_sub(low).filter(|width| *width != 0)?;
    let (way, width) = if width > 0 { (x.checked_sub(low)?, width) } else { (low.checked_sub(x)?, -width) };
    if way < 0 {
        return Some(0);
    }
    if way >= width {
        return Some(count + 1);
    }
    i64::try_from(way.checked_mul(i128::from(count))? / width + 1).ok()
}

/// A double for a function that is given something else.
pub(super) fn as_double(array: &ArrayRef) -> Result<Float64Array> {
    Ok(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_round_halves_away_from_zero() {
        assert_eq!(rounded_quotient(10, 16, 3).unwrap(), 33_333_333_333_333_333);
        assert_eq!(rounded_quotient(2, 0, 3).unwrap(), 1);
        assert_eq!(rounded_quotient(-1, 0, 2).unwrap(), -1);
        assert_eq!(rounded_quotient(1, 0, 3).unwrap(), 0);
        assert_eq!(rounded_quotient(10_i128.pow(37), 16, 10_i128.pow(30) * 3).unwrap(), 33_333_333_333_333_333_333_333);
        assert!(rounded_quotient(i128::MAX, 16, 3).is_err());
        assert!(rounded_quotient(1, 16, 0).is_err());
    }

    #[test]
    fn buckets() {
        assert_eq!(floating_bucket(5.35, 0.024, 10.06, 5), Some(3));
        assert_eq!(exact_bucket(535, 2, 1006, 5), Some(3));
        assert_eq!(exact_bucket(35, 0, 10, 5), Some(6));
        assert_eq!(exact_bucket(7, 10, 0, 5), Some(2));
        assert_eq!(exact_bucket(1, 5, 5, 5), None);
    }
}
