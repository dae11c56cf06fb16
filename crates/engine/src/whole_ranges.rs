// SPDX-License-Identifier: Apache-2.0
//! `k >= -9223372036854775808 AND k <= 9223372036854775807` says no more than that there is a `k`. Taken as a range, the planner counts its
//! numbers in 64 bits to guess how many rows there are, and these are one more.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, Result, ScalarValue};
use datafusion::logical_expr::logical_plan::Filter;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, Join, LogicalPlan, Operator};
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
        Ok(match plan {
            LogicalPlan::Filter(filter) => match plain(split_conjunction_owned(filter.predicate.clone())).and_then(conjunction) {
                Some(predicate) => Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)),
                None => Transformed::no(LogicalPlan::Filter(filter)),
            },
            // Conditions that have moved into a scan are simplified there.
            LogicalPlan::TableScan(mut scan) => match plain(scan.filters.iter().cloned().flat_map(split_conjunction_owned).collect()) {
                Some(filters) => {
                    scan.filters = filters;
                    Transformed::yes(LogicalPlan::TableScan(scan))
                }
                None => Transformed::no(LogicalPlan::TableScan(scan)),
            },
            LogicalPlan::Join(join) if join.join_type == JoinType::Inner => {
                match join.filter.clone().and_then(|filter| plain(split_conjunction_owned(filter))).and_then(conjunction) {
                    Some(filter) => Transformed::yes(LogicalPlan::Join(Join { filter: Some(filter), ..join })),
                    None => Transformed::no(LogicalPlan::Join(join)),
                }
            }
            other => Transformed::no(other),
        })
    }
}

/// The conditions without those that every number fulfils; `None` where there are none of these. A row for which a condition is not known is
/// left out as one for which it is false.
fn plain(parts: Vec<Expr>) -> Option<Vec<Expr>> {
    if !parts.iter().any(|part| known(part).is_some()) {
        return None;
    }
    let mut plain: Vec<Expr> = Vec::with_capacity(parts.len());
    for part in parts {
        let part = known(&part).unwrap_or(part);
        if !plain.contains(&part) {
            plain.push(part);
        }
    }
    Some(plain)
}

/// That there is a value, for a comparison that is true of each one.
fn known(condition: &Expr) -> Option<Expr> {
    if let Expr::Not(denied) = condition {
        return negated(denied).as_ref().and_then(known);
    }
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

/// `NOT (k > most)` is simplified where it stands, at times after this has looked.
fn negated(condition: &Expr) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    Some(Expr::BinaryExpr(BinaryExpr::new(left.clone(), op.negate()?, right.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit, not};

    #[test]
    fn a_range_of_all_numbers_is_that_there_is_one() {
        for condition in [
            col("k").gt_eq(lit(i64::MIN)),
            lit(i64::MIN).lt_eq(col("k")),
            col("k").lt_eq(lit(i64::MAX)),
            col("k").lt_eq(lit(u64::MAX)),
            not(col("k").gt(lit(u64::MAX))),
        ] {
            assert_eq!(known(&condition), Some(col("k").is_not_null()), "{condition}");
        }
        for condition in [col("k").gt(lit(i64::MIN)), col("k").gt_eq(lit(i64::MAX)), col("k").eq(lit(i64::MAX)), col("k").lt_eq(lit(i32::MAX))] {
            assert_eq!(known(&condition), None, "{condition}");
        }
    }
}
