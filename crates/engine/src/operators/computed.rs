// SPDX-License-Identifier: Apache-2.0
//! What is computed of rows can fail, so it is computed of the rows that are left. The engine moves a projection with all its expressions
//! below filters and below the first rows of an order, where it is narrower than its input; then `big - 1` fails for a row that the
//! filter leaves out. Projections that can fail stay where they are.

use super::Plan;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, IsNotNullExpr, IsNullExpr, Literal, NotExpr};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::sync::Arc;

pub(super) fn closed(node: &Plan) -> Option<Plan> {
    let projection = node.downcast_ref::<ProjectionExec>()?;
    projection.expr().iter().any(|output| can_fail(&output.expr)).then(|| Arc::new(Still { projection: node.clone() }) as Plan)
}

pub(super) fn opened(node: &Plan) -> Option<Plan> {
    node.downcast_ref::<Still>().map(|still| still.projection.clone())
}

/// Everything may but what is known not to.
fn can_fail(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let mut found = false;
    let looked = expr.apply(|node| {
        found |= !harmless(node);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || looked.is_err()
}

fn harmless(node: &Arc<dyn PhysicalExpr>) -> bool {
    use Operator::{And, Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq, Or};
    let compares = |binary: &BinaryExpr| matches!(binary.op(), And | Or | Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom);
    let plain = node.is::<Column>() || node.is::<Literal>() || node.is::<IsNullExpr>() || node.is::<IsNotNullExpr>() || node.is::<NotExpr>();
    plain || node.downcast_ref::<BinaryExpr>().is_some_and(compares)
}

/// A projection that nobody knows to be one.
#[derive(Debug)]
struct Still {
    projection: Plan,
}

impl DisplayAs for Still {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Still")
    }
}

impl ExecutionPlan for Still {
    fn name(&self) -> &'static str {
        "Still"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.projection.properties()
    }

    fn children(&self) -> Vec<&Plan> {
        self.projection.children()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Plan>) -> Result<Plan> {
        Ok(Arc::new(Self { projection: self.projection.clone().with_new_children(children)? }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.projection.execute(partition, context)
    }
}
