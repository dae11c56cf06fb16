// SPDX-License-Identifier: Apache-2.0
//! The `system` schema: what Weir knows about itself, filtered to what the reader may see.

mod columns;
mod history;
mod places;
mod shape;

pub(crate) use columns::Columns;
pub(crate) use shape::schema;

use crate::bind::names::SYSTEM;
use crate::shared::Shared;
use arrow::array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use std::sync::Arc;
use weir_api::Session;
use weir_base::{Error, ErrorCode, Result, TableName, nearest};
use weir_policy::Principal;

/// Every table of the schema.
pub(crate) const NAMES: [&str; 6] = ["columns", "queries", "query_sources", "receipts", "sources", "tables"];

/// The table under a name. Error: 42P01 with the nearest names.
pub(crate) async fn table(shared: &Shared, session: &Session, principal: &Principal, name: &TableName) -> Result<Arc<dyn TableProvider>> {
    let batch = match name.table.as_str() {
        "sources" => places::sources(shared, principal).await?,
        "tables" => places::tables(shared, principal).await?,
        "columns" => places::columns(shared, principal).await?,
        "queries" => history::queries(shared, principal).await?,
        "query_sources" => history::query_sources(shared, principal).await?,
        "receipts" => history::receipts(shared, session).await?,
        unknown => return Err(unknown_table(unknown)),
    };
    in_memory(batch)
}

/// A batch as a table.
pub(crate) fn in_memory(batch: RecordBatch) -> Result<Arc<dyn TableProvider>> {
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]);
    Ok(Arc::new(table.map_err(crate::errors::from_datafusion)?))
}

fn unknown_table(name: &str) -> Error {
    let near = nearest(name, NAMES);
    let hint = match near.first() {
        Some(near) => format!("did you mean {SYSTEM}.{near}?"),
        None => format!("there are {}", NAMES.join(", ")),
    };
    Error::new(ErrorCode::UnknownTable, format!("table {SYSTEM}.{name} does not exist")).with_hint(hint)
}
