// SPDX-License-Identifier: Apache-2.0
//! `now()` in microseconds, like every instant. The query engine's own counts nanoseconds, in which no date after 2262 can be compared with it.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Now {
    signature: Signature,
    aliases: Vec<String>,
}

impl Now {
    pub fn new() -> Self {
        Self { signature: Signature::nullary(Volatility::Stable), aliases: vec!["current_timestamp".to_owned()] }
    }
}

impl ScalarUDFImpl for Now {
    fn name(&self) -> &str {
        "now"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))
    }

    /// The same instant wherever it stands in a statement: the one at which the statement began.
    fn simplify(&self, arguments: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let Some(began) = context.query_execution_start_time() else { return Ok(ExprSimplifyResult::Original(arguments)) };
        let now = ScalarValue::TimestampMicrosecond(Some(began.timestamp_micros()), Some("UTC".into()));
        Ok(ExprSimplifyResult::Simplified(Expr::Literal(now, None)))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("now() is decided while planning")
    }
}
