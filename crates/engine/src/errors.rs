// SPDX-License-Identifier: Apache-2.0
//! From the query engine's errors to ours: which code, which message, which hint.

use crate::bind::is_twin;
use arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError, TableReference};
use datafusion::sql::sqlparser::parser::ParserError;
use weir_base::{Error, ErrorCode, nearest};

/// Wraps one of our errors so that it survives the way through the query engine.
pub(crate) fn carry(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The error a user sees. One of ours that was carried comes out as it was.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    if let Some(ours) = find_ours(&error) {
        return ours;
    }
    match error {
        DataFusionError::SQL(parser, _) => from_parser(*parser),
        DataFusionError::SchemaError(schema, _) => from_schema(*schema),
        DataFusionError::ArrowError(arrow, _) => from_arrow(&arrow),
        DataFusionError::ResourcesExhausted(text) => Error::new(ErrorCode::OutOfResources, "query needs more memory than it may use")
            .with_detail(first_line(&text))
            .with_hint("raise memory_limit in weir.yaml, or select fewer rows and columns"),
        DataFusionError::NotImplemented(text) => from_not_implemented(&text),
        DataFusionError::Plan(text) => from_plan_text(&text),
        DataFusionError::Execution(text) => from_execution_text(&text),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_datafusion(*inner),
        DataFusionError::Collection(mut all) if !all.is_empty() => from_datafusion(all.swap_remove(0)),
        DataFusionError::Shared(inner) => match find_ours(&inner) {
            Some(ours) => ours,
            None => from_shared(&inner),
        },
        DataFusionError::IoError(io) if out_of_disk(&io) => {
            Error::new(ErrorCode::OutOfResources, "the disk for spilled data is full").with_detail(io.to_string())
        }
        other => from_unexpected(&other.strip_backtrace()),
    }
}

/// What the query engine calls a bug of its own is often a function that is given something odd.
fn from_unexpected(text: &str) -> Error {
    if let Some(known) = from_function_text(text).or_else(|| from_grouping_text(text)).or_else(|| from_type_text(text)).or_else(|| from_regex_text(text)) {
        return known;
    }
    if text.contains("Cannot run range queries on datatype") {
        return Error::new(ErrorCode::TypeMismatch, "a window cannot be ordered by this type").with_hint("add ROWS BETWEEN …, or cast the ordering");
    }
    Error::internal("query engine failed").with_detail(first_line(text))
}

/// An error that several operators wait for, so that nobody owns it.
fn from_shared(error: &DataFusionError) -> Error {
    match error {
        DataFusionError::ArrowError(arrow, _) => from_arrow(arrow),
        DataFusionError::Execution(text) => from_execution_text(text),
        DataFusionError::Shared(inner) => from_shared(inner),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_shared(inner),
        DataFusionError::ResourcesExhausted(text) => from_datafusion(DataFusionError::ResourcesExhausted(text.clone())),
        other => from_plan_text(&other.strip_backtrace()),
    }
}

fn out_of_disk(io: &std::io::Error) -> bool {
    matches!(io.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

/// Looks for one of ours anywhere in the chain of causes.
fn find_ours(error: &DataFusionError) -> Option<Error> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(ours) = current.downcast_ref::<Error>() {
            return Some(ours.clone());
        }
        // These wrap without telling their `source`.
        if let Some(inner) = current.downcast_ref::<DataFusionError>() {
            match inner {
                DataFusionError::External(boxed) => {
                    if let Some(ours) = boxed.downcast_ref::<Error>() {
                        return Some(ours.clone());
                    }
                    if let Some(nested) = boxed.downcast_ref::<DataFusionError>() {
                        return find_ours(nested);
                    }
                }
                DataFusionError::Shared(shared) => return find_ours(shared),
                _ => {}
            }
        }
        if let Some(ArrowError::ExternalError(boxed)) = current.downcast_ref::<ArrowError>() {
            if let Some(ours) = boxed.downcast_ref::<Error>() {
                return Some(ours.clone());
            }
            if let Some(nested) = boxed.downcast_ref::<DataFusionError>() {
                return find_ours(nested);
            }
        }
        cause = current.source();
    }
    None
}

pub(crate) fn from_parser(error: ParserError) -> Error {
    match error {
        ParserError::RecursionLimitExceeded => {
            Error::new(ErrorCode::LimitExceeded, "statement is nested too deeply").with_hint("split it, or use common table expressions")
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            Error::new(ErrorCode::Syntax, "syntax error").with_detail(lower_first(&first_line(&text)))
        }
    }
}

fn from_schema(error: SchemaError) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } if missing_table(&field, &valid_fields).is_some() => {
            let (qualifier, known) = missing_table(&field, &valid_fields).unwrap_or_default();
            let error = Error::new(ErrorCode::UnknownTable, format!("missing FROM-clause entry for table {qualifier}"));
            if known.is_empty() { error } else { error.with_hint(format!("tables here are {}", known.join(", "))) }
        }
        SchemaError::FieldNotFound { field, valid_fields } => {
            let names: Vec<&str> = valid_fields.iter().map(|column| column.name.as_str()).collect();
            unknown_column(&field.name, &names)
        }
        SchemaError::AmbiguousReference { field } => {
            Error::new(ErrorCode::AmbiguousName, format!("column name {} is ambiguous", field.name)).with_hint("write table.column")
        }
        other => Error::new(ErrorCode::AmbiguousName, lower_first(&first_line(&other.to_string()))).with_hint("give the columns different aliases"),
    }
}

/// The qualifier of a column that names no table of the query, and the tables that there are. `None` where it names one.
fn missing_table(field: &Column, valid: &[Column]) -> Option<(String, Vec<String>)> {
    let qualifier = field.relation.as_ref()?.table();
    let mut known: Vec<&str> = valid.iter().filter_map(|column| column.relation.as_ref()).map(TableReference::table).collect();
    known.dedup();
    let missing = !known.is_empty() && !known.contains(&qualifier);
    missing.then(|| (qualifier.to_owned(), known.into_iter().take(12).map(str::to_owned).collect()))
}

/// 42703 with the nearest names.
pub(crate) fn unknown_column(wrong: &str, known: &[&str]) -> Error {
    if known.iter().any(|known| is_twin(wrong, known)) {
        return Error::new(ErrorCode::AmbiguousName, format!("column name {wrong} is ambiguous"))
            .with_hint("give the columns of the subquery different aliases");
    }
    let error = Error::new(ErrorCode::UnknownColumn, format!("column {wrong} does not exist"));
    let mut near = nearest(wrong, known.iter().copied());
    near.dedup();
    match near.is_empty() {
        false => error.with_hint(format!("did you mean {}?", near.join(" or "))),
        true if known.is_empty() => error,
        true => error.with_hint(format!("known columns: {}", known.iter().take(12).copied().collect::<Vec<_>>().join(", "))),
    }
}

fn from_arrow(error: &ArrowError) -> Error {
    match error {
        ArrowError::DivideByZero => Error::new(ErrorCode::DivisionByZero, "division by zero"),
        ArrowError::ArithmeticOverflow(_) => Error::new(ErrorCode::ValueOutOfRange, "result of an arithmetic operation is out of range"),
        // The text of a cast error quotes the value, which stays out of logs and messages.
        ArrowError::CastError(text) if too_large(text) => {
            Error::new(ErrorCode::ValueOutOfRange, "a number is out of the range of the type it is cast to").with_hint("try_cast gives NULL instead")
        }
        ArrowError::InvalidArgumentError(text) if text.contains("exceed max scale") || beyond_digits(text) => {
            Error::new(ErrorCode::ValueOutOfRange, "a decimal needs more digits than there are")
                .with_hint("cast one side to fewer decimal places, or to double")
        }
        ArrowError::CastError(_) => Error::new(ErrorCode::BadValue, "a value does not fit the type it is cast to").with_hint("try_cast gives NULL instead"),
        ArrowError::ParseError(_) => Error::new(ErrorCode::BadValue, "a text does not fit the type it is read as"),
        ArrowError::DictionaryKeyOverflowError => Error::new(ErrorCode::LimitExceeded, "too many different values in one column"),
        ArrowError::IoError(text, io) if out_of_disk(io) => {
            Error::new(ErrorCode::OutOfResources, "the disk for spilled data is full").with_detail(text.clone())
        }
        ArrowError::InvalidArgumentError(text) if text.contains("non UTF-8") => {
            Error::new(ErrorCode::BadValue, "bytes that are no text").with_hint("write encode(column, 'hex') or column::text")
        }
        ArrowError::ComputeError(text) if text.contains("overflow") => {
            Error::new(ErrorCode::ValueOutOfRange, "result of an arithmetic operation is out of range")
        }
        ArrowError::ComputeError(text) => Error::new(ErrorCode::BadValue, lower_first(&without_quoted(&first_line(text)))),
        other => {
            let text = other.to_string();
            from_regex_text(&text).unwrap_or_else(|| Error::internal("query engine failed").with_detail(first_line(&text)))
        }
    }
}

fn from_not_implemented(text: &str) -> Error {
    if text.contains("OuterReferenceColumn") || text.contains("does not support logical expression ScalarSubquery") {
        return Error::new(ErrorCode::Unsupported, "this subquery over columns of the query around it is not in Weir")
            .with_hint("write it as a join; for the first row of each group, number the rows with row_number() OVER (PARTITION BY …)");
    }
    if let Some(known) = from_type_text(text) {
        return known;
    }
    if let Some(name) = text.split_once("Unsupported SQL type ").map(|(_, name)| first_line(name)) {
        return Error::new(ErrorCode::Unsupported, format!("type {name} is not in Weir"))
            .with_hint("types are those of the SQL standard, and text, bytea, timestamptz, uuid, json");
    }
    // It shows how the query engine is built, which helps nobody.
    if text.contains("does not support logical expression") {
        return Error::new(ErrorCode::Unsupported, "an expression cannot stand where it does").with_hint("compute it in a subquery, and ask around it");
    }
    Error::new(ErrorCode::Unsupported, lower_first(&first_line(text)))
}

/// Whether a failed cast was one of a number, as opposed to one of a text that is no number.
fn too_large(text: &str) -> bool {
    text.starts_with("Can't cast value") || text.to_lowercase().contains("overflow") || beyond_digits(text)
}

/// Whether a decimal has more digits than there are, above or below zero.
fn beyond_digits(text: &str) -> bool {
    text.contains("too large to store") || text.contains("too small to store")
}

fn from_plan_text(text: &str) -> Error {
    let line = first_line(text);
    let folded = line.to_lowercase();
    if let Some(known) = from_function_text(text).or_else(|| from_grouping_text(text)).or_else(|| from_type_text(text)) {
        return known;
    }
    if let Some(known) = from_clause_text(&line) {
        return known;
    }
    let code = if folded.contains("invalid function") || folded.contains("unknown function") {
        ErrorCode::UnknownFunction
    } else if folded.contains("coerc")
        || folded.contains("cannot infer common")
        || folded.contains("type mismatch")
        || folded.contains("no function matches")
        || folded.contains("signature")
        || folded.contains("non-boolean predicate")
    {
        ErrorCode::TypeMismatch
    } else if folded.contains("table '") && folded.contains("not found") {
        ErrorCode::UnknownTable
    } else {
        ErrorCode::Syntax
    };
    Error::new(code, lower_first(&line))
}

/// The digits that stand behind some words.
fn number_behind(line: &str, words: &str) -> Option<String> {
    let (_, rest) = line.split_once(words)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// A position in ORDER BY or GROUP BY, or a number of rows, that is none.
fn from_position_text(line: &str) -> Option<Error> {
    let position = |clause: &str, place: &str| {
        let error = Error::new(ErrorCode::BadPosition, format!("{clause} position {place} is not in select list"));
        error.with_hint("positions count the selected columns from 1")
    };
    if let Some(place) = number_behind(line, "Order by column out of bounds, specified: ") {
        return Some(position("ORDER BY", &place));
    }
    if line.contains("Order by index starts at 1") {
        return Some(position("ORDER BY", "0"));
    }
    if let Some(place) = number_behind(line, "Cannot find column with position ") {
        return Some(position("GROUP BY", &place));
    }
    for clause in ["LIMIT", "OFFSET"] {
        if line.contains(&format!("{clause} must be >=")) {
            return Some(Error::new(ErrorCode::BadLimit, format!("{clause} must not be negative")));
        }
        if line.contains(&format!("Expected {clause} to be an integer")) {
            return Some(Error::new(ErrorCode::TypeMismatch, format!("{clause} takes a whole number")).with_hint(format!("write {clause} 10")));
        }
    }
    None
}

/// What is wrong with a clause, as PostgreSQL says it.
fn from_clause_text(line: &str) -> Option<Error> {
    if let Some(known) = from_position_text(line) {
        return Some(known);
    }
    if line.contains("SELECT DISTINCT ON expressions must match") {
        let error = Error::new(ErrorCode::BadPosition, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions");
        return Some(error.with_hint("begin the ORDER BY with the expressions of DISTINCT ON"));
    }
    if let Some((_, rest)) = line.split_once("For SELECT DISTINCT, ORDER BY expressions ") {
        let error = Error::new(ErrorCode::BadPosition, "for SELECT DISTINCT, ORDER BY expressions must appear in select list");
        return Some(error.with_detail(rest.split(" must appear").next().unwrap_or_default()).with_hint("select it too, or group by what is selected"));
    }
    if let Some((columns, names)) = number_behind(line, "Source table contains ").zip(number_behind(line, "columns but only ")) {
        let error = Error::new(ErrorCode::BadPosition, format!("a table has {columns} columns available but {names} columns specified"));
        return Some(error.with_hint("name each column, or none"));
    }
    if line.contains("to grouping function is not in grouping columns") {
        let error = Error::new(ErrorCode::NotGrouped, "arguments to GROUPING must be grouping expressions of the associated query level");
        return Some(error.with_hint("GROUPING takes the keys of ROLLUP, CUBE and GROUPING SETS as they are written there"));
    }
    if line.contains("Aggregate functions are not allowed in the WHERE clause") {
        return Some(Error::new(ErrorCode::NotGrouped, "aggregate functions are not allowed in WHERE").with_hint("write HAVING in the place of WHERE"));
    }
    if let Some((_, rest)) = line.split_once("The window ").filter(|(_, rest)| rest.contains("is not defined")) {
        let name = rest.split(" is not defined").next().unwrap_or_default();
        return Some(
            Error::new(ErrorCode::UnknownColumn, format!("window {name} does not exist"))
                .with_hint(format!("define it behind HAVING: WINDOW {name} AS (ORDER BY …)")),
        );
    }
    if line.contains("queries have different number of columns") {
        let error = Error::new(ErrorCode::Syntax, "each query of a UNION, INTERSECT or EXCEPT must have the same number of columns");
        return Some(error.with_hint("select NULL for a column that one of them has not"));
    }
    if let Some((_, rest)) = line.split_once("WITH query name ").filter(|(_, rest)| rest.contains("specified more than once")) {
        let name = rest.split(" specified").next().unwrap_or_default().trim_matches('"');
        return Some(
            Error::new(ErrorCode::DuplicateName, format!("WITH query name {name} specified more than once"))
                .with_hint("give each query of the WITH a name of its own"),
        );
    }
    if line.contains("only supports numeric, interval and timestamp types") {
        let error = Error::new(ErrorCode::UnknownFunction, "operator does not exist: a sign in front of what is no number");
        return Some(error.with_hint("cast it to a number first: -(x::numeric)"));
    }
    if let Some((_, columns)) = line.split_once("Too many columns! The subquery should only return one column: ") {
        return Some(Error::new(ErrorCode::Syntax, "subquery must return only one column").with_detail(format!("it returns {columns}")));
    }
    None
}

/// A function that is not there, or not for these arguments.
fn from_function_text(text: &str) -> Option<Error> {
    if let Some((_, rest)) = text.split_once("Invalid function '") {
        let (name, _) = rest.split_once('\'')?;
        return Some(Error::new(ErrorCode::UnknownFunction, format!("function {name} does not exist")));
    }
    if let Some((_, rest)) = text.split_once("table function '").or_else(|| text.split_once("Table function '"))
        && text.contains("not found")
    {
        let (name, _) = rest.split_once('\'')?;
        return Some(Error::new(ErrorCode::UnknownFunction, format!("function {name} does not exist")));
    }
    let takes_none = |name: &str| {
        let error = Error::new(ErrorCode::UnknownFunction, format!("function {name} does not take these arguments"));
        error.with_hint("cast the arguments to the types that it takes")
    };
    if let Some((_, rest)) = text.split_once("No function matches the given name and argument types '") {
        let (called, _) = rest.split_once('\'')?;
        let (name, _) = called.split_once('(')?;
        if let Some(error) = unmatched_values(name, &sql_types(called)) {
            return Some(error);
        }
        return Some(takes_none(name).with_detail(sql_types(called)));
    }
    let (_, rest) = text.split_once("Function '").filter(|_| text.contains("failed to match any signature") || text.contains("expects"))?;
    rest.split_once('\'').map(|(name, _)| takes_none(name))
}

/// Functions that stand for constructs of SQL are not told by their names. `called` is `coalesce(integer, date)`.
fn unmatched_values(name: &str, called: &str) -> Option<Error> {
    let types = called.split_once('(').map(|(_, types)| types.trim_end_matches(')'))?;
    let place = match name {
        "coalesce" => "COALESCE",
        "greatest" => "GREATEST",
        "least" => "LEAST",
        "make_array" => "ARRAY",
        "array_has" => {
            let error = Error::new(ErrorCode::WrongKind, "ANY and ALL compare with an array or with a subquery");
            return Some(error.with_detail(types).with_hint("write x = ANY(ARRAY[1, 2]) or x IN (1, 2)"));
        }
        _ => return None,
    };
    let mut different: Vec<&str> = types.split(", ").collect();
    different.dedup();
    let (one, other) = (different.first()?, different.get(1)?);
    Some(Error::new(ErrorCode::TypeMismatch, format!("{place} types {one} and {other} cannot be matched")).with_hint("cast one of them, such as x::text"))
}

/// Types that an operator does not take, or that do not meet, as PostgreSQL says it.
fn from_type_text(text: &str) -> Option<Error> {
    let between = |before: &str, after: &str| {
        let (_, rest) = text.split_once(before)?;
        let found = if after.is_empty() { rest.lines().next() } else { rest.split_once(after).map(|(found, _)| found) };
        found.map(|found| sql_types(found.trim().trim_end_matches('.')))
    };
    let operator = between("Cannot coerce arithmetic expression ", " to valid types")
        .or_else(|| between("Cannot infer common argument type for comparison operation ", ""))
        .or_else(|| between("Cannot infer common string type for string concat operation ", ""))
        .or_else(|| between("Cannot get result type for arithmetic operation ", ":"))
        .or_else(|| between("Cannot get result type for temporal operation ", ":"));
    // A NOT, and IS TRUE, are such comparisons in the query engine.
    if let Some((one, _)) = operator
        .as_deref()
        .and_then(|operator| operator.split_once(" IS DISTINCT FROM boolean").or_else(|| operator.split_once(" IS NOT DISTINCT FROM boolean")))
    {
        let error = Error::new(ErrorCode::TypeMismatch, format!("a condition must be type boolean, not type {one}"));
        return Some(error.with_hint("write a condition, such as x <> 0"));
    }
    if let Some(operator) = operator {
        let error = Error::new(ErrorCode::UnknownFunction, format!("operator does not exist: {operator}"));
        return Some(error.with_hint("cast one side to a type that the operator takes, such as x::integer"));
    }
    if let Some(operation) = between("Cannot infer common argument type for logical boolean operation ", "") {
        let word = if operation.contains(" OR ") { "OR" } else { "AND" };
        let error = Error::new(ErrorCode::TypeMismatch, format!("argument of {word} must be type boolean")).with_detail(operation);
        return Some(error.with_hint("write a condition, such as x <> 0"));
    }
    if let Some(condition) = between("Join condition must be boolean type, but got ", "") {
        let error = Error::new(ErrorCode::TypeMismatch, format!("argument of JOIN/ON must be type boolean, not type {condition}"));
        return Some(error.with_hint("write a condition, such as a.id = b.id"));
    }
    if let Some(sides) = between("There isn't a common type to coerce ", " in LIKE expression")
        .or_else(|| between("There isn't a common type to coerce ", " in ILIKE expression"))
    {
        let (one, other) = sides.split_once(" and ")?;
        let error = Error::new(ErrorCode::UnknownFunction, format!("operator does not exist: {one} LIKE {other}"));
        return Some(error.with_hint("only texts are matched with a pattern: cast the value to text"));
    }
    if let Some(from) = between("Unsupported CAST from ", " to ") {
        let to = between("Unsupported CAST from ", "")?;
        let to = to.rsplit(" to ").next()?;
        return Some(Error::new(ErrorCode::NoCast, format!("cannot cast type {from} to {to}")));
    }
    if let Some(one) = between("across values list at row", "but found") {
        let (_, one) = one.split_once("Was ")?;
        let other = between("but found ", "")?;
        let error = Error::new(ErrorCode::TypeMismatch, format!("VALUES types {} and {other} cannot be matched", one.trim()));
        return Some(error.with_hint("cast one of them, such as x::text"));
    }
    let (one, other) = (between("Cannot automatically convert ", " to ")?, between("Cannot automatically convert ", "").unwrap_or_default());
    let other = other.rsplit(" to ").next().unwrap_or_default().to_owned();
    Some(Error::new(ErrorCode::TypeMismatch, format!("types {one} and {other} do not meet")).with_hint("cast one of them, such as x::text"))
}

/// `Int64(1)` is 1.
fn literals_plain(text: &str) -> String {
    ["Int64(", "Int32(", "Float64(", "Utf8(", "Boolean("].iter().fold(text.to_owned(), |text, word| with_parts(&text, word, str::to_owned))
}

/// The names of types as they are written in SQL.
fn sql_types(text: &str) -> String {
    const NAMES: [(&str, &str); 16] = [
        ("Utf8View", "text"),
        ("LargeUtf8", "text"),
        ("Utf8", "text"),
        ("UInt64", "numeric"),
        ("UInt32", "bigint"),
        ("UInt16", "integer"),
        ("UInt8", "smallint"),
        ("Int64", "bigint"),
        ("Int32", "integer"),
        ("Int16", "smallint"),
        ("Float64", "double precision"),
        ("Float32", "real"),
        ("Boolean", "boolean"),
        ("Date32", "date"),
        ("Binary", "bytea"),
        ("Null", "unknown"),
    ];
    let named = NAMES.iter().fold(text.to_owned(), |text, (arrow, sql)| text.replace(arrow, sql));
    let named = with_parts(&named, "Timestamp(", |parts| {
        if parts.contains('"') || parts.contains('+') { "timestamp with time zone".to_owned() } else { "timestamp without time zone".to_owned() }
    });
    let named = with_parts(&named, "Decimal128(", |_| "numeric".to_owned());
    let named = with_parts(&named, "Time64(", |_| "time without time zone".to_owned());
    let named = with_parts(&named, "Interval(", |_| "interval".to_owned());
    let named = with_parts(&named, "Duration(", |_| "interval".to_owned());
    with_parts(&named, "List(", |item| format!("{item}[]"))
}

/// The text with each `word…)` replaced by what becomes of what is between the parentheses.
fn with_parts(text: &str, word: &str, written: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(word) {
        let Some((parts, end)) = after.split_once(')') else { break };
        out.push_str(before);
        out.push_str(&written(parts));
        rest = end;
    }
    out + rest
}

/// `column "t.i" must appear in the GROUP BY clause …`.
fn from_grouping_text(text: &str) -> Option<Error> {
    let (before, _) = text.split_once(" must appear in the GROUP BY clause")?;
    let column = before.rsplit("column ").next()?.trim_matches('"');
    if let Some((_, condition)) = text.split_once("HAVING clause references: ") {
        let condition = condition.split(" must appear").next().unwrap_or_default().trim_matches('"');
        let error = Error::new(ErrorCode::NotGrouped, "HAVING asks for a column that is neither grouped nor aggregated").with_detail(literals_plain(condition));
        return Some(error.with_hint("conditions on rows go to WHERE; HAVING takes aggregates and keys of GROUP BY"));
    }
    let error = Error::new(ErrorCode::NotGrouped, format!("column {column} must be grouped or aggregated"));
    Some(error.with_hint(format!("add it to GROUP BY, or write max({column})")))
}

/// A regular expression that the query engine cannot read. The expression itself stays out of the message.
fn from_regex_text(text: &str) -> Option<Error> {
    let unread = ["regex parse error", "Regular expression did not compile", "Compiled regex exceeds"].iter().any(|words| text.contains(words));
    let error = || Error::new(ErrorCode::BadValue, "a regular expression cannot be read");
    unread.then(|| {
        error().with_hint("expressions are those of Rust's regex crate: \\b for the edge of a word, \\z for the end of the text, and no back references")
    })
}

fn from_execution_text(text: &str) -> Error {
    if let Some(error) = from_regex_text(text) {
        return error;
    }
    let line = first_line(text);
    let folded = line.to_lowercase();
    if folded.contains("scalar subquery returned more than one row") {
        return Error::new(ErrorCode::SeveralRows, "a subquery that stands for one value gives several rows").with_hint("add LIMIT 1, or an aggregate");
    }
    if folded.contains("date_trunc granularity") {
        return Error::new(ErrorCode::BadSetting, "date_trunc does not know this unit").with_detail(without_quoted(&line));
    }
    if folded.contains("exceeds the representable i64 range") {
        return Error::new(ErrorCode::MomentOutOfRange, "date or timestamp out of range");
    }
    if ["month value", "day value", "year value", "month number", "invalid date"].iter().any(|words| folded.contains(words)) {
        return Error::new(ErrorCode::MomentOutOfRange, "date or timestamp out of range");
    }
    if folded.contains("error parsing timestamp from") {
        return Error::new(ErrorCode::BadMoment, "a text does not fit the pattern of a date or time").with_hint("patterns are like YYYY-MM-DD HH24:MI:SS");
    }
    if folded.contains("divide by zero") || folded.contains("division by zero") {
        return Error::new(ErrorCode::DivisionByZero, "division by zero");
    }
    if folded.contains("overflow") || folded.contains("out of range") {
        return Error::new(ErrorCode::ValueOutOfRange, "result of an arithmetic operation is out of range");
    }
    Error::new(ErrorCode::BadValue, lower_first(&without_quoted(&line)))
}

/// The text with what stands between single quotes left out: that may be a value.
fn without_quoted(text: &str) -> String {
    let pieces = text.split('\'').enumerate();
    pieces.map(|(index, piece)| if index % 2 == 0 { piece } else { "'…'" }).collect()
}

/// What the query engine puts before its sentences.
const PREFIXES: [&str; 4] = ["Internal error: ", "Execution error: ", "Error during planning: ", "This feature is not implemented: "];

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    let line = PREFIXES.iter().fold(line, |line, prefix| line.strip_prefix(prefix).unwrap_or(line));
    line.chars().take(400).collect()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        // `SELECT …` or `FFF` keep their capitals.
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => first.to_lowercase().chain(text.chars().skip(1)).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn ours_survive_every_wrapping() {
        let ours = || Error::new(ErrorCode::SourceBroke, "source app_pg broke");
        let arrow = DataFusionError::ArrowError(Box::new(ArrowError::ExternalError(Box::new(ours()))), None);
        let shared = DataFusionError::Shared(Arc::new(carry(ours())));
        let context = carry(ours()).context("while reading");
        let nested = DataFusionError::External(Box::new(carry(ours())));
        for wrapped in [carry(ours()), arrow, shared, context, nested] {
            assert_eq!(from_datafusion(wrapped).code(), ErrorCode::SourceBroke);
        }
    }
}
