// SPDX-License-Identifier: Apache-2.0
//! The rule that puts checked functions in the place of operators, once the types of both sides are known and equal.

use super::checked::Checked;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::AnalyzerRule;

#[derive(Debug)]
pub(super) struct CheckArithmetic;

impl AnalyzerRule for CheckArithmetic {
    fn name(&self) -> &str {
        "check_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(check_plan).data()
    }
}

fn check_plan(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    let names = NamePreserver::new(&plan);
    let checked = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let checked = expr.transform_up(|node| check_expr(node, &schema))?;
        Ok(checked.update_data(|expr| name.restore(expr)))
    })?;
    match checked.transformed {
        true => checked.map_data(LogicalPlan::recompute_schema),
        false => Ok(checked),
    }
}

fn check_expr(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let checked = match &node {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if whole(left, schema) && whole(right, schema) => {
            Checked::call(*op, left.as_ref().clone(), right.as_ref().clone())
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if floating(left, schema) && floating(right, schema) => {
            Checked::call_floating(*op, left.as_ref().clone(), right.as_ref().clone())
        }
        Expr::Negative(inner) if whole(inner, schema) => {
            let zero = ScalarValue::new_zero(&inner.get_type(schema)?)?;
            Checked::call(Operator::Minus, Expr::Literal(zero, None), inner.as_ref().clone())
        }
        _ => None,
    };
    Ok(checked.map_or_else(|| Transformed::no(node), Transformed::yes))
}

/// A whole number by its type. What has no type yet (a parameter without a value) is left as it is.
fn whole(expr: &Expr, schema: &DFSchema) -> bool {
    expr.get_type(schema).is_ok_and(|data_type: DataType| data_type.is_integer())
}

fn floating(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Float32 | DataType::Float64))
}
