// SPDX-License-Identifier: Apache-2.0
//! Keys of a join that went to a source: how many, for which column, and from where. Their values are nobody's business.

use crate::scan::{LakeScan, SourceScan};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_base::SourceName;

/// One list of keys in one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeysSent {
    pub source: SourceName,
    /// The statement that was planned, without them.
    pub sql: String,
    pub column: String,
    /// How many; `None` for a comparison with the one value of a subquery.
    pub keys: Option<usize>,
}

/// Where the keys of a list come from: the tables on the other side of the join that has them.
pub(crate) fn origin(plan: &Arc<dyn ExecutionPlan>, sent: &KeysSent) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let mut all = BTreeSet::new();
    let _ = plan.apply(|node| {
        let Some(join) = node.downcast_ref::<HashJoinExec>() else { return Ok(TreeNodeRecursion::Continue) };
        if reads(join.right(), sent) {
            let built = tables(join.left());
            let by_name = join.on().iter().any(|(_, right)| right.downcast_ref::<Column>().is_some_and(|column| column.name() == sent.column));
            if by_name {
                named.extend(built.iter().cloned());
            }
            all.extend(built);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    if named.is_empty() { all } else { named }
}

fn reads(plan: &Arc<dyn ExecutionPlan>, sent: &KeysSent) -> bool {
    let scan = |node: &Arc<dyn ExecutionPlan>| {
        Ok(node.downcast_ref::<SourceScan>().is_some_and(|scan| *scan.handle.name() == sent.source && scan.fragment.sql == sent.sql))
    };
    plan.exists(scan).unwrap_or(false)
}

/// The tables that a part of a plan reads.
fn tables(plan: &Arc<dyn ExecutionPlan>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let _ = plan.apply(|node| {
        if let Some(scan) = node.downcast_ref::<SourceScan>() {
            found.extend(scan.fragment.tables.iter().map(|used| used.name.to_string()));
        }
        if let Some(scan) = node.downcast_ref::<LakeScan>() {
            found.insert(scan.name.to_string());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}
