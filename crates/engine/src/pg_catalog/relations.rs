// SPDX-License-Identifier: Apache-2.0
//! The tables of `pg_catalog` that tell what databases, schemas, tables and columns there are.

use super::column_type::ColumnType;
use super::oids::{OWNER, OWNER_NAME};
use super::sheet::Sheet;
use super::snapshot::{Snapshot, VisibleTable};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field};
use std::sync::{Arc, OnceLock};
use weir_base::Result;

/// The page that sizes are counted in.
const PAGE_BYTES: u64 = 8_192;
/// The oid of `pg_class` in every Postgres: what `pg_description.classoid` says for comments on tables.
const PG_CLASS: i32 = 1_259;

/// The names made here.
pub(super) const NAMES: [&str; 9] =
    ["pg_attribute", "pg_class", "pg_database", "pg_description", "pg_matviews", "pg_namespace", "pg_stat_user_tables", "pg_tables", "pg_views"];

pub(super) fn is_view(name: &str) -> bool {
    matches!(name, "pg_matviews" | "pg_roles" | "pg_settings" | "pg_tables" | "pg_user" | "pg_views") || name.starts_with("pg_stat_")
}

/// `None` for a table that is not made here.
pub(super) fn batch(name: &str, snapshot: &Snapshot) -> Result<Option<RecordBatch>> {
    let made = match name {
        "pg_attribute" => once(&snapshot.batches.attributes, || attributes(snapshot)),
        "pg_class" => once(&snapshot.batches.classes, || classes(snapshot)),
        "pg_database" => databases(snapshot),
        "pg_description" => descriptions(snapshot),
        "pg_matviews" => views(snapshot, "matviewname", "matviewowner", 'm'),
        "pg_namespace" => namespaces(snapshot),
        "pg_stat_user_tables" => statistics(snapshot),
        "pg_tables" => tables(snapshot),
        "pg_views" => views(snapshot, "viewname", "viewowner", 'v'),
        _ => return Ok(None),
    };
    made.map(Some)
}

fn once(kept: &OnceLock<RecordBatch>, make: impl FnOnce() -> Result<RecordBatch>) -> Result<RecordBatch> {
    match kept.get() {
        Some(batch) => Ok(batch.clone()),
        None => make().map(|batch| kept.get_or_init(|| batch).clone()),
    }
}

fn classes(snapshot: &Snapshot) -> Result<RecordBatch> {
    let pages = |table: &VisibleTable| table.bytes.map_or(0, |bytes| i32::try_from(bytes.div_ceil(PAGE_BYTES)).unwrap_or(i32::MAX));
    Sheet::of(&snapshot.tables)
        .oid("oid", |table| table.oid)
        .text("relname", |table| &table.name)
        .oid("relnamespace", |table| table.schema_oid)
        .oid("reltype", |_| 0)
        .oid("reloftype", |_| 0)
        .oid("relowner", |_| OWNER)
        .oid("relam", |_| 0)
        .oid("relfilenode", |_| 0)
        .oid("reltablespace", |_| 0)
        .int("relpages", pages)
        // -1 is Postgres's word for "never counted".
        .real("reltuples", |table| table.rows.map_or(-1.0, |rows| rows as f32))
        .int("relallvisible", |_| 0)
        .oid("reltoastrelid", |_| 0)
        .flag("relhasindex", |_| false)
        .flag("relisshared", |_| false)
        .text("relpersistence", |_| "p")
        .text("relkind", |table| table.kind.to_string())
        .small("relnatts", |table| i16::try_from(table.columns.fields().len()).unwrap_or(i16::MAX))
        .small("relchecks", |_| 0)
        .flag("relhasrules", |_| false)
        .flag("relhastriggers", |_| false)
        .flag("relhassubclass", |_| false)
        .flag("relrowsecurity", |_| false)
        .flag("relforcerowsecurity", |_| false)
        .flag("relispopulated", |_| true)
        .text("relreplident", |_| "d")
        .flag("relispartition", |_| false)
        .oid("relrewrite", |_| 0)
        .int("relfrozenxid", |_| 0)
        .int("relminmxid", |_| 0)
        .no_list("relacl")
        .no_list("reloptions")
        .none("relpartbound", DataType::Utf8)
        .batch()
}

/// A column with its place.
struct Attribute<'a> {
    table: i32,
    number: i16,
    field: &'a Arc<Field>,
    kind: ColumnType,
}

fn attributes(snapshot: &Snapshot) -> Result<RecordBatch> {
    let mut rows = Vec::new();
    for table in &snapshot.tables {
        let numbered = (1_i16..).zip(table.columns.fields());
        rows.extend(numbered.map(|(number, field)| Attribute { table: table.oid, number, field, kind: ColumnType::of(field.data_type()) }));
    }
    Sheet::of(&rows)
        .oid("attrelid", |row| row.table)
        .text("attname", |row| row.field.name())
        .oid("atttypid", |row| row.kind.oid)
        .int("attstattarget", |_| -1)
        .small("attlen", |row| row.kind.size)
        .small("attnum", |row| row.number)
        .int("attndims", |row| row.kind.dimensions)
        .int("attcacheoff", |_| -1)
        .int("atttypmod", |row| row.kind.modifier)
        .flag("attbyval", |row| row.kind.by_value)
        .text("attalign", |row| if row.kind.size == 8 { "d" } else { "i" })
        .text("attstorage", |row| if row.kind.size < 0 { "x" } else { "p" })
        .text("attcompression", |_| "")
        .flag("attnotnull", |row| !row.field.is_nullable())
        .flag("atthasdef", |_| false)
        .flag("atthasmissing", |_| false)
        .text("attidentity", |_| "")
        .text("attgenerated", |_| "")
        .flag("attisdropped", |_| false)
        .flag("attislocal", |_| true)
        .int("attinhcount", |_| 0)
        .oid("attcollation", |row| row.kind.collation())
        .no_list("attacl")
        .no_list("attoptions")
        .no_list("attfdwoptions")
        .none("attmissingval", DataType::Utf8)
        .batch()
}

fn databases(snapshot: &Snapshot) -> Result<RecordBatch> {
    Sheet::of(&snapshot.databases)
        .oid("oid", |(_, oid)| *oid)
        .text("datname", |(name, _)| name)
        .oid("datdba", |_| OWNER)
        .int("encoding", |_| 6)
        .text("datlocprovider", |_| "c")
        .flag("datistemplate", |_| false)
        .flag("datallowconn", |_| true)
        .int("datconnlimit", |_| -1)
        .int("datfrozenxid", |_| 0)
        .int("datminmxid", |_| 0)
        .oid("dattablespace", |_| 1_663)
        .text("datcollate", |_| "C")
        .text("datctype", |_| "C")
        .none("daticulocale", DataType::Utf8)
        .none("datcollversion", DataType::Utf8)
        .no_list("datacl")
        .batch()
}

fn descriptions(snapshot: &Snapshot) -> Result<RecordBatch> {
    let commented: Vec<(i32, &str)> = snapshot.tables.iter().filter_map(|table| Some((table.oid, table.comment.as_deref()?))).collect();
    Sheet::of(&commented)
        .oid("objoid", |(oid, _)| *oid)
        .oid("classoid", |_| PG_CLASS)
        .int("objsubid", |_| 0)
        .text("description", |(_, comment)| *comment)
        .batch()
}

fn namespaces(snapshot: &Snapshot) -> Result<RecordBatch> {
    let schemas: Vec<(&String, &i32)> = snapshot.schemas.iter().collect();
    Sheet::of(&schemas).oid("oid", |(_, oid)| **oid).text("nspname", |(name, _)| *name).oid("nspowner", |_| OWNER).no_list("nspacl").batch()
}

fn tables(snapshot: &Snapshot) -> Result<RecordBatch> {
    let tables: Vec<&VisibleTable> = snapshot.tables.iter().filter(|table| table.kind == 'r').collect();
    Sheet::of(&tables)
        .text("schemaname", |table| &table.schema)
        .text("tablename", |table| &table.name)
        .text("tableowner", |_| OWNER_NAME)
        .none("tablespace", DataType::Utf8)
        .flag("hasindexes", |_| false)
        .flag("hasrules", |_| false)
        .flag("hastriggers", |_| false)
        .flag("rowsecurity", |_| false)
        .batch()
}

fn views(snapshot: &Snapshot, name_column: &str, owner_column: &str, kind: char) -> Result<RecordBatch> {
    let views: Vec<&VisibleTable> = snapshot.tables.iter().filter(|table| table.kind == kind).collect();
    let sheet = Sheet::of(&views).text("schemaname", |view| &view.schema).text(name_column, |view| &view.name).text(owner_column, |_| OWNER_NAME);
    let sheet = match kind {
        'm' => sheet.none("tablespace", DataType::Utf8).flag("hasindexes", |_| false).flag("ispopulated", |_| true),
        _ => sheet,
    };
    // What a view is made of is its source's business.
    sheet.none("definition", DataType::Utf8).batch()
}

fn statistics(snapshot: &Snapshot) -> Result<RecordBatch> {
    let tables: Vec<&VisibleTable> = snapshot.tables.iter().filter(|table| !table.built_in && !table.view()).collect();
    Sheet::of(&tables)
        .oid("relid", |table| table.oid)
        .text("schemaname", |table| &table.schema)
        .text("relname", |table| &table.name)
        .long("seq_scan", |_| None)
        .long("idx_scan", |_| None)
        .long("n_live_tup", |table| table.rows.and_then(|rows| i64::try_from(rows).ok()))
        .long("n_dead_tup", |_| Some(0))
        .batch()
}
