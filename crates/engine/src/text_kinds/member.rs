// SPDX-License-Identifier: Apache-2.0
//! `->` and `->>`: what a JSON document has under a key or at a place, cut out of its text as it stands there.

use super::TextKind;
use super::rule::kind_of;
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{DFSchema, Result as PlanResult, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

/// Plans the two operators.
#[derive(Debug)]
pub(super) struct Members;

impl ExprPlanner for Members {
    fn plan_binary_op(&self, raw: RawBinaryExpr, schema: &DFSchema) -> PlanResult<PlannerResult<RawBinaryExpr>> {
        let as_text = match raw.op {
            BinaryOperator::Arrow => false,
            BinaryOperator::LongArrow => true,
            _ => return Ok(PlannerResult::Original(raw)),
        };
        let binary = match kind_of(&raw.left, schema) {
            Some(TextKind::Json) => false,
            Some(TextKind::Jsonb) => true,
            _ => return Err(carry(no_document(&raw.op))),
        };
        let step = match raw.right.get_type(schema)? {
            whole if whole.is_integer() => datafusion::logical_expr::cast(raw.right, DataType::Int64),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => raw.right,
            _ => {
                return Err(carry(
                    Error::new(ErrorCode::UnknownFunction, format!("{} takes a key or a place", raw.op)).with_hint("write doc -> 'key' or doc -> 0"),
                ));
            }
        };
        let step = match step {
            Expr::Cast(cast) if matches!(*cast.expr, Expr::Literal(..)) => match *cast.expr {
                Expr::Literal(value, _) => Expr::Literal(value.cast_to(&DataType::Int64)?, None),
                other => other,
            },
            other => other,
        };
        let member = Member { as_text, binary, signature: Signature::any(2, Volatility::Immutable) };
        let call = ScalarFunction::new_udf(Arc::new(ScalarUDF::from(member)), vec![raw.left, step]);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

fn no_document(op: &BinaryOperator) -> Error {
    Error::new(ErrorCode::UnknownFunction, format!("{op} takes json or jsonb on its left side"))
        .with_hint("columns of these types are known from PostgreSQL; other texts have no members here")
}

/// The operator that a call stands for.
pub(super) fn operator(function: &str) -> Option<Operator> {
    match function {
        MEMBER => Some(Operator::Arrow),
        MEMBER_TEXT => Some(Operator::LongArrow),
        _ => None,
    }
}

const MEMBER: &str = "json_member";
const MEMBER_TEXT: &str = "json_member_text";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Member {
    as_text: bool,
    /// `jsonb`, where a document that is neither list nor object is a list of one.
    binary: bool,
    signature: Signature,
}

impl Member {
    /// The kind of what comes out; none for a text.
    pub fn kind(&self) -> Option<TextKind> {
        match (self.as_text, self.binary) {
            (true, _) => None,
            (false, true) => Some(TextKind::Jsonb),
            (false, false) => Some(TextKind::Json),
        }
    }

    fn array(&self, documents: &ArrayRef, steps: &ArrayRef) -> PlanResult<ArrayRef> {
        let documents = cast(documents, &DataType::Utf8)?;
        let documents = documents.as_string::<i32>();
        let found = |row: usize, step: Step<'_>| self.of(documents.value(row), step).map_err(carry);
        let made: PlanResult<StringArray> = if steps.data_type().is_integer() {
            let places = cast(steps, &DataType::Int64)?;
            let places = places.as_primitive::<Int64Type>();
            let one = |row: usize| if documents.is_null(row) || places.is_null(row) { Ok(None) } else { found(row, Step::Place(places.value(row))) };
            (0..documents.len()).map(one).collect()
        } else {
            let keys = cast(steps, &DataType::Utf8)?;
            let keys = keys.as_string::<i32>();
            let one = |row: usize| if documents.is_null(row) || keys.is_null(row) { Ok(None) } else { found(row, Step::Key(keys.value(row))) };
            (0..documents.len()).map(one).collect()
        };
        Ok(Arc::new(made?))
    }

    fn of(&self, document: &str, step: Step<'_>) -> Result<Option<String>> {
        let document = document.trim_matches(BLANKS);
        let found = match document.chars().next() {
            Some('{') => match step {
                Step::Key(key) => in_object(document, key)?,
                Step::Place(_) => None,
            },
            Some('[') => match step {
                Step::Key(_) => None,
                Step::Place(place) => in_list(document, place)?,
            },
            _ => Some(document).filter(|_| self.binary && matches!(step, Step::Place(0 | -1))),
        };
        match found {
            Some(found) if self.as_text => shown(found),
            found => Ok(found.map(str::to_owned)),
        }
    }
}

impl ScalarUDFImpl for Member {
    fn name(&self) -> &str {
        if self.as_text { MEMBER_TEXT } else { MEMBER }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> PlanResult<FieldRef> {
        let metadata = self.kind().map(|kind| kind.metadata()).unwrap_or_default();
        Ok(Arc::new(Field::new(self.name(), DataType::Utf8, true).with_metadata(metadata)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let made = self.array(&arrays[0], &arrays[1])?;
        match constant && made.len() == 1 {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)),
            false => Ok(ColumnarValue::Array(made)),
        }
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

#[derive(Debug, Clone, Copy)]
enum Step<'s> {
    Key(&'s str),
    /// From 0 on, or from the end below.
    Place(i64),
}

fn malformed() -> Error {
    Error::new(ErrorCode::BadValue, "a text is no json")
}

/// The value under a key; the last one of two.
fn in_object<'d>(document: &'d str, key: &str) -> Result<Option<&'d str>> {
    let mut found = None;
    for member in parts(document) {
        let member = member?;
        let name_end = value_end(member)?;
        let (name, rest) = member.split_at(name_end);
        let value = rest.trim_start_matches(BLANKS).strip_prefix(':').ok_or_else(malformed)?;
        if text_of(name)? == key {
            found = Some(value.trim_matches(BLANKS));
        }
    }
    Ok(found)
}

fn in_list(document: &str, place: i64) -> Result<Option<&str>> {
    let items: Vec<&str> = parts(document).collect::<Result<_>>()?;
    let place = if place < 0 { place.checked_add(i64::try_from(items.len()).unwrap_or(i64::MAX)) } else { Some(place) };
    Ok(place.and_then(|place| usize::try_from(place).ok()).and_then(|place| items.get(place).copied()))
}

/// What stands between the commas of a list or an object.
fn parts(container: &str) -> impl Iterator<Item = Result<&str>> {
    let mut rest = Some(&container[1..container.len().max(2) - 1]).filter(|inside| !inside.trim_matches(BLANKS).is_empty());
    std::iter::from_fn(move || {
        let all = rest.take()?;
        let part_end = match separator(all) {
            Ok(end) => end,
            Err(error) => return Some(Err(error)),
        };
        if let Some(end) = part_end {
            rest = Some(&all[end + 1..]);
        }
        Some(Ok(all[..part_end.unwrap_or(all.len())].trim_matches(BLANKS)))
    })
}

/// Where the first comma is that is in no string and in no container.
fn separator(text: &str) -> Result<Option<usize>> {
    let mut depth = 0_usize;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += string_end(&text[at..])? - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).ok_or_else(malformed)?,
            b',' if depth == 0 => return Ok(Some(at)),
            _ => {}
        }
        at += 1;
    }
    if depth == 0 { Ok(None) } else { Err(malformed()) }
}

/// Behind the string that a member begins with.
fn value_end(member: &str) -> Result<usize> {
    if member.starts_with('"') { string_end(member) } else { Err(malformed()) }
}

/// Behind the quote that ends a string.
fn string_end(text: &str) -> Result<usize> {
    let mut escaped = false;
    let closing = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    closing.map(|(at, _)| at + 1).ok_or_else(malformed)
}

/// A string without quotes and escapes.
fn text_of(quoted: &str) -> Result<String> {
    serde_json::from_str(quoted).map_err(|_| malformed())
}

/// A value as text; a null is none. Error: 22P02 for a string that no text can hold.
fn shown(value: &str) -> Result<Option<String>> {
    match value {
        "null" => Ok(None),
        string if string.starts_with('"') => match text_of(string)? {
            text if text.contains('\0') => Err(Error::new(ErrorCode::BadValue, "a string in json holds a character that no text can")),
            text => Ok(Some(text)),
        },
        other => Ok(Some(other.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(as_text: bool, binary: bool) -> Member {
        Member { as_text, binary, signature: Signature::any(2, Volatility::Immutable) }
    }

    #[test]
    fn members_are_cut_out_as_they_stand() {
        let document = r#" { "a" : {"x": [1, "},\""] } , "b":1.50,"\u0061":"caf\u00e9 \"q\"", "": null } "#;
        let json = |step: Step<'_>| member(false, false).of(document, step).unwrap();
        let text = |step: Step<'_>| member(true, false).of(document, step).unwrap();
        assert_eq!(json(Step::Key("a")).as_deref(), Some(r#""caf\u00e9 \"q\"""#), "the last of two keys");
        assert_eq!(text(Step::Key("a")).as_deref(), Some("café \"q\""));
        assert_eq!(text(Step::Key("b")).as_deref(), Some("1.50"));
        assert_eq!((json(Step::Key("")).as_deref(), text(Step::Key(""))), (Some("null"), None));
        assert_eq!((json(Step::Key("c")), json(Step::Place(0))), (None, None));
        let list = r#"[[1, 2], {"k": "v,]"}, "z"]"#;
        let at = |place: i64| member(false, true).of(list, Step::Place(place)).unwrap();
        assert_eq!([at(0), at(1), at(-1), at(3), at(-4)].map(|found| found.unwrap_or_default()), ["[1, 2]", r#"{"k": "v,]"}"#, "\"z\"", "", ""]);
        assert_eq!(member(false, true).of("[]", Step::Place(0)).unwrap(), None);
        assert_eq!(member(true, true).of("7", Step::Place(-1)).unwrap().as_deref(), Some("7"));
        assert_eq!(member(true, false).of("7", Step::Place(0)).unwrap(), None);
    }

    #[test]
    fn what_is_no_json_is_said_so() {
        for wrong in ["{a:1}", "{\"a\" 1}", "{\"a}", "[1}]", "{\"a\":\"\\u0000\"}", "{\"a\":\"\\ud800\"}"] {
            let step = if wrong.starts_with('[') { Step::Place(0) } else { Step::Key("a") };
            assert_eq!(member(true, false).of(wrong, step).unwrap_err().code(), ErrorCode::BadValue, "{wrong}");
        }
    }
}
