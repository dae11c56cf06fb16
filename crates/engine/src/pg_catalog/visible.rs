// SPDX-License-Identifier: Apache-2.0
//! What one principal sees, in the shape of Postgres: each source is a database, and the database `weir` has them all,
//! each schema of a source under the name `source.schema`.

use crate::bind::names::{SYSTEM, WHOLE_DATABASE};
use crate::engine::Shared;
use crate::errors::carry;
use crate::system;
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion_pg_catalog::pg_catalog::catalog_info::CatalogInfo;
use std::sync::{Arc, Weak};
use weir_base::{Error, TableName};
use weir_policy::Principal;
use weir_source::{SourceTable, TableKind};

/// The view of one principal in one database.
#[derive(Clone)]
pub(crate) struct Visible {
    shared: Weak<Shared>,
    principal: Principal,
    database: String,
}

impl std::fmt::Debug for Visible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visible").field("user", self.principal.user()).field("database", &self.database).finish_non_exhaustive()
    }
}

/// A table as the catalog shows it.
pub(crate) struct VisibleTable {
    pub schema: String,
    pub name: String,
    pub columns: SchemaRef,
    pub view: bool,
}

impl Visible {
    pub fn new(shared: Weak<Shared>, principal: Principal, database: String) -> Self {
        Self { shared, principal, database }
    }

    fn shared(&self) -> weir_base::Result<Arc<Shared>> {
        self.shared.upgrade().ok_or_else(|| Error::internal("the engine is gone"))
    }

    /// Every table of this database, sources that do not answer left out.
    pub async fn tables(&self) -> weir_base::Result<Vec<VisibleTable>> {
        let shared = self.shared()?;
        let mut tables = Vec::new();
        for handle in shared.parts.places.sources() {
            if !self.shows(handle.name().as_str()) {
                continue;
            }
            let Ok(catalog) = handle.catalog().await else { continue };
            let named = catalog.tables().iter().filter(|table| self.sees(handle.name().as_str(), &table.schema, &table.name));
            tables.extend(named.map(|table| self.of_source(handle.name().as_str(), table)));
        }
        tables.extend(self.of_lake(&shared).await?);
        if self.database == WHOLE_DATABASE {
            tables.extend(system::NAMES.iter().map(|name| VisibleTable { schema: SYSTEM.into(), name: name.to_string(), columns: system::schema(name), view: true }));
        }
        Ok(tables)
    }

    async fn of_lake(&self, shared: &Shared) -> weir_base::Result<Vec<VisibleTable>> {
        let Some(place) = &shared.parts.places.lake else { return Ok(Vec::new()) };
        if !self.shows(place.name.as_str()) {
            return Ok(Vec::new());
        }
        let mut tables = Vec::new();
        for schema in place.lake.schemas().await? {
            for name in place.lake.tables(&schema).await? {
                if !self.sees(place.name.as_str(), &schema, &name) {
                    continue;
                }
                if let Some(table) = place.lake.table(&schema, &name).await? {
                    tables.push(VisibleTable { schema: self.schema_name(place.name.as_str(), &schema), name, columns: table.schema().clone(), view: false });
                }
            }
        }
        Ok(tables)
    }

    fn of_source(&self, source: &str, table: &SourceTable) -> VisibleTable {
        let fields: Vec<Field> = table.columns.iter().map(|column| Field::new(&column.name, column.data_type.clone(), column.nullable)).collect();
        VisibleTable {
            schema: self.schema_name(source, &table.schema),
            name: table.name.clone(),
            columns: Arc::new(Schema::new(fields)),
            view: matches!(table.kind, TableKind::View | TableKind::MaterializedView),
        }
    }

    fn shows(&self, source: &str) -> bool {
        self.database == WHOLE_DATABASE || self.database == source
    }

    fn sees(&self, source: &str, schema: &str, table: &str) -> bool {
        self.principal.may_see(&TableName::new(source, schema, table))
    }

    fn schema_name(&self, source: &str, schema: &str) -> String {
        if self.database == WHOLE_DATABASE { format!("{source}.{schema}") } else { schema.to_owned() }
    }

    async fn find(&self, schema: &str, table: &str) -> Result<Option<VisibleTable>> {
        let tables = self.tables().await.map_err(carry)?;
        Ok(tables.into_iter().find(|known| known.schema == schema && known.name == table))
    }
}

#[async_trait]
impl CatalogInfo for Visible {
    async fn catalog_names(&self) -> Result<Vec<String>> {
        let shared = self.shared().map_err(carry)?;
        let reachable = shared.parts.places.names().into_iter().map(|name| name.to_string()).filter(|name| self.principal.may_reach(name));
        Ok(std::iter::once(WHOLE_DATABASE.to_owned()).chain(reachable).collect())
    }

    async fn schema_names(&self, catalog: &str) -> Result<Option<Vec<String>>> {
        if catalog != self.database {
            return Ok(Some(Vec::new()));
        }
        let mut schemas: Vec<String> = self.tables().await.map_err(carry)?.into_iter().map(|table| table.schema).collect();
        schemas.sort();
        schemas.dedup();
        Ok(Some(schemas))
    }

    async fn table_names(&self, catalog: &str, schema: &str) -> Result<Option<Vec<String>>> {
        if catalog != self.database {
            return Ok(Some(Vec::new()));
        }
        let tables = self.tables().await.map_err(carry)?;
        Ok(Some(tables.into_iter().filter(|table| table.schema == schema).map(|table| table.name).collect()))
    }

    async fn table_schema(&self, _: &str, schema: &str, table: &str) -> Result<Option<SchemaRef>> {
        Ok(self.find(schema, table).await?.map(|table| table.columns))
    }

    async fn table_type(&self, _: &str, schema: &str, table: &str) -> Result<Option<TableType>> {
        Ok(self.find(schema, table).await?.map(|table| if table.view { TableType::View } else { TableType::Base }))
    }
}
