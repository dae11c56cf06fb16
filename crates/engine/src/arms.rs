// SPDX-License-Identifier: Apache-2.0
//! The arms of a UNION ALL can say different things of whether a column can be NULL, and an operator above takes the word of the first
//! batch it sees. Here each arm's batches get the schema of the whole.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// The session with this as the last of its rules.
pub(crate) fn with_arms_alike(state: SessionState) -> SessionState {
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rule(Arc::new(ArmsAlike)).build()
}

#[derive(Debug)]
struct ArmsAlike;

impl PhysicalOptimizerRule for ArmsAlike {
    fn name(&self) -> &str {
        "arms_alike"
    }

    fn schema_check(&self) -> bool {
        false
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let schema = node.schema();
            let unites = node.is::<UnionExec>() || node.is::<InterleaveExec>();
            if !unites || node.children().iter().all(|arm| arm.schema() == schema) {
                return Ok(Transformed::no(node));
            }
            let arms = node.children().into_iter().map(|arm| Arm::under(arm, &schema)).collect();
            node.clone().with_new_children(arms).map(Transformed::yes)
        })
        .data()
    }
}

/// An arm under the schema of all.
#[derive(Debug)]
struct Arm {
    inner: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
}

impl Arm {
    fn under(inner: &Arc<dyn ExecutionPlan>, schema: &SchemaRef) -> Arc<dyn ExecutionPlan> {
        if inner.schema() == *schema { inner.clone() } else { Arc::new(Self { inner: inner.clone(), schema: schema.clone() }) }
    }
}

impl DisplayAs for Arm {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArmExec")
    }
}

impl ExecutionPlan for Arm {
    fn name(&self) -> &'static str {
        "ArmExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inner.properties()
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let inner = children.into_iter().next().unwrap_or_else(|| self.inner.clone());
        Ok(Arc::new(Self { inner, schema: self.schema.clone() }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema.clone();
        let batches = self.inner.execute(partition, context)?.map(move |batch| {
            let batch = batch?;
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), batches)))
    }
}
