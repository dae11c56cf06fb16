// SPDX-License-Identifier: Apache-2.0
//! Bytes and texts as PostgreSQL turns one into the other: `'\xdead'` and `'\336\\'` are spellings of bytes, and bytes show as `\xdead`.

use super::scalar::Scalar;
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, InList};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, Operator};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

/// Runs before types are made to fit, so that a text beside bytes is read and not taken for them.
#[derive(Debug)]
pub(super) struct BytesAndTexts;

impl FunctionRewrite for BytesAndTexts {
    fn name(&self) -> &str {
        "bytes_and_texts"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        match expr {
            Expr::Cast(Cast { expr: inner, field }) => Ok(converted(*inner, field, schema)),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(op) && (bytes(&left, schema) || bytes(&right, schema)) => {
                Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(Box::new(read(*left)?), op, Box::new(read(*right)?)))))
            }
            Expr::InList(InList { expr, list, negated }) if bytes(&expr, schema) => {
                let list = list.into_iter().map(read).collect::<Result<_>>()?;
                Ok(Transformed::yes(Expr::InList(InList { expr, list, negated })))
            }
            Expr::Between(Between { expr, negated, low, high }) if bytes(&expr, schema) => {
                Ok(Transformed::yes(Expr::Between(Between { expr, negated, low: Box::new(read(*low)?), high: Box::new(read(*high)?) })))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn bytes(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Binary | DataType::LargeBinary | DataType::BinaryView))
}

fn text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn converted(inner: Expr, field: arrow::datatypes::FieldRef, schema: &DFSchema) -> Transformed<Expr> {
    let from = inner.get_type(schema);
    match (from, field.data_type()) {
        (Ok(from), DataType::Binary | DataType::LargeBinary) if text(&from) => {
            Transformed::yes(Scalar::any("text_to_bytes", 1, |_, _| Ok(DataType::Binary), texts_read).call(vec![inner]))
        }
        (Ok(DataType::Binary | DataType::LargeBinary | DataType::BinaryView), to) if text(to) => {
            Transformed::yes(Scalar::any("bytes_to_text", 1, |_, _| Ok(DataType::Utf8), bytes_shown).call(vec![inner]))
        }
        _ => Transformed::no(Expr::Cast(Cast { expr: Box::new(inner), field })),
    }
}

/// A literal text as the bytes that it spells. Error: 22P02.
fn read(expr: Expr) -> Result<Expr> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)), metadata) => {
            Ok(Expr::Literal(ScalarValue::Binary(Some(spelled(&text).ok_or_else(malformed)?)), metadata))
        }
        other => Ok(other),
    }
}

fn malformed() -> datafusion::error::DataFusionError {
    let error = Error::new(ErrorCode::BadValue, "a text is no bytea");
    carry(error.with_hint("write '\\x' and an even number of hexadecimal digits; a backslash that stands for itself is written twice"))
}

/// Hexadecimal after `\x`, else the bytes themselves with `\ooo` for one in octal and `\\` for a backslash.
fn spelled(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: Vec<u32> = digits.chars().filter(|letter| !letter.is_ascii_whitespace()).map(|letter| letter.to_digit(16)).collect::<Option<_>>()?;
        return digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'\\' {
            out.push(*first);
            rest = after;
        } else if after.first() == Some(&b'\\') {
            out.push(b'\\');
            rest = &after[1..];
        } else {
            out.push(u8::from_str_radix(std::str::from_utf8(after.get(..3)?).ok()?, 8).ok()?);
            rest = &after[3..];
        }
    }
    Some(out)
}

fn texts_read(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let texts = cast(&arrays[0], &DataType::Utf8)?;
    let mut out = BinaryBuilder::new();
    for text in texts.as_string::<i32>() {
        match text {
            Some(text) => out.append_value(spelled(text).ok_or_else(malformed)?),
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

fn bytes_shown(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let values = cast(&arrays[0], &DataType::Binary)?;
    let mut out = StringBuilder::with_capacity(values.len(), 0);
    for bytes in values.as_binary::<i32>() {
        match bytes {
            Some(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                out.append_value(format!("\\x{digits}"));
            }
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let cases: [(&str, Option<&[u8]>); 7] = [
            ("\\xDEad", Some(&[0xde, 0xad])),
            ("\\x", Some(&[])),
            ("abc", Some(b"abc")),
            ("a\\000\\\\", Some(&[b'a', 0, b'\\'])),
            ("\\x1", None),
            ("\\xzz", None),
            ("\\9", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(spelled(text).as_deref(), bytes, "{text}");
        }
    }
}
