// SPDX-License-Identifier: Apache-2.0
//! `k >= -9223372036854775808 AND k <= 9223372036854775807` says no more than that there is a `k`. Taken as a range, the planner counts its
//! numbers in 64 bits to guess how many rows there are, and these are one more.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::logical_plan::Filter;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

#[derive(Debug)]
pub(crate) struct WholeRanges;

impl OptimizerRule for WholeRanges {
    fn name(&self) -> &str {
        "whole_ranges"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Filter(filter) = plan else { return Ok(Transformed::no(plan)) };
        let parts = split_conjunction_owned(filter.predicate.clone());
        if !parts.iter().any(|part| known(part).is_some()) {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        // A row for which a condition is not known is left out as one for which it is false.
        let mut plain: Vec<Expr> = Vec::with_capacity(parts.len());
        for part in parts {
            let part = known(&part).unwrap_or(part);
            if !plain.contains(&part) {
                plain.push(part);
            }
        }
        let Some(predicate) = conjunction(plain) else { return Ok(Transformed::no(LogicalPlan::Filter(filter))) };
        Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
    }
}

/// That there is a value, for a comparison that is true of each one.
fn known(condition: &Expr) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    let (value, op, bound) = match (left.as_ref(), right.as_ref()) {
        (value, Expr::Literal(bound, _)) => (value, *op, bound),
        (Expr::Literal(bound, _), value) => (value, op.swap()?, bound),
        _ => return None,
    };
    let all = match op {
        Operator::GtEq => matches!(bound, ScalarValue::Int64(Some(i64::MIN)) | ScalarValue::UInt64(Some(u64::MIN))),
        Operator::LtEq => matches!(bound, ScalarValue::Int64(Some(i64::MAX)) | ScalarValue::UInt64(Some(u64::MAX))),
        _ => false,
    };
    all.then(|| value.clone().is_not_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn a_range_of_all_numbers_is_that_there_is_one() {
        for condition in [col("k").gt_eq(lit(i64::MIN)), lit(i64::MIN).lt_eq(col("k")), col("k").lt_eq(lit(i64::MAX)), col("k").lt_eq(lit(u64::MAX))] {
            assert_eq!(known(&condition), Some(col("k").is_not_null()), "{condition}");
        }
        for condition in [col("k").gt(lit(i64::MIN)), col("k").gt_eq(lit(i64::MAX)), col("k").eq(lit(i64::MAX)), col("k").lt_eq(lit(i32::MAX))] {
            assert_eq!(known(&condition), None, "{condition}");
        }
    }
}
