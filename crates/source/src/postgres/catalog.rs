// SPDX-License-Identifier: Apache-2.0
//! What is in a PostgreSQL database: tables, views and their columns, in six catalog queries, five of them sent at once.
//!
//! No query takes a lock on a table. Partitions are not listed, their parents are; a table of which the account may read only
//! some columns is listed with the others degraded.

use super::mapping::{self, NativeColumn, NativeType, TypeTable};
use crate::{Altering, Discovered, SourceTable, TableKind};
use std::collections::{HashMap, HashSet};
use tokio_postgres::{Client, Row};
use weir_base::limits::TABLES_PER_SOURCE_MAX;

type Failed = tokio_postgres::Error;

/// The relations that are listed. A partitioned table has no pages of its own: its leaves are added up. So are the tables that
/// inherit from a plain one, whose rows it shows with its own.
const TABLES: &str = "WITH RECURSIVE below AS ( \
        SELECT p.oid AS root, p.oid AS leaf FROM pg_catalog.pg_class p \
        WHERE p.relkind IN ('p', 'r') AND NOT p.relispartition AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = p.oid) \
        UNION SELECT below.root, i.inhrelid FROM below JOIN pg_catalog.pg_inherits i ON i.inhparent = below.leaf \
    ), leaves AS ( \
        SELECT below.root, sum(CASE WHEN c.reltuples >= 0 THEN c.reltuples END)::float8 AS rows, sum(greatest(c.relpages, 0))::int8 AS pages \
        FROM below JOIN pg_catalog.pg_class c ON c.oid = below.leaf WHERE c.relkind IN ('r', 'f') GROUP BY below.root \
    ) \
    SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, c.relpersistence::text, \
        coalesce(leaves.rows, c.reltuples::float8), coalesce(leaves.pages, c.relpages::int8) * current_setting('block_size')::int8, \
        d.description, has_table_privilege(c.oid, 'SELECT'), pg_is_in_recovery() \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN leaves ON leaves.root = c.oid \
    LEFT JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0 \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND c.relpersistence <> 't' \
        AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(n.oid, 'USAGE') \
        AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT')) \
    ORDER BY n.nspname, c.relname LIMIT $1";

const COLUMNS: &str = "SELECT a.attrelid, a.attname::text, a.atttypid, a.atttypmod, a.attndims::int4, format_type(a.atttypid, a.atttypmod), \
        NOT a.attnotnull, k.collname::text, coalesce(k.collisdeterministic, true), \
        has_table_privilege(c.oid, 'SELECT') OR has_column_privilege(c.oid, a.attnum, 'SELECT') \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid \
    LEFT JOIN pg_catalog.pg_collation k ON k.oid = a.attcollation \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND c.relpersistence <> 't' \
        AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(n.oid, 'USAGE') \
        AND a.attnum > 0 AND NOT a.attisdropped \
    ORDER BY a.attrelid, a.attnum";

/// Rows of tables, and arrays of those, are left out: they are read as text like everything that is not in this list.
const TYPES: &str = "SELECT t.oid, t.typname::text, n.nspname = 'pg_catalog', t.typtype = 'd', t.typbasetype, t.typtypmod, t.typndims::int4, \
        CASE WHEN t.typcategory = 'A' AND t.typlen = -1 THEN t.typelem ELSE 0::oid END \
    FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace \
    LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem \
    WHERE t.typtype IN ('b', 'd', 'e', 'r', 'm') AND e.typtype IS DISTINCT FROM 'c'";

const LABELS: &str = "SELECT enumtypid, enumlabel::text FROM pg_catalog.pg_enum ORDER BY enumtypid, enumsortorder";

/// Columns that tell all rows apart: whole unique indexes of columns that are never NULL. Tables whose rows are in children too have none.
const UNIQUE: &str = "SELECT i.indrelid, array_agg(a.attname::text) \
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) \
    WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND c.relkind IN ('r', 'p') \
        AND NOT c.relispartition AND (c.relkind = 'p' OR NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid)) \
    GROUP BY i.indexrelid, i.indrelid HAVING bool_and(a.attnotnull)";

/// Columns whose type the server does not change: views, policies, triggers or computed columns are built on them, partitions are made
/// by them, or they are inherited.
const BUILT_ON: &str = "SELECT d.refobjid, a.attname::text \
    FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid \
    LEFT JOIN pg_catalog.pg_attrdef f ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND f.oid = d.objid \
    WHERE d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid >= 16384 AND d.refobjsubid > 0 \
        AND (d.classid IN ('pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_trigger'::regclass, 'pg_catalog.pg_policy'::regclass) \
            OR f.adnum <> d.refobjsubid \
            OR d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = d.refobjid AND d.objsubid NOT IN (0, d.refobjsubid)) \
    UNION SELECT p.partrelid, a.attname::text FROM pg_catalog.pg_partitioned_table p \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = ANY (p.partattrs::int2[]) \
    UNION SELECT a.attrelid, a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attinhcount > 0 AND a.attnum > 0";

const UNDER_OTHERS: Altering =
    Altering::InWords("give the column the type {}, with what is built on it (views, computed columns, partitions) taken away before and made again");

/// Lists everything that the account may read.
pub async fn discover(client: &Client) -> Result<Discovered, Failed> {
    let most = i64::try_from(TABLES_PER_SOURCE_MAX).unwrap_or(i64::MAX);
    let most_parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&most];
    // First, so that none is found that was not there yet when the columns were listed.
    let tables = client.query(TABLES, &most_parameters).await?;
    let (columns, types, labels, unique, built_on) =
        tokio::join!(client.query(COLUMNS, &[]), client.query(TYPES, &[]), client.query(LABELS, &[]), client.query(UNIQUE, &[]), client.query(BUILT_ON, &[]));
    let (columns, types, labels, unique, built_on) = (columns?, types?, labels?, unique?, built_on?);
    let built_on = built_on.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<HashSet<(u32, String)>, Failed>>()?;
    let mut unique_of: HashMap<u32, Vec<Vec<String>>> = HashMap::new();
    for row in &unique {
        unique_of.entry(row.try_get(0)?).or_default().push(row.try_get(1)?);
    }
    let mut types = types.iter().map(native_type).collect::<Result<TypeTable, Failed>>()?;
    for row in &labels {
        if let Some(native) = types.get_mut(&row.try_get::<_, u32>(0)?) {
            native.labels.push(row.try_get(1)?);
        }
    }
    let mut columns_of: HashMap<u32, Vec<NativeColumn>> = HashMap::new();
    for row in &columns {
        columns_of.entry(row.try_get(0)?).or_default().push(native_column(row)?);
    }
    let mut found = Discovered::default();
    if tables.len() >= TABLES_PER_SOURCE_MAX {
        found.warnings.push(format!("only the first {TABLES_PER_SOURCE_MAX} tables are listed"));
    }
    for row in &tables {
        if unreadable_on_replica(row)? {
            found.warnings.push(format!("{}.{} is unlogged: a replica has no rows of it", row.try_get::<_, &str>(1)?, row.try_get::<_, &str>(2)?));
            continue;
        }
        let id: u32 = row.try_get(0)?;
        let mut table = table(row, columns_of.remove(&id).unwrap_or_default(), &types)?;
        for column in &mut table.columns {
            column.altering = altering(table.kind, built_on.contains(&(id, column.name.clone())));
        }
        table.unique = unique_of.remove(&id).unwrap_or_default().iter().filter_map(|names| table.places(names)).collect();
        found.tables.push(table);
    }
    Ok(found)
}

fn altering(kind: TableKind, built_on: bool) -> Altering {
    match kind {
        TableKind::View | TableKind::MaterializedView => Altering::BENEATH_A_VIEW,
        TableKind::ForeignTable => Altering::ELSEWHERE,
        TableKind::Table if built_on => UNDER_OTHERS,
        TableKind::Table => Altering::ByType,
    }
}

fn unreadable_on_replica(row: &Row) -> Result<bool, Failed> {
    Ok(row.try_get::<_, &str>(4)? == "u" && row.try_get::<_, bool>(9)?)
}

fn table(row: &Row, columns: Vec<NativeColumn>, types: &TypeTable) -> Result<SourceTable, Failed> {
    let kind = match row.try_get::<_, &str>(3)? {
        "v" => TableKind::View,
        "m" => TableKind::MaterializedView,
        "f" => TableKind::ForeignTable,
        _ => TableKind::Table,
    };
    // -1 is a table that was never analyzed; a view has no number at all.
    let rows: Option<f64> = row.try_get(5)?;
    let rows = rows.filter(|rows| *rows >= 0.0 && kind != TableKind::View);
    let bytes: Option<i64> = row.try_get(6)?;
    Ok(SourceTable {
        schema: row.try_get(1)?,
        name: row.try_get(2)?,
        kind,
        columns: columns.into_iter().map(|native| mapping::column(native, types)).collect(),
        rows_estimate: rows.map(|rows| rows as u64),
        bytes_estimate: bytes.filter(|_| rows.is_some()).and_then(|bytes| u64::try_from(bytes).ok()),
        comment: row.try_get(7)?,
        unique: Vec::new(),
    })
}

fn native_type(row: &Row) -> Result<(u32, NativeType), Failed> {
    let native = NativeType {
        name: row.try_get(1)?,
        built_in: row.try_get(2)?,
        domain: row.try_get(3)?,
        base: row.try_get(4)?,
        base_modifier: row.try_get(5)?,
        base_dimensions: row.try_get(6)?,
        element: row.try_get(7)?,
        labels: Vec::new(),
    };
    Ok((row.try_get(0)?, native))
}

fn native_column(row: &Row) -> Result<NativeColumn, Failed> {
    Ok(NativeColumn {
        name: row.try_get(1)?,
        type_id: row.try_get(2)?,
        modifier: row.try_get(3)?,
        dimensions: row.try_get(4)?,
        shown: row.try_get(5)?,
        nullable: row.try_get(6)?,
        collation: row.try_get(7)?,
        deterministic: row.try_get(8)?,
        readable: row.try_get(9)?,
    })
}
