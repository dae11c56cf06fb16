// SPDX-License-Identifier: Apache-2.0
//! Scenarios: what a question over several systems does, on real servers.

mod as_in_postgres;
mod as_text;
mod awaited;
mod budgets;
mod cancels;
mod degraded;
mod faults;
mod join_order;
mod key_filters;
mod lake;
mod limits;
mod memory;
mod moments;
mod name_cases;
mod odd_input;
mod parallel_reads;
mod push_down;
mod push_wide;
mod receipts;
mod recursion;
mod remedies;
mod rights;
mod seed;
mod skipping;
mod staleness;
mod sums;
mod text_kinds;
mod told;
mod tpch;
mod transcript;
mod type_cases;
