// SPDX-License-Identifier: Apache-2.0
//! What Weir keeps in its data directory: the lock, the history of queries, receipts and what each user took today.

mod data_dir;
mod history;
mod migrations;
mod pending;
mod store;
mod usage;
mod writer;

pub use data_dir::{DataDir, Holder, Opened};
pub use history::{HistoryFilter, LogStats, LoggedStatement, QueryRecord, ReceiptRecord, StatementRecord};
pub use store::{ControlStore, Retention};
pub use usage::Usage;
