// SPDX-License-Identifier: Apache-2.0
//! A condition that the engine evaluates on batches while they are read.

use crate::predicate::Predicate;
use arrow::array::{BooleanArray, RecordBatch};
use std::sync::Arc;
use weir_base::Result;

/// Rows for which `evaluate` is not true are not returned. Whether that happens before or after the other columns are decoded
/// is decided by what it has saved so far.
pub trait BatchFilter: Send + Sync {
    /// The table columns that `evaluate` needs, in its order.
    fn columns(&self) -> Vec<usize>;

    /// One verdict per row; NULL counts as false. The batch holds `columns()`, typed as the scan returns them.
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray>;

    /// The same filter in parts that need fewer columns each, in the order in which they are best asked: the columns of a later part are
    /// decoded only for rows that the earlier ones keep. Empty when it is best asked as a whole.
    fn stages(&self) -> Result<Vec<Arc<dyn BatchFilter>>> {
        Ok(Vec::new())
    }

    /// Changes whenever the filter has become tighter; see `predicate`.
    fn generation(&self) -> u64 {
        0
    }

    /// What the filter rules out by ranges, right now: row groups that cannot match are skipped unread. Asked again whenever
    /// the generation has changed.
    fn predicate(&self) -> Option<Predicate> {
        None
    }
}
