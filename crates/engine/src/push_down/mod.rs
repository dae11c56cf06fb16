// SPDX-License-Identifier: Apache-2.0
//! Cuts what a source can do out of a plan and writes it as SQL. Only what the source's capabilities call exact, or a
//! superset that is checked again here, is ever sent.

mod bound;
mod condition;
mod fragment;
mod literal;
mod words;

pub(crate) use condition::{Condition, condition};
pub(crate) use fragment::{Fragment, FragmentRequest, TextOf, cut, kept_here};
pub(crate) use words::in_words;
