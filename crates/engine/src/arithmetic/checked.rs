// SPDX-License-Identifier: Apache-2.0
//! `+`, `-` and `*` of whole numbers, and these and `/` of floating point numbers, as functions that fail on overflow.

use arrow::array::{Array, ArrayRef, AsArray, Datum};
use arrow::compute::kernels::numeric::{add, div, mul, sub};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, FieldRef, Float32Type, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::Result as PlanResult;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::Arc;

/// One operator over two numbers of the same type, whole or floating.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Checked {
    operator: Operator,
    signature: Signature,
}

impl Checked {
    /// `left operator right` with the check, or `None` for an operator that cannot overflow silently.
    pub fn call(operator: Operator, left: Expr, right: Expr) -> Option<Expr> {
        if !matches!(operator, Operator::Plus | Operator::Minus | Operator::Multiply) {
            return None;
        }
        Some(Self::of(operator, left, right))
    }

    /// The same of floating point numbers, which are divided here too: by zero, that is an error.
    pub fn call_floating(operator: Operator, left: Expr, right: Expr) -> Option<Expr> {
        let known = matches!(operator, Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide);
        known.then(|| Self::of(operator, left, right))
    }

    fn of(operator: Operator, left: Expr, right: Expr) -> Expr {
        let function = Self { operator, signature: Signature::any(2, Volatility::Immutable) };
        let function = Arc::new(ScalarUDF::from(function));
        Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![left, right]))
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.operator {
            Operator::Plus => "checked_add",
            Operator::Minus => "checked_subtract",
            Operator::Divide => "checked_divide",
            _ => "checked_multiply",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> PlanResult<DataType> {
        Ok(arguments[0].clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> PlanResult<FieldRef> {
        let nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), arguments.arg_fields[0].data_type().clone(), nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        let (left, right) = (&arguments.args[0], &arguments.args[1]);
        let kernel = match self.operator {
            Operator::Plus => add,
            Operator::Minus => sub,
            Operator::Divide => div,
            _ => mul,
        };
        match arguments.return_field.data_type() {
            DataType::Float64 => apply(left, right, |a, b| floating::<Float64Type>(a, b, kernel, self.operator, f64::is_finite, |x| x == 0.0)),
            DataType::Float32 => apply(left, right, |a, b| floating::<Float32Type>(a, b, kernel, self.operator, f32::is_finite, |x| x == 0.0)),
            _ => apply(left, right, kernel),
        }
    }
}

type Kernel = fn(&dyn Datum, &dyn Datum) -> Result<ArrayRef, ArrowError>;

/// Finite numbers have a finite result or none: no infinity comes out where none went in.
fn floating<T: ArrowPrimitiveType>(
    left: &dyn Datum,
    right: &dyn Datum,
    kernel: Kernel,
    operator: Operator,
    finite: fn(T::Native) -> bool,
    zero: fn(T::Native) -> bool,
) -> Result<ArrayRef, ArrowError> {
    let ((a, _), (b, b_scalar)) = (left.get(), right.get());
    if operator == Operator::Divide && b.as_primitive::<T>().iter().flatten().any(zero) {
        // A row whose other side is NULL has no quotient to be wrong.
        let known = |row: usize| b.is_valid(row) && zero(b.as_primitive::<T>().value(row)) && (a.len() != b.len() || a.is_valid(row));
        if b_scalar && a.null_count() < a.len() || !b_scalar && (0..b.len()).any(known) {
            return Err(ArrowError::DivideByZero);
        }
    }
    let made = kernel(left, right)?;
    let result = made.as_primitive::<T>();
    if result.iter().flatten().all(finite) {
        return Ok(made);
    }
    let (a, b) = (a.as_primitive::<T>(), b.as_primitive::<T>());
    let at = |side: &arrow::array::PrimitiveArray<T>, row: usize| finite(side.value(if side.len() == 1 { 0 } else { row }));
    let wrong = |row: usize| result.is_valid(row) && !finite(result.value(row)) && at(a, row) && at(b, row);
    match (0..result.len()).any(wrong) {
        true => Err(ArrowError::ArithmeticOverflow("a floating point number is out of range".into())),
        false => Ok(made),
    }
}

/// The expression as it was written, for EXPLAIN: with operators in place of the functions.
pub(crate) fn plain(expr: Expr) -> PlanResult<Expr> {
    expr.transform_up(|node| Ok(written(&node).map_or_else(|| Transformed::no(node), Transformed::yes))).data()
}

fn written(node: &Expr) -> Option<Expr> {
    let Expr::ScalarFunction(function) = node else { return None };
    let checked = function.func.inner().as_ref() as &dyn std::any::Any;
    let checked = checked.downcast_ref::<Checked>()?;
    let [left, right] = function.args.as_slice() else { return None };
    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left.clone()), checked.operator, Box::new(right.clone()))))
}
