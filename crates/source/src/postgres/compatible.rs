// SPDX-License-Identifier: Apache-2.0
//! What is in a server that speaks PostgreSQL's protocol but has other catalogs: `information_schema`, which they all have.

use super::mapping::{decimal, plain_type};
use crate::{Altering, Column, Discovered, SourceTable, TableKind};
use arrow::datatypes::DataType;
use tokio_postgres::{Client, Row};
use weir_base::limits::TABLES_PER_SOURCE_MAX;

type Failed = tokio_postgres::Error;

/// Plain casts only: the odd types of `information_schema` are not the same everywhere.
const COLUMNS: &str = "SELECT c.table_schema::varchar, c.table_name::varchar, t.table_type::varchar, c.column_name::varchar, c.data_type::varchar, \
        c.is_nullable::varchar, c.character_maximum_length::int4, c.numeric_precision::int4, c.numeric_scale::int4 \
    FROM information_schema.columns c \
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
    WHERE c.table_schema NOT IN ('information_schema', 'pg_catalog', 'pg_internal', 'pg_toast', 'crdb_internal', 'pg_extension') \
        AND c.table_schema NOT LIKE 'pg_temp%' \
    ORDER BY c.table_schema, c.table_name, c.ordinal_position";

/// The names that the SQL standard gives to types, and PostgreSQL's own short ones for them.
const STANDARD_NAMES: [(&str, &str); 11] = [
    ("boolean", "bool"),
    ("smallint", "int2"),
    ("integer", "int4"),
    ("bigint", "int8"),
    ("real", "float4"),
    ("double precision", "float8"),
    ("character varying", "varchar"),
    ("time without time zone", "time"),
    ("timestamp without time zone", "timestamp"),
    ("timestamp with time zone", "timestamptz"),
    ("binary varying", "bytea"),
];

/// Lists everything that the account may see.
pub async fn discover(client: &Client) -> Result<Discovered, Failed> {
    let mut found = Discovered::default();
    for row in client.query(COLUMNS, &[]).await? {
        let (schema, name): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let continues = found.tables.last().is_some_and(|last| last.schema == schema && last.name == name);
        if !continues {
            if found.tables.len() >= TABLES_PER_SOURCE_MAX {
                found.warnings.push(format!("only the first {TABLES_PER_SOURCE_MAX} tables are listed"));
                break;
            }
            let kind = if row.try_get::<_, &str>(2)?.contains("VIEW") { TableKind::View } else { TableKind::Table };
            found.tables.push(SourceTable {
                schema,
                name,
                kind,
                columns: Vec::new(),
                rows_estimate: None,
                bytes_estimate: None,
                comment: None,
                unique: Vec::new(),
            });
        }
        if let Some(table) = found.tables.last_mut() {
            table.columns.push(column(&row)?);
        }
    }
    Ok(found)
}

fn column(row: &Row) -> Result<Column, Failed> {
    let standard: &str = row.try_get(4)?;
    let precision = row.try_get::<_, Option<i32>>(7)?.zip(row.try_get::<_, Option<i32>>(8)?);
    let short = STANDARD_NAMES.iter().find(|(name, _)| *name == standard).map_or(standard, |(_, short)| short);
    let data_type = match (short, precision) {
        ("numeric", Some((precision, scale))) => Some(decimal(precision.unsigned_abs(), scale)),
        _ => plain_type(short, -1),
    };
    Ok(Column {
        name: row.try_get(3)?,
        native_type: shown(standard, row.try_get(6)?, precision),
        nullable: row.try_get::<_, &str>(5)? != "NO",
        collation: None,
        bytewise_equality: ["text", "varchar", "name"].contains(&short),
        read_as: data_type.is_none().then_some("{}::text"),
        data_type: data_type.unwrap_or(DataType::Utf8),
        labels: None,
        degraded: None,
        altering: Altering::default(),
    })
}

fn shown(standard: &str, length: Option<i32>, precision: Option<(i32, i32)>) -> String {
    match (standard, length, precision) {
        ("numeric", _, Some((precision, scale))) => format!("numeric({precision},{scale})"),
        ("character" | "character varying", Some(length), _) => format!("{standard}({length})"),
        _ => standard.to_owned(),
    }
}
