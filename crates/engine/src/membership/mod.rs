// SPDX-License-Identifier: Apache-2.0
//! `IN`, `EXISTS`, `INTERSECT ALL` and `EXCEPT ALL` with the meaning that SQL gives them; the query engine's own joins for them
//! know no unknown and count no copies.

mod copies;
mod joins;
mod no_row;
mod one_value;
mod only;
mod same;
mod subqueries;
mod whole;

pub(crate) use joins::Joins;

use crate::meeting::OutsideAsKnown;
use datafusion::execution::SessionState;
use std::sync::Arc;

/// Adds the rules.
pub(crate) fn register(state: &mut SessionState) {
    state.add_analyzer_rule(Arc::new(OutsideAsKnown));
    state.add_analyzer_rule(Arc::new(copies::CountCopies));
    state.add_analyzer_rule(Arc::new(whole::Whole));
    state.add_analyzer_rule(Arc::new(subqueries::ThreeValues));
    state.add_analyzer_rule(Arc::new(one_value::OneValue));
    state.add_analyzer_rule(Arc::new(no_row::NoRow));
}
