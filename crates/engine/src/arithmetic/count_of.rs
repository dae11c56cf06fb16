// SPDX-License-Identifier: Apache-2.0
//! A count from counts that were added up: a whole number again, and 0 where nothing was added.

use super::sum_out_of_range;
use arrow::array::{Array, AsArray, Int64Array};
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// The `sum` of counts, which is a decimal, as the count that it is.
pub(crate) fn count_of(sum: Expr) -> Expr {
    let function = CountOf { signature: Signature::any(1, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![sum]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CountOf {
    signature: Signature,
}

impl ScalarUDFImpl for CountOf {
    fn name(&self) -> &str {
        "count_of"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(self.name(), DataType::Int64, false)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let sums = arrays[0].as_primitive::<Decimal128Type>();
        let count = |row: usize| if sums.is_valid(row) { i64::try_from(sums.value(row)).map_err(|_| sum_out_of_range()) } else { Ok(0) };
        let counts = Int64Array::from((0..sums.len()).map(count).collect::<Result<Vec<i64>>>()?);
        match constant && counts.len() == 1 {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&counts, 0)?)),
            false => Ok(ColumnarValue::Array(Arc::new(counts))),
        }
    }
}
