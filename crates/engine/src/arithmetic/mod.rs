// SPDX-License-Identifier: Apache-2.0
//! Arithmetic that is exact or an error: whole numbers and sums never wrap around (the query engine's own would).

mod checked;
mod count_of;
mod distinct;
mod extremes;
mod floats;
mod guarded;
mod in_turn;
mod mean;
mod mean_of;
mod one_distinct;
mod rule;
mod settled;
mod sliding;
mod sum;
mod totals;

pub(crate) use checked::{plain, written};
pub(crate) use count_of::count_of;
pub(crate) use in_turn::{in_turn, ordered as conditions_in_turn};
pub(crate) use mean_of::mean_of;
pub(crate) use settled::settled_batch;

use crate::errors::{carry, from_datafusion};
use datafusion::common::DataFusionError;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::AggregateUDF;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

/// Replaces `sum`, `avg`, `min` and `max`, adds the rule that checks `+`, `-` and `*`, and compares floating point numbers with decimals as doubles,
/// and sees that there is one zero and one NaN.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    state.add_analyzer_rule(Arc::new(rule::CheckArithmetic));
    state.register_function_rewrite(Arc::new(floats::CompareAsDoubles)).map_err(from_datafusion)?;
    state.register_function_rewrite(Arc::new(guarded::KeepGuards)).map_err(from_datafusion)?;
    state.register_udaf(checked_sum()).map_err(from_datafusion)?;
    state.register_udaf(Arc::new(AggregateUDF::from(mean::ExactMean::new()))).map_err(from_datafusion)?;
    one_distinct::register(state);
    state.register_udaf(Arc::new(AggregateUDF::from(extremes::Extreme::min()))).map_err(from_datafusion)?;
    state.register_udaf(Arc::new(AggregateUDF::from(extremes::Extreme::max()))).map_err(from_datafusion)?;
    Ok(())
}

/// The function that adds up without wrapping around.
pub(crate) fn checked_sum() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(sum::CheckedSum::new()))
}

/// 22003 for a total that its type cannot hold.
fn sum_out_of_range() -> DataFusionError {
    let error = Error::new(ErrorCode::ValueOutOfRange, "sum is out of the range of its type");
    carry(error.with_hint("a wider type may hold it: sum(cast(x AS decimal(38, 0)))"))
}
