// SPDX-License-Identifier: Apache-2.0
//! `member(x)` is `x`. As the key of a `NOT IN` it hides that two columns are equal: the optimizer would take a condition on `x` over
//! to the question behind `NOT IN`, and so lose its NULLs, which decide.

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

#[derive(Debug, PartialEq, Eq, Hash)]
struct Same {
    signature: Signature,
}

/// `member(value)`.
pub(super) fn same(value: Expr) -> Expr {
    let function = Same { signature: Signature::any(1, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![value]))
}

impl ScalarUDFImpl for Same {
    fn name(&self) -> &str {
        "member"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(arguments.arg_fields[0].clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(arguments.args[0].clone())
    }
}
