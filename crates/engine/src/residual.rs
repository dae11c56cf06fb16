// SPDX-License-Identifier: Apache-2.0
//! From an authorised, routed plan to physical operators: what sources do is inside the scans, the rest is done here.

use crate::arithmetic::in_turn;
use crate::bind::{Bound, OutputNames};
use crate::errors::from_datafusion;
use crate::first_rows::computed_last;
use crate::membership::Joins;
use crate::operators::{all_awaited_read, only_asked_keys, scans_told};
use crate::push_down::{cut_plan, regroup};
use crate::replay::read_once;
use crate::scan::{LakeScan, SourceScan};
use crate::shortcuts::{share_expressions, whole_sorts};
use arrow::datatypes::{FieldRef, Schema};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_api::PushDown;
use weir_base::limits::KEY_BYTES_MAX;
use weir_base::{Result, SourceName};
use weir_policy::Authorized;

/// A plan that can run.
pub(crate) struct Physical {
    pub plan: Arc<dyn ExecutionPlan>,
    pub state: SessionState,
    pub names: OutputNames,
}

/// Optimizes, which moves filters, projections and limits into the scans, and picks the operators for the rest.
pub(crate) async fn plan(bound: Authorized<Bound>, pushdown: PushDown, memory_bytes_max: usize) -> Result<Authorized<Physical>> {
    let optimized = bound.plan().state.optimize(&bound.plan().plan).and_then(computed_last).map_err(from_datafusion)?;
    let optimized = if pushdown == PushDown::Off { optimized } else { regroup(optimized, &bound.plan().state).map_err(from_datafusion)? };
    let optimized = cut_plan(optimized, pushdown).and_then(in_turn).map_err(from_datafusion)?;
    let optimized = share_expressions(optimized, &bound.plan().state).map_err(from_datafusion)?;
    let mut state = bound.plan().state.clone();
    let options = &mut state.config_mut().options_mut().optimizer;
    options.hash_join_inlist_pushdown_max_size = KEY_BYTES_MAX;
    let joins = Joins::of(&optimized);
    if joins.count_nulls {
        // What a join learns of its keys would keep rows with NULL keys out of a scan on its other side.
        state.config_mut().options_mut().optimizer.enable_join_dynamic_filter_pushdown = false;
    }
    if joins_outgrow(&optimized, memory_bytes_max) && !joins.need_hash_join {
        // A hash join keeps one side in memory and cannot spill; sorted merges can.
        state.config_mut().options_mut().optimizer.prefer_hash_join = false;
    }
    let plan = match state.query_planner().create_physical_plan(&optimized, &state).await {
        Ok(plan) => plan,
        // Where it sorts in parallel, the planner can take away what brings the rows of a join together. It notices, and fails.
        Err(first) => {
            state.config_mut().options_mut().optimizer.repartition_sorts = false;
            let again = state.query_planner().create_physical_plan(&optimized, &state).await;
            again.map_err(|_| from_datafusion(first))?
        }
    };
    let plan = whole_sorts(plan).and_then(read_once).and_then(scans_told).and_then(only_asked_keys).and_then(all_awaited_read).map_err(from_datafusion)?;
    // A list of keys is made of every key of a join, which nobody should pay for whom it does not serve. Joins look this up as they run.
    let optimizer = &mut state.config_mut().options_mut().optimizer;
    optimizer.hash_join_inlist_pushdown_max_distinct_values = Leaves::of(&plan).keys_most() / lists(&plan).max(1);
    bound.map(|bound| Ok(Physical { plan, state, names: bound.names }))
}

/// In how many lists a join may have its keys: one for each of its partitions, which are put together for a source.
fn lists(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let mut most = 1;
    let _ = plan.apply(|node| {
        if let Some(join) = node.downcast_ref::<HashJoinExec>().filter(|join| *join.partition_mode() == PartitionMode::Partitioned) {
            most = most.max(join.properties().output_partitioning().partition_count());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    most
}

/// Whether the smaller side of some join may not fit: taken to be so when the second largest table is over a quarter of the memory.
fn joins_outgrow(plan: &LogicalPlan, memory_bytes_max: usize) -> bool {
    let mut sizes = Vec::new();
    let mut joins = 0;
    let _ = plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::Join(_) => joins += 1,
            LogicalPlan::TableScan(scan) => sizes.push(table_bytes(scan)),
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    sizes.sort_unstable();
    let second = sizes.len().checked_sub(2).map(|index| sizes[index]);
    joins > 0 && second.is_some_and(|bytes| outgrows(bytes, memory_bytes_max))
}

/// Whether so much may not fit. A quarter, since all queries share the memory, and the operators of each.
pub(crate) fn outgrows(bytes: usize, memory_bytes_max: usize) -> bool {
    bytes > memory_bytes_max / 4
}

/// What a row costs in a hash table beside its values.
const ROW_OVERHEAD_BYTES: usize = 24;
/// What a value without a fixed width is taken to need.
const TEXT_BYTES: usize = 32;

/// What the columns that are needed of a table take in memory; files say less, since they are compressed.
fn table_bytes(scan: &TableScan) -> usize {
    let Some(known) = source_as_provider(&scan.source).ok().and_then(|table| table.statistics()) else { return 0 };
    let stored = known.total_byte_size.get_value().copied().unwrap_or(0);
    let in_memory = known.num_rows.get_value().map_or(0, |rows| bytes_in_memory(scan.projected_schema.as_arrow(), *rows));
    in_memory.max(stored)
}

/// What rows of this shape take in memory.
pub(crate) fn bytes_in_memory(schema: &Schema, rows: usize) -> usize {
    let width = |field: &FieldRef| field.data_type().primitive_width().unwrap_or(TEXT_BYTES);
    rows.saturating_mul(schema.fields().iter().map(width).sum::<usize>() + ROW_OVERHEAD_BYTES)
}

/// The scans of a plan, in the order in which the plan shows them.
#[derive(Default)]
pub(crate) struct Leaves {
    plans: Vec<Arc<dyn ExecutionPlan>>,
}

impl Leaves {
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Self {
        let mut leaves = Self::default();
        let _ = plan.apply(|node| {
            if node.is::<SourceScan>() || node.is::<LakeScan>() {
                leaves.plans.push(node.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        leaves
    }

    /// Scans of each source, by name; the order in which permits are taken.
    pub fn by_source(&self) -> BTreeMap<SourceName, Vec<&SourceScan>> {
        let mut by_source: BTreeMap<SourceName, Vec<&SourceScan>> = BTreeMap::new();
        for scan in self.plans.iter().filter_map(|plan| plan.downcast_ref::<SourceScan>()) {
            by_source.entry(scan.handle.name().clone()).or_default().push(scan);
        }
        by_source
    }

    /// The longest list of keys that any scan could use.
    fn keys_most(&self) -> usize {
        let sources = self.by_source().into_values().flatten().map(SourceScan::keys_most);
        let lake = self.of_lake().into_iter().map(LakeScan::keys_most);
        sources.chain(lake).max().unwrap_or(0)
    }

    pub fn of_lake(&self) -> Vec<&LakeScan> {
        self.plans.iter().filter_map(|plan| plan.downcast_ref::<LakeScan>()).collect()
    }
}
