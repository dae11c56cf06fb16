// SPDX-License-Identifier: Apache-2.0
//! A floating point number is compared with a decimal as a double, as in PostgreSQL. The planner would turn both into decimals,
//! which NaN, infinities and large numbers do not fit.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, Operator, cast};

#[derive(Debug)]
pub(super) struct CompareAsDoubles;

impl FunctionRewrite for CompareAsDoubles {
    fn name(&self) -> &str {
        "compare_as_doubles"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        if !mixed(&expr, schema) {
            return Ok(Transformed::no(expr));
        }
        let double = |side: Box<Expr>| Box::new(as_double(*side, schema));
        Ok(Transformed::yes(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => Expr::BinaryExpr(BinaryExpr::new(double(left), op, double(right))),
            Expr::Between(Between { expr, negated, low, high }) => Expr::Between(Between::new(double(expr), negated, double(low), double(high))),
            Expr::InList(InList { expr, list, negated }) => {
                let list = list.into_iter().map(|item| as_double(item, schema)).collect();
                Expr::InList(InList::new(double(expr), list, negated))
            }
            other => other,
        }))
    }
}

/// Whether the expression compares a floating point number with a decimal.
fn mixed(expr: &Expr, schema: &DFSchema) -> bool {
    let sides: Vec<&Expr> = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => vec![left.as_ref(), right.as_ref()],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr.as_ref(), low.as_ref(), high.as_ref()],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(expr.as_ref()).chain(list).collect(),
        _ => return false,
    };
    let types: Vec<DataType> = sides.into_iter().filter_map(|side| side.get_type(schema).ok()).collect();
    types.iter().any(DataType::is_floating) && types.iter().any(decimal)
}

fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..))
}

fn as_double(side: Expr, schema: &DFSchema) -> Expr {
    match side.get_type(schema) {
        Ok(data_type) if decimal(&data_type) => cast(side, DataType::Float64),
        _ => side,
    }
}
