// SPDX-License-Identifier: Apache-2.0
//! The tables of `pg_catalog` that are the same for everybody: types, functions, operators, and the many that are always empty here.

use super::sheet::list_of;
use crate::errors::from_datafusion;
use arrow::array::{Array, BooleanArray, Int32Array, RecordBatch, StringArray, new_null_array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{CatalogProviderList, MemoryCatalogProviderList};
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::{PG_CATALOG_TABLES, PgCatalogSchemaProvider, PgCatalogStaticTables, PgCatalogTable};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use weir_base::{Error, Result};

use super::oids::PG_CATALOG_SCHEMA;

/// Tables without a row here, whatever a real Postgres has in them: Weir lists no keys, indexes, defaults, triggers and the like.
/// What the crate ships for some of them is about Postgres's own tables, under oids that are not ours.
pub(super) const EMPTY: [&str; 59] = [
    "pg_amop",
    "pg_amproc",
    "pg_attrdef",
    "pg_auth_members",
    "pg_authid",
    "pg_available_extensions",
    "pg_constraint",
    "pg_cursors",
    "pg_db_role_setting",
    "pg_default_acl",
    "pg_depend",
    "pg_enum",
    "pg_event_trigger",
    "pg_extension",
    "pg_foreign_data_wrapper",
    "pg_foreign_server",
    "pg_foreign_table",
    "pg_index",
    "pg_indexes",
    "pg_inherits",
    "pg_init_privs",
    "pg_largeobject",
    "pg_largeobject_metadata",
    "pg_locks",
    "pg_parameter_acl",
    "pg_partitioned_table",
    "pg_policies",
    "pg_policy",
    "pg_prepared_statements",
    "pg_prepared_xacts",
    "pg_publication",
    "pg_publication_namespace",
    "pg_publication_rel",
    "pg_publication_tables",
    "pg_replication_origin",
    "pg_replication_slots",
    "pg_rewrite",
    "pg_rules",
    "pg_seclabel",
    "pg_sequence",
    "pg_sequences",
    "pg_shdepend",
    "pg_shdescription",
    "pg_shseclabel",
    "pg_stat_gssapi",
    "pg_statistic",
    "pg_statistic_ext",
    "pg_statistic_ext_data",
    "pg_stats",
    "pg_subscription",
    "pg_subscription_rel",
    "pg_trigger",
    "pg_ts_config",
    "pg_ts_config_map",
    "pg_ts_dict",
    "pg_ts_parser",
    "pg_ts_template",
    "pg_user_mapping",
    "pg_user_mappings",
];

/// Columns of the empty views that the crate does not know; all of them texts but for the numbers.
const VIEWS: [(&str, &[&str]); 15] = [
    ("pg_available_extensions", &["name", "default_version", "installed_version", "comment"]),
    ("pg_cursors", &["name", "statement"]),
    ("pg_indexes", &["schemaname", "tablename", "indexname", "tablespace", "indexdef"]),
    ("pg_locks", &["locktype", "database", "relation", "transactionid", "virtualtransaction", "pid", "mode", "granted"]),
    ("pg_parameter_acl", &["oid", "parname", "paracl"]),
    ("pg_policies", &["schemaname", "tablename", "policyname", "permissive", "roles", "cmd", "qual", "with_check"]),
    ("pg_prepared_statements", &["name", "statement", "prepare_time", "parameter_types", "from_sql"]),
    ("pg_prepared_xacts", &["transaction", "gid", "prepared", "owner", "database"]),
    ("pg_publication_tables", &["pubname", "schemaname", "tablename"]),
    ("pg_rules", &["schemaname", "tablename", "rulename", "definition"]),
    ("pg_sequences", &["schemaname", "sequencename", "sequenceowner", "data_type", "start_value", "last_value"]),
    ("pg_stats", &["schemaname", "tablename", "attname", "null_frac", "avg_width", "n_distinct"]),
    ("pg_ts_config_map", &["mapcfg", "maptokentype", "mapseqno", "mapdict"]),
    ("pg_user_mappings", &["umid", "srvid", "srvname", "umuser", "usename", "umoptions"]),
    ("pg_replication_slots", &["slot_name", "plugin", "slot_type", "datoid", "database", "active"]),
];

/// Columns that the version we say we are has, and the crate's export has not. Always NULL.
const ADDED: [(&str, &str); 1] = [("pg_collation", "colliculocale")];

/// Arrays of numbers that the crate's export has as texts; tools take them apart with array operators.
const SMALL_LISTS: [&str; 7] = ["conkey", "confkey", "indkey", "indoption", "prattrs", "tgattr", "stxkeys"];
const LISTS: [&str; 8] = ["conpfeqop", "conppeqop", "conffeqop", "conexclop", "indclass", "indcollation", "polroles", "confdelsetcols"];
const TEXT_LISTS: [&str; 3] = ["stxkind", "extconfig", "extcondition"];

/// Schema and rows of each.
#[derive(Debug)]
pub(super) struct Fixed {
    tables: BTreeMap<String, (SchemaRef, Vec<RecordBatch>)>,
    /// Oid of each type by its name in `pg_type`.
    types: HashMap<String, i32>,
    /// Oid of the first function of each name in `pg_proc`.
    functions: HashMap<String, i32>,
}

impl Fixed {
    pub fn load() -> Result<Self> {
        let statics = Arc::new(PgCatalogStaticTables::try_new().map_err(from_datafusion)?);
        let nothing: Arc<dyn CatalogProviderList> = Arc::new(MemoryCatalogProviderList::new());
        let known = PgCatalogSchemaProvider::try_new(nothing, statics, EmptyContextProvider).map_err(from_datafusion)?;
        let mut tables = BTreeMap::new();
        for name in PG_CATALOG_TABLES {
            let Some(PgCatalogTable::Static(table)) = known.build_table_by_name(name).map_err(from_datafusion)? else { continue };
            let content = if EMPTY.contains(name) { (emptied(&table.schema()), Vec::new()) } else { filled(name, &own_rows(table.data())?, table.schema())? };
            tables.insert(name.to_string(), content);
        }
        for (name, columns) in VIEWS {
            let fields: Vec<Field> = columns.iter().map(|column| Field::new(*column, text_or_rights(column), true)).collect();
            tables.insert(name.to_owned(), (Arc::new(Schema::new(fields)), Vec::new()));
        }
        let named = |table: &str, column: &str| oids_by_name(tables.get(table).map(|(_, batches)| batches.as_slice()).unwrap_or_default(), column);
        let (types, functions) = (named("pg_type", "typname"), named("pg_proc", "proname"));
        Ok(Self { tables, types, functions })
    }

    pub fn get(&self, name: &str) -> Option<&(SchemaRef, Vec<RecordBatch>)> {
        self.tables.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = (&str, &SchemaRef)> {
        self.tables.iter().map(|(name, (schema, _))| (name.as_str(), schema))
    }

    pub fn type_oid(&self, name: &str) -> Option<i32> {
        self.types.get(name).copied()
    }

    pub fn function_oid(&self, name: &str) -> Option<i32> {
        self.functions.get(name).copied()
    }

    pub fn type_name(&self, oid: i32) -> Option<&str> {
        self.types.iter().find(|(_, known)| **known == oid).map(|(name, _)| name.as_str())
    }
}

/// Lists of rights, which tools take apart as arrays.
fn rights(column: &str) -> bool {
    column.ends_with("acl")
}

fn text_or_rights(column: &str) -> DataType {
    if rights(column) { list_of(DataType::Utf8) } else { DataType::Utf8 }
}

fn emptied(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let name = field.name().as_str();
        let data_type = if SMALL_LISTS.contains(&name) {
            list_of(DataType::Int16)
        } else if LISTS.contains(&name) {
            list_of(DataType::Int32)
        } else if TEXT_LISTS.contains(&name) || rights(name) {
            list_of(DataType::Utf8)
        } else {
            return field.clone();
        };
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// With lists of rights that are lists, always NULL (rights here are Weir's own, not Postgres's), and with the columns that are missing.
fn filled(table: &str, batches: &[RecordBatch], schema: SchemaRef) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let typed = |field: &Arc<Field>| if rights(field.name()) { Field::new(field.name(), list_of(DataType::Utf8), true) } else { field.as_ref().clone() };
    let added = ADDED.iter().filter(|(known, _)| *known == table).map(|(_, column)| Field::new(*column, DataType::Utf8, true));
    let full: SchemaRef = Arc::new(Schema::new(schema.fields().iter().map(typed).chain(added).collect::<Vec<_>>()));
    let column = |batch: &RecordBatch, field: &Field| match batch.column_by_name(field.name()).filter(|_| !rights(field.name())) {
        Some(column) => column.clone(),
        None => new_null_array(field.data_type(), batch.num_rows()),
    };
    let made = batches.iter().map(|batch| RecordBatch::try_new(full.clone(), full.fields().iter().map(|field| column(batch, field)).collect()));
    let made = made.collect::<Result<Vec<_>, _>>().map_err(|error| Error::internal("a fixed catalog table cannot be read").with_detail(error.to_string()))?;
    Ok((full, made))
}

/// Without the types and functions of Postgres's own tables and of its `information_schema`, whose oids are not ours.
fn own_rows(batches: &[RecordBatch]) -> Result<Vec<RecordBatch>> {
    let number = |batch: &RecordBatch, name: &str| batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref::<Int32Array>().cloned());
    let text = |batch: &RecordBatch, name: &str| batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref::<StringArray>().cloned());
    let mut kept = Vec::with_capacity(batches.len());
    for batch in batches {
        let schema_of = number(batch, "typnamespace").or_else(|| number(batch, "pronamespace"));
        let (rows_of, names) = (number(batch, "typrelid"), text(batch, "typname"));
        let own = |row: usize| {
            let elsewhere = schema_of.as_ref().is_some_and(|column| column.value(row) != PG_CATALOG_SCHEMA);
            let of_table = rows_of.as_ref().is_some_and(|column| column.value(row) != 0);
            let list_of_rows = names.as_ref().is_some_and(|column| column.value(row).starts_with("_pg_"));
            !(elsewhere || of_table || list_of_rows)
        };
        let mask: BooleanArray = (0..batch.num_rows()).map(|row| Some(own(row))).collect();
        let filtered = filter_record_batch(batch, &mask);
        kept.push(filtered.map_err(|error| Error::internal("a fixed catalog table cannot be read").with_detail(error.to_string()))?);
    }
    Ok(kept)
}

/// The oid of the first row of each name.
fn oids_by_name(batches: &[RecordBatch], column: &str) -> HashMap<String, i32> {
    let mut found = HashMap::new();
    for batch in batches {
        let oids = batch.column_by_name("oid").and_then(|column| column.as_any().downcast_ref::<Int32Array>());
        let names = batch.column_by_name(column).and_then(|column| column.as_any().downcast_ref::<StringArray>());
        let (Some(oids), Some(names)) = (oids, names) else { continue };
        for row in (0..batch.num_rows()).filter(|row| oids.is_valid(*row)) {
            found.entry(names.value(row).to_owned()).or_insert(oids.value(row));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_empty_table_is_there_and_types_have_their_oids() {
        let fixed = Fixed::load().unwrap();
        for name in EMPTY.iter().filter(|name| **name != "pg_stat_gssapi") {
            let (schema, rows) = fixed.get(name).unwrap_or_else(|| panic!("{name} is missing"));
            assert!(rows.is_empty() && !schema.fields().is_empty(), "{name}");
        }
        assert_eq!((fixed.type_oid("numeric"), fixed.type_oid("_text"), fixed.type_oid("pg_class")), (Some(1700), Some(1009), None));
        assert_eq!((fixed.function_oid("array_length"), fixed.function_oid("nosuch")), (Some(2176), None));
    }
}
