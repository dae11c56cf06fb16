// SPDX-License-Identifier: Apache-2.0
//! Scans: the leaves of a physical plan, each over one table in one placement.

mod as_text;
mod found;
mod key_set;
mod lake;
mod notes;
mod parts;
mod predicate;
mod proven;
mod remote;
mod row_filter;
mod source;
mod statistics;

pub(crate) use as_text::ReadAsText;
pub(crate) use lake::{LakeScan, LakeTableProvider};
pub(crate) use notes::Notes;
pub(crate) use proven::Proven;
pub(crate) use remote::RemoteTable;
pub(crate) use source::{SourceScan, SourceTableProvider};

use crate::errors::carry;
use crate::run::QueryRun;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use std::sync::Arc;
use weir_base::Error;

/// The query that a scan works for. There is one in every task context that `execute` makes, and in no other.
pub(crate) fn running_query(context: &TaskContext) -> Result<Arc<QueryRun>> {
    context.session_config().get_extension::<QueryRun>().ok_or_else(|| carry(Error::internal("a scan outside a query")))
}
