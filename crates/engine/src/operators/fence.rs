// SPDX-License-Identifier: Apache-2.0
//! Filters that move down a plan of operators know columns by their names, and take the first of two columns that are called the
//! same, which a join of two tables with an `id` has. A fence keeps filters from passing such an operator while they are moved. A filter
//! that can fail stands behind others for a reason, and would stand beside them: it is not moved at all.

use super::Plan;
use super::computed::{self, can_fail, still};
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

pub(super) fn closed(node: &Plan) -> Option<Plan> {
    has_twins(node).then(|| Arc::new(Fence { inner: node.clone() }) as Plan)
}

pub(super) fn closed_beside_what_fails(node: &Plan) -> Option<Plan> {
    let fails = node.downcast_ref::<FilterExec>().is_some_and(|filter| can_fail(filter.predicate(), &filter.input().schema()));
    if fails { Some(still(node)) } else { closed(node) }
}

pub(super) fn opened(node: &Plan) -> Option<Plan> {
    node.downcast_ref::<Fence>().map(|fence| fence.inner.clone()).or_else(|| computed::opened(node))
}

fn has_twins(node: &Plan) -> bool {
    let schema = node.schema();
    let mut names = HashSet::new();
    schema.fields().iter().any(|field| !names.insert(field.name()))
}

/// Lets no filter through: that is what an operator does of which nothing more is known.
#[derive(Debug)]
struct Fence {
    inner: Plan,
}

impl DisplayAs for Fence {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence")
    }
}

impl ExecutionPlan for Fence {
    fn name(&self) -> &'static str {
        "Fence"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn children(&self) -> Vec<&Plan> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Plan>) -> Result<Plan> {
        let inner = children.into_iter().next().unwrap_or_else(|| self.inner.clone());
        Ok(Arc::new(Self { inner }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.inner.execute(partition, context)
    }
}
