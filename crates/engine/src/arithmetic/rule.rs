// SPDX-License-Identifier: Apache-2.0
//! The rule that puts checked functions in the place of operators, once the types of both sides are known and equal.

use super::checked::Checked;
use super::settled::settle;
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
    Ok(match node {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if checks(&left, op, &right, schema) => Transformed::yes(Checked::call(op, *left, *right)),
        Expr::Negative(inner) if type_of(&inner, schema).is_some_and(|data_type| data_type.is_integer()) => {
            let zero = ScalarValue::new_zero(&inner.get_type(schema)?)?;
            Transformed::yes(Checked::call(Operator::Minus, Expr::Literal(zero, None), *inner))
        }
        other => match type_of(&other, schema).and_then(|data_type| settle(&other, &data_type)) {
            Some(settled) => Transformed::yes(settled),
            None => Transformed::no(other),
        },
    })
}

fn checks(left: &Expr, operator: Operator, right: &Expr, schema: &DFSchema) -> bool {
    if !Checked::checks_floating(operator) {
        return false;
    }
    let (Some(left), Some(right)) = (type_of(left, schema), type_of(right, schema)) else { return false };
    let floating = |data_type: &DataType| matches!(data_type, DataType::Float32 | DataType::Float64);
    left.is_integer() && right.is_integer() && Checked::checks_whole(operator) || floating(&left) && floating(&right)
}

/// What has no type yet (a parameter without a value) is left as it is.
fn type_of(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    match Checked::first(expr) {
        Some(first) => type_of(first, schema),
        None => expr.get_type(schema).ok(),
    }
}
