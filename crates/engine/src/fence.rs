// SPDX-License-Identifier: Apache-2.0
//! Filters that move down a plan of operators know columns by their names, and take the first of two columns that are called the
//! same, which a join of two tables with an `id` has. A fence keeps filters from passing such an operator while they are moved.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The session with fences around each rule that moves filters.
pub(crate) fn fenced(state: SessionState) -> SessionState {
    let moves = |rule: &Arc<dyn PhysicalOptimizerRule + Send + Sync>| rule.name().starts_with("FilterPushdown");
    let fenced = |rule: &Arc<dyn PhysicalOptimizerRule + Send + Sync>| -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
        if moves(rule) { Arc::new(Fenced { inner: rule.clone() }) } else { rule.clone() }
    };
    let rules = state.physical_optimizers().iter().map(fenced).collect();
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build()
}

#[derive(Debug)]
struct Fenced {
    inner: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
}

impl PhysicalOptimizerRule for Fenced {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn schema_check(&self) -> bool {
        self.inner.schema_check()
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let fence = |node: Arc<dyn ExecutionPlan>| match has_twins(&node) {
            true => Ok(Transformed::yes(Arc::new(Fence { inner: node }) as Arc<dyn ExecutionPlan>)),
            false => Ok(Transformed::no(node)),
        };
        let moved = self.inner.optimize(plan.transform_up(fence).data()?, config)?;
        let open = |node: Arc<dyn ExecutionPlan>| match node.downcast_ref::<Fence>() {
            Some(fence) => Ok(Transformed::yes(fence.inner.clone())),
            None => Ok(Transformed::no(node)),
        };
        moved.transform_up(open).data()
    }
}

fn has_twins(node: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = node.schema();
    let mut names = HashSet::new();
    schema.fields().iter().any(|field| !names.insert(field.name()))
}

/// Lets no filter through: that is what an operator does of which nothing more is known.
#[derive(Debug)]
struct Fence {
    inner: Arc<dyn ExecutionPlan>,
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

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let inner = children.into_iter().next().unwrap_or_else(|| self.inner.clone());
        Ok(Arc::new(Self { inner }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.inner.execute(partition, context)
    }
}
