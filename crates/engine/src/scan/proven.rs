// SPDX-License-Identifier: Apache-2.0
//! Conditions that every row of a lake table meets, as its manifests show: nobody asks them, and a column that only they need is not read.
//! Files are left out by the same bounds.

use super::LakeTableProvider;
use super::predicate::prunable;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Comes after conditions have moved down to their tables.
#[derive(Debug)]
pub(crate) struct Proven;

impl OptimizerRule for Proven {
    fn name(&self) -> &str {
        "proven_by_manifests"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Filter(filter) = plan else { return Ok(Transformed::no(plan)) };
        let LogicalPlan::TableScan(scan) = filter.input.as_ref() else { return Ok(Transformed::no(LogicalPlan::Filter(filter))) };
        let provider = source_as_provider(&scan.source)?;
        let Some(lake) = provider.downcast_ref::<LakeTableProvider>() else { return Ok(Transformed::no(LogicalPlan::Filter(filter))) };
        let conditions = split_conjunction(&filter.predicate);
        let open: Vec<Expr> = conditions.iter().filter(|condition| !met(condition, lake)).map(|condition| (*condition).clone()).collect();
        if open.len() == conditions.len() {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        Ok(Transformed::yes(match conjunction(open) {
            Some(open) => LogicalPlan::Filter(Filter::try_new(open, filter.input)?),
            None => Arc::unwrap_or_clone(filter.input),
        }))
    }
}

/// A comparison alone, which becomes the same as a predicate of the lake, not less.
fn met(condition: &Expr, lake: &LakeTableProvider) -> bool {
    let Expr::BinaryExpr(BinaryExpr { op, .. }) = condition else { return false };
    let compares = matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq | Operator::Eq | Operator::NotEq);
    compares && prunable(condition, &lake.schema()).is_some_and(|predicate| lake.table.always(&predicate))
}
