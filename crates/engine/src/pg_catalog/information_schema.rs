// SPDX-License-Identifier: Apache-2.0
//! `information_schema`: the standard's view of what a principal may see in its database.

use super::Reader;
use super::column_type::ColumnType;
use super::oids::OWNER_NAME;
use super::sheet::Sheet;
use super::snapshot::VisibleTable;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;
use weir_base::Result;
use weir_policy::Action;

/// The views made here.
pub(super) const NAMES: [&str; 22] = [
    "applicable_roles",
    "check_constraints",
    "columns",
    "column_privileges",
    "constraint_column_usage",
    "constraint_table_usage",
    "domains",
    "element_types",
    "enabled_roles",
    "information_schema_catalog_name",
    "key_column_usage",
    "parameters",
    "referential_constraints",
    "role_table_grants",
    "routines",
    "schemata",
    "sequences",
    "table_constraints",
    "table_privileges",
    "tables",
    "triggers",
    "views",
];

/// Views that are always empty here, with their columns: Weir lists no keys, routines, sequences and triggers.
pub(super) const EMPTY: [(&str, &[&str]); 13] = [
    ("applicable_roles", &["grantee", "role_name", "is_grantable"]),
    ("check_constraints", &["constraint_catalog", "constraint_schema", "constraint_name", "check_clause"]),
    ("constraint_column_usage", &["table_catalog", "table_schema", "table_name", "column_name", "constraint_catalog", "constraint_schema", "constraint_name"]),
    ("constraint_table_usage", &["table_catalog", "table_schema", "table_name", "constraint_catalog", "constraint_schema", "constraint_name"]),
    ("domains", &["domain_catalog", "domain_schema", "domain_name", "data_type", "domain_default", "udt_schema", "udt_name"]),
    ("element_types", &["object_catalog", "object_schema", "object_name", "object_type", "collection_type_identifier", "data_type", "udt_schema", "udt_name"]),
    (
        "key_column_usage",
        &[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "table_catalog",
            "table_schema",
            "table_name",
            "column_name",
            "ordinal_position",
            "position_in_unique_constraint",
        ],
    ),
    ("parameters", &["specific_catalog", "specific_schema", "specific_name", "ordinal_position", "parameter_mode", "parameter_name", "data_type", "udt_name"]),
    (
        "referential_constraints",
        &[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "unique_constraint_catalog",
            "unique_constraint_schema",
            "unique_constraint_name",
            "match_option",
            "update_rule",
            "delete_rule",
        ],
    ),
    (
        "routines",
        &[
            "specific_catalog",
            "specific_schema",
            "specific_name",
            "routine_catalog",
            "routine_schema",
            "routine_name",
            "routine_type",
            "data_type",
            "routine_definition",
            "external_language",
        ],
    ),
    ("sequences", &["sequence_catalog", "sequence_schema", "sequence_name", "data_type", "start_value", "minimum_value", "maximum_value", "increment"]),
    (
        "table_constraints",
        &[
            "constraint_catalog",
            "constraint_schema",
            "constraint_name",
            "table_catalog",
            "table_schema",
            "table_name",
            "constraint_type",
            "is_deferrable",
            "initially_deferred",
        ],
    ),
    ("triggers", &["trigger_catalog", "trigger_schema", "trigger_name", "event_manipulation", "event_object_schema", "event_object_table", "action_statement"]),
];

/// `None` for a view that is not here.
pub(super) fn batch(name: &str, reader: &Reader) -> Result<Option<RecordBatch>> {
    if let Some((_, columns)) = EMPTY.iter().find(|(known, _)| *known == name) {
        let no_rows: [(); 0] = [];
        let sheet = columns.iter().fold(Sheet::of(&no_rows), |sheet, column| match column.contains("position") {
            true => sheet.int(column, |()| 0),
            false => sheet.none(column, DataType::Utf8),
        });
        return sheet.batch().map(Some);
    }
    let made = match name {
        "schemata" => schemata(reader),
        "tables" => tables(reader),
        "views" => views(reader),
        "columns" => columns(reader),
        "column_privileges" => column_privileges(reader),
        "table_privileges" | "role_table_grants" => table_privileges(reader),
        "information_schema_catalog_name" => Sheet::of(&[()]).text("catalog_name", |()| &reader.snapshot.database).batch(),
        "enabled_roles" => Sheet::of(&[()]).text("role_name", |()| &reader.snapshot.user).batch(),
        _ => return Ok(None),
    };
    made.map(Some)
}

fn schemata(reader: &Reader) -> Result<RecordBatch> {
    let database = reader.snapshot.database.as_str();
    let schemas: Vec<&String> = reader.snapshot.schemas.keys().collect();
    Sheet::of(&schemas)
        .text("catalog_name", |_| database)
        .text("schema_name", |schema| *schema)
        .text("schema_owner", |_| OWNER_NAME)
        .none("default_character_set_catalog", DataType::Utf8)
        .none("default_character_set_schema", DataType::Utf8)
        .none("default_character_set_name", DataType::Utf8)
        .none("sql_path", DataType::Utf8)
        .batch()
}

fn tables(reader: &Reader) -> Result<RecordBatch> {
    let kind = |table: &VisibleTable| match table.kind {
        'v' | 'm' => "VIEW",
        'f' => "FOREIGN",
        _ => "BASE TABLE",
    };
    let insertable = |table: &VisibleTable| {
        table.place.as_ref().is_some_and(|place| reader.principal.may(Action::Insert, place) && Some(place.source.as_str()) == reader.lake.as_deref())
    };
    Sheet::of(&reader.snapshot.tables)
        .text("table_catalog", |_| &reader.snapshot.database)
        .text("table_schema", |table| &table.schema)
        .text("table_name", |table| &table.name)
        .text("table_type", kind)
        .none("self_referencing_column_name", DataType::Utf8)
        .none("reference_generation", DataType::Utf8)
        .none("user_defined_type_catalog", DataType::Utf8)
        .none("user_defined_type_schema", DataType::Utf8)
        .none("user_defined_type_name", DataType::Utf8)
        .text("is_insertable_into", |table| yes_no(insertable(table)))
        .text("is_typed", |_| "NO")
        .none("commit_action", DataType::Utf8)
        .batch()
}

fn views(reader: &Reader) -> Result<RecordBatch> {
    let views: Vec<&VisibleTable> = reader.snapshot.tables.iter().filter(|table| table.view()).collect();
    Sheet::of(&views)
        .text("table_catalog", |_| &reader.snapshot.database)
        .text("table_schema", |view| &view.schema)
        .text("table_name", |view| &view.name)
        .none("view_definition", DataType::Utf8)
        .text("check_option", |_| "NONE")
        .text("is_updatable", |_| "NO")
        .text("is_insertable_into", |_| "NO")
        .batch()
}

/// A column with its table and place.
struct Row<'a> {
    table: &'a VisibleTable,
    position: i32,
    field: &'a Arc<Field>,
    kind: ColumnType,
}

fn rows(reader: &Reader) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for table in &reader.snapshot.tables {
        let numbered = (1..).zip(table.columns.fields());
        rows.extend(numbered.map(|(position, field)| Row { table, position, field, kind: ColumnType::of(field.data_type()) }));
    }
    rows
}

fn columns(reader: &Reader) -> Result<RecordBatch> {
    let rows = rows(reader);
    let radix = |kind: ColumnType| match kind.oid {
        20 | 21 | 23 | 700 | 701 => Some(2),
        1700 => Some(10),
        _ => None,
    };
    let precision = |kind: ColumnType| match kind.oid {
        21 => Some(16),
        23 => Some(32),
        20 => Some(64),
        700 => Some(24),
        701 => Some(53),
        1700 => kind.digits().map(|(precision, _)| precision),
        _ => None,
    };
    let scale = |kind: ColumnType| match kind.oid {
        20 | 21 | 23 => Some(0),
        1700 => kind.digits().map(|(_, scale)| scale),
        _ => None,
    };
    Sheet::of(&rows)
        .text("table_catalog", |_| &reader.snapshot.database)
        .text("table_schema", |row| &row.table.schema)
        .text("table_name", |row| &row.table.name)
        .text("column_name", |row| row.field.name())
        .int("ordinal_position", |row| row.position)
        .none("column_default", DataType::Utf8)
        .text("is_nullable", |row| yes_no(row.field.is_nullable()))
        .text("data_type", |row| row.kind.standard_name)
        .none("character_maximum_length", DataType::Int32)
        .none("character_octet_length", DataType::Int32)
        .long("numeric_precision", |row| precision(row.kind))
        .long("numeric_precision_radix", |row| radix(row.kind))
        .long("numeric_scale", |row| scale(row.kind))
        .long("datetime_precision", |row| [1083, 1114, 1184, 1186].contains(&row.kind.oid).then_some(6))
        .none("interval_type", DataType::Utf8)
        .none("character_set_name", DataType::Utf8)
        .none("collation_name", DataType::Utf8)
        .none("domain_catalog", DataType::Utf8)
        .none("domain_schema", DataType::Utf8)
        .none("domain_name", DataType::Utf8)
        .text("udt_catalog", |_| &reader.snapshot.database)
        .text("udt_schema", |_| "pg_catalog")
        .text("udt_name", |row| row.kind.type_name())
        .text("dtd_identifier", |row| row.position.to_string())
        .text("is_self_referencing", |_| "NO")
        .text("is_identity", |_| "NO")
        .none("identity_generation", DataType::Utf8)
        .text("is_generated", |_| "NEVER")
        .none("generation_expression", DataType::Utf8)
        .text("is_updatable", |_| "NO")
        .batch()
}

/// What the reader may do with each table, one row per action.
fn grants(reader: &Reader) -> Vec<(&VisibleTable, Action)> {
    let of_table = |table| {
        let allowed = move |action: &Action| VisibleTable::allowed(table, &reader.principal, *action);
        Action::ALL.into_iter().filter(allowed).map(move |action| (table, action))
    };
    reader.snapshot.tables.iter().filter(|table| !table.built_in).flat_map(of_table).collect()
}

fn table_privileges(reader: &Reader) -> Result<RecordBatch> {
    Sheet::of(&grants(reader))
        .text("grantor", |_| OWNER_NAME)
        .text("grantee", |_| &reader.snapshot.user)
        .text("table_catalog", |_| &reader.snapshot.database)
        .text("table_schema", |(table, _)| &table.schema)
        .text("table_name", |(table, _)| &table.name)
        .text("privilege_type", |(_, action)| action.word().to_ascii_uppercase())
        .text("is_grantable", |_| "NO")
        .text("with_hierarchy", |_| "NO")
        .batch()
}

fn column_privileges(reader: &Reader) -> Result<RecordBatch> {
    let readable: Vec<Row<'_>> = rows(reader).into_iter().filter(|row| row.table.allowed(&reader.principal, Action::Select)).collect();
    Sheet::of(&readable)
        .text("grantor", |_| OWNER_NAME)
        .text("grantee", |_| &reader.snapshot.user)
        .text("table_catalog", |_| &reader.snapshot.database)
        .text("table_schema", |row| &row.table.schema)
        .text("table_name", |row| &row.table.name)
        .text("column_name", |row| row.field.name())
        .text("privilege_type", |_| "SELECT")
        .text("is_grantable", |_| "NO")
        .batch()
}

fn yes_no(truth: bool) -> &'static str {
    if truth { "YES" } else { "NO" }
}
