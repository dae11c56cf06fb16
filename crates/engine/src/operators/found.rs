// SPDX-License-Identifier: Apache-2.0
//! Conditions with subqueries of one row, above a scan. The engine runs the subqueries first, so that what they find can go into the
//! statement that the scan sends; the condition stays where it is.

use super::Plan;
use crate::scan::SourceScan;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use std::sync::Arc;

/// The plan whose scans know what the filters above them will have found.
pub(crate) fn scans_told(plan: Plan) -> Result<Plan> {
    let below = |node: Plan| {
        let Some(filter) = node.downcast_ref::<FilterExec>() else { return Ok(Transformed::no(node)) };
        let mut found = Vec::new();
        for part in split_conjunction(filter.predicate()) {
            if part.exists(|inner| Ok(inner.is::<ScalarSubqueryExpr>()))? {
                found.push(part.clone());
            }
        }
        match told(filter.input(), &found)? {
            Some(told) => node.with_new_children(vec![told]).map(Transformed::yes),
            None => Ok(Transformed::no(node)),
        }
    };
    plan.transform_up(below).data()
}

/// The input with its scan told, where nothing in between changes the columns.
fn told(input: &Plan, found: &[Arc<dyn PhysicalExpr>]) -> Result<Option<Plan>> {
    if found.is_empty() {
        return Ok(None);
    }
    if let Some(scan) = input.downcast_ref::<SourceScan>() {
        return Ok(Some(Arc::new(scan.asked(found.iter().cloned()))));
    }
    let passes = input.is::<RepartitionExec>() || input.is::<CooperativeExec>();
    let Some(below) = input.children().into_iter().next().filter(|_| passes) else { return Ok(None) };
    match told(below, found)? {
        Some(below) => input.clone().with_new_children(vec![below]).map(Some),
        None => Ok(None),
    }
}
