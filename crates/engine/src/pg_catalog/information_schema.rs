// SPDX-License-Identifier: Apache-2.0
//! `information_schema`: the standard's view of what a principal may see in its database.

use super::visible::{Visible, VisibleTable};
use crate::engine::Shared;
use crate::session::database;
use crate::system::{Columns, in_memory};
use arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use std::sync::Arc;
use weir_api::Session;
use weir_base::{Error, ErrorCode, Result};
use weir_policy::Principal;

/// Error: 42P01 for a view that is not here.
pub(crate) async fn table(shared: &Arc<Shared>, session: &Session, principal: &Principal, name: &str) -> Result<Arc<dyn TableProvider>> {
    let database = database(session).to_owned();
    let visible = Visible::new(Arc::downgrade(shared), principal.clone(), database.clone());
    let tables = visible.tables().await?;
    let batch = match name {
        "schemata" => schemata(&database, &tables),
        "tables" => tables_view(&database, &tables),
        "views" => tables_view(&database, &tables.into_iter().filter(|table| table.view).collect::<Vec<_>>()),
        "columns" => columns(&database, &tables),
        "table_constraints" | "key_column_usage" | "referential_constraints" | "constraint_column_usage" | "routines" => Columns::default()
            .text::<&str>("constraint_catalog", [])
            .text::<&str>("constraint_schema", [])
            .text::<&str>("constraint_name", [])
            .text::<&str>("table_catalog", [])
            .text::<&str>("table_schema", [])
            .text::<&str>("table_name", [])
            .text::<&str>("column_name", [])
            .text::<&str>("constraint_type", [])
            .number("ordinal_position", []),
        _ => return Err(Error::new(ErrorCode::UnknownTable, format!("table information_schema.{name} does not exist")).with_hint("there are schemata, tables, views and columns")),
    };
    in_memory(batch.batch()?)
}

fn schemata(database: &str, tables: &[VisibleTable]) -> Columns {
    let mut schemas: Vec<&str> = tables.iter().map(|table| table.schema.as_str()).collect();
    schemas.sort_unstable();
    schemas.dedup();
    Columns::default()
        .text("catalog_name", schemas.iter().map(|_| Some(database)))
        .text("schema_name", schemas.iter().map(|schema| Some(*schema)))
        .text("schema_owner", schemas.iter().map(|_| Some("weir")))
}

fn tables_view(database: &str, tables: &[VisibleTable]) -> Columns {
    Columns::default()
        .text("table_catalog", tables.iter().map(|_| Some(database)))
        .text("table_schema", tables.iter().map(|table| Some(&table.schema)))
        .text("table_name", tables.iter().map(|table| Some(&table.name)))
        .text("table_type", tables.iter().map(|table| Some(if table.view { "VIEW" } else { "BASE TABLE" })))
}

fn columns(database: &str, tables: &[VisibleTable]) -> Columns {
    let rows: Vec<_> = tables.iter().flat_map(|table| table.columns.fields().iter().enumerate().map(move |(index, field)| (table, index as i64 + 1, field))).collect();
    let digits = |data_type: &DataType| match data_type {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => Some((i64::from(*precision), i64::from(*scale))),
        _ => None,
    };
    Columns::default()
        .text("table_catalog", rows.iter().map(|_| Some(database)))
        .text("table_schema", rows.iter().map(|(table, ..)| Some(&table.schema)))
        .text("table_name", rows.iter().map(|(table, ..)| Some(&table.name)))
        .text("column_name", rows.iter().map(|(.., field)| Some(field.name())))
        .number("ordinal_position", rows.iter().map(|(_, position, _)| Some(*position)))
        .text("column_default", rows.iter().map(|_| None::<&str>))
        .text("is_nullable", rows.iter().map(|(.., field)| Some(if field.is_nullable() { "YES" } else { "NO" })))
        .text("data_type", rows.iter().map(|(.., field)| Some(type_name(field.data_type()))))
        .number("character_maximum_length", rows.iter().map(|_| None))
        .number("numeric_precision", rows.iter().map(|(.., field)| digits(field.data_type()).map(|(precision, _)| precision)))
        .number("numeric_scale", rows.iter().map(|(.., field)| digits(field.data_type()).map(|(_, scale)| scale)))
}

/// The standard's name of a type.
fn type_name(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "boolean",
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => "smallint",
        DataType::Int32 | DataType::UInt16 => "integer",
        DataType::Int64 | DataType::UInt32 => "bigint",
        DataType::UInt64 | DataType::Decimal128(..) | DataType::Decimal256(..) => "numeric",
        DataType::Float16 | DataType::Float32 => "real",
        DataType::Float64 => "double precision",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytea",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time without time zone",
        DataType::Timestamp(_, None) => "timestamp without time zone",
        DataType::Timestamp(_, Some(_)) => "timestamp with time zone",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::List(_) | DataType::LargeList(_) => "ARRAY",
        _ => "text",
    }
}
