// SPDX-License-Identifier: Apache-2.0
//! Cuts what a source can do out of a plan and writes it as SQL. Only what the source's capabilities call exact, or a
//! superset that is checked again here, is ever sent.

mod block;
mod bound;
mod condition;
mod cut;
mod fragment;
mod group;
mod join;
mod join_order;
mod key_bits;
mod late;
mod literal;
mod order;
mod partial;
mod regroup;
mod remedy;
mod sets;
mod switched_off;
mod terms;
mod union;
mod window;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use condition::{Condition, condition};
pub(crate) use cut::cut_plan;
pub(crate) use fragment::{Fragment, FragmentRequest, TableUse, TextOf, as_kept, cut, kept_here};
pub(crate) use join_order::ROWS_WORTH_A_FILTER;
pub(crate) use late::{Worth, key_filters, takes_keys, value_filters};
pub(crate) use regroup::regroup;
pub(crate) use remedy::addressed;
pub(crate) use words::in_words;
