// SPDX-License-Identifier: Apache-2.0
//! Floating point numbers with one zero and one NaN. The query engine beneath compares, joins and groups by the order of their bits,
//! in which -0.0 stands below 0.0 and a NaN with a sign below all; for PostgreSQL either pair is one value. So every number is
//! settled where it comes from: read from a table, written as a literal, or computed.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// The batch with its floating point columns settled; most have nothing to settle and are passed on as they are.
pub(crate) fn settled_batch(batch: RecordBatch) -> Result<RecordBatch> {
    if !batch.columns().iter().any(unsettled) {
        return Ok(batch);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().iter().map(|column| settled(column.clone())).collect();
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

/// The same of one array. Numbers inside lists and structs stay as they are.
pub(crate) fn settled(array: ArrayRef) -> ArrayRef {
    if !unsettled(&array) {
        return array;
    }
    match array.data_type() {
        DataType::Float32 => {
            let numbers: PrimitiveArray<Float32Type> = array.as_primitive::<Float32Type>().unary(|value| if value.is_nan() { f32::NAN } else { value + 0.0 });
            Arc::new(numbers)
        }
        DataType::Float64 => Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(settled_number)),
        _ => array,
    }
}

fn settled_number(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

/// Whether there may be something to settle: a pass that only looks is cheaper than one that writes.
fn unsettled(array: &ArrayRef) -> bool {
    const NEGATIVE_ZERO_32: u32 = (-0.0_f32).to_bits();
    const NEGATIVE_ZERO_64: u64 = (-0.0_f64).to_bits();
    match array.data_type() {
        DataType::Float32 => array.as_primitive::<Float32Type>().values().iter().any(|value| value.is_nan() | (value.to_bits() == NEGATIVE_ZERO_32)),
        DataType::Float64 => array.as_primitive::<Float64Type>().values().iter().any(|value| value.is_nan() | (value.to_bits() == NEGATIVE_ZERO_64)),
        _ => false,
    }
}

/// The expression with its result settled, where that could be anything else. `data_type` is that of `expr`.
pub(super) fn settle(expr: &Expr, data_type: &DataType) -> Option<Expr> {
    if !matches!(data_type, DataType::Float32 | DataType::Float64) {
        return None;
    }
    match expr {
        Expr::Literal(value, metadata) => {
            let array = value.to_array().ok().filter(unsettled)?;
            let value = ScalarValue::try_from_array(&settled(array), 0).ok()?;
            Some(Expr::Literal(value, metadata.clone()))
        }
        Expr::ScalarFunction(function) if Settle::is(function) => match function.args.as_slice() {
            [inner @ Expr::ScalarFunction(within)] if Settle::is(within) => Some(inner.clone()),
            _ => None,
        },
        Expr::Negative(_) | Expr::ScalarFunction(_) | Expr::Cast(_) | Expr::TryCast(_) | Expr::BinaryExpr(_) => Some(Settle::call(expr.clone())),
        _ => None,
    }
}

/// What `settle` was written around, for EXPLAIN and for whoever reads expressions.
pub(super) fn inside(function: &ScalarFunction) -> Option<&Expr> {
    if Settle::is(function) { function.args.first() } else { None }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Settle {
    signature: Signature,
}

impl Settle {
    fn call(expr: Expr) -> Expr {
        let function = Self { signature: Signature::any(1, Volatility::Immutable) };
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![expr]))
    }

    fn is(function: &ScalarFunction) -> bool {
        (function.func.inner().as_ref() as &dyn std::any::Any).is::<Self>()
    }
}

impl ScalarUDFImpl for Settle {
    fn name(&self) -> &str {
        "settle"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(match &arguments.args[0] {
            ColumnarValue::Array(array) => ColumnarValue::Array(settled(array.clone())),
            ColumnarValue::Scalar(value) => ColumnarValue::Scalar(ScalarValue::try_from_array(&settled(value.to_array()?), 0)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float32Array, Float64Array};

    #[test]
    fn one_zero_and_one_nan() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![Some(-0.0), None, Some(-f64::NAN), Some(-1.5), Some(f64::NEG_INFINITY)]));
        let settled_array = settled(array);
        let bits: Vec<Option<u64>> = settled_array.as_primitive::<Float64Type>().iter().map(|value| value.map(f64::to_bits)).collect();
        let expected = [Some(0.0), None, Some(f64::NAN), Some(-1.5), Some(f64::NEG_INFINITY)].map(|value: Option<f64>| value.map(f64::to_bits));
        assert_eq!(bits, expected);
        let single: ArrayRef = Arc::new(Float32Array::from(vec![-0.0, 1.0]));
        assert_eq!(settled(single).as_primitive::<Float32Type>().value(0).to_bits(), 0);
    }

    #[test]
    fn what_is_settled_is_not_copied() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 1.5]));
        assert!(Arc::ptr_eq(&array, &settled(array.clone())));
    }
}
