// SPDX-License-Identifier: Apache-2.0
//! With push-down switched off each operator over a source is told as kept, as it would be told with it.

use super::cut::{aggregate_words, join_words, list, note, sort_words, stops};
use super::fragment::{as_kept, may_push};
use super::union::union_words;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::{FetchType, Limit, SkipType};
use weir_api::PushDown;

/// Notes every operator with the first statement below it; filters are told by the scans themselves.
pub(super) fn note_all(plan: &LogicalPlan) -> Result<()> {
    let look = |node: &LogicalPlan| {
        if let (Some(what), Err(reason)) = (words(node), may_push(PushDown::Off, "")) {
            note(node, &as_kept(what, reason));
        }
        Ok(TreeNodeRecursion::Continue)
    };
    plan.apply_with_subqueries(look).map(|_| ())
}

fn words(node: &LogicalPlan) -> Option<String> {
    match node {
        LogicalPlan::Join(join) => Some(format!("join on {}", join_words(join))),
        LogicalPlan::Aggregate(aggregate) => Some(aggregate_words(aggregate)),
        LogicalPlan::Sort(sort) => Some(sort_words(sort)),
        LogicalPlan::Limit(limit) if !stops(&limit.input) => rows(limit).map(|rows| format!("limit {rows}")),
        LogicalPlan::Window(window) => Some(format!("window {}", list(&window.window_expr))),
        LogicalPlan::Union(union) => Some(union_words(union)),
        _ => None,
    }
}

fn rows(limit: &Limit) -> Option<usize> {
    match (limit.get_skip_type(), limit.get_fetch_type()) {
        (Ok(SkipType::Literal(skip)), Ok(FetchType::Literal(Some(fetch)))) => Some(skip.saturating_add(fetch)),
        _ => None,
    }
}
