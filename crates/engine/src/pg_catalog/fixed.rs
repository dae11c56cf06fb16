// SPDX-License-Identifier: Apache-2.0
//! The tables of `pg_catalog` that are the same for everybody: types, functions, operators, and the many that are always empty here.

use super::sheet::list_of;
use crate::errors::from_datafusion;
use arrow::array::{Array, BooleanArray, Int32Array, RecordBatch, StringArray};
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
pub(super) const EMPTY: [&str; 50] = [
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
    "pg_user_mapping",
];

/// Columns of the empty views that the crate does not know; all of them texts but for the numbers.
const VIEWS: [(&str, &[&str]); 12] = [
    ("pg_available_extensions", &["name", "default_version", "installed_version", "comment"]),
    ("pg_cursors", &["name", "statement"]),
    ("pg_indexes", &["schemaname", "tablename", "indexname", "tablespace", "indexdef"]),
    ("pg_locks", &["locktype", "database", "relation", "transactionid", "virtualtransaction", "pid", "mode", "granted"]),
    ("pg_policies", &["schemaname", "tablename", "policyname", "permissive", "roles", "cmd", "qual", "with_check"]),
    ("pg_prepared_statements", &["name", "statement", "prepare_time", "parameter_types", "from_sql"]),
    ("pg_prepared_xacts", &["transaction", "gid", "prepared", "owner", "database"]),
    ("pg_publication_tables", &["pubname", "schemaname", "tablename"]),
    ("pg_rules", &["schemaname", "tablename", "rulename", "definition"]),
    ("pg_sequences", &["schemaname", "sequencename", "sequenceowner", "data_type", "start_value", "last_value"]),
    ("pg_stats", &["schemaname", "tablename", "attname", "null_frac", "avg_width", "n_distinct"]),
    ("pg_replication_slots", &["slot_name", "plugin", "slot_type", "datoid", "database", "active"]),
];

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
}

impl Fixed {
    pub fn load() -> Result<Self> {
        let statics = Arc::new(PgCatalogStaticTables::try_new().map_err(from_datafusion)?);
        let nothing: Arc<dyn CatalogProviderList> = Arc::new(MemoryCatalogProviderList::new());
        let known = PgCatalogSchemaProvider::try_new(nothing, statics, EmptyContextProvider).map_err(from_datafusion)?;
        let mut tables = BTreeMap::new();
        for name in PG_CATALOG_TABLES {
            let Some(PgCatalogTable::Static(table)) = known.build_table_by_name(name).map_err(from_datafusion)? else { continue };
            let content = if EMPTY.contains(name) { (emptied(&table.schema()), Vec::new()) } else { (table.schema(), own_rows(table.data())?) };
            tables.insert(name.to_string(), content);
        }
        for (name, columns) in VIEWS {
            let fields: Vec<Field> = columns.iter().map(|column| Field::new(*column, DataType::Utf8, true)).collect();
            tables.insert(name.to_owned(), (Arc::new(Schema::new(fields)), Vec::new()));
        }
        let types = types(tables.get("pg_type").map(|(_, batches)| batches.as_slice()).unwrap_or_default());
        Ok(Self { tables, types })
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

    pub fn type_name(&self, oid: i32) -> Option<&str> {
        self.types.iter().find(|(_, known)| **known == oid).map(|(name, _)| name.as_str())
    }
}

fn emptied(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let name = field.name().as_str();
        let data_type = if SMALL_LISTS.contains(&name) {
            list_of(DataType::Int16)
        } else if LISTS.contains(&name) {
            list_of(DataType::Int32)
        } else if TEXT_LISTS.contains(&name) {
            list_of(DataType::Utf8)
        } else {
            return field.clone();
        };
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
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

fn types(batches: &[RecordBatch]) -> HashMap<String, i32> {
    let mut types = HashMap::new();
    for batch in batches {
        let oids = batch.column_by_name("oid").and_then(|column| column.as_any().downcast_ref::<Int32Array>());
        let names = batch.column_by_name("typname").and_then(|column| column.as_any().downcast_ref::<StringArray>());
        let (Some(oids), Some(names)) = (oids, names) else { continue };
        types.extend((0..batch.num_rows()).filter(|row| oids.is_valid(*row)).map(|row| (names.value(row).to_owned(), oids.value(row))));
    }
    types
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
    }
}
