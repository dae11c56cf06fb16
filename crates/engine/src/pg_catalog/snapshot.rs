// SPDX-License-Identifier: Apache-2.0
//! What one principal sees, in the shape of Postgres: each source is a database, and the database `weir` has them all,
//! each schema of a source under the name `source.schema`. Taken once per statement; kept while nothing below it changes.

use super::oids::{Object, PG_CATALOG_SCHEMA};
use super::{Catalogs, relations};
use crate::bind::names::{INFORMATION_SCHEMA, PG_CATALOG, SYSTEM, WHOLE_DATABASE};
use crate::discovery::{SourceCatalog, SourceHandle};
use crate::shared::Shared;
use crate::system;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use weir_base::{Result, TableName, quote_ident};
use weir_lake::LakeTable;
use weir_policy::{Action, Principal};
use weir_source::{SourceTable, TableKind};

/// A table as the catalog shows it.
#[derive(Debug)]
pub(super) struct VisibleTable {
    pub oid: i32,
    /// As this database calls it: `public`, or `app_pg.public` in the database `weir`.
    pub schema: String,
    pub schema_oid: i32,
    pub name: String,
    pub columns: SchemaRef,
    /// `r` table, `v` view, `m` materialized view, `f` foreign table.
    pub kind: char,
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    pub comment: Option<String>,
    /// `pg_catalog` and `information_schema`: there for everybody, never data.
    pub built_in: bool,
    /// The name that rights are about; none for what is Weir's own.
    pub place: Option<TableName>,
}

impl VisibleTable {
    pub fn view(&self) -> bool {
        matches!(self.kind, 'v' | 'm')
    }

    /// Whether the principal may do that with it.
    pub fn allowed(&self, principal: &Principal, action: Action) -> bool {
        match &self.place {
            None => action == Action::Select,
            Some(place) => principal.may(action, place),
        }
    }

    /// As it has to be typed: `"app_pg.public".customers`.
    pub fn display(&self) -> String {
        if self.schema == PG_CATALOG { quote_ident(&self.name) } else { format!("{}.{}", quote_ident(&self.schema), quote_ident(&self.name)) }
    }
}

/// All of it, as it was at one moment.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub database: String,
    /// Name and oid.
    pub databases: Vec<(String, i32)>,
    pub user: String,
    pub user_oid: i32,
    /// By schema and name.
    pub tables: Vec<VisibleTable>,
    /// Name and oid of each schema, those of Weir itself included.
    pub schemas: BTreeMap<String, i32>,
    pub batches: BatchesOnce,
}

/// The two large tables, made when first asked for.
#[derive(Debug, Default)]
pub(super) struct BatchesOnce {
    pub classes: OnceLock<RecordBatch>,
    pub attributes: OnceLock<RecordBatch>,
}

/// What a snapshot was made of. While that is the same, so is the snapshot.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    sources: Vec<(Arc<SourceHandle>, Arc<SourceCatalog>)>,
    lake: Vec<(String, Arc<LakeTable>)>,
}

impl Basis {
    /// What there is now. Sources that do not answer are left out.
    pub async fn gather(shared: &Shared, database: &str) -> Result<Self> {
        let shows = |source: &str| database == WHOLE_DATABASE || database == source;
        let mut sources = Vec::new();
        for handle in shared.parts.places.sources() {
            if !shows(handle.name().as_str()) {
                continue;
            }
            // One source that is down must not take the catalog of the others with it; its error shows in system.sources.
            if let Ok(catalog) = handle.catalog().await {
                sources.push((handle, catalog));
            }
        }
        let mut lake = Vec::new();
        if let Some(place) = shared.parts.places.lake.as_ref().filter(|place| shows(place.name.as_str())) {
            for schema in place.lake.schemas().await? {
                for name in place.lake.tables(&schema).await? {
                    let found = place.lake.table(&schema, &name).await?;
                    lake.extend(found.map(|table| (schema.clone(), table)));
                }
            }
        }
        Ok(Self { sources, lake })
    }

    pub fn same(&self, other: &Self) -> bool {
        let sources = self.sources.len() == other.sources.len() && self.sources.iter().zip(&other.sources).all(|(a, b)| Arc::ptr_eq(&a.1, &b.1));
        let lake = self.lake.len() == other.lake.len() && self.lake.iter().zip(&other.lake).all(|(a, b)| a.0 == b.0 && Arc::ptr_eq(&a.1, &b.1));
        sources && lake
    }
}

/// Makes a snapshot.
pub(super) struct Maker<'a> {
    pub shared: &'a Shared,
    pub catalogs: &'a Catalogs,
    pub principal: &'a Principal,
    pub database: &'a str,
}

impl Maker<'_> {
    pub fn make(&self, basis: &Basis) -> Snapshot {
        let mut tables = Vec::new();
        for (handle, catalog) in &basis.sources {
            let named = catalog.tables().iter().map(|table| (handle.name().as_str(), table));
            tables.extend(named.filter_map(|(source, table)| self.of_source(source, table)));
        }
        if let Some(place) = &self.shared.parts.places.lake {
            tables.extend(basis.lake.iter().filter_map(|(schema, table)| self.of_lake(place.name.as_str(), schema, table)));
        }
        if self.database == WHOLE_DATABASE {
            tables.extend(system::NAMES.iter().map(|name| self.built_in(SYSTEM, name, system::schema(name), 'v')));
        }
        for (schema, name, columns) in self.catalogs.shapes() {
            let kind = if schema == INFORMATION_SCHEMA || relations::is_view(name) { 'v' } else { 'r' };
            tables.push(VisibleTable { built_in: true, ..self.built_in(schema, name, columns.clone(), kind) });
        }
        tables.sort_by(|a, b| (&a.schema, &a.name).cmp(&(&b.schema, &b.name)));
        self.complete(tables)
    }

    fn complete(&self, tables: Vec<VisibleTable>) -> Snapshot {
        let oids = &self.catalogs.oids;
        let places = self.shared.parts.places.names().into_iter().map(|name| name.to_string()).filter(|name| self.principal.may_reach(name));
        let databases = std::iter::once(WHOLE_DATABASE.to_owned()).chain(places);
        let schemas = tables.iter().map(|table| (table.schema.clone(), table.schema_oid)).collect();
        let user = self.principal.user().to_string();
        Snapshot {
            database: self.database.to_owned(),
            databases: databases.map(|name| (name.clone(), oids.of(Object::Database(name)))).collect(),
            user_oid: oids.of(Object::Role(user.clone())),
            user,
            tables,
            schemas,
            batches: BatchesOnce::default(),
        }
    }

    fn of_source(&self, source: &str, table: &SourceTable) -> Option<VisibleTable> {
        let fields = || table.columns.iter().map(|column| Field::new(&column.name, column.data_type.clone(), column.nullable)).collect::<Vec<_>>();
        let kind = match table.kind {
            TableKind::Table => 'r',
            TableKind::View => 'v',
            TableKind::MaterializedView => 'm',
            TableKind::ForeignTable => 'f',
        };
        let seen = self.seen(source, &table.schema, &table.name)?;
        Some(VisibleTable {
            columns: Arc::new(Schema::new(fields())),
            kind,
            rows: table.rows_estimate,
            bytes: table.bytes_estimate,
            comment: table.comment.clone(),
            ..seen
        })
    }

    fn of_lake(&self, lake: &str, schema: &str, table: &LakeTable) -> Option<VisibleTable> {
        let seen = self.seen(lake, schema, &table.name().table)?;
        let comment = table.comment().map(str::to_owned);
        Some(VisibleTable { columns: table.schema(), rows: Some(table.rows()), bytes: Some(table.bytes()), comment, ..seen })
    }

    /// The table without its particulars; `None` when the principal may not see it.
    fn seen(&self, source: &str, schema: &str, name: &str) -> Option<VisibleTable> {
        let full_name = TableName::new(source, schema, name);
        if !self.principal.may_see(&full_name) {
            return None;
        }
        let shown = if self.database == WHOLE_DATABASE { format!("{source}.{schema}") } else { schema.to_owned() };
        Some(VisibleTable {
            oid: self.catalogs.oids.of(Object::Table(full_name.clone())),
            schema_oid: self.catalogs.oids.of(Object::Schema(source.to_owned(), schema.to_owned())),
            schema: shown,
            name: name.to_owned(),
            columns: Arc::new(Schema::empty()),
            kind: 'r',
            rows: None,
            bytes: None,
            comment: None,
            built_in: false,
            place: Some(full_name),
        })
    }

    fn built_in(&self, schema: &str, name: &str, columns: SchemaRef, kind: char) -> VisibleTable {
        let schema_oid = match schema {
            PG_CATALOG => PG_CATALOG_SCHEMA,
            _ => self.catalogs.oids.of(Object::Schema(SYSTEM.to_owned(), schema.to_owned())),
        };
        VisibleTable {
            oid: self.catalogs.oids.of(Object::Table(TableName::new(SYSTEM, schema, name))),
            schema: schema.to_owned(),
            schema_oid,
            name: name.to_owned(),
            columns,
            kind,
            rows: None,
            bytes: None,
            comment: None,
            built_in: false,
            place: None,
        }
    }
}

impl Snapshot {
    /// The schema that a name without one is looked up in first; none in the database `weir`, where all names are qualified.
    pub fn default_schema(&self) -> Option<&str> {
        if self.database == WHOLE_DATABASE {
            return None;
        }
        let own = || self.tables.iter().filter(|table| !table.built_in).map(|table| table.schema.as_str());
        own().find(|schema| *schema == "public").or_else(|| own().next())
    }

    pub fn table(&self, oid: i32) -> Option<&VisibleTable> {
        self.tables.iter().find(|table| table.oid == oid)
    }

    /// The table that `'"app_pg.public".customers'` or `'pg_class'` means.
    pub fn table_named(&self, text: &str) -> Option<&VisibleTable> {
        if let Ok(oid) = text.parse() {
            return self.table(oid);
        }
        let parts = identifiers(text)?;
        let (schemas, name) = match parts.as_slice() {
            [name] => (vec![Some(PG_CATALOG), self.default_schema()], name.clone()),
            [schema, name] => (vec![Some(schema.as_str())], name.clone()),
            // As people write it: app_pg.public.customers.
            [source, schema, name] => return self.find(&format!("{source}.{schema}"), name),
            _ => return None,
        };
        schemas.into_iter().flatten().find_map(|schema| self.find(schema, &name))
    }

    fn find(&self, schema: &str, name: &str) -> Option<&VisibleTable> {
        let at = self.tables.binary_search_by(|table| (table.schema.as_str(), table.name.as_str()).cmp(&(schema, name)));
        at.ok().map(|at| &self.tables[at])
    }
}

/// The parts of a name as SQL reads it: unquoted ones folded. `None` for what is no name.
pub(super) fn identifiers(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut chars = text.trim().chars().peekable();
    loop {
        let mut part = String::new();
        if chars.peek() == Some(&'"') {
            chars.next();
            loop {
                match (chars.next()?, chars.peek()) {
                    ('"', Some('"')) => part.extend(chars.next()),
                    ('"', _) => break,
                    (c, _) => part.push(c),
                }
            }
        } else {
            while let Some(c) = chars.next_if(|c| *c != '.' && *c != '"') {
                part.extend(c.to_lowercase());
            }
        }
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match chars.next() {
            None => return Some(parts),
            Some('.') => {}
            Some(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_sql_reads_them() {
        let read = |text| identifiers(text).map(|parts| parts.join("|"));
        assert_eq!(read("\"app_pg.public\".Customers").unwrap(), "app_pg.public|customers");
        assert_eq!(read("\"a\"\"b\"").unwrap(), "a\"b");
        assert_eq!((read("a..b"), read("\"a"), read("")), (None, None, None));
    }
}
