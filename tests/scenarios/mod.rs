// SPDX-License-Identifier: Apache-2.0
//! Scenarios: what a question over several systems does, on real servers.

mod as_text;
mod cancels;
mod degraded;
mod faults;
mod lake;
mod limits;
mod memory;
mod moments;
mod odd_input;
mod receipts;
mod rights;
mod seed;
mod staleness;
mod text_kinds;
mod transcript;
