// SPDX-License-Identifier: Apache-2.0
//! `CASE WHEN n = 0 THEN false ELSE m / n > 2 END` must not divide by zero. The optimizer writes a `CASE` of booleans as `AND` and
//! `OR`, which look at all rows; one that compares with `true` it leaves alone.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, lit};

#[derive(Debug)]
pub(super) struct KeepGuards;

impl FunctionRewrite for KeepGuards {
    fn name(&self) -> &str {
        "keep_guards"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        match expr {
            Expr::Case(case) if guards(&case, schema) => Ok(Transformed::yes(Expr::Case(Case { expr: Some(Box::new(lit(true))), ..case }))),
            other => Ok(Transformed::no(other)),
        }
    }
}

fn guards(case: &Case, schema: &DFSchema) -> bool {
    let boolean = || case.when_then_expr.first().and_then(|(_, then)| then.get_type(schema).ok()) == Some(DataType::Boolean);
    let branches = || case.when_then_expr.iter().flat_map(|(when, then)| [when, then]).chain(&case.else_expr);
    case.expr.is_none() && branches().any(|branch| can_fail(branch)) && boolean()
}

/// Whether a value of the expression may be an error.
fn can_fail(expr: &Expr) -> bool {
    let fails = |node: &Expr| {
        use Operator::{Divide, Minus, Modulo, Multiply, Plus};
        let arithmetic = matches!(node, Expr::BinaryExpr(BinaryExpr { op: Divide | Modulo | Plus | Minus | Multiply, .. }));
        arithmetic || matches!(node, Expr::Cast(_) | Expr::ScalarFunction(_) | Expr::Negative(_))
    };
    expr.exists(|node| Ok(fails(node))).unwrap_or(true)
}
