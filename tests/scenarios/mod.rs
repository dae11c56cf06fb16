// SPDX-License-Identifier: Apache-2.0
//! Scenarios: what a question over several systems does, on real servers.

mod as_text;
mod cancels;
mod degraded;
mod faults;
mod join_order;
mod key_filters;
mod lake;
mod limits;
mod memory;
mod moments;
mod odd_input;
mod push_down;
mod receipts;
mod recursion;
mod remedies;
mod rights;
mod seed;
mod skipping;
mod staleness;
mod sums;
mod text_kinds;
mod tpch;
mod transcript;
