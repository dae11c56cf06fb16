// SPDX-License-Identifier: Apache-2.0
//! A date that meets a timestamp is the midnight before it, in microseconds. The planner would count both in nanoseconds, which
//! years before 1678 and after 2261 do not fit.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, Operator, cast};

#[derive(Debug)]
pub(super) struct DaysAsMidnights;

impl FunctionRewrite for DaysAsMidnights {
    fn name(&self) -> &str {
        "days_as_midnights"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        if !mixed(&expr, schema) {
            return Ok(Transformed::no(expr));
        }
        let moment = |side: Box<Expr>| Box::new(midnight(*side, schema));
        Ok(Transformed::yes(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => Expr::BinaryExpr(BinaryExpr::new(moment(left), op, moment(right))),
            Expr::Between(Between { expr, negated, low, high }) => Expr::Between(Between::new(moment(expr), negated, moment(low), moment(high))),
            Expr::InList(InList { expr, list, negated }) => {
                let list = list.into_iter().map(|item| midnight(item, schema)).collect();
                Expr::InList(InList::new(moment(expr), list, negated))
            }
            Expr::ScalarFunction(ScalarFunction { func, args }) => {
                let args = args.into_iter().map(|argument| midnight(argument, schema)).collect();
                Expr::ScalarFunction(ScalarFunction { func, args })
            }
            other => other,
        }))
    }
}

/// Whether a date meets a timestamp without a zone in the expression, or is cut by `date_trunc`.
fn mixed(expr: &Expr, schema: &DFSchema) -> bool {
    let sides: Vec<&Expr> = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => vec![left.as_ref(), right.as_ref()],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr.as_ref(), low.as_ref(), high.as_ref()],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(expr.as_ref()).chain(list).collect(),
        Expr::ScalarFunction(function) if function.func.name() == "date_trunc" => return function.args.iter().any(|argument| day(argument, schema)),
        _ => return false,
    };
    let local = |side: &&Expr| matches!(side.get_type(schema), Ok(DataType::Timestamp(_, None)));
    sides.iter().any(|side| day(side, schema)) && sides.iter().any(local)
}

fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn day(expr: &Expr, schema: &DFSchema) -> bool {
    matches!(expr.get_type(schema), Ok(DataType::Date32))
}

fn midnight(side: Expr, schema: &DFSchema) -> Expr {
    match day(&side, schema) {
        true => cast(side, DataType::Timestamp(TimeUnit::Microsecond, None)),
        false => side,
    }
}
