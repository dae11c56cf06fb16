// SPDX-License-Identifier: Apache-2.0
//! A question that stands for one value is NULL when it has no row, also where its column never is. The query engine goes by the
//! column, and would take a constant for the answer: here the column is said to be one that may be NULL.

use crate::walk::expressions;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, scalar_subquery,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct NoRow;

impl AnalyzerRule for NoRow {
    fn name(&self) -> &str {
        "no_row"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| expressions(node, nullable)).data()
    }
}

fn nullable(node: Expr) -> Result<Transformed<Expr>> {
    let Expr::ScalarSubquery(asked) = &node else { return Ok(Transformed::no(node)) };
    let (qualifier, field) = asked.subquery.schema().qualified_field(0);
    if field.is_nullable() || !asked.outer_ref_columns.is_empty() {
        return Ok(Transformed::no(node));
    }
    let value = perhaps(Expr::Column(Column::from((qualifier, field)))).alias(field.name());
    let question = LogicalPlanBuilder::from(asked.subquery.as_ref().clone()).project(vec![value])?.build()?;
    Ok(Transformed::yes(scalar_subquery(Arc::new(question))))
}

/// `perhaps(x)` is `x`, and said to be NULL at times. Volatile, so that no constant comes out of it while planning.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Perhaps {
    signature: Signature,
}

fn perhaps(value: Expr) -> Expr {
    let function = Perhaps { signature: Signature::any(1, Volatility::Volatile) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![value]))
}

impl ScalarUDFImpl for Perhaps {
    fn name(&self) -> &str {
        "perhaps"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(arguments.arg_fields[0].as_ref().clone().with_nullable(true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(arguments.args[0].clone())
    }
}
