// SPDX-License-Identifier: Apache-2.0
//! `system.sources`, `system.tables` and `system.columns`: where tables are and what is known of them.

use super::columns::{Columns, count};
use crate::discovery::{SourceCatalog, SourceHandle};
use crate::pg_catalog::type_name;
use crate::shared::Shared;
use arrow::array::RecordBatch;
use std::sync::Arc;
use weir_base::{AsOf, ErrorCode, Result, TableName};
use weir_guard::GuardLoad;
use weir_policy::Principal;
use weir_source::{Health, SourceTable};

/// A source as it was found: its tables, and how it is.
struct Look {
    handle: Arc<SourceHandle>,
    catalog: Result<Arc<SourceCatalog>>,
    health: Result<Health>,
}

impl Look {
    async fn at(handle: Arc<SourceHandle>) -> Self {
        let catalog = handle.catalog().await;
        // One that does not even list its tables is not asked how it is.
        let health = match &catalog {
            Ok(_) => handle.health().await,
            Err(error) => Err(error.clone()),
        };
        Self { handle, catalog, health }
    }

    fn known<T>(&self, value: impl Fn(&Health) -> Option<T>) -> Option<T> {
        self.health.as_ref().ok().and_then(value)
    }

    /// How many of its tables the reader may see.
    fn tables_seen_by(&self, principal: &Principal) -> Option<i64> {
        let catalog = self.catalog.as_ref().ok()?;
        let seen = catalog.tables().iter().filter(|table| principal.may_see(&TableName::new(self.handle.name().as_str(), &table.schema, &table.name)));
        count(seen.count() as u64)
    }

    /// A source that answers and may not be used (a primary without `allow_primary`, an account without a right) is no unreachable one.
    fn state(&self) -> &'static str {
        let refused = |error: Option<&weir_base::Error>| error.is_some_and(|error| error.code() == ErrorCode::Forbidden);
        match &self.catalog {
            _ if refused(self.catalog.as_ref().err()) || refused(self.health.as_ref().err()) => "refused",
            Ok(_) => "reachable",
            Err(error) if error.code() == ErrorCode::LoginRefused => "login refused",
            Err(_) => "unreachable",
        }
    }

    fn account(&self) -> Option<&'static str> {
        self.known(|health| health.account_writes).map(|writes| if writes { "can write" } else { "read-only" })
    }

    /// What cannot be listed or read of it, and what its account may do.
    fn note(&self, principal: &Principal) -> Option<String> {
        let mut notes = match (&self.catalog, &self.health) {
            (Err(error), _) => return Some(told(error)),
            (Ok(catalog), health) => catalog.warnings.iter().cloned().chain(health.as_ref().err().map(ToString::to_string)).collect::<Vec<_>>(),
        };
        notes.extend(self.unreadable(principal));
        let account = self.known(|health| health.account_note.clone()).filter(|note| !notes.contains(note));
        notes.extend(account.map(|note| format!("account: {note}")));
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

/// The names of so many columns that cannot be read are told; the rest are counted.
const UNREADABLE_NAMED_MAX: usize = 3;

impl Look {
    /// Columns that are left out of their tables, which stay.
    fn unreadable(&self, principal: &Principal) -> Option<String> {
        let catalog = self.catalog.as_ref().ok()?;
        let source = self.handle.name().as_str();
        let seen = catalog.tables().iter().filter(|table| principal.may_see(&TableName::new(source, &table.schema, &table.name)));
        let bad = |table: &std::sync::Arc<weir_source::SourceTable>| {
            let columns = table.columns.iter().filter(|column| column.degraded.is_some());
            columns.map(|column| format!("{}.{}.{}", table.schema, table.name, column.name)).collect::<Vec<_>>()
        };
        let bad: Vec<String> = seen.flat_map(bad).collect();
        let more = bad.len().checked_sub(UNREADABLE_NAMED_MAX).filter(|more| *more > 0).map(|more| format!(" and {more} more")).unwrap_or_default();
        let named = bad.iter().take(UNREADABLE_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        (!bad.is_empty()).then(|| format!("cannot be read: {named}{more} (system.columns says why)"))
    }
}

/// What is wrong, and what to do about it.
fn told(error: &weir_base::Error) -> String {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}{hint}")
}

/// A source with whether it answers now, all of them asked side by side. Looked at through permits, like everything else.
pub(super) async fn sources(shared: &Shared, principal: &Principal) -> Result<RecordBatch> {
    let seen = shared.parts.places.sources().into_iter().filter(|handle| sees(principal, handle));
    let rows: Vec<Look> = futures::future::join_all(seen.map(Look::at)).await;
    let loads: Vec<GuardLoad> = rows.iter().map(|row| row.handle.guard.load()).collect();
    let load = || loads.iter();
    Columns::default()
        .text("source", rows.iter().map(|row| Some(row.handle.name().as_str())))
        .text("type", rows.iter().map(|row| Some(row.handle.source.kind())))
        .text("state", rows.iter().map(|row| Some(row.state())))
        .text("version", rows.iter().map(|row| row.known(|health| Some(health.version.clone()))))
        .text("role", rows.iter().map(|row| row.known(|health| Some(health.role.word()))))
        .text("account", rows.iter().map(Look::account))
        .number("lag_ms", rows.iter().map(|row| row.known(|health| health.replica_lag_ms)))
        .number("clock_skew_ms", rows.iter().map(|row| row.known(|health| Some(health.clock_skew_ms))))
        .number("tables", rows.iter().map(|row| row.tables_seen_by(principal)))
        .number("connections_in_use", load().map(|load| count(load.in_use as u64)))
        .number("connections_max", load().map(|load| count(load.connections_max as u64)))
        .number("connections_allowed", load().map(|load| count(load.allowed as u64)))
        .number("waiting", load().map(|load| count(load.waiting as u64)))
        .text("breaker", load().map(|load| Some(load.breaker.word())))
        .text("strain", load().map(|load| load.strain.as_ref().map(ToString::to_string)))
        .number("rows_per_query", rows.iter().map(|row| row.handle.guard.limits().rows_per_query.and_then(count)))
        .number("bytes_per_query", rows.iter().map(|row| row.handle.guard.limits().bytes_per_query.and_then(count)))
        .number("rows_per_day", rows.iter().map(|row| row.handle.guard.limits().rows_per_day.and_then(count)))
        .number("bytes_per_day", rows.iter().map(|row| row.handle.guard.limits().bytes_per_day.and_then(count)))
        .text("note", rows.iter().map(|row| row.note(principal)))
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
        data_type: type_name(&column.data_type),
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
    let columns = schema.fields().iter().zip(table.native_types()).map(|(field, native_type)| ColumnEntry {
        name: field.name().clone(),
        data_type: type_name(field.data_type()),
        native_type,
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
