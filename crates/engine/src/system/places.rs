// SPDX-License-Identifier: Apache-2.0
//! `system.sources`, `system.tables` and `system.columns`: where tables are and what is known of them.

use super::columns::{Columns, count};
use crate::discovery::SourceHandle;
use crate::engine::Shared;
use arrow::array::RecordBatch;
use std::sync::Arc;
use weir_base::{AsOf, Result, TableName};
use weir_policy::Principal;
use weir_source::SourceTable;

/// A source with whether it answers now. Looked at through permits, like everything else.
pub(super) async fn sources(shared: &Shared, principal: &Principal) -> Result<RecordBatch> {
    let mut rows = Vec::new();
    for handle in shared.parts.places.sources() {
        if !sees(principal, &handle) {
            continue;
        }
        let outcome = handle.catalog().await;
        rows.push((handle.clone(), outcome));
    }
    let load = |index: usize| rows[index].0.guard.load();
    let indexes = 0..rows.len();
    Columns::default()
        .text("source", rows.iter().map(|(handle, _)| Some(handle.name().as_str())))
        .text("type", rows.iter().map(|(handle, _)| Some(handle.source.kind())))
        .text("state", rows.iter().map(|(_, outcome)| Some(if outcome.is_ok() { "reachable" } else { "unreachable" })))
        .number("tables", rows.iter().map(|(_, outcome)| outcome.as_ref().ok().and_then(|catalog| count(catalog.tables().len() as u64))))
        .number("connections_in_use", indexes.clone().map(|index| count(load(index).in_use as u64)))
        .number("connections_max", indexes.clone().map(|index| count(load(index).connections_max as u64)))
        .number("waiting", indexes.clone().map(|index| count(load(index).waiting as u64)))
        .number("rows_per_query", rows.iter().map(|(handle, _)| handle.guard.limits().rows_per_query.and_then(count)))
        .number("bytes_per_query", rows.iter().map(|(handle, _)| handle.guard.limits().bytes_per_query.and_then(count)))
        .text(
            "note",
            rows.iter().map(|(_, outcome)| match outcome {
                Ok(catalog) if catalog.warnings.is_empty() => None,
                Ok(catalog) => Some(catalog.warnings.join("; ")),
                Err(error) => Some(error.to_string()),
            }),
        )
        .batch()
}

/// Without a grant on anything in it, a source is not even a name.
fn sees(principal: &Principal, handle: &SourceHandle) -> bool {
    principal.unrestricted() || principal.may_reach(handle.name().as_str())
}

/// A table of any place that the reader may see.
struct Entry {
    name: TableName,
    kind: &'static str,
    columns: Vec<ColumnEntry>,
    rows: Option<u64>,
    bytes: Option<u64>,
    as_of: Option<AsOf>,
    degraded: Option<String>,
    comment: Option<String>,
}

struct ColumnEntry {
    name: String,
    data_type: String,
    native_type: String,
    nullable: bool,
    degraded: Option<String>,
}

async fn entries(shared: &Shared, principal: &Principal) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for handle in shared.parts.places.sources() {
        // An unreachable source shows in system.sources; the others stay listed.
        let Ok(catalog) = handle.catalog().await else { continue };
        let visible = catalog.tables().iter().map(|table| live(&handle, table)).filter(|entry| principal.may_see(&entry.name));
        entries.extend(visible);
    }
    if let Some(place) = &shared.parts.places.lake {
        for schema in place.lake.schemas().await? {
            for table in place.lake.tables(&schema).await? {
                let name = TableName::new(place.name.as_str(), &schema, &table);
                if !principal.may_see(&name) {
                    continue;
                }
                if let Some(found) = place.lake.table(&schema, &table).await? {
                    entries.push(in_lake(name, &found));
                }
            }
        }
    }
    Ok(entries)
}

fn live(handle: &SourceHandle, table: &Arc<SourceTable>) -> Entry {
    let degraded: Vec<String> = table.columns.iter().filter_map(|column| column.degraded.as_ref().map(|why| format!("{}: {why}", column.name))).collect();
    let columns = table.columns.iter().map(|column| ColumnEntry {
        name: column.name.clone(),
        data_type: column.data_type.to_string(),
        native_type: column.native_type.clone(),
        nullable: column.nullable,
        degraded: column.degraded.clone(),
    });
    Entry {
        name: TableName { source: handle.name().clone(), schema: table.schema.clone(), table: table.name.clone() },
        kind: table.kind.word(),
        columns: columns.collect(),
        rows: table.rows_estimate,
        bytes: table.bytes_estimate,
        as_of: None,
        degraded: if degraded.is_empty() { None } else { Some(degraded.join("; ")) },
        comment: table.comment.clone(),
    }
}

fn in_lake(name: TableName, table: &weir_lake::LakeTable) -> Entry {
    let schema = table.schema();
    let columns = schema.fields().iter().map(|field| ColumnEntry {
        name: field.name().clone(),
        data_type: field.data_type().to_string(),
        native_type: field.data_type().to_string(),
        nullable: field.is_nullable(),
        degraded: None,
    });
    Entry {
        name,
        kind: "table",
        columns: columns.collect(),
        rows: Some(table.rows()),
        bytes: Some(table.bytes()),
        as_of: Some(table.as_of()),
        degraded: None,
        comment: None,
    }
}

pub(super) async fn tables(shared: &Shared, principal: &Principal) -> Result<RecordBatch> {
    let entries = entries(shared, principal).await?;
    Columns::default()
        .text("source", entries.iter().map(|entry| Some(entry.name.source.as_str())))
        .text("schema", entries.iter().map(|entry| Some(&entry.name.schema)))
        .text("table", entries.iter().map(|entry| Some(&entry.name.table)))
        .text("name", entries.iter().map(|entry| Some(entry.name.to_string())))
        .text("kind", entries.iter().map(|entry| Some(entry.kind)))
        .text("placement", entries.iter().map(|_| Some("live")))
        .number("columns", entries.iter().map(|entry| count(entry.columns.len() as u64)))
        .number("rows_estimate", entries.iter().map(|entry| entry.rows.and_then(count)))
        .number("bytes_estimate", entries.iter().map(|entry| entry.bytes.and_then(count)))
        .instant("as_of", entries.iter().map(|entry| entry.as_of.map(|as_of| as_of.at)))
        .truth("degraded", entries.iter().map(|entry| Some(entry.degraded.is_some())))
        .text("degraded_columns", entries.iter().map(|entry| entry.degraded.as_ref()))
        .text("comment", entries.iter().map(|entry| entry.comment.as_ref()))
        .batch()
}

pub(super) async fn columns(shared: &Shared, principal: &Principal) -> Result<RecordBatch> {
    let entries = entries(shared, principal).await?;
    let rows: Vec<(&Entry, usize, &ColumnEntry)> =
        entries.iter().flat_map(|entry| entry.columns.iter().enumerate().map(move |(index, column)| (entry, index + 1, column))).collect();
    Columns::default()
        .text("source", rows.iter().map(|(entry, ..)| Some(entry.name.source.as_str())))
        .text("schema", rows.iter().map(|(entry, ..)| Some(&entry.name.schema)))
        .text("table", rows.iter().map(|(entry, ..)| Some(&entry.name.table)))
        .text("column", rows.iter().map(|(_, _, column)| Some(&column.name)))
        .number("position", rows.iter().map(|(_, position, _)| count(*position as u64)))
        .text("type", rows.iter().map(|(_, _, column)| Some(&column.data_type)))
        .text("native_type", rows.iter().map(|(_, _, column)| Some(&column.native_type)))
        .truth("nullable", rows.iter().map(|(_, _, column)| Some(column.nullable)))
        .text("degraded", rows.iter().map(|(_, _, column)| column.degraded.as_ref()))
        .batch()
}
