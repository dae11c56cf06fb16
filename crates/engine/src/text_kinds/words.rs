// SPDX-License-Identifier: Apache-2.0
//! The functions that turn a kind of text into what it is compared by.

use super::{Labels, TextKind, address, json, uuid};
use crate::errors::carry;
use arrow::array::{ArrayRef, AsArray, Int32Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result as PlanResult, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Between, BinaryExpr, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

/// What becomes of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Work {
    /// The uuid as PostgreSQL prints it, which keeps its kind. What is none is an error, or NULL where the cast only tries.
    Uuid { tries: bool },
    /// The spelling that equal JSON shares.
    Canonical,
    /// Where a label of an enum stands.
    Rank(Arc<Labels>),
    /// The key by which addresses are equal and in order.
    Address,
    /// The text itself, and no kind any more.
    Plain,
    /// The text itself, as `jsonb`.
    Jsonb,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Word {
    work: Work,
    signature: Signature,
}

impl Word {
    pub fn call(work: Work, argument: Expr) -> Expr {
        let function = Self { work, signature: Signature::any(1, Volatility::Immutable) };
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![argument]))
    }

    /// What comes out is of this kind.
    pub fn kind(&self) -> Option<TextKind> {
        match self.work {
            Work::Uuid { .. } => Some(TextKind::Uuid),
            Work::Jsonb => Some(TextKind::Jsonb),
            Work::Canonical | Work::Rank(_) | Work::Address | Work::Plain => None,
        }
    }

    /// The labels and the enum of a rank.
    fn ranked(expr: &Expr) -> Option<(&Labels, &Expr)> {
        let Expr::ScalarFunction(function) = expr else { return None };
        let word = (function.func.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Self>()?;
        let Work::Rank(labels) = &word.work else { return None };
        Some((labels, function.args.first()?))
    }

    fn array(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let failed = |error: arrow::error::ArrowError| Error::internal("a text that is none").with_detail(error.to_string());
        let texts = cast(values, &DataType::Utf8).map_err(failed)?;
        let texts = texts.as_string::<i32>();
        Ok(match &self.work {
            Work::Plain | Work::Jsonb => Arc::new(texts.clone()),
            Work::Address => Arc::new(texts.iter().map(|text| text.map(address_key).transpose()).collect::<Result<StringArray>>()?),
            Work::Canonical => Arc::new(texts.iter().map(|text| text.map(canonical_json).transpose()).collect::<Result<StringArray>>()?),
            Work::Rank(labels) => Arc::new(texts.iter().map(|text| text.map(|text| rank(labels, text)).transpose()).collect::<Result<Int32Array>>()?),
            Work::Uuid { tries } => {
                let read = |text: &str| match canonical_uuid(text) {
                    Err(_) if *tries => Ok(None),
                    read => read.map(Some),
                };
                Arc::new(texts.iter().map(|text| text.map_or(Ok(None), read)).collect::<Result<StringArray>>()?)
            }
        })
    }
}

/// A comparison of ranks as one of the labels; `None` for what is none.
pub(super) fn with_labels(expr: &Expr) -> Option<Expr> {
    let label = |labels: &Labels, side: &Expr| match (side, Word::ranked(side)) {
        (_, Some((_, other))) => Some(other.clone()),
        (Expr::Literal(ScalarValue::Int32(Some(place)), _), None) => {
            Some(Expr::Literal(ScalarValue::Utf8(Some(labels.labels.get(usize::try_from(*place).ok()?)?.clone())), None))
        }
        _ => None,
    };
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (labels, _) = Word::ranked(left).or_else(|| Word::ranked(right))?;
            Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(label(labels, left)?), *op, Box::new(label(labels, right)?))))
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let (labels, inner) = Word::ranked(expr)?;
            Some(Expr::Between(Between::new(Box::new(inner.clone()), *negated, Box::new(label(labels, low)?), Box::new(label(labels, high)?))))
        }
        other => Word::ranked(other).map(|(_, inner)| inner.clone()),
    }
}

/// Error: 22P02.
pub(super) fn canonical_uuid(text: &str) -> Result<String> {
    uuid::canonical(text).ok_or_else(|| bad("uuid").with_hint("a uuid has 32 hexadecimal digits, such as 6f1d1e0a-0000-4000-8000-00000000abcd"))
}

/// Error: 22P02.
pub(super) fn address_key(text: &str) -> Result<String> {
    address::key(text).ok_or_else(|| bad("inet").with_hint("an address is written like 10.0.0.9, 10.0.0.0/8 or 2001:db8::1"))
}

/// Error: 22P02.
pub(super) fn canonical_json(text: &str) -> Result<String> {
    json::canonical(text).ok_or_else(|| bad("jsonb"))
}

/// Error: 22P02 with the labels that there are.
pub(super) fn rank(labels: &Labels, text: &str) -> Result<i32> {
    labels.rank(text).ok_or_else(|| {
        let shown: Vec<&str> = labels.labels.iter().take(12).map(String::as_str).collect();
        bad(&labels.type_name).with_hint(format!("its labels are {}", shown.join(", ")))
    })
}

fn bad(type_name: &str) -> Error {
    Error::new(ErrorCode::BadValue, format!("a text is no value of type {type_name}"))
}

impl ScalarUDFImpl for Word {
    fn name(&self) -> &str {
        match self.work {
            Work::Uuid { .. } => "uuid",
            Work::Canonical => "jsonb",
            Work::Rank(_) => "enum_rank",
            Work::Address => "inet",
            Work::Plain => "text",
            Work::Jsonb => "as_jsonb",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(if matches!(self.work, Work::Rank(_)) { DataType::Int32 } else { DataType::Utf8 })
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> PlanResult<FieldRef> {
        let nullable = matches!(self.work, Work::Uuid { tries: true }) || arguments.arg_fields.iter().any(|field| field.is_nullable());
        let data_type = self.return_type(&[])?;
        let field = Field::new("", data_type, true).with_metadata(self.kind().map(|kind| kind.metadata()).unwrap_or_default());
        Ok(Arc::new(field.with_name(self.name()).with_nullable(nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        match &arguments.args[0] {
            ColumnarValue::Scalar(value) => {
                let one = self.array(&value.to_array()?).map_err(carry)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&one, 0)?))
            }
            ColumnarValue::Array(values) => Ok(ColumnarValue::Array(self.array(values).map_err(carry)?)),
        }
    }
}
