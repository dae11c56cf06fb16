// SPDX-License-Identifier: Apache-2.0
//! Physical expressions as a filter that the lake's reader can apply before it decodes the other columns.

use super::found::{Found, passing};
use super::predicate::prunable_now;
use crate::arithmetic::settled_batch;
use crate::errors::from_datafusion;
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::prep_null_mask_filter;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr};
use datafusion::physical_expr::utils::{collect_columns, conjunction_opt, split_conjunction};
use datafusion::physical_expr_common::physical_expr::{snapshot_generation, snapshot_physical_expr};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use weir_base::Error;
use weir_lake::{BatchFilter, Predicate};

/// A conjunction over a few columns of a table.
#[derive(Debug)]
pub(crate) struct PhysicalFilter {
    /// Indexes of those columns in the table, in the order of the batches that are given in.
    columns: Vec<usize>,
    /// The question's own conditions.
    asked: Option<Arc<dyn PhysicalExpr>>,
    /// What operators above fill in while they run.
    late: Vec<Late>,
}

/// A condition that tightens while the query runs. What it has become is worked out once for each time that it does: a list of keys is
/// long, and there are many batches.
#[derive(Debug)]
struct Late {
    expr: Arc<dyn PhysicalExpr>,
    known: Mutex<Option<Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    generation: u64,
    found: Arc<Vec<Found>>,
    predicate: Option<Predicate>,
}

impl Late {
    fn new(expr: Arc<dyn PhysicalExpr>) -> Self {
        Self { expr, known: Mutex::new(None) }
    }

    fn known(&self, columns: &[usize]) -> Result<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked before the condition itself: what tightens in between is worked out again.
        let generation = snapshot_generation(&self.expr);
        if let Some(known) = known.as_ref().filter(|known| known.generation == generation) {
            return Ok(known.clone());
        }
        let now = snapshot_physical_expr(self.expr.clone())?;
        let fresh = Known { generation, found: Arc::new(Found::all(&now)), predicate: prunable_now(&now, columns) };
        Ok(known.insert(fresh).clone())
    }
}

impl PhysicalFilter {
    /// `filters` speak of the scan's output, whose column `i` is the table's column `projection[i]`.
    pub fn new(filters: &[Arc<dyn PhysicalExpr>], projection: &[usize], table: &SchemaRef) -> Result<Self> {
        let columns = columns_of(filters.iter().flat_map(collect_columns).map(|column| projection[column.index()]));
        let narrow: Schema = table.project(&columns)?;
        let place = |column: &Column| Ok(narrow.index_of(table.field(projection[column.index()]).name())?);
        let parts = filters.iter().flat_map(split_conjunction).map(|part| moved(part, place)).collect::<Result<Vec<_>>>()?;
        let (late, asked): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.downcast_ref::<DynamicFilterPhysicalExpr>().is_some());
        Ok(Self { columns, asked: conjunction_opt(asked), late: late.into_iter().map(Late::new).collect() })
    }

    /// What has been found by now; keys of which there are few come first and leave the fewest rows to the others.
    fn found(&self) -> Result<Vec<Found>> {
        let known = self.late.iter().map(|late| late.known(&self.columns)).collect::<Result<Vec<_>>>()?;
        let mut found: Vec<Found> = known.iter().flat_map(|known| known.found.iter().cloned()).collect();
        found.sort_by_key(Found::rank);
        Ok(found)
    }

    /// A part of the filter by itself.
    fn stage(&self, asked: Option<Arc<dyn PhysicalExpr>>, found: Option<Found>) -> Result<Stage> {
        let looked_at = asked.iter().chain(found.as_ref().map(Found::expr)).flat_map(collect_columns).map(|column| column.index());
        let places = columns_of(looked_at);
        let place = |column: &Column| Ok(places.partition_point(|place| *place < column.index()));
        let asked = asked.map(|asked| moved(&asked, place)).transpose()?;
        let found = found.map(|found| Ok::<_, DataFusionError>(found.over(moved(found.expr(), place)?))).transpose()?;
        Ok(Stage { columns: places.iter().map(|place| self.columns[*place]).collect(), asked, found: found.into_iter().collect() })
    }
}

/// A part of a filter: the question's own conditions, or one that was found.
#[derive(Debug)]
struct Stage {
    columns: Vec<usize>,
    asked: Option<Arc<dyn PhysicalExpr>>,
    found: Vec<Found>,
}

impl BatchFilter for Stage {
    fn columns(&self) -> Vec<usize> {
        self.columns.clone()
    }

    fn evaluate(&self, batch: &RecordBatch) -> weir_base::Result<BooleanArray> {
        verdicts(self.asked.as_ref(), &self.found, batch)
    }
}

/// Which rows pass all of them.
fn verdicts(asked: Option<&Arc<dyn PhysicalExpr>>, found: &[Found], batch: &RecordBatch) -> weir_base::Result<BooleanArray> {
    let batch = settled_batch(batch.clone()).map_err(from_datafusion)?;
    let rows = match asked {
        Some(asked) => {
            let verdicts = asked.evaluate(&batch).and_then(|value| value.into_array(batch.num_rows())).map_err(from_datafusion)?;
            let verdicts = verdicts.as_boolean_opt().ok_or_else(|| Error::internal("a filter that is not boolean"))?;
            Some(if verdicts.null_count() > 0 { prep_null_mask_filter(verdicts) } else { verdicts.clone() })
        }
        None => None,
    };
    let rows = passing(found, rows, &batch).map_err(from_datafusion)?;
    Ok(rows.unwrap_or_else(|| BooleanArray::new(BooleanBuffer::new_set(batch.num_rows()), None)))
}

/// Each once, in their order.
fn columns_of(columns: impl Iterator<Item = usize>) -> Vec<usize> {
    columns.collect::<BTreeSet<usize>>().into_iter().collect()
}

/// The expression with its columns at other places.
fn moved(expr: &Arc<dyn PhysicalExpr>, place: impl Fn(&Column) -> Result<usize>) -> Result<Arc<dyn PhysicalExpr>> {
    let moved = expr.clone().transform(|node| {
        let Some(column) = (node.as_ref() as &dyn std::any::Any).downcast_ref::<Column>() else { return Ok(Transformed::no(node)) };
        let moved: Arc<dyn PhysicalExpr> = Arc::new(Column::new(column.name(), place(column)?));
        Ok(Transformed::yes(moved))
    });
    moved.data()
}

impl BatchFilter for PhysicalFilter {
    fn columns(&self) -> Vec<usize> {
        self.columns.clone()
    }

    fn evaluate(&self, batch: &RecordBatch) -> weir_base::Result<BooleanArray> {
        verdicts(self.asked.as_ref(), &self.found().map_err(from_datafusion)?, batch)
    }

    /// The question's own conditions see every row, so that whether one of them fails does not hang on what a join has found by then.
    fn stages(&self) -> weir_base::Result<Vec<Arc<dyn BatchFilter>>> {
        let asked = self.asked.clone().map(|asked| self.stage(Some(asked), None));
        let found = self.found().map_err(from_datafusion)?.into_iter().filter(|found| !found.is_worthless()).map(|found| self.stage(None, Some(found)));
        let stages = asked.into_iter().chain(found).collect::<Result<Vec<Stage>>>().map_err(from_datafusion)?;
        Ok(stages.into_iter().map(|stage| Arc::new(stage) as Arc<dyn BatchFilter>).collect())
    }

    fn generation(&self) -> u64 {
        self.late.iter().fold(0, |sum, late| sum.wrapping_add(snapshot_generation(&late.expr)))
    }

    /// What a join or a top-n has found out by now; the filters of the question itself have been used while planning.
    fn predicate(&self) -> Option<Predicate> {
        // A filter that cannot be looked at rules out nothing.
        let predicates: Vec<Predicate> = self.late.iter().filter_map(|late| late.known(&self.columns).ok()?.predicate).collect();
        (!predicates.is_empty()).then_some(Predicate::And(predicates))
    }
}
