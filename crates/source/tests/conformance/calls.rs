// SPDX-License-Identifier: Apache-2.0
//! Functions over the columns of a table, each with what it means here, written a second time from the definition alone.

use super::values::Value;
use arrow::datatypes::{DataType, TimeUnit};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Timelike};
use weir_source::{Aggregate, Column, Function};

/// What comes out for one row: a value, NULL, or an error.
pub type Outcome = Result<Option<Value>, ()>;

/// One more argument of a function.
#[derive(Debug, Clone)]
pub enum Beside {
    /// The same column of another row.
    Column,
    Literal(Value, DataType),
}

/// A function of a column.
pub struct Call {
    pub function: Function<'static>,
    pub beside: Vec<Beside>,
    pub result: DataType,
    /// As people write it: `x + y`.
    pub words: String,
}

/// Every function. A new one must be given calls before this compiles again.
pub fn all_functions() -> Vec<Function<'static>> {
    let mut all = vec![
        Function::Add,
        Function::Subtract,
        Function::Multiply,
        Function::Divide,
        Function::Modulo,
        Function::Negate,
        Function::Absolute,
        Function::Widen,
        Function::CharLength,
        Function::Substring,
        Function::Concat,
        Function::Floor,
        Function::Ceil,
        Function::Round,
        Function::Cut,
        Function::TrimStart,
        Function::TrimEnd,
        Function::TrimBoth,
        Function::Position,
        Function::Member,
        Function::MemberText,
    ];
    all.extend(["year", "quarter", "month", "day", "dow", "doy", "hour", "minute"].map(Function::Extract));
    all.extend(["year", "quarter", "month", "week", "day", "hour", "minute", "second"].map(Function::Truncate));
    for function in &all {
        match function {
            Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Modulo => {}
            Function::Negate | Function::Absolute | Function::Widen => {}
            Function::CharLength | Function::Substring | Function::Concat => {}
            Function::Floor | Function::Ceil | Function::Round | Function::Cut => {}
            Function::TrimStart | Function::TrimEnd | Function::TrimBoth | Function::Position => {}
            Function::Member | Function::MemberText => {}
            Function::Extract(_) | Function::Truncate(_) => {}
        }
    }
    all
}

/// The calls of a function that make sense for a column.
pub fn calls(function: Function<'static>, column: &Column) -> Vec<Call> {
    let data_type = &column.data_type;
    let one = |words: &str, result: DataType| vec![Call { function, beside: Vec::new(), result, words: words.to_owned() }];
    match function {
        Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Modulo => operators(function, data_type),
        Function::Negate if data_type.is_numeric() && !data_type.is_unsigned_integer() => one("-x", data_type.clone()),
        Function::Absolute if data_type.is_numeric() && !data_type.is_unsigned_integer() => one("abs(x)", data_type.clone()),
        Function::Widen => targets(data_type).into_iter().flat_map(|to| one(&format!("cast(x AS {})", shown(&to)), to)).collect(),
        Function::CharLength if *data_type == DataType::Utf8 => one("length(x)", DataType::Int32),
        Function::Substring if *data_type == DataType::Utf8 => substrings(function),
        Function::Concat if *data_type == DataType::Utf8 => concats(function),
        Function::Floor | Function::Ceil | Function::Round | Function::Cut => places(function, data_type),
        Function::TrimStart if *data_type == DataType::Utf8 => one("ltrim(x)", DataType::Utf8),
        Function::TrimEnd if *data_type == DataType::Utf8 => one("rtrim(x)", DataType::Utf8),
        Function::TrimBoth if *data_type == DataType::Utf8 => one("trim(x)", DataType::Utf8),
        Function::Position if *data_type == DataType::Utf8 => {
            let call = |searched: &str| Call { function, beside: vec![text(searched)], result: DataType::Int32, words: "strpos(x, a constant)".to_owned() };
            ["a", "A", " ", "'", "é", "a%"].map(call).into()
        }
        Function::Member | Function::MemberText if ["json", "jsonb"].contains(&column.native_type.as_str()) => members(function),
        Function::Extract(field) if dated(data_type) && (*data_type != DataType::Date32 || !["hour", "minute"].contains(&field)) => {
            one(&format!("extract({field} FROM x)"), DataType::Decimal128(20, 0))
        }
        Function::Truncate(unit) if matches!(data_type, DataType::Timestamp(..)) => one(&format!("date_trunc('{unit}', x)"), data_type.clone()),
        _ => Vec::new(),
    }
}

/// By key and by place, from both ends.
fn members(function: Function<'static>) -> Vec<Call> {
    let arrow = if function == Function::Member { "->" } else { "->>" };
    let call = |step: Beside| Call { function, beside: vec![step], result: DataType::Utf8, words: format!("x {arrow} a constant") };
    [text("a"), text(""), text("it's"), integer(0, &DataType::Int64), integer(-1, &DataType::Int64), integer(9, &DataType::Int64)].map(call).into()
}

/// The member of a document as the server prints it; documents here hold no containers in containers.
fn member(call: &Call, document: &str, step: &Value) -> Option<Value> {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let found = match step {
        Value::Text(key) => document.get(key.as_str()),
        Value::Int(place) => match document.as_array() {
            Some(list) => usize::try_from(if *place < 0 { place + list.len() as i128 } else { *place }).ok().and_then(|place| list.get(place)),
            // What is neither a list nor an object is a list of one there.
            None => Some(&document).filter(|document| !document.is_object() && [0, -1].contains(place)),
        },
        other => panic!("{other:?} is no step"),
    }?;
    match (call.function, found) {
        (Function::MemberText, serde_json::Value::Null) => None,
        (Function::MemberText, serde_json::Value::String(text)) => Some(Value::Text(text.clone())),
        (_, found) => Some(Value::Text(found.to_string())),
    }
}

fn dated(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date32 | DataType::Timestamp(..))
}

fn integer(value: i128, data_type: &DataType) -> Beside {
    Beside::Literal(Value::Int(value), data_type.clone())
}

fn text(text: &str) -> Beside {
    Beside::Literal(Value::Text(text.to_owned()), DataType::Utf8)
}

fn operators(function: Function<'static>, data_type: &DataType) -> Vec<Call> {
    let sign = match function {
        Function::Add => "+",
        Function::Subtract => "-",
        Function::Multiply => "*",
        Function::Divide => "/",
        _ => "%",
    };
    let Some(result) = result_of(function, data_type) else { return Vec::new() };
    let call = |beside: Beside, word: String| Call { function, beside: vec![beside], result: result.clone(), words: format!("x {sign} {word}") };
    let mut calls = vec![call(Beside::Column, "y".to_owned())];
    let literals: Vec<Value> = match data_type {
        whole if whole.is_unsigned_integer() => vec![Value::Int(3)],
        whole if whole.is_integer() => vec![Value::Int(3), Value::Int(-3)],
        DataType::Float64 => vec![Value::Float(2.5)],
        DataType::Decimal128(_, scale) => vec![Value::Decimal(-25, *scale)],
        _ => Vec::new(),
    };
    for literal in literals {
        let word = match &literal {
            Value::Int(value) => value.to_string(),
            _ => "a constant".to_owned(),
        };
        calls.push(call(Beside::Literal(literal, data_type.clone()), word));
    }
    calls
}

/// The type of the result of an operator over two values of this type.
fn result_of(function: Function<'_>, data_type: &DataType) -> Option<DataType> {
    match (function, data_type) {
        (_, whole) if whole.is_integer() => Some(whole.clone()),
        (Function::Modulo, _) => None,
        (_, DataType::Float32 | DataType::Float64) => Some(data_type.clone()),
        (Function::Add | Function::Subtract, DataType::Decimal128(precision, scale)) => Some(DataType::Decimal128((precision + 1).min(38), *scale)),
        (Function::Multiply, DataType::Decimal128(precision, scale)) if scale * 2 <= 38 => Some(DataType::Decimal128((precision * 2 + 1).min(38), scale * 2)),
        (Function::Divide, DataType::Decimal128(_, scale)) => Some(DataType::Decimal128(38, (*scale).max(16))),
        _ => None,
    }
}

fn places(function: Function<'static>, data_type: &DataType) -> Vec<Call> {
    let DataType::Decimal128(precision, scale) = data_type else { return Vec::new() };
    let word = match function {
        Function::Floor => "floor(x)",
        Function::Ceil => "ceil(x)",
        Function::Round => "round(x, n)",
        _ => "trunc(x, n)",
    };
    let call = |beside: Vec<Beside>, scale: i8| Call { function, beside, result: DataType::Decimal128((precision + 1).min(38), scale), words: word.to_owned() };
    match function {
        Function::Floor | Function::Ceil => vec![call(Vec::new(), *scale)],
        _ => vec![call(vec![integer(0, &DataType::Int64)], 0), call(vec![integer(1, &DataType::Int64)], 1)],
    }
}

fn substrings(function: Function<'static>) -> Vec<Call> {
    let bounds = [(1, None), (2, None), (1, Some(0)), (2, Some(1)), (1, Some(1000)), (7, Some(3)), (-1, Some(3))];
    let call = |(from, length): (i128, Option<i128>)| {
        let mut beside = vec![integer(from, &DataType::Int64)];
        beside.extend(length.map(|length| integer(length, &DataType::Int64)));
        let words = if from < 1 { "substring(x FROM a position below 1)" } else { "substring(x FROM n FOR m)" };
        Call { function, beside, result: DataType::Utf8, words: words.to_owned() }
    };
    bounds.map(call).into()
}

fn concats(function: Function<'static>) -> Vec<Call> {
    let call = |beside: Beside| Call { function, beside: vec![beside], result: DataType::Utf8, words: "x || y".to_owned() };
    vec![call(Beside::Column), call(text("it's \\ é")), call(text(" "))]
}

/// Types that a value may be widened to.
fn targets(from: &DataType) -> Vec<DataType> {
    let naive = DataType::Timestamp(TimeUnit::Microsecond, None);
    match from {
        DataType::Int8 | DataType::Int16 | DataType::Int32 => vec![DataType::Int64, DataType::Decimal128(20, 0), DataType::Float64],
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => vec![DataType::Int64, DataType::Decimal128(20, 0), DataType::Float64],
        DataType::Int64 | DataType::UInt64 => vec![DataType::Decimal128(20, 0), DataType::Decimal128(22, 2), DataType::Float64],
        DataType::Float32 => vec![DataType::Float64],
        DataType::Decimal128(precision, scale) if i16::from(*precision) - i16::from(*scale) > 18 || *scale > 20 => vec![DataType::Decimal128(38, *scale)],
        DataType::Decimal128(_, scale) => vec![DataType::Decimal128(38, *scale), DataType::Decimal128(38, 20)],
        DataType::Date32 => vec![naive],
        _ => Vec::new(),
    }
}

pub fn shown(data_type: &DataType) -> String {
    match data_type {
        DataType::Int32 => "int".to_owned(),
        DataType::Int64 => "bigint".to_owned(),
        DataType::Float64 => "double precision".to_owned(),
        DataType::Decimal128(precision, scale) => format!("decimal({precision},{scale})"),
        DataType::Timestamp(_, None) => "timestamp".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// What a call means for one value, and one beside it where it has such. NULL in, NULL out.
pub fn meaning(call: &Call, value: &Option<Value>, other: &Option<Value>) -> Outcome {
    let Some(value) = value else { return Ok(None) };
    if let (Function::Member | Function::MemberText, Value::Text(document), [Beside::Literal(step, _)]) = (call.function, value, call.beside.as_slice()) {
        return Ok(member(call, document, step));
    }
    let mut beside = Vec::with_capacity(call.beside.len());
    for argument in &call.beside {
        match (argument, other) {
            (Beside::Literal(literal, _), _) => beside.push(literal.clone()),
            (Beside::Column, Some(other)) => beside.push(other.clone()),
            (Beside::Column, None) => return Ok(None),
        }
    }
    computed(call, value, &beside).map(Some)
}

fn computed(call: &Call, value: &Value, beside: &[Value]) -> Result<Value, ()> {
    match (call.function, value, beside) {
        (Function::Widen, value, _) => Ok(widened(value, &call.result)),
        (function, Value::Int(a), [Value::Int(b)]) => whole(function, *a, *b, &call.result),
        (function, Value::Float(a), [Value::Float(b)]) => floating(function, *a, *b, &call.result),
        (function, Value::Decimal(a, scale), [Value::Decimal(b, _)]) => exact(function, *a, *b, *scale, &call.result),
        (Function::Floor | Function::Ceil | Function::Round | Function::Cut, Value::Decimal(a, scale), rest) => Ok(rounded(call, *a, *scale, rest)),
        (Function::TrimStart, Value::Text(text), _) => Ok(Value::Text(text.trim_start_matches(' ').to_owned())),
        (Function::TrimEnd, Value::Text(text), _) => Ok(Value::Text(text.trim_end_matches(' ').to_owned())),
        (Function::TrimBoth, Value::Text(text), _) => Ok(Value::Text(text.trim_matches(' ').to_owned())),
        (Function::Position, Value::Text(text), [Value::Text(searched)]) => {
            Ok(Value::Int(text.find(searched.as_str()).map_or(0, |at| text[..at].chars().count() as i128 + 1)))
        }
        (Function::Negate, Value::Int(a), _) => within(-a, &call.result),
        (Function::Absolute, Value::Int(a), _) => within(a.abs(), &call.result),
        (Function::Negate, Value::Float(a), _) => Ok(Value::Float(-a + 0.0)),
        (Function::Absolute, Value::Float(a), _) => Ok(Value::Float(a.abs())),
        (Function::Negate, Value::Decimal(a, scale), _) => Ok(Value::Decimal(-a, *scale)),
        (Function::Absolute, Value::Decimal(a, scale), _) => Ok(Value::Decimal(a.abs(), *scale)),
        (Function::CharLength, Value::Text(text), _) => Ok(Value::Int(text.chars().count() as i128)),
        (Function::Substring, Value::Text(text), [Value::Int(from), rest @ ..]) => Ok(Value::Text(part(text, *from, rest))),
        (Function::Concat, Value::Text(a), [Value::Text(b)]) => Ok(Value::Text(format!("{a}{b}"))),
        (Function::Extract(field), moment, _) => Ok(Value::Decimal(extracted(field, at(moment)), 0)),
        (Function::Truncate(unit), moment, _) => Ok(Value::Timestamp(truncated(unit, at(moment)).and_utc().timestamp_micros())),
        _ => panic!("{} of {value:?} and {beside:?} has no meaning here", call.words),
    }
}

/// How many values a whole number type has, as its least and its greatest.
fn range(data_type: &DataType) -> (i128, i128) {
    let bits = 8 * data_type.primitive_width().unwrap() as u32;
    if data_type.is_unsigned_integer() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

fn within(value: i128, data_type: &DataType) -> Result<Value, ()> {
    let (least, most) = range(data_type);
    if (least..=most).contains(&value) { Ok(Value::Int(value)) } else { Err(()) }
}

fn whole(function: Function<'_>, a: i128, b: i128, result: &DataType) -> Result<Value, ()> {
    let value = match function {
        Function::Add => a + b,
        Function::Subtract => a - b,
        Function::Multiply => a.checked_mul(b).ok_or(())?,
        Function::Divide => a.checked_div(b).ok_or(())?,
        _ => a.checked_rem(b).ok_or(())?,
    };
    within(value, result)
}

fn floating(function: Function<'_>, a: f64, b: f64, result: &DataType) -> Result<Value, ()> {
    let single = *result == DataType::Float32;
    let value = match function {
        Function::Divide if b == 0.0 => return Err(()),
        Function::Add if single => f64::from(a as f32 + b as f32),
        Function::Subtract if single => f64::from(a as f32 - b as f32),
        Function::Multiply if single => f64::from(a as f32 * b as f32),
        Function::Divide if single => f64::from(a as f32 / b as f32),
        Function::Add => a + b,
        Function::Subtract => a - b,
        Function::Multiply => a * b,
        _ => a / b,
    };
    if a.is_finite() && b.is_finite() && !value.is_finite() { Err(()) } else { Ok(Value::Float(value + 0.0)) }
}

fn exact(function: Function<'_>, a: i128, b: i128, scale: i8, result: &DataType) -> Result<Value, ()> {
    let DataType::Decimal128(precision, result_scale) = result else { panic!("{result} is no decimal") };
    let value = match function {
        Function::Add => a.checked_add(b),
        Function::Subtract => a.checked_sub(b),
        Function::Multiply => a.checked_mul(b),
        _ => panic!("a quotient of decimals is never pushed"),
    };
    assert!(function == Function::Multiply || *result_scale == scale);
    let most = 10_i128.pow(u32::from(*precision));
    value.filter(|value| value.abs() < most).map(|value| Value::Decimal(value, *result_scale)).ok_or(())
}

fn rounded(call: &Call, value: i128, scale: i8, rest: &[Value]) -> Value {
    let places = if let [Value::Int(places)] = rest { *places as u32 } else { 0 };
    let DataType::Decimal128(_, wanted) = call.result else { panic!("{} is no decimal", call.result) };
    let unit = 10_i128.pow((scale as u32).saturating_sub(places));
    let whole = match call.function {
        Function::Floor => value.div_euclid(unit),
        Function::Ceil => -(-value).div_euclid(unit),
        Function::Round if 2 * (value % unit).abs() >= unit && unit > 1 => value / unit + value.signum(),
        _ => value / unit,
    };
    Value::Decimal(whole * 10_i128.pow(wanted as u32 - places.min(scale as u32)), wanted)
}

fn widened(value: &Value, to: &DataType) -> Value {
    match (value, to) {
        (Value::Int(value), DataType::Decimal128(_, scale)) => Value::Decimal(value * 10_i128.pow(*scale as u32), *scale),
        (Value::Int(value), DataType::Float64) => Value::Float(*value as f64),
        (Value::Decimal(value, from), DataType::Decimal128(_, scale)) => Value::Decimal(value * 10_i128.pow((scale - from) as u32), *scale),
        (Value::Date(day), DataType::Timestamp(..)) => Value::Timestamp(i64::from(*day) * 86_400_000_000),
        (value, _) => value.clone(),
    }
}

fn part(text: &str, from: i128, rest: &[Value]) -> String {
    let end = match rest {
        [Value::Int(length)] => from + length,
        _ => i128::MAX,
    };
    text.chars().zip(1_i128..).filter(|(_, at)| (from..end).contains(at)).map(|(letter, _)| letter).collect()
}

fn at(moment: &Value) -> NaiveDateTime {
    match moment {
        Value::Date(days) => {
            (NaiveDate::from_ymd_opt(1970, 1, 1).unwrap() + chrono::Days::new(0)).and_hms_opt(0, 0, 0).unwrap() + chrono::Duration::days((*days).into())
        }
        Value::Timestamp(micros) => DateTime::from_timestamp_micros(*micros).unwrap().naive_utc(),
        other => panic!("{other:?} is no moment"),
    }
}

fn extracted(field: &str, at: NaiveDateTime) -> i128 {
    match field {
        // There is no year 0: before 1 comes -1.
        "year" if at.year() > 0 => at.year().into(),
        "year" => (at.year() - 1).into(),
        "quarter" => (at.month0() / 3 + 1).into(),
        "month" => at.month().into(),
        "day" => at.day().into(),
        "dow" => at.weekday().num_days_from_sunday().into(),
        "doy" => at.ordinal().into(),
        "hour" => at.hour().into(),
        "minute" => at.minute().into(),
        other => panic!("{other} has no meaning here"),
    }
}

fn truncated(unit: &str, at: NaiveDateTime) -> NaiveDateTime {
    let day = |date: NaiveDate| date.and_hms_opt(0, 0, 0).unwrap();
    let (year, month) = (at.year(), at.month());
    match unit {
        "year" => day(NaiveDate::from_ymd_opt(year, 1, 1).unwrap()),
        "quarter" => day(NaiveDate::from_ymd_opt(year, (month - 1) / 3 * 3 + 1, 1).unwrap()),
        "month" => day(NaiveDate::from_ymd_opt(year, month, 1).unwrap()),
        "week" => day(at.date() - chrono::Duration::days(at.weekday().num_days_from_monday().into())),
        "day" => day(at.date()),
        "hour" => at.date().and_hms_opt(at.hour(), 0, 0).unwrap(),
        "minute" => at.date().and_hms_opt(at.hour(), at.minute(), 0).unwrap(),
        _ => at.date().and_hms_opt(at.hour(), at.minute(), at.second()).unwrap(),
    }
}

/// Every aggregate; a new one must be given its meaning before this compiles again.
pub const AGGREGATES: [Aggregate; 6] = [Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max, Aggregate::BoolAnd, Aggregate::BoolOr];

/// The type of an aggregate of a column, where it has one.
pub fn aggregate_type(aggregate: Aggregate, data_type: &DataType) -> Option<DataType> {
    match (aggregate, data_type) {
        (Aggregate::Count, _) => Some(DataType::Int64),
        (Aggregate::Sum, DataType::Int64 | DataType::UInt32 | DataType::UInt64) => Some(DataType::Decimal128(38, 0)),
        (Aggregate::Sum, whole) if whole.is_integer() => Some(DataType::Int64),
        (Aggregate::Sum, DataType::Float32 | DataType::Float64) => Some(DataType::Float64),
        (Aggregate::Sum, DataType::Decimal128(precision, scale)) => Some(DataType::Decimal128((precision + 10).min(38), *scale)),
        (Aggregate::Sum, _) => None,
        (Aggregate::Min | Aggregate::Max, data_type) => Some(data_type.clone()),
        (Aggregate::BoolAnd | Aggregate::BoolOr, DataType::Boolean) => Some(DataType::Boolean),
        (Aggregate::BoolAnd | Aggregate::BoolOr, _) => None,
    }
}

/// What an aggregate means over some values.
pub fn aggregated(aggregate: Aggregate, values: &[Option<Value>], distinct: bool, result: &DataType) -> Outcome {
    let mut present: Vec<&Value> = values.iter().flatten().collect();
    if distinct {
        present.sort_by(|a, b| a.order(b));
        present.dedup_by(|a, b| a.same(b));
    }
    if aggregate == Aggregate::Count {
        return Ok(Some(Value::Int(present.len() as i128)));
    }
    let Some(first) = present.first() else { return Ok(None) };
    let truth = |value: &&Value| matches!(value, Value::Bool(true));
    match aggregate {
        Aggregate::Min => Ok(present.iter().min_by(|a, b| a.order(b)).map(|value| (*value).clone())),
        Aggregate::Max => Ok(present.iter().max_by(|a, b| a.order(b)).map(|value| (*value).clone())),
        Aggregate::BoolAnd => Ok(Some(Value::Bool(present.iter().all(truth)))),
        Aggregate::BoolOr => Ok(Some(Value::Bool(present.iter().any(truth)))),
        Aggregate::Count | Aggregate::Sum => match first {
            Value::Int(_) => {
                let total = present.iter().map(|value| if let Value::Int(value) = value { *value } else { 0 }).sum();
                if *result == DataType::Int64 { within(total, result).map(Some) } else { Ok(Some(Value::Decimal(total, 0))) }
            }
            Value::Decimal(_, scale) => {
                let total = present.iter().map(|value| if let Value::Decimal(value, _) = value { *value } else { 0 }).sum();
                exact(Function::Add, total, 0, *scale, result).map(Some)
            }
            other => panic!("a sum of {other:?} is never pushed"),
        },
    }
}
