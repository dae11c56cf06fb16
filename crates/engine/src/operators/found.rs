// SPDX-License-Identifier: Apache-2.0
//! Conditions with subqueries of one row, above a scan. The engine runs the subqueries first, so that what they find can go into the
//! statement that the scan sends; the condition stays where it is.

use super::{Plan, changed};
use crate::scan::SourceScan;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use std::sync::Arc;

/// The plan whose scans know what the filters above them will have found.
pub(crate) fn scans_told(plan: Plan) -> Result<Plan> {
    changed(plan, |node| {
        let filter = node.downcast_ref::<FilterExec>()?;
        let found: Vec<_> = split_conjunction(filter.predicate()).into_iter().filter(|part| has_subquery(part)).cloned().collect();
        let told = told(filter.input(), &found)?;
        node.clone().with_new_children(vec![told]).ok()
    })
}

fn has_subquery(part: &Arc<dyn PhysicalExpr>) -> bool {
    let mut found = false;
    let _ = part.apply(|node| {
        found |= node.is::<ScalarSubqueryExpr>();
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}

/// The input with its scan told, where nothing in between changes the columns.
fn told(input: &Plan, found: &[Arc<dyn PhysicalExpr>]) -> Option<Plan> {
    if found.is_empty() {
        return None;
    }
    if let Some(scan) = input.downcast_ref::<SourceScan>() {
        return Some(Arc::new(scan.asked(found.iter().cloned())));
    }
    if !input.is::<RepartitionExec>() && !input.is::<CooperativeExec>() {
        return None;
    }
    let below = told(input.children().first()?, found)?;
    input.clone().with_new_children(vec![below]).ok()
}
