// SPDX-License-Identifier: Apache-2.0
//! Which functions and aggregates MySQL and MariaDB compute with exactly our result, and how they are written.
//!
//! Their whole numbers are all 64 bits wide, so that a narrower result is checked by adding and subtracting what leaves 64 bits when it
//! leaves its own. A division by zero is NULL there, so only constants divide.

use super::forms::{NEVER_ZERO, letters_max, plain_text, value};
use super::native::type_word;
use super::support::support;
use crate::capability::Operand;
use crate::expression::{holds_digits, unknown_function};
use crate::{Aggregate, Argument, Column, Dialect, Function, Operation, Reason, Term, Window, Written};
use arrow::datatypes::DataType;

/// Places behind the point that a product keeps, in the stricter of the two products.
const SCALE_MAX: i8 = 30;
const TEXT_LETTERS_MAX: usize = 16_000;
const DATETIME: &str = "datetime(6) never zero";

pub(super) fn function(function: Function<'_>, arguments: &[Argument<'_>], result: &DataType) -> Written {
    match (function, arguments) {
        (Function::Add, [left, right]) => arithmetic("+", left, right, result),
        (Function::Subtract, [left, right]) => arithmetic("-", left, right, result),
        (Function::Multiply, [left, right]) => arithmetic("*", left, right, result),
        (Function::Divide, [left, right]) => divided(left, right, result),
        (Function::Modulo, [left, right]) => remainder(left, right, result),
        (Function::Negate, [argument]) if exact_number(argument.term) => same_type(argument, result, |sql| format!("(- {sql})")),
        (Function::Absolute, [argument]) if exact_number(argument.term) => same_type(argument, result, |sql| format!("ABS({sql})")),
        (Function::Absolute, [argument]) if integer(argument.term) && !unsigned(result) && argument.term.meaning.data_type == *result => {
            Ok(Term::computed(within_signed(format!("ABS({})", signed(argument)), result), "bigint", result.clone(), false))
        }
        (Function::Widen, [argument]) => widened(argument.term, result),
        (Function::CharLength, [text]) if plain_text(&text.term.meaning) && result.is_integer() => {
            Ok(Term::computed(format!("CHAR_LENGTH({})", text.term.sql), "bigint", result.clone(), text.term.total))
        }
        (Function::Substring, [text, rest @ ..]) => substring(text.term, rest),
        (Function::Concat, parts) if !parts.is_empty() => concat(parts),
        (Function::Floor | Function::Ceil, [argument]) => places(function, argument, 0, result),
        (Function::Round | Function::Cut, [argument, Argument { literal: Some(Operand::Int(count)), .. }]) => places(function, argument, *count, result),
        (Function::TrimStart, [text]) => trimmed("LTRIM", text.term),
        (Function::TrimEnd, [text]) => trimmed("RTRIM", text.term),
        (Function::TrimBoth, [text]) => trimmed("TRIM", text.term),
        (Function::Position, [text, searched]) => position(text.term, searched, result),
        (Function::Extract(field), [moment]) => extract(field, moment.term, result),
        (Function::Truncate(unit), [moment]) => truncate(unit, moment.term, result),
        _ => Err(unknown_function()),
    }
}

pub(super) fn aggregate(aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
    aggregate_over(aggregate, argument, distinct, "", result)
}

/// Functions that take a row by its place; `over` is the window in parentheses.
pub(super) fn window(window: Window, argument: Option<&Term>, over: &str, result: &DataType) -> Written {
    let numbered = |word: &str| Ok(Term::computed(format!("{word}() OVER {over}"), "bigint", DataType::Int64, true));
    match window {
        Window::RowNumber => numbered("ROW_NUMBER"),
        Window::Rank => numbered("RANK"),
        Window::DenseRank => numbered("DENSE_RANK"),
        Window::Aggregate(aggregate) => aggregate_over(aggregate, argument, false, &format!(" OVER {over}"), result),
        Window::Lag | Window::Lead | Window::First | Window::Last => {
            Err(Reason::new("window", "the servers give a value that is taken from another row a type of their own"))
        }
    }
}

fn aggregate_over(aggregate: Aggregate, argument: Option<&Term>, distinct: bool, over: &str, result: &DataType) -> Written {
    let Some(argument) = argument else {
        let counts = aggregate == Aggregate::Count && !distinct;
        return if counts { Ok(Term::computed(format!("COUNT(*){over}"), "bigint", result.clone(), true)) } else { Err(unknown_function()) };
    };
    if distinct {
        support(&Operation::Distinguish, &argument.meaning).exact()?;
    }
    let quantified = match distinct {
        true => format!("DISTINCT {}", super::MySqlDialect.grouped(argument)),
        false => value(argument),
    };
    match aggregate {
        Aggregate::Count => Ok(Term::computed(format!("COUNT({quantified}){over}"), "bigint", result.clone(), true)),
        Aggregate::Sum => sum(argument, &quantified, over, result),
        Aggregate::Min | Aggregate::Max => extreme(aggregate.word(), argument, over),
        Aggregate::BoolAnd | Aggregate::BoolOr => Err(Reason::new("boolean", "these servers have no boolean type")),
    }
}

/// A sum of whole numbers is a decimal there; `DIV` makes it one of 64 bits again, or fails.
fn sum(argument: &Term, quantified: &str, over: &str, result: &DataType) -> Written {
    let summed = &argument.meaning.data_type;
    match result {
        DataType::Int64 if summed.is_integer() => Ok(Term::computed(format!("(SUM({quantified}){over} DIV 1)"), "bigint", result.clone(), false)),
        DataType::Decimal128(precision, scale) if summed.is_integer() && *scale == 0 || matches!(summed, DataType::Decimal128(_, own) if own == scale) => {
            Ok(Term::computed(format!("SUM({quantified}){over}"), format!("decimal({precision},{scale})"), result.clone(), false))
        }
        DataType::Float64 => Err(Reason::new("float_order", "the last digits of a sum of floating point numbers depend on the order in which they are added")
            .with_remedy("store it as decimal, whose sums are the same in any order")),
        _ => Err(unknown_function()),
    }
}

fn extreme(word: &str, argument: &Term, over: &str) -> Written {
    support(&Operation::Order, &argument.meaning).exact()?;
    let word = word.to_uppercase();
    let meaning = &argument.meaning;
    let native = |native: &str| Column { native_type: native.to_owned(), ..meaning.clone() };
    let (sql, meaning) = match &meaning.data_type {
        DataType::Utf8 => {
            let text = Column { collation: Some("utf8mb4_bin".to_owned()), ..native(&text_type(letters_max(meaning).unwrap_or(TEXT_LETTERS_MAX))) };
            (format!("(CONVERT({word}({}){over} USING utf8mb4) COLLATE utf8mb4_bin)", super::forms::bytes(argument)), text)
        }
        DataType::Date32 | DataType::Timestamp(..) => {
            let day = format!("{}{NEVER_ZERO}", meaning.native_type.trim_end_matches(NEVER_ZERO));
            (format!("{word}({}){over}", value(argument)), native(&day))
        }
        DataType::Float64 | DataType::Decimal128(..) => (format!("{word}({}){over}", argument.sql), meaning.clone()),
        whole if whole.is_integer() && matches!(type_word(&meaning.native_type), "year" | "bit") => {
            let wide = if unsigned(whole) { "bigint unsigned" } else { "bigint" };
            (format!("{word}({}){over}", value(argument)), native(wide))
        }
        whole if whole.is_integer() => (format!("{word}({}){over}", argument.sql), meaning.clone()),
        _ => return Err(unknown_function()),
    };
    Ok(Term { sql, meaning, total: argument.total, constant: false })
}

fn arithmetic(sign: &str, left: &Argument<'_>, right: &Argument<'_>, result: &DataType) -> Written {
    let (a, b) = (left.term, right.term);
    match result {
        whole if whole.is_integer() && integer(a) && integer(b) => whole_arithmetic(sign, left, right, whole),
        DataType::Decimal128(precision, scale) if exact_number(a) && exact_number(b) => {
            holds_digits(sign, a, b, *precision)?;
            if *scale > SCALE_MAX {
                return Err(Reason::new("digits", "the servers keep 30 places behind the point").with_remedy("cast to fewer digits first"));
            }
            let sql = format!("({} {sign} {})", as_decimal(left), as_decimal(right));
            Ok(Term::computed(sql, format!("decimal({precision},{scale})"), result.clone(), a.total && b.total))
        }
        DataType::Float64 if double(left) && double(right) => Ok(Term::computed(format!("({} {sign} {})", a.sql, b.sql), "double", result.clone(), false)),
        _ => Err(unknown_function()),
    }
}

/// In 64 bits, and then checked to be in those of the result.
fn whole_arithmetic(sign: &str, left: &Argument<'_>, right: &Argument<'_>, result: &DataType) -> Written {
    if unsigned(result) {
        // Of two signed numbers the difference could be negative, and no error.
        if sign == "-" && !declared_unsigned(left.term) && !declared_unsigned(right.term) {
            return Err(unknown_function());
        }
        let sql = format!("({} {sign} {})", value(left.term), value(right.term));
        return Ok(Term::computed(within_unsigned(sql, result), "bigint unsigned", result.clone(), false));
    }
    let (a, b) = (signed(left), signed(right));
    let sql = match (sign, result) {
        // `0 - x` of the least number is wrong there instead of an error.
        ("-", DataType::Int64) => format!("((CAST({a} AS DECIMAL(20,0)) - {b}) DIV 1)"),
        _ => format!("({a} {sign} {b})"),
    };
    Ok(Term::computed(within_signed(sql, result), "bigint", result.clone(), false))
}

fn within_signed(sql: String, result: &DataType) -> String {
    let bits = match result {
        DataType::Int8 => 8,
        DataType::Int16 => 16,
        DataType::Int32 => 32,
        _ => return sql,
    };
    let room = (1_i128 << 63) - (1_i128 << (bits - 1));
    format!("({sql} + {room} - {room} - {room} + {room})")
}

fn within_unsigned(sql: String, result: &DataType) -> String {
    let bits = match result {
        DataType::UInt8 => 8,
        DataType::UInt16 => 16,
        DataType::UInt32 => 32,
        _ => return sql,
    };
    let room = (1_i128 << 64) - (1_i128 << bits);
    format!("({sql} + {room} - {room})")
}

fn divided(left: &Argument<'_>, right: &Argument<'_>, result: &DataType) -> Written {
    let (a, b) = (left.term, right.term);
    match (result, right.literal) {
        (whole, Some(Operand::Int(divisor))) if whole.is_integer() && divisor > 0 && integer(a) => {
            let dividend = if unsigned(whole) { value(a) } else { signed(left) };
            Ok(Term::computed(format!("({dividend} DIV {})", b.sql), native_whole(whole), result.clone(), a.total))
        }
        (DataType::Float64, Some(Operand::Float(divisor))) if divisor != 0.0 && double(left) => {
            Ok(Term::computed(format!("({} / {})", a.sql, b.sql), "double", result.clone(), false))
        }
        (DataType::Decimal128(..) | DataType::Decimal256(..), _) => {
            Err(Reason::new("rounding", "a quotient of decimals has other places behind the point there").with_remedy("divide here, after the rows are few"))
        }
        _ => Err(by_zero()),
    }
}

fn remainder(left: &Argument<'_>, right: &Argument<'_>, result: &DataType) -> Written {
    match right.literal {
        Some(Operand::Int(divisor)) if divisor > 0 && result.is_integer() && integer(left.term) => {
            let dividend = if unsigned(result) { value(left.term) } else { signed(left) };
            Ok(Term::computed(format!("({dividend} % {})", right.term.sql), native_whole(result), result.clone(), left.term.total))
        }
        _ if result.is_integer() => Err(by_zero()),
        _ => Err(unknown_function()),
    }
}

fn by_zero() -> Reason {
    Reason::new("division_by_zero", "a division by zero is an error here and NULL there, so only a constant above zero divides there")
}

fn same_type(argument: &Argument<'_>, result: &DataType, write: impl FnOnce(&str) -> String) -> Written {
    let DataType::Decimal128(precision, scale) = result else { return Err(unknown_function()) };
    if argument.term.meaning.data_type != *result {
        return Err(unknown_function());
    }
    Ok(Term::computed(write(&as_decimal(argument)), format!("decimal({precision},{scale})"), result.clone(), argument.term.total))
}

/// Numbers compare by value whatever their width, so the text stays as it is and an index remains of use; arithmetic converts its arguments itself.
fn widened(term: &Term, result: &DataType) -> Written {
    let from = &term.meaning.data_type;
    let wider = Column { data_type: result.clone(), ..term.meaning.clone() };
    match (from, result) {
        (whole, DataType::Decimal128(precision, scale)) if whole.is_integer() && i16::from(*precision) - i16::from(*scale) >= digits_of(whole) => {
            Ok(Term { sql: value(term), meaning: wider, total: term.total, constant: term.constant })
        }
        (whole, wide) if whole.is_integer() && wide.is_integer() && holds(wide, whole) => {
            Ok(Term { sql: term.sql.clone(), meaning: wider, total: term.total, constant: term.constant })
        }
        (DataType::Decimal128(p, s), DataType::Decimal128(precision, scale))
            if scale >= s && i16::from(*precision) - i16::from(*scale) >= i16::from(*p) - i16::from(*s) =>
        {
            Ok(Term { sql: term.sql.clone(), meaning: wider, total: term.total, constant: term.constant })
        }
        (whole, DataType::Float64) if whole.is_integer() && digits_of(whole) <= 10 => {
            Ok(Term::computed(format!("({} + 0e0)", term.sql), "double", result.clone(), term.total))
        }
        (DataType::Date32, DataType::Timestamp(_, None)) => {
            Ok(Term::computed(format!("CAST({} AS DATETIME(6))", value(term)), DATETIME, result.clone(), term.total))
        }
        _ => Err(Reason::new("cast", "this cast is not known to give the same value in the source")),
    }
}

fn holds(wide: &DataType, narrow: &DataType) -> bool {
    let bits = |whole: &DataType| whole.primitive_width().unwrap_or(8);
    match (unsigned(wide), unsigned(narrow)) {
        (true, true) | (false, false) => bits(wide) >= bits(narrow),
        (false, true) => bits(wide) > bits(narrow),
        (true, false) => false,
    }
}

fn substring(text: &Term, rest: &[Argument<'_>]) -> Written {
    if !plain_text(&text.meaning) {
        return Err(unknown_function());
    }
    let bound = |argument: &Argument<'_>, least: i128| match argument.literal {
        Some(Operand::Int(value)) if (least..=i128::from(i32::MAX)).contains(&value) => Ok(value),
        _ => Err(Reason::new("function", "only a position from 1 on and a length, both constants, mean the same in every source")),
    };
    let sql = match rest {
        [from] => format!("SUBSTRING({}, {})", text.sql, bound(from, 1)?),
        [from, length] => format!("SUBSTRING({}, {}, {})", text.sql, bound(from, 1)?, bound(length, 0)?),
        _ => return Err(unknown_function()),
    };
    Ok(text.written(sql))
}

fn trimmed(word: &str, text: &Term) -> Written {
    if plain_text(&text.meaning) { Ok(text.written(format!("{word}({})", text.sql))) } else { Err(unknown_function()) }
}

/// Letter by letter, whatever the collation of the column holds equal.
fn position(text: &Term, searched: &Argument<'_>, result: &DataType) -> Written {
    match searched.literal {
        Some(Operand::Text(words)) if !words.is_empty() && plain_text(&text.meaning) && result.is_integer() => {
            let sql = format!("LOCATE({}, CONVERT({} USING utf8mb4) COLLATE utf8mb4_bin)", searched.term.sql, text.sql);
            Ok(Term::computed(sql, "bigint", result.clone(), text.total))
        }
        _ => Err(unknown_function()),
    }
}

/// A decimal rounded in some way. What comes out may be a whole number there, so it is no decimal to compute with.
fn places(function: Function<'_>, argument: &Argument<'_>, count: i128, result: &DataType) -> Written {
    let (DataType::Decimal128(p, s), DataType::Decimal128(precision, scale)) = (&argument.term.meaning.data_type, result) else {
        return Err(unknown_function());
    };
    let carried = i16::from(i128::from(*s) > count);
    let holds = i16::from(*precision) - i16::from(*scale) >= i16::from(*p) - i16::from(*s) + carried;
    if !holds || !(0..=i128::from(*scale)).contains(&count) {
        return Err(unknown_function());
    }
    let number = as_decimal(argument);
    let sql = match function {
        Function::Floor => format!("FLOOR({number})"),
        Function::Ceil => format!("CEILING({number})"),
        Function::Round => format!("ROUND({number}, {count})"),
        _ => format!("TRUNCATE({number}, {count})"),
    };
    Ok(Term::computed(sql, "", result.clone(), argument.term.total))
}

/// Texts as UTF-8 under one collation: those of two columns may have none together.
fn concat(parts: &[Argument<'_>]) -> Written {
    let mut letters = 0;
    let mut texts = Vec::with_capacity(parts.len());
    for part in parts {
        letters += match part.literal {
            Some(Operand::Text(text)) => text.chars().count(),
            _ if plain_text(&part.term.meaning) => {
                letters_max(&part.term.meaning).ok_or_else(|| Reason::new("length", "a text of unknown length may be too long there"))?
            }
            _ => return Err(unknown_function()),
        };
        texts.push(format!("CONVERT({} USING utf8mb4)", part.term.sql));
    }
    if letters > TEXT_LETTERS_MAX {
        return Err(Reason::new("length", "the text may be too long there"));
    }
    let total = parts.iter().all(|part| part.term.total);
    let mut term = Term::computed(format!("(CONCAT({}) COLLATE utf8mb4_bin)", texts.join(", ")), text_type(letters), DataType::Utf8, total);
    (term.meaning.collation, term.meaning.bytewise_equality) = (Some("utf8mb4_bin".to_owned()), false);
    Ok(term)
}

fn text_type(letters: usize) -> String {
    format!("varchar({letters})")
}

fn extract(field: &str, moment: &Term, result: &DataType) -> Written {
    let day = matches!(moment.meaning.data_type, DataType::Date32);
    let timed = matches!(moment.meaning.data_type, DataType::Timestamp(_, None));
    let at = value(moment);
    let sql = match field {
        _ if !day && !timed => return Err(unknown_function()),
        "year" => format!("YEAR({at})"),
        "quarter" => format!("QUARTER({at})"),
        "month" => format!("MONTH({at})"),
        "day" => format!("DAYOFMONTH({at})"),
        "dow" => format!("(DAYOFWEEK({at}) - 1)"),
        "doy" => format!("DAYOFYEAR({at})"),
        "hour" if timed => format!("HOUR({at})"),
        "minute" if timed => format!("MINUTE({at})"),
        _ => return Err(unknown_function()),
    };
    number(sql, result, moment.total)
}

/// A small whole number in the type of the result.
fn number(sql: String, result: &DataType, total: bool) -> Written {
    match result {
        DataType::Float64 => Ok(Term::computed(format!("({sql} + 0e0)"), "double", result.clone(), total)),
        DataType::Int32 | DataType::Int64 => Ok(Term::computed(sql, "bigint", result.clone(), total)),
        DataType::Decimal128(precision, scale) => {
            Ok(Term::computed(format!("CAST({sql} AS DECIMAL({precision},{scale}))"), format!("decimal({precision},{scale})"), result.clone(), total))
        }
        _ => Err(unknown_function()),
    }
}

fn truncate(unit: &str, moment: &Term, result: &DataType) -> Written {
    if !matches!((&moment.meaning.data_type, result), (DataType::Timestamp(_, None), DataType::Timestamp(_, None))) {
        return Err(unknown_function());
    }
    let at = value(moment);
    let pattern = |pattern: &str| format!("DATE_FORMAT({at}, '{pattern}')");
    let text = match unit {
        "year" => pattern("%Y-01-01"),
        "quarter" => format!("CONCAT({}, LPAD(QUARTER({at}) * 3 - 2, 2, '0'), '-01')", pattern("%Y-")),
        "month" => pattern("%Y-%m-01"),
        "week" => format!("CAST({at} AS DATE) - INTERVAL WEEKDAY({at}) DAY"),
        "day" => format!("CAST({at} AS DATE)"),
        "hour" => pattern("%Y-%m-%d %H:00:00"),
        "minute" => pattern("%Y-%m-%d %H:%i:00"),
        "second" => pattern("%Y-%m-%d %H:%i:%s"),
        _ => return Err(unknown_function()),
    };
    Ok(Term::computed(format!("CAST({text} AS DATETIME(6))"), DATETIME, result.clone(), moment.total))
}

fn integer(term: &Term) -> bool {
    term.meaning.data_type.is_integer() && term.meaning.read_as.is_none()
}

fn exact_number(term: &Term) -> bool {
    matches!(term.meaning.data_type, DataType::Decimal128(..)) && term.meaning.read_as.is_none()
}

/// A double that is stored as one: neither rounded to places nor of single precision.
fn double(argument: &Argument<'_>) -> bool {
    let stored = matches!(type_word(&argument.term.meaning.native_type), "double" | "real") && !argument.term.meaning.native_type.contains('(');
    argument.term.meaning.data_type == DataType::Float64 && (stored || argument.literal.is_some())
}

/// A whole number that was widened is still one there, and its products would be too.
fn as_decimal(argument: &Argument<'_>) -> String {
    let term = argument.term;
    let DataType::Decimal128(precision, scale) = term.meaning.data_type else { return term.sql.clone() };
    match type_word(&term.meaning.native_type) {
        "decimal" | "numeric" => term.sql.clone(),
        _ if argument.literal.is_some() && scale > 0 => term.sql.clone(),
        _ => format!("CAST({} AS DECIMAL({precision},{scale}))", term.sql),
    }
}

fn unsigned(whole: &DataType) -> bool {
    whole.is_unsigned_integer()
}

fn declared_unsigned(term: &Term) -> bool {
    let native = &term.meaning.native_type;
    native.contains("unsigned") || native.contains("zerofill") || type_word(native) == "bit"
}

/// A number that takes part in signed arithmetic: with an unsigned one a difference could not be negative.
fn signed(argument: &Argument<'_>) -> String {
    let known = matches!(type_word(&argument.term.meaning.native_type), "tinyint" | "smallint" | "mediumint" | "int" | "bigint");
    match argument.literal.is_some() || known && !declared_unsigned(argument.term) {
        true => argument.term.sql.clone(),
        false => format!("CAST({} AS SIGNED)", argument.term.sql),
    }
}

fn native_whole(whole: &DataType) -> &'static str {
    if unsigned(whole) { "bigint unsigned" } else { "bigint" }
}

fn digits_of(whole: &DataType) -> i16 {
    match whole {
        DataType::Int8 | DataType::UInt8 => 3,
        DataType::Int16 | DataType::UInt16 => 5,
        DataType::Int32 | DataType::UInt32 => 10,
        DataType::Int64 => 19,
        _ => 20,
    }
}
