// SPDX-License-Identifier: Apache-2.0
//! Bytes and texts as PostgreSQL turns one into the other: `'\xdead'` and `'\336\\'` are spellings of bytes, and bytes show as `\xdead`.

use super::scalar::Scalar;
use crate::errors::carry;
use crate::pg_catalog::type_name;
use crate::walk::compares;
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, Int32Array, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, InList};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, bytea};

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
            // `length` has this name, too: it would count letters.
            Expr::ScalarFunction(mut function)
                if function.func.name() == "character_length" && function.args.len() == 1 && bytes(&function.args[0], schema) =>
            {
                Ok(Transformed::yes(octet_length().call(std::mem::take(&mut function.args))))
            }
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

/// `octet_length` and `bit_length`, of texts and of bytes whatever they are.
pub(super) fn lengths() -> [Scalar; 2] {
    let bits = |arrays: &[ArrayRef], _: &DataType| counted(arrays, 8);
    [octet_length(), Scalar::any("bit_length", 1, count_of, bits)]
}

fn octet_length() -> Scalar {
    Scalar::any("octet_length", 1, count_of, |arrays, _| counted(arrays, 1))
}

/// Error: 42883 for what is neither text nor bytes.
fn count_of(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<DataType> {
    match &types[0] {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) | DataType::Null => Ok(DataType::Int32),
        data_type if text(data_type) => Ok(DataType::Int32),
        other => {
            let error = Error::new(ErrorCode::UnknownFunction, "this length is not one of such values").with_detail(type_name(other));
            Err(carry(error.with_hint("octet_length and bit_length take text and bytea; cast the value to text")))
        }
    }
}

/// Bytes of each value, `times` over. Error: 22003 beyond 2^31.
fn counted(arrays: &[ArrayRef], times: i32) -> Result<ArrayRef> {
    let values = cast(&arrays[0], &DataType::LargeBinary)?;
    let count = |bytes: &[u8]| {
        let count = i32::try_from(bytes.len()).ok().and_then(|count| count.checked_mul(times));
        count.ok_or_else(|| carry(Error::new(ErrorCode::ValueOutOfRange, "integer out of range")))
    };
    let counts = values.as_binary::<i64>().iter().map(|bytes| bytes.map(count).transpose()).collect::<Result<Int32Array>>()?;
    Ok(Arc::new(counts))
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
            Ok(Expr::Literal(ScalarValue::Binary(Some(bytea::read(&text).ok_or_else(malformed)?)), metadata))
        }
        other => Ok(other),
    }
}

fn malformed() -> datafusion::error::DataFusionError {
    let error = Error::new(ErrorCode::BadValue, "a text is no bytea");
    carry(error.with_hint("write '\\x' and an even number of hexadecimal digits; a backslash that stands for itself is written twice"))
}

fn texts_read(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let texts = cast(&arrays[0], &DataType::Utf8)?;
    let mut out = BinaryBuilder::new();
    for text in texts.as_string::<i32>() {
        match text {
            Some(text) => out.append_value(bytea::read(text).ok_or_else(malformed)?),
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
