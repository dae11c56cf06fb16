// SPDX-License-Identifier: Apache-2.0
//! `+`, `-` and `*` of whole numbers as functions that fail on overflow.

use arrow::compute::kernels::numeric::{add, mul, sub};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use std::sync::Arc;

/// One operator over two whole numbers of the same type.
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
        let function = Self { operator, signature: Signature::any(2, Volatility::Immutable) };
        let function = Arc::new(ScalarUDF::from(function));
        Some(Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![left, right])))
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.operator {
            Operator::Plus => "checked_add",
            Operator::Minus => "checked_subtract",
            _ => "checked_multiply",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), arguments.arg_fields[0].data_type().clone(), nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (left, right) = (&arguments.args[0], &arguments.args[1]);
        match self.operator {
            Operator::Plus => apply(left, right, add),
            Operator::Minus => apply(left, right, sub),
            _ => apply(left, right, mul),
        }
    }
}

/// The expression as it was written, for EXPLAIN: with operators in place of the functions.
pub(crate) fn plain(expr: Expr) -> Result<Expr> {
    expr.transform_up(|node| Ok(written(&node).map_or_else(|| Transformed::no(node), Transformed::yes))).data()
}

fn written(node: &Expr) -> Option<Expr> {
    let Expr::ScalarFunction(function) = node else { return None };
    let checked = function.func.inner().as_ref() as &dyn std::any::Any;
    let checked = checked.downcast_ref::<Checked>()?;
    let [left, right] = function.args.as_slice() else { return None };
    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left.clone()), checked.operator, Box::new(right.clone()))))
}
