// SPDX-License-Identifier: Apache-2.0
//! An average from a sum and a count that a source has made: the quotient is ours, so that it has the same digits wherever the rows are.

use super::mean::{mean, output_array};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// `sum / count` as `avg` makes it; NULL where nothing was counted. `sum` is a decimal, `count` a whole number of 64 bits, `output` the type of `avg`.
pub(crate) fn mean_of(sum: Expr, count: Expr, output: DataType) -> Expr {
    let function = MeanOf { output, signature: Signature::any(2, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![sum, count]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct MeanOf {
    output: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for MeanOf {
    fn name(&self) -> &str {
        "mean_of"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.output.clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let (sums, counts) = (arrays[0].as_primitive::<Decimal128Type>(), arrays[1].as_primitive::<Int64Type>());
        let mean_at = |row: usize| match (sums.is_valid(row), counts.is_valid(row)) {
            (true, true) => mean(sums.value(row), counts.value(row).unsigned_abs(), sums.scale(), &self.output),
            _ => Ok(None),
        };
        let made = output_array((0..sums.len()).map(mean_at).collect::<Result<_>>()?, &self.output)?;
        match constant && made.len() == 1 {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)),
            false => Ok(ColumnarValue::Array(made)),
        }
    }
}
