// SPDX-License-Identifier: Apache-2.0
//! Expressions that the query engine does not know, or knows by another name, said in words that it knows.

use super::interval;
use super::narrow;
use super::rows;
use super::similar;
use super::time_patterns::in_percent_words;
use crate::call::call;
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CharacterLength, DataType, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    Ident, Interval, ObjectName, OrderByExpr, OrderByOptions, Statement, TimezoneInfo, UnaryOperator, Value, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;
use weir_base::{Error, ErrorCode, Result};

/// Puts known expressions in the place of the others. Errors: 22007 for a text that is no interval, 0A000 for what has no counterpart.
pub(super) fn adapt(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Operators) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Operators;

impl VisitorMut for Operators {
    type Break = Error;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        match known(expr) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(known)) => {
                *expr = known;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// Error: 22P02 for a pattern whose last character escapes nothing. PostgreSQL says so once a row gets that far.
fn ends_in_escape(pattern: Option<&str>, escape: Option<&str>) -> Result<()> {
    let (Some(pattern), Some(escape)) = (pattern, escape.and_then(|escape| escape.chars().next())) else { return Ok(()) };
    if pattern.chars().rev().take_while(|letter| *letter == escape).count() % 2 == 0 {
        return Ok(());
    }
    let error = Error::new(ErrorCode::BadValue, "LIKE pattern ends with the escape character");
    Err(error.with_hint("write the character twice where it stands for itself, or name another one with ESCAPE"))
}

fn known(expr: &mut Expr) -> Result<Option<Expr>> {
    if let Some(compared) = rows::compared(expr)? {
        return Ok(Some(compared));
    }
    Ok(match expr {
        Expr::Interval(interval) => read_interval(interval)?,
        Expr::Cast { expr: inner, data_type: DataType::Interval { .. }, .. } => match literal(inner) {
            Some(text) => Some(interval_of(interval::read(text, None, None)?)),
            None => None,
        },
        Expr::TypedString(typed) if matches!(typed.data_type, DataType::Interval { .. }) => {
            let text = typed.value.value.clone().into_string().unwrap_or_default();
            Some(interval_of(interval::read(&text, None, None)?))
        }
        Expr::Cast { expr: inner, data_type: DataType::Bytea, .. } => bytes(literal(inner))?,
        Expr::Cast { expr: inner, data_type, .. } => shortened(inner, data_type)?,
        Expr::AllOp { .. } | Expr::AnyOp { .. } => compared_with_all(expr)?,
        Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("localtimestamp") => Some(local_timestamp()),
        Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
            let escape = escape_char.as_ref().map_or(Some("\\".to_owned()), |escape| escape.value.clone().into_string());
            return ends_in_escape(literal(pattern), escape.as_deref()).map(|()| None);
        }
        Expr::SimilarTo { negated, expr: text, pattern, escape_char } => {
            let escape = escape_char.as_ref().and_then(|escape| escape.value.clone().into_string());
            Some(similar::as_regex(*negated, text, literal(pattern), escape.as_deref())?)
        }
        Expr::BinaryOp { left, op: BinaryOperator::PGExp, right } => Some(call("power", vec![take(left), take(right)])),
        Expr::BinaryOp { left, op: BinaryOperator::PGStartsWith, right } => Some(call("starts_with", vec![take(left), take(right)])),
        Expr::BinaryOp { left, op: BinaryOperator::Overlaps, right } => Some(overlaps(left, right)?),
        Expr::UnaryOp { op, expr: inner } => unary(*op, inner),
        Expr::Substring { expr: text, substring_from: Some(from), substring_for: None, .. } if literal(from).is_some() => {
            let matched = call("regexp_match", vec![take(text), take(from)]);
            Some(call("array_element", vec![matched, number("1")]))
        }
        Expr::Function(function) => return renamed(function),
        _ => None,
    })
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::value(Value::Null))
}

fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::Nested(Box::new(Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }))
}

pub(super) fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: datafusion::sql::sqlparser::ast::CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

fn read_interval(interval: &Interval) -> Result<Option<Expr>> {
    let Some(text) = literal(&interval.value) else { return Ok(None) };
    let span = interval::read(text, interval.leading_field.as_ref(), interval.last_field.as_ref())?;
    Ok(Some(interval_of(span)))
}

fn interval_of(span: interval::Span) -> Expr {
    Expr::Interval(Interval {
        value: Box::new(Expr::value(Value::SingleQuotedString(span.written()))),
        leading_field: None,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    })
}

/// A text that is cast to `varchar(n)` is cut at n characters. Error: 0A000 for `char(n)`, whose blanks nothing here keeps.
fn shortened(inner: &mut Expr, data_type: &DataType) -> Result<Option<Expr>> {
    match data_type {
        DataType::Varchar(Some(length)) | DataType::CharacterVarying(Some(length)) | DataType::CharVarying(Some(length)) => {
            let CharacterLength::IntegerLength { length, .. } = length else { return Ok(None) };
            let text = cast(take(inner), DataType::Varchar(None));
            Ok(Some(call("left", vec![text, Expr::value(Value::Number(length.to_string(), false))])))
        }
        DataType::Char(Some(_)) | DataType::Character(Some(_)) => {
            let error = Error::new(ErrorCode::Unsupported, "a cast to char(n) is not in Weir");
            Err(error
                .with_detail("its values are filled up with blanks, which then do not count")
                .with_hint("cast to varchar(n), which is cut at n characters"))
        }
        _ => Ok(None),
    }
}

fn unary(op: UnaryOperator, inner: &mut Expr) -> Option<Expr> {
    Some(match op {
        UnaryOperator::PGAbs => call("abs", vec![take(inner)]),
        UnaryOperator::PGSquareRoot => call("sqrt", vec![take(inner)]),
        UnaryOperator::PGCubeRoot => call("cbrt", vec![take(inner)]),
        // Two's complement: the bits of x turned around are -1 - x.
        UnaryOperator::BitwiseNot => binary(number("-1"), BinaryOperator::Minus, take(inner)),
        UnaryOperator::Minus if matches!(inner, Expr::Interval(_)) || matches!(inner, Expr::Nested(nested) if matches!(**nested, Expr::Interval(_))) => {
            binary(take(inner), BinaryOperator::Multiply, number("-1"))
        }
        // The smallest of all has no positive counterpart that could be read first and negated then.
        UnaryOperator::Minus if matches!(inner, Expr::Value(value) if matches!(&value.value, Value::Number(digits, _) if digits == SMALLEST)) => {
            cast(Expr::value(Value::SingleQuotedString(format!("-{SMALLEST}"))), DataType::BigInt(None))
        }
        _ => return None,
    })
}

const SMALLEST: &str = "9223372036854775808";

fn number(digits: &str) -> Expr {
    Expr::value(Value::Number(digits.to_owned(), false))
}

/// `'\\x6162'::bytea` is two bytes. Error: 22P02.
fn bytes(text: Option<&str>) -> Result<Option<Expr>> {
    let Some(digits) = text.and_then(|text| text.strip_prefix("\\x")) else { return Ok(None) };
    if !digits.len().is_multiple_of(2) || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(Error::new(ErrorCode::BadValue, "a text is no bytea").with_hint("write '\\x' and an even number of hexadecimal digits"));
    }
    Ok(Some(Expr::value(Value::HexStringLiteral(digits.to_owned()))))
}

/// `x <> ALL (…)` is NOT IN. Error: 0A000 for the comparisons that the query engine gets wrong.
fn compared_with_all(expr: &mut Expr) -> Result<Option<Expr>> {
    match expr {
        Expr::AllOp { left, compare_op, right } => {
            let Some(subquery) = subquery(right) else { return Ok(None) };
            if *compare_op == BinaryOperator::NotEq {
                return Ok(Some(Expr::InSubquery { expr: Box::new(take(left)), subquery, negated: true }));
            }
            Err(compared_with_rows("ALL"))
        }
        Expr::AnyOp { left, compare_op, right, .. } => {
            let Some(subquery) = subquery(right) else { return Ok(None) };
            if *compare_op == BinaryOperator::Eq {
                return Ok(Some(Expr::InSubquery { expr: Box::new(take(left)), subquery, negated: false }));
            }
            Err(compared_with_rows("ANY"))
        }
        _ => Ok(None),
    }
}

fn subquery(expr: &Expr) -> Option<Box<datafusion::sql::sqlparser::ast::Query>> {
    match expr {
        Expr::Subquery(query) => Some(query.clone()),
        Expr::Nested(inner) => subquery(inner),
        _ => None,
    }
}

fn compared_with_rows(word: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("this comparison with {word} (SELECT …) is not in Weir"))
        .with_hint("compare with (SELECT max(…)) or (SELECT min(…)), or write EXISTS")
}

fn local_timestamp() -> Expr {
    cast(call("now", Vec::new()), DataType::Timestamp(None, TimezoneInfo::None))
}

/// `(a, b) OVERLAPS (c, d)`: the periods share an instant; each includes its begin and not its end, unless both are one.
fn overlaps(left: &mut Expr, right: &mut Expr) -> Result<Expr> {
    let (a, b) = period(left)?;
    let (c, d) = period(right)?;
    let is = |left: &Expr, op: BinaryOperator, right: &Expr| binary(left.clone(), op, right.clone());
    let both = |left: Expr, right: Expr| binary(left, BinaryOperator::And, right);
    let either = |left: Expr, right: Expr| binary(left, BinaryOperator::Or, right);
    let first_inside = both(is(&a, BinaryOperator::GtEq, &c), is(&a, BinaryOperator::Lt, &d));
    let second_inside = both(is(&c, BinaryOperator::GtEq, &a), is(&c, BinaryOperator::Lt, &b));
    Ok(either(is(&a, BinaryOperator::Eq, &c), either(first_inside, second_inside)))
}

/// Begin and end of a period, whichever way round they were written; an end that is an interval counts from the begin.
fn period(expr: &mut Expr) -> Result<(Expr, Expr)> {
    let Expr::Tuple(parts) = expr else { return Err(no_period()) };
    let [begin, end] = parts.as_mut_slice() else { return Err(no_period()) };
    let (begin, end) = (take(begin), take(end));
    let end = if matches!(end, Expr::Interval(_)) { binary(begin.clone(), BinaryOperator::Plus, end) } else { end };
    let ordered = binary(begin.clone(), BinaryOperator::LtEq, end.clone());
    let smaller = choice(ordered.clone(), begin.clone(), end.clone());
    Ok((smaller, choice(ordered, end, begin)))
}

fn no_period() -> Error {
    Error::new(ErrorCode::Syntax, "OVERLAPS compares two pairs").with_hint("write (begin, end) OVERLAPS (begin, end)")
}

fn choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![datafusion::sql::sqlparser::ast::CaseWhen { condition, result: then }],
        else_result: Some(Box::new(otherwise)),
    }
}

/// Functions under another name, with everything else as it was written.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("every", "bool_and"),
    ("variance", "var_samp"),
    ("ceiling", "ceil"),
    ("sign", "signum"),
    ("pow", "power"),
    ("statement_timestamp", "now"),
    ("transaction_timestamp", "now"),
    ("clock_timestamp", "now"),
    ("gen_random_uuid", "uuid"),
    // The query engine's function of that name removes the first one only.
    ("array_remove", "array_remove_all"),
];

fn renamed(function: &mut Function) -> Result<Option<Expr>> {
    let [name] = function.name.0.as_mut_slice() else { return Ok(None) };
    let Some(name) = name.as_ident().filter(|ident| ident.quote_style.is_none()).map(|ident| ident.value.to_ascii_lowercase()) else { return Ok(None) };
    if let Some((_, known)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
        function.name = ObjectName::from(vec![Ident::new(*known)]);
        return Ok(None);
    }
    sort_distinct(function, &name);
    type_unknown_filter(function);
    if name == "sum" {
        narrow::literals(function);
    }
    if name == "make_interval" {
        return super::make_interval::ordered(function).map(Some);
    }
    let Some(mut arguments) = plain_arguments(function) else { return Ok(None) };
    Ok(match (name.as_str(), arguments.as_mut_slice()) {
        ("mod", [a, b]) => Some(binary(a.clone(), BinaryOperator::Modulo, b.clone())),
        ("age", [since]) => {
            let today = cast(call("current_date", Vec::new()), DataType::Timestamp(None, TimezoneInfo::None));
            Some(call("age", vec![today, since.clone()]))
        }
        ("localtimestamp", []) => Some(local_timestamp()),
        ("to_date" | "to_timestamp", [text, pattern]) => match literal(pattern).filter(|pattern| !pattern.contains('%')) {
            Some(pattern) => Some(read_by(&name, text.clone(), pattern)?),
            None => None,
        },
        // Whole, and exact however long: what is left over is taken away first.
        ("div", [a, b]) => {
            let without_rest = binary(a.clone(), BinaryOperator::Minus, binary(a.clone(), BinaryOperator::Modulo, b.clone()));
            let whole = binary(without_rest, BinaryOperator::Divide, b.clone());
            Some(call("trunc", vec![binary(number("1.0"), BinaryOperator::Multiply, whole)]))
        }
        ("atan2", [y, x]) => Some(call("atan2", vec![double(y), double(x)])),
        _ => None,
    })
}

/// `FILTER (WHERE NULL)` lets nothing through; the query engine wants to be told that this NULL is a boolean.
fn type_unknown_filter(function: &mut Function) {
    if let Some(filter) = function.filter.as_mut().filter(|filter| matches!(&***filter, Expr::Value(value) if value.value == Value::Null)) {
        **filter = cast(take(filter), DataType::Boolean);
    }
}

/// A date, or the instant at which a clock of the session shows it.
fn read_by(name: &str, text: Expr, pattern: &str) -> Result<Expr> {
    let pattern = Expr::value(Value::SingleQuotedString(in_percent_words(pattern)?));
    Ok(match name {
        "to_date" => call("to_date", vec![text, pattern]),
        _ => cast(call("to_timestamp_micros", vec![text, pattern]), DataType::Timestamp(None, TimezoneInfo::WithTimeZone)),
    })
}

/// Distinct values in one text or list come in their order.
fn sort_distinct(function: &mut Function, name: &str) {
    let FunctionArguments::List(list) = &mut function.args else { return };
    if !matches!(name, "string_agg" | "array_agg") || list.duplicate_treatment != Some(DuplicateTreatment::Distinct) || !list.clauses.is_empty() {
        return;
    }
    if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) = list.args.first() {
        let order = OrderByExpr { expr: first.clone(), options: OrderByOptions { asc: None, nulls_first: None }, with_fill: None };
        list.clauses.push(FunctionArgumentClause::OrderBy(vec![order]));
    }
}

fn double(expr: &Expr) -> Expr {
    cast(expr.clone(), DataType::DoublePrecision)
}

/// The arguments of a call that has nothing else.
fn plain_arguments(function: &Function) -> Option<Vec<Expr>> {
    let list = match &function.args {
        FunctionArguments::List(list) => list,
        FunctionArguments::None => return Some(Vec::new()),
        FunctionArguments::Subquery(_) => return None,
    };
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() || function.over.is_some() || function.filter.is_some() {
        return None;
    }
    let plain = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    fn adapted(sql: &str) -> String {
        let mut statement = parse(sql).unwrap();
        adapt(&mut statement).unwrap();
        statement.to_string()
    }

    #[test]
    fn expressions_in_other_words() {
        assert_eq!(adapted("SELECT x::varchar(3)"), "SELECT left(CAST(x AS VARCHAR), 3)");
        assert_eq!(adapted("SELECT 2 ^ 3, ~5, @ x"), "SELECT power(2, 3), (-1 - 5), abs(x)");
        assert_eq!(adapted("SELECT INTERVAL '1 day 02:00'"), "SELECT INTERVAL '0 months 1 days 7200.000000 seconds'");
        assert_eq!(adapted("SELECT every(a) FILTER (WHERE b), mod(a, 2)"), "SELECT bool_and(a) FILTER (WHERE b), (a % 2)");
        assert_eq!(adapted("SELECT a SIMILAR TO 'x%'"), "SELECT a ~ '^(?:x(?s:.*))$'");
        assert!(adapt(&mut parse("SELECT x::char(3)").unwrap()).is_err());
    }
}
