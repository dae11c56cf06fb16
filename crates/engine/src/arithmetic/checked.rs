// SPDX-License-Identifier: Apache-2.0
//! `+`, `-` and `*` of whole numbers, and these and `/` of floating point numbers, as functions that fail on overflow.

use super::settled::{inside, settled};
use arrow::array::{Array, ArrayRef, AsArray, Datum};
use arrow::compute::kernels::numeric::{add, div, mul, sub};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, FieldRef, Float32Type, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result as PlanResult, internal_datafusion_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::Arc;

/// Operators over numbers of the same type, whole or floating, from the left to the right. A chain is one function: as a function of a
/// function it would be as deep as it is long, and each look at its type or name would walk through all of it again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Checked {
    operators: Vec<Operator>,
    name: String,
    signature: Signature,
}

impl Checked {
    /// Whether the operator over whole numbers could overflow silently.
    pub fn checks_whole(operator: Operator) -> bool {
        matches!(operator, Operator::Plus | Operator::Minus | Operator::Multiply)
    }

    /// The same of floating point numbers, which are divided here too: by zero, that is an error.
    pub fn checks_floating(operator: Operator) -> bool {
        Self::checks_whole(operator) || operator == Operator::Divide
    }

    /// `left operator right` with the check; where the left side is one already, this operator comes after its own.
    pub fn call(operator: Operator, left: Expr, right: Expr) -> Expr {
        let (mut operators, mut arguments) = match left {
            Expr::ScalarFunction(function) => match Self::inside(&function) {
                Some(chain) => (chain.operators.clone(), function.args),
                None => (Vec::new(), vec![Expr::ScalarFunction(function)]),
            },
            other => (Vec::new(), vec![other]),
        };
        operators.push(operator);
        arguments.push(right);
        let function = Arc::new(ScalarUDF::from(Self::of(operators)));
        Expr::ScalarFunction(ScalarFunction::new_udf(function, arguments))
    }

    fn of(operators: Vec<Operator>) -> Self {
        let name = match operators.as_slice() {
            [Operator::Plus] => "checked_add".to_owned(),
            [Operator::Minus] => "checked_subtract".to_owned(),
            [Operator::Divide] => "checked_divide".to_owned(),
            [Operator::Multiply] => "checked_multiply".to_owned(),
            chain => chain.iter().fold("checked_chain".to_owned(), |name, operator| format!("{name}{operator}")),
        };
        let signature = Signature::any(operators.len() + 1, Volatility::Immutable);
        Self { operators, name, signature }
    }

    fn inside(function: &ScalarFunction) -> Option<&Self> {
        let inner = function.func.inner().as_ref() as &dyn std::any::Any;
        inner.downcast_ref::<Self>()
    }

    /// The first number of a chain, whose type is that of the whole.
    pub fn first(expr: &Expr) -> Option<&Expr> {
        let Expr::ScalarFunction(function) = expr else { return None };
        Self::inside(function).and_then(|_| function.args.first())
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        &self.name
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
        let mut numbers = arguments.args.into_iter();
        let first = numbers.next().ok_or_else(|| internal_datafusion_err!("no numbers"))?;
        self.operators.iter().zip(numbers).try_fold(first, |left, (operator, right)| one(*operator, &left, &right, arguments.return_field.data_type()))
    }
}

fn one(operator: Operator, left: &ColumnarValue, right: &ColumnarValue, data_type: &DataType) -> PlanResult<ColumnarValue> {
    let kernel = match operator {
        Operator::Plus => add,
        Operator::Minus => sub,
        Operator::Divide => div,
        _ => mul,
    };
    match data_type {
        DataType::Float64 => apply(left, right, |a, b| floating::<Float64Type>(a, b, kernel, operator, f64::is_finite, |x| x == 0.0)),
        DataType::Float32 => apply(left, right, |a, b| floating::<Float32Type>(a, b, kernel, operator, f32::is_finite, |x| x == 0.0)),
        _ => apply(left, right, kernel),
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
    let made = settled(kernel(left, right)?);
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

/// The operators that a function of this module stands for.
pub(crate) fn written(node: &Expr) -> Option<Expr> {
    let Expr::ScalarFunction(function) = node else { return None };
    if let Some(settled) = inside(function) {
        return Some(settled.clone());
    }
    let checked = Checked::inside(function)?;
    let mut numbers = function.args.iter().cloned();
    let first = numbers.next()?;
    let beside = |left: Expr, (operator, right): (&Operator, Expr)| Expr::BinaryExpr(BinaryExpr::new(Box::new(left), *operator, Box::new(right)));
    Some(checked.operators.iter().zip(numbers).fold(first, beside))
}
