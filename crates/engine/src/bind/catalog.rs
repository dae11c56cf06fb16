// SPDX-License-Identifier: Apache-2.0
//! The tables of one statement as the planner's catalogs: exactly those that were resolved, under their exact names.

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::common::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_base::TableName;

type Tables = BTreeMap<String, Arc<dyn TableProvider>>;

/// Catalogs, schemas and tables by exact name.
#[derive(Debug, Default)]
pub(crate) struct StatementCatalogs {
    catalogs: BTreeMap<String, Arc<StatementCatalog>>,
}

impl StatementCatalogs {
    pub fn of(tables: impl IntoIterator<Item = (TableName, Arc<dyn TableProvider>)>) -> Self {
        let mut tree: BTreeMap<String, BTreeMap<String, Tables>> = BTreeMap::new();
        for (name, table) in tables {
            tree.entry(name.source.to_string()).or_default().entry(name.schema).or_default().insert(name.table, table);
        }
        let schemas = |schemas: BTreeMap<String, Tables>| StatementCatalog {
            schemas: schemas.into_iter().map(|(name, tables)| (name, Arc::new(StatementSchema { tables }))).collect(),
        };
        Self { catalogs: tree.into_iter().map(|(name, tree)| (name, Arc::new(schemas(tree)))).collect() }
    }
}

impl CatalogProviderList for StatementCatalogs {
    fn register_catalog(&self, _: String, _: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        self.catalogs.keys().cloned().collect()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        self.catalogs.get(name).map(|catalog| catalog.clone() as Arc<dyn CatalogProvider>)
    }
}

#[derive(Debug)]
struct StatementCatalog {
    schemas: BTreeMap<String, Arc<StatementSchema>>,
}

impl CatalogProvider for StatementCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.schemas.keys().cloned().collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        self.schemas.get(name).map(|schema| schema.clone() as Arc<dyn SchemaProvider>)
    }
}

#[derive(Debug)]
struct StatementSchema {
    tables: Tables,
}

#[async_trait]
impl SchemaProvider for StatementSchema {
    fn table_names(&self) -> Vec<String> {
        self.tables.keys().cloned().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        Ok(self.tables.get(name).cloned())
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }
}
