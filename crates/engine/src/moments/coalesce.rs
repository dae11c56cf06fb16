// SPDX-License-Identifier: Apache-2.0
//! `coalesce` in which a text beside dates or times is read as one, as in PostgreSQL; the query engine's own finds no common type.

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};
use std::sync::Arc;

/// The query engine's function with other rules for its arguments.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Coalesce {
    pub inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for Coalesce {
    fn name(&self) -> &str {
        "coalesce"
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let temporal = |data_type: &&DataType| matches!(data_type, DataType::Timestamp(..) | DataType::Date32 | DataType::Time64(_));
        let text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        match arguments.iter().find(temporal) {
            Some(moment) if arguments.iter().any(text) && arguments.iter().all(|other| text(other) || other == moment || other.is_null()) => {
                Ok(vec![moment.clone(); arguments.len()])
            }
            _ => self.inner.coerce_types(arguments),
        }
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.return_field_from_args(arguments)
    }

    fn simplify(&self, arguments: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.inner().simplify(arguments, context)
    }

    fn conditional_arguments<'a>(&self, arguments: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.inner().conditional_arguments(arguments)
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.inner.invoke_with_args(arguments)
    }
}
