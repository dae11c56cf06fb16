// SPDX-License-Identifier: Apache-2.0
//! What is computed of rows can fail, so it is computed of the rows that are left. The engine moves a projection with all its expressions
//! below filters and below the first rows of an order, where it is narrower than its input; then `big - 1` fails for a row that the
//! filter leaves out. Projections that can fail stay where they are.

use super::Plan;
use arrow::datatypes::{DataType, Schema};
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::sync::Arc;

pub(super) fn closed(node: &Plan) -> Option<Plan> {
    let projection = node.downcast_ref::<ProjectionExec>()?;
    let schema = projection.input().schema();
    projection.expr().iter().any(|output| can_fail(&output.expr, &schema)).then(|| still(node))
}

pub(super) fn opened(node: &Plan) -> Option<Plan> {
    node.downcast_ref::<Still>().map(|still| still.inner.clone())
}

/// The operator as one of which nothing is known: its expressions are moved nowhere.
pub(super) fn still(node: &Plan) -> Plan {
    Arc::new(Still { inner: node.clone() })
}

/// Everything may but what is known not to.
pub(super) fn can_fail(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let mut found = false;
    let looked = expr.apply(|node| {
        found |= !harmless(node, schema);
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || looked.is_err()
}

fn harmless(node: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    use Operator::{And, Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq, Or};
    let compares = |binary: &BinaryExpr| matches!(binary.op(), And | Or | Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom);
    let plain = node.is::<Column>() || node.is::<Literal>() || node.is::<IsNullExpr>() || node.is::<IsNotNullExpr>() || node.is::<NotExpr>();
    let chooses = node.is::<LikeExpr>() || node.is::<InListExpr>() || node.is::<CaseExpr>();
    let widens = |cast: &CastExpr| cast.expr().data_type(schema).is_ok_and(|from| has_room(&from, cast.cast_type()));
    plain || chooses || node.downcast_ref::<BinaryExpr>().is_some_and(compares) || node.downcast_ref::<CastExpr>().is_some_and(widens)
}

/// Whether every value of one type is one of the other.
fn has_room(from: &DataType, to: &DataType) -> bool {
    let text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match (from, to) {
        (DataType::Decimal128(digits, places), DataType::Decimal128(more, finer)) => {
            let whole = |digits: u8, places: i8| i16::from(digits) - i16::from(places);
            finer >= places && whole(*more, *finer) >= whole(*digits, *places)
        }
        (from, to) if from.is_signed_integer() && to.is_signed_integer() => from.primitive_width() <= to.primitive_width(),
        (from, to) => from == to || text(from) && text(to),
    }
}

/// An operator that nobody knows.
#[derive(Debug)]
struct Still {
    inner: Plan,
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
        self.inner.properties()
    }

    fn children(&self) -> Vec<&Plan> {
        self.inner.children()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Plan>) -> Result<Plan> {
        Ok(Arc::new(Self { inner: self.inner.clone().with_new_children(children)? }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.inner.execute(partition, context)
    }
}
