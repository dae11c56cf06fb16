// SPDX-License-Identifier: Apache-2.0
//! A date that meets a timestamp is the midnight before it, in microseconds. The planner would count both in nanoseconds, which
//! years before 1678 and after 2261 do not fit.

use crate::walk::{sides, with_sides};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

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
        Ok(Transformed::yes(match expr {
            Expr::ScalarFunction(ScalarFunction { func, args }) => {
                let args = args.into_iter().map(|argument| midnight(argument, schema)).collect();
                Expr::ScalarFunction(ScalarFunction { func, args })
            }
            comparison => with_sides(comparison, |side| Ok(midnight(side, schema)))?,
        }))
    }
}

/// Whether a date meets a timestamp without a zone in the expression, or is cut by `date_trunc`.
fn mixed(expr: &Expr, schema: &DFSchema) -> bool {
    if let Expr::ScalarFunction(function) = expr {
        return function.func.name() == "date_trunc" && function.args.iter().any(|argument| day(argument, schema));
    }
    let sides = sides(expr);
    let local = |side: &&Expr| matches!(side.get_type(schema), Ok(DataType::Timestamp(_, None)));
    sides.iter().any(|side| day(side, schema)) && sides.iter().any(local)
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
