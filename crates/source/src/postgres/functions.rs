// SPDX-License-Identifier: Apache-2.0
//! Which functions and aggregates PostgreSQL computes with exactly our result, and how they are written.
//!
//! | function | arguments | verdict |
//! |---|---|---|
//! | `+` `-` `*` | whole numbers, both cast to the type of the result | exact, fails beyond it as here |
//! | `+` `-` `*` | decimals with at most 38 digits in the result | exact |
//! | `+` `-` | floating point numbers | exact, fails beyond the type as here |
//! | `*` `/` | floating point numbers | never: a result too small for its type is an error there and zero here (`underflow`) |
//! | `/` `%` | whole numbers | exact, fails for zero as here |
//! | `/` | decimals | never: the places behind the point differ (`rounding`) |
//! | `-x`, `abs` | numbers | exact |
//! | casts | to a type that holds every value | exact |
//! | `floor`, `ceil`, `round`, `trunc` | decimals, to constant places | exact |
//! | `length`, `substring`, `\|\|`, `trim`, `strpos` | texts | exact |
//! | `->`, `->>` | jsonb, with a constant key or place | exact; never json, which may hold what is no text |
//! | `extract`, `date_trunc` | date, timestamp without a zone | exact for whole fields |
//! | `count`, `min`, `max`, `bool_and`, `bool_or` | what is told apart or sorted as here | exact |
//! | `sum` | whole numbers, decimals | exact |
//! | `sum` | floating point numbers | never: the last digits depend on the order of the rows (`float_order`) |
//! | `row_number`, `rank`, `dense_rank`, `lag`, `lead`, `first_value`, `last_value`, and the aggregates over windows | as above | exact |

use super::mapping::base_type;
use super::support::{changed_by_policy, support};
use super::value::Policies;
use crate::capability::Operand;
use crate::expression::{holds_digits, unknown_function};
use crate::{Aggregate, Argument, Function, Operation, Reason, Term, Window, Written};
use arrow::datatypes::DataType;

pub(super) fn function(function: Function<'_>, arguments: &[Argument<'_>], result: &DataType, policies: Policies) -> Written {
    if arguments.iter().any(|argument| changed_by_policy(&argument.term.meaning, policies)) {
        return Err(Reason::new("values", "`values` of the source reads some values as others"));
    }
    match (function, arguments) {
        (Function::Add, [left, right]) => arithmetic("+", left, right, result),
        (Function::Subtract, [left, right]) => arithmetic("-", left, right, result),
        (Function::Multiply, [left, right]) => arithmetic("*", left, right, result),
        (Function::Divide, [left, right]) => divided("/", left, right, result),
        (Function::Modulo, [left, right]) => divided("%", left, right, result),
        (Function::Negate, [argument]) => negated(argument, result),
        (Function::Absolute, [argument]) if whole(argument.term) => computed(format!("abs({})", cast(&argument.term.sql, result)?), result, false),
        (Function::Absolute, [argument]) if matches!(result, DataType::Decimal128(..) | DataType::Float64) => {
            computed(format!("abs({})", argument.term.sql), result, argument.term.total)
        }
        (Function::Widen, [argument]) => widened(argument.term, result),
        (Function::CharLength, [text]) if plain_text(text.term) => computed(cast(&format!("char_length({})", text.term.sql), result)?, result, text.term.total),
        (Function::Substring, [text, rest @ ..]) => substring(text.term, rest),
        (Function::Concat, parts) if !parts.is_empty() && parts.iter().all(|part| plain_text(part.term)) => concat(parts),
        (Function::Floor | Function::Ceil, [argument]) => whole_places(function, argument, result),
        (Function::Round | Function::Cut, [argument, places]) => to_places(function, argument, places, result),
        (Function::TrimStart, [text]) if plain_text(text.term) => Ok(text.term.written(format!("ltrim({})", text.term.sql))),
        (Function::TrimEnd, [text]) if plain_text(text.term) => Ok(text.term.written(format!("rtrim({})", text.term.sql))),
        (Function::TrimBoth, [text]) if plain_text(text.term) => Ok(text.term.written(format!("btrim({})", text.term.sql))),
        (Function::Position, [text, searched]) if plain_text(text.term) && searches(searched) => {
            computed(cast(&format!("strpos({}, {})", text.term.sql, searched.term.sql), result)?, result, text.term.total)
        }
        (Function::Member | Function::MemberText, [json, step]) => member(function, json.term, step, result),
        (Function::Extract(field), [moment]) => extract(field, moment.term, result),
        (Function::Truncate(unit), [moment]) => truncate(unit, moment.term, result),
        _ => Err(unknown_function()),
    }
}

pub(super) fn aggregate(aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType, policies: Policies) -> Written {
    aggregate_over(aggregate, argument, distinct, "", result, policies)
}

/// Functions that take a row by its place; `over` is the window in parentheses.
pub(super) fn window(window: Window, argument: Option<&Term>, over: &str, result: &DataType, policies: Policies) -> Written {
    let numbered = |word: &str| Ok(Term::computed(format!("{word}() OVER {over}"), "int8", DataType::Int64, true));
    let taken = |word: &str| argument.map(|value| value.written(format!("{word}({}) OVER {over}", value.sql))).ok_or_else(unknown_function);
    match window {
        Window::RowNumber => numbered("row_number"),
        Window::Rank => numbered("rank"),
        Window::DenseRank => numbered("dense_rank"),
        Window::Lag => taken("lag"),
        Window::Lead => taken("lead"),
        Window::First => taken("first_value"),
        Window::Last => taken("last_value"),
        Window::Aggregate(aggregate) => aggregate_over(aggregate, argument, false, &format!(" OVER {over}"), result, policies),
    }
}

fn aggregate_over(aggregate: Aggregate, argument: Option<&Term>, distinct: bool, over: &str, result: &DataType, policies: Policies) -> Written {
    let Some(argument) = argument else {
        return if aggregate == Aggregate::Count && !distinct { computed(format!("count(*){over}"), result, true) } else { Err(unknown_function()) };
    };
    if distinct {
        support(&Operation::Distinguish, &argument.meaning, policies).exact()?;
    }
    let quantifier = if distinct { "DISTINCT " } else { "" };
    match aggregate {
        Aggregate::Count => {
            // A NaN that is read as NULL is none to be counted.
            support(&Operation::IsNotNull, &argument.meaning, policies).exact()?;
            computed(format!("count({quantifier}{}){over}", argument.sql), result, true)
        }
        Aggregate::Sum => sum(argument, quantifier, over, result, policies),
        Aggregate::Min | Aggregate::Max => extreme(aggregate.word(), argument, over, policies),
        Aggregate::BoolAnd | Aggregate::BoolOr if *result == DataType::Boolean => {
            computed(format!("{}({}){over}", aggregate.word(), argument.sql), result, true)
        }
        Aggregate::BoolAnd | Aggregate::BoolOr => Err(unknown_function()),
    }
}

fn sum(argument: &Term, quantifier: &str, over: &str, result: &DataType, policies: Policies) -> Written {
    match &argument.meaning.data_type {
        DataType::Int16 | DataType::Int32 | DataType::Int64 if whole(argument) => {}
        DataType::Decimal128(..) => support(&Operation::Order, &argument.meaning, policies).exact()?,
        DataType::Float32 | DataType::Float64 => {
            let reason = Reason::new("float_order", "the last digits of a sum of floating point numbers depend on the order in which they are added");
            return Err(reason.with_remedy("store it as numeric, whose sums are the same in any order"));
        }
        _ => return Err(unknown_function()),
    }
    let sum = format!("sum({quantifier}{}){over}", argument.sql);
    // A cast would round what an undeclared numeric has behind the last place of ours; read as it is, that is an error.
    let sum = if matches!(argument.meaning.data_type, DataType::Decimal128(..)) { sum } else { cast(&sum, result)? };
    computed(sum, result, false)
}

fn extreme(word: &str, argument: &Term, over: &str, policies: Policies) -> Written {
    support(&Operation::Order, &argument.meaning, policies).exact()?;
    match &argument.meaning.data_type {
        // Neither has such an aggregate there.
        DataType::Boolean | DataType::Binary => Err(unknown_function()),
        DataType::Utf8 => Ok(Term { sql: format!("{word}({} COLLATE \"C\"){over}", argument.sql), ..argument.clone() }),
        DataType::Time64(_) | DataType::Date32 | DataType::Timestamp(..) => Ok(argument.written(format!("{word}({}){over}", argument.sql))),
        number if number.is_numeric() => Ok(argument.written(format!("{word}({}){over}", argument.sql))),
        _ => Err(unknown_function()),
    }
}

fn arithmetic(sign: &str, left: &Argument<'_>, right: &Argument<'_>, result: &DataType) -> Written {
    let (a, b) = (left.term, right.term);
    let total = a.total && b.total;
    match result {
        DataType::Int16 | DataType::Int32 | DataType::Int64 if whole(a) && whole(b) => {
            computed(format!("({} {sign} {})", cast(&a.sql, result)?, cast(&b.sql, result)?), result, false)
        }
        DataType::Decimal128(precision, _) if number(a) && number(b) => {
            holds_digits(sign, a, b, *precision)?;
            computed(format!("({} {sign} {})", a.sql, b.sql), result, total)
        }
        DataType::Float32 | DataType::Float64 if sign == "*" => Err(underflow()),
        DataType::Float32 | DataType::Float64 if a.meaning.data_type == *result && b.meaning.data_type == *result => {
            computed(format!("({} {sign} {})", a.sql, b.sql), result, false)
        }
        _ => Err(unknown_function()),
    }
}

fn underflow() -> Reason {
    Reason::new("underflow", "a floating point number too small for its type is an error there and zero here").with_remedy("cast to a decimal first")
}

fn divided(sign: &str, left: &Argument<'_>, right: &Argument<'_>, result: &DataType) -> Written {
    let (a, b) = (left.term, right.term);
    // A literal that is not zero divides without fault; only the smallest number by -1 leaves its type.
    let harmless = matches!(right.literal, Some(Operand::Int(divisor)) if divisor > 0);
    match result {
        DataType::Int16 | DataType::Int32 | DataType::Int64 if whole(a) && whole(b) => {
            computed(format!("({} {sign} {})", cast(&a.sql, result)?, cast(&b.sql, result)?), result, harmless && a.total)
        }
        DataType::Float32 | DataType::Float64 if sign == "/" => Err(underflow()),
        DataType::Decimal128(..) | DataType::Decimal256(..) if sign == "/" => {
            Err(Reason::new("rounding", "a quotient of decimals has other places behind the point in the source")
                .with_remedy("divide here, after the rows are few"))
        }
        _ => Err(unknown_function()),
    }
}

fn negated(argument: &Argument<'_>, result: &DataType) -> Written {
    match result {
        DataType::Int16 | DataType::Int32 | DataType::Int64 if whole(argument.term) => {
            computed(format!("(- {})", cast(&argument.term.sql, result)?), result, false)
        }
        DataType::Decimal128(..) | DataType::Float32 | DataType::Float64 if argument.term.meaning.data_type == *result => {
            computed(format!("(- {})", argument.term.sql), result, argument.term.total)
        }
        _ => Err(unknown_function()),
    }
}

/// Whole numbers and decimals compare by value whatever their width, so the text stays as it is and an index remains of use;
/// arithmetic casts its arguments itself.
fn widened(term: &Term, result: &DataType) -> Written {
    if term.meaning.data_type.is_integer() && !whole(term) {
        return Err(unknown_function());
    }
    let sql = match (&term.meaning.data_type, result) {
        (DataType::Int16, DataType::Int32 | DataType::Int64) | (DataType::Int32, DataType::Int64) => term.sql.clone(),
        (DataType::Int16 | DataType::Int32 | DataType::Int64, DataType::Decimal128(precision, scale)) if holds(&term.meaning.data_type, *precision, *scale) => {
            cast(&term.sql, result)?
        }
        (DataType::Decimal128(p, s), DataType::Decimal128(precision, scale))
            if scale >= s && i16::from(*precision) - i16::from(*scale) >= i16::from(*p) - i16::from(*s) =>
        {
            term.sql.clone()
        }
        (DataType::Int16 | DataType::Int32, DataType::Float64) | (DataType::Float32, DataType::Float64) => cast(&term.sql, result)?,
        (DataType::Date32, DataType::Timestamp(_, None)) => format!("{}::timestamp", term.sql),
        _ => return Err(Reason::new("cast", "this cast is not known to give the same value in the source")),
    };
    let collated = Term { sql, ..term.clone() };
    Ok(Term { meaning: crate::Column { data_type: result.clone(), native_type: word(result)?, ..collated.meaning }, ..collated })
}

/// Whether a decimal has a digit for each that a whole number of this type may have.
fn holds(whole: &DataType, precision: u8, scale: i8) -> bool {
    let digits = match whole {
        DataType::Int16 => 5,
        DataType::Int32 => 10,
        _ => 19,
    };
    i16::from(precision) - i16::from(scale) >= digits
}

fn searches(searched: &Argument<'_>) -> bool {
    matches!(searched.literal, Some(Operand::Text(text)) if !text.is_empty())
}

fn whole_places(function: Function<'_>, argument: &Argument<'_>, result: &DataType) -> Written {
    let word = if function == Function::Floor { "floor" } else { "ceil" };
    if !number(argument.term) || !holds_places(&argument.term.meaning.data_type, 0, result) {
        return Err(unknown_function());
    }
    computed(format!("{word}({})", argument.term.sql), result, argument.term.total)
}

fn to_places(function: Function<'_>, argument: &Argument<'_>, places: &Argument<'_>, result: &DataType) -> Written {
    let word = if function == Function::Round { "round" } else { "trunc" };
    match places.literal {
        Some(Operand::Int(places)) if number(argument.term) && holds_places(&argument.term.meaning.data_type, places, result) => {
            computed(format!("{word}({}, {places})", argument.term.sql), result, argument.term.total)
        }
        _ => Err(unknown_function()),
    }
}

/// Whether a decimal, rounded to so many places, always fits the type of the result.
fn holds_places(from: &DataType, places: i128, result: &DataType) -> bool {
    let (DataType::Decimal128(p, s), DataType::Decimal128(precision, scale)) = (from, result) else { return false };
    let carried = i16::from(i128::from(*s) > places);
    (0..=i128::from(*scale)).contains(&places) && i16::from(*precision) - i16::from(*scale) >= i16::from(*p) - i16::from(*s) + carried
}

fn substring(text: &Term, rest: &[Argument<'_>]) -> Written {
    let bound = |argument: &Argument<'_>, least: i128| match argument.literal {
        Some(Operand::Int(value)) if (least..=i128::from(i32::MAX)).contains(&value) => Some(value),
        _ => None,
    };
    let odd = || Reason::new("function", "only a position from 1 on and a length, both constants, mean the same in every source");
    if !plain_text(text) {
        return Err(unknown_function());
    }
    let sql = match rest {
        [from] => format!("substring({} from {})", text.sql, bound(from, 1).ok_or_else(odd)?),
        [from, length] => format!("substring({} from {} for {})", text.sql, bound(from, 1).ok_or_else(odd)?, bound(length, 0).ok_or_else(odd)?),
        _ => return Err(odd()),
    };
    Ok(text.written(sql))
}

fn concat(parts: &[Argument<'_>]) -> Written {
    let texts: Vec<&str> = parts.iter().map(|part| part.term.sql.as_str()).collect();
    let total = parts.iter().all(|part| part.term.total);
    // Texts of two collations have none together; bytes decide here anyway.
    computed(format!("(({}) COLLATE \"C\")", texts.join(" || ")), &DataType::Utf8, total)
}

/// The operators have the same name in `json`, where an escape in a text can be an error.
fn member(function: Function<'_>, json: &Term, step: &Argument<'_>, result: &DataType) -> Written {
    if base_type(&json.meaning.native_type) != "jsonb" || json.meaning.data_type != DataType::Utf8 {
        return Err(unknown_function());
    }
    let step = match step.literal {
        Some(Operand::Int(place)) => i32::try_from(place).map(|place| format!("'{place}'::int4")).map_err(|_| unknown_function())?,
        Some(Operand::Text(_)) => step.term.sql.clone(),
        _ => return Err(unknown_function()),
    };
    if function == Function::Member {
        let meaning = crate::Column { name: String::new(), nullable: true, ..json.meaning.clone() };
        return Ok(Term { sql: format!("({} -> {step})", json.sql), meaning, ..json.clone() });
    }
    let text = computed(format!("({} ->> {step})", json.sql), result, json.total)?;
    // It has the collation of the database, and an index on it can be used.
    Ok(Term { meaning: crate::Column { collation: Some("default".to_owned()), ..text.meaning }, ..text })
}

fn extract(field: &str, moment: &Term, result: &DataType) -> Written {
    let dated = matches!(moment.meaning.data_type, DataType::Date32 | DataType::Timestamp(_, None)) && moment.meaning.read_as.is_none();
    let timed = matches!(moment.meaning.data_type, DataType::Timestamp(_, None)) && moment.meaning.read_as.is_none();
    let known = dated && ["year", "month", "day", "quarter", "dow", "doy"].contains(&field) || timed && ["hour", "minute"].contains(&field);
    if !known {
        return Err(unknown_function());
    }
    computed(cast(&format!("extract({field} from {})", moment.sql), result)?, result, moment.total)
}

fn truncate(unit: &str, moment: &Term, result: &DataType) -> Written {
    let known = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"].contains(&unit);
    if !known || !matches!((&moment.meaning.data_type, result), (DataType::Timestamp(_, None), DataType::Timestamp(_, None))) {
        return Err(unknown_function());
    }
    computed(format!("date_trunc('{unit}', {})", moment.sql), result, moment.total)
}

/// A text that is a text there too, and not something that is only read as one.
fn plain_text(term: &Term) -> bool {
    term.meaning.data_type == DataType::Utf8 && term.meaning.read_as.is_none() && term.meaning.bytewise_equality
}

fn whole(term: &Term) -> bool {
    matches!(term.meaning.data_type, DataType::Int16 | DataType::Int32 | DataType::Int64) && base_type(&term.meaning.native_type) != "oid"
}

fn number(term: &Term) -> bool {
    matches!(term.meaning.data_type, DataType::Decimal128(..)) && term.meaning.read_as.is_none()
}

fn computed(sql: String, data_type: &DataType, total: bool) -> Written {
    Ok(Term::computed(sql, word(data_type)?, data_type.clone(), total))
}

fn cast(sql: &str, data_type: &DataType) -> Result<String, Reason> {
    Ok(format!("{sql}::{}", word(data_type)?))
}

/// The type there that has exactly the values of this one.
pub(super) fn word(data_type: &DataType) -> Result<String, Reason> {
    Ok(match data_type {
        DataType::Boolean => "bool".to_owned(),
        DataType::Int16 => "int2".to_owned(),
        DataType::Int32 => "int4".to_owned(),
        DataType::Int64 => "int8".to_owned(),
        DataType::Float32 => "float4".to_owned(),
        DataType::Float64 => "float8".to_owned(),
        DataType::Decimal128(precision, scale) => format!("numeric({precision},{scale})"),
        DataType::Utf8 => "text".to_owned(),
        DataType::Date32 => "date".to_owned(),
        DataType::Timestamp(_, None) => "timestamp".to_owned(),
        DataType::Timestamp(_, Some(_)) => "timestamptz".to_owned(),
        DataType::Time64(_) => "time".to_owned(),
        _ => return Err(unknown_function()),
    })
}
