// SPDX-License-Identifier: Apache-2.0
//! A date or a text that meets a timestamp becomes one of its kind. The planner would go through nanoseconds, which most years do not fit.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, ExprSchemable, Operator, cast};

#[derive(Debug)]
pub(super) struct MeetTimestamps;

impl FunctionRewrite for MeetTimestamps {
    fn name(&self) -> &str {
        "meet_timestamps"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let Some(target) = target(&expr, schema) else { return Ok(Transformed::no(expr)) };
        let turn = |side: Expr| turned(side, &target, schema);
        Ok(Transformed::yes(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => Expr::BinaryExpr(BinaryExpr::new(Box::new(turn(*left)), op, Box::new(turn(*right)))),
            Expr::Between(Between { expr, negated, low, high }) => {
                Expr::Between(Between::new(Box::new(turn(*expr)), negated, Box::new(turn(*low)), Box::new(turn(*high))))
            }
            Expr::InList(InList { expr, list, negated }) => Expr::InList(InList::new(Box::new(turn(*expr)), list.into_iter().map(turn).collect(), negated)),
            other => other,
        }))
    }
}

/// The timestamp that the sides of a comparison meet in; one with a zone where there is one.
fn target(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    let sides: Vec<&Expr> = match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => vec![left.as_ref(), right.as_ref()],
        Expr::Between(Between { expr, low, high, .. }) => vec![expr.as_ref(), low.as_ref(), high.as_ref()],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(expr.as_ref()).chain(list).collect(),
        _ => return None,
    };
    let types: Vec<DataType> = sides.into_iter().filter_map(|side| side.get_type(schema).ok()).collect();
    let timestamps = types.iter().filter(|data_type| matches!(data_type, DataType::Timestamp(..)));
    let met = timestamps.max_by_key(|data_type| matches!(data_type, DataType::Timestamp(_, Some(_))))?;
    types.iter().any(meets).then(|| met.clone())
}

fn turned(side: Expr, target: &DataType, schema: &DFSchema) -> Expr {
    match side.get_type(schema) {
        // A column of texts is none of moments.
        Ok(from) if from == DataType::Date32 || meets(&from) && matches!(side, Expr::Literal(..)) => cast(side, target.clone()),
        _ => side,
    }
}

fn meets(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date32 | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn compares(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}
