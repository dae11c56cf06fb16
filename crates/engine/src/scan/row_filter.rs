// SPDX-License-Identifier: Apache-2.0
//! Physical expressions as a filter that the lake's reader can apply before it decodes the other columns.

use super::predicate::prunable_now;
use crate::arithmetic::settled_batch;
use crate::errors::from_datafusion;
use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::{collect_columns, conjunction};
use datafusion::physical_expr_common::physical_expr::{snapshot_generation, snapshot_physical_expr};
use std::sync::Arc;
use weir_base::Error;
use weir_lake::{BatchFilter, Predicate};

/// A conjunction over a few columns of a table.
#[derive(Debug)]
pub(crate) struct PhysicalFilter {
    /// Indexes of those columns in the table, in the order of the batches that are given in.
    columns: Vec<usize>,
    expr: Arc<dyn PhysicalExpr>,
}

impl PhysicalFilter {
    /// `filters` speak of the scan's output, whose column `i` is the table's column `projection[i]`.
    pub fn new(filters: &[Arc<dyn PhysicalExpr>], projection: &[usize], table: &SchemaRef) -> Result<Self> {
        let expr = conjunction(filters.iter().cloned());
        let mut columns: Vec<usize> = collect_columns(&expr).iter().map(|column| projection[column.index()]).collect();
        columns.sort_unstable();
        columns.dedup();
        let narrow: Schema = table.project(&columns)?;
        let expr = expr
            .transform(|node| {
                let Some(column) = (node.as_ref() as &dyn std::any::Any).downcast_ref::<Column>() else { return Ok(Transformed::no(node)) };
                let name = table.field(projection[column.index()]).name();
                let moved: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, narrow.index_of(name)?));
                Ok(Transformed::yes(moved))
            })
            .data()?;
        Ok(Self { columns, expr })
    }
}

impl BatchFilter for PhysicalFilter {
    fn columns(&self) -> Vec<usize> {
        self.columns.clone()
    }

    fn evaluate(&self, batch: &RecordBatch) -> weir_base::Result<BooleanArray> {
        let batch = settled_batch(batch.clone()).map_err(from_datafusion)?;
        let value = self.expr.evaluate(&batch).map_err(from_datafusion)?;
        let array = value.into_array(batch.num_rows()).map_err(from_datafusion)?;
        array.as_boolean_opt().cloned().ok_or_else(|| Error::internal("a filter that is not boolean"))
    }

    fn generation(&self) -> u64 {
        snapshot_generation(&self.expr)
    }

    /// What a join or a top-n has found out by now; the filters of the question itself have been used while planning.
    fn predicate(&self) -> Option<Predicate> {
        if self.generation() == 0 {
            return None;
        }
        // A filter that cannot be looked at rules out nothing; it is still applied to every row.
        snapshot_physical_expr(self.expr.clone()).ok().and_then(|now| prunable_now(&now, &self.columns))
    }
}
