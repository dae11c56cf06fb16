// SPDX-License-Identifier: Apache-2.0
//! The columns of each system table, for tools that list them without reading them.

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::sync::Arc;

const TEXT: char = 't';
const NUMBER: char = 'n';
const DECIMAL: char = 'd';
const TRUTH: char = 'b';
const INSTANT: char = 'i';

/// Name and kind of each column.
type Shape = &'static [(&'static str, char)];

const SHAPES: [(&str, Shape); 6] = [
    (
        "columns",
        &[
            ("source", TEXT),
            ("schema", TEXT),
            ("table", TEXT),
            ("column", TEXT),
            ("position", NUMBER),
            ("type", TEXT),
            ("native_type", TEXT),
            ("nullable", TRUTH),
            ("degraded", TEXT),
        ],
    ),
    (
        "queries",
        &[
            ("query_id", TEXT),
            ("user", TEXT),
            ("door", TEXT),
            ("sql", TEXT),
            ("state", TEXT),
            ("started_at", INSTANT),
            ("ended_at", INSTANT),
            ("elapsed_ms", DECIMAL),
            ("rows_returned", NUMBER),
            ("error_code", TEXT),
            ("note", TEXT),
            ("as_of", INSTANT),
        ],
    ),
    (
        "query_sources",
        &[
            ("query_id", TEXT),
            ("user", TEXT),
            ("started_at", INSTANT),
            ("source", TEXT),
            ("sql", TEXT),
            ("forecast_rows", NUMBER),
            ("forecast_bytes", NUMBER),
            ("rows", NUMBER),
            ("bytes", NUMBER),
            ("ms", DECIMAL),
            ("queued_ms", DECIMAL),
            ("outcome", TEXT),
        ],
    ),
    (
        "receipts",
        &[
            ("query_id", TEXT),
            ("sql", TEXT),
            ("as_of", INSTANT),
            ("skew_ms", NUMBER),
            ("rows_read", NUMBER),
            ("bytes_read", NUMBER),
            ("elapsed_ms", DECIMAL),
            ("receipt", TEXT),
        ],
    ),
    (
        "sources",
        &[
            ("source", TEXT),
            ("type", TEXT),
            ("state", TEXT),
            ("version", TEXT),
            ("role", TEXT),
            ("account", TEXT),
            ("lag_ms", NUMBER),
            ("clock_skew_ms", NUMBER),
            ("tables", NUMBER),
            ("connections_in_use", NUMBER),
            ("connections_max", NUMBER),
            ("connections_allowed", NUMBER),
            ("waiting", NUMBER),
            ("breaker", TEXT),
            ("strain", TEXT),
            ("rows_per_query", NUMBER),
            ("bytes_per_query", NUMBER),
            ("rows_per_day", NUMBER),
            ("bytes_per_day", NUMBER),
            ("note", TEXT),
        ],
    ),
    (
        "tables",
        &[
            ("source", TEXT),
            ("schema", TEXT),
            ("table", TEXT),
            ("name", TEXT),
            ("kind", TEXT),
            ("placement", TEXT),
            ("columns", NUMBER),
            ("rows_estimate", NUMBER),
            ("bytes_estimate", NUMBER),
            ("as_of", INSTANT),
            ("degraded", TRUTH),
            ("degraded_columns", TEXT),
            ("comment", TEXT),
        ],
    ),
];

/// Empty for a name that is no system table.
pub(crate) fn schema(name: &str) -> SchemaRef {
    let columns = SHAPES.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, columns)| columns);
    Arc::new(Schema::new(columns.iter().map(|(name, kind)| Field::new(*name, data_type(*kind), true)).collect::<Vec<_>>()))
}

fn data_type(kind: char) -> DataType {
    match kind {
        NUMBER => DataType::Int64,
        DECIMAL => DataType::Float64,
        TRUTH => DataType::Boolean,
        INSTANT => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        _ => DataType::Utf8,
    }
}
