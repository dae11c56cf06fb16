// SPDX-License-Identifier: Apache-2.0
//! From a name as typed to the one table it means, and to the nearest names when it means none.

use super::elsewhere;
use crate::discovery::{Found, Part, SourceCatalog, SourceHandle};
use crate::parts::{LakePlace, Places};
use datafusion::sql::sqlparser::ast::ObjectName;
use futures::future::BoxFuture;
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result, SourceName, TableName, nearest};
use weir_lake::LakeTable;
use weir_policy::{Action, Principal};
use weir_source::SourceTable;

const MAKE_SCHEMA: &str = "CREATE SCHEMA makes one";
const LISTED: &str = "SELECT * FROM system.tables lists the tables you may see";
/// The database that stands for all of Weir; every other database name is a source.
pub(crate) const WHOLE_DATABASE: &str = "weir";
pub(crate) const SYSTEM: &str = "system";
pub(crate) const PG_CATALOG: &str = "pg_catalog";
pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";

/// What a name means.
#[derive(Debug, Clone)]
pub(crate) enum Resolved {
    Live {
        handle: Arc<SourceHandle>,
        name: TableName,
        table: Arc<SourceTable>,
    },
    Lake {
        name: TableName,
        table: Arc<LakeTable>,
    },
    /// `system.queries` and its sisters.
    System(TableName),
    /// `pg_catalog` and `information_schema` of the database that stands for the source in the name.
    Catalog(TableName),
}

impl Resolved {
    pub fn name(&self) -> &TableName {
        match self {
            Self::Live { name, .. } | Self::Lake { name, .. } | Self::System(name) | Self::Catalog(name) => name,
        }
    }
}

/// Looks names up for one principal in one session.
pub(crate) struct Names<'a> {
    pub places: &'a Places,
    pub principal: &'a Principal,
    /// The source that short names are looked up in, when the session named one.
    pub database: Option<&'a str>,
}

impl Names<'_> {
    /// Errors: 42P01 with the nearest names, 42702 for a name that fits several, 08001 for a source that does not answer.
    pub async fn resolve(&self, name: &ObjectName) -> Result<Resolved> {
        let parts = parts(name)?;
        match parts.as_slice() {
            [source, schema, table] => self.full(source, schema, table).await,
            [schema, table] => self.in_schema(schema, table).await,
            [table] => self.bare(table).await,
            _ => Err(self.unknown(&display(&parts), &[])),
        }
    }

    /// Boxed, since the shorter forms of a name end here and this one begins with them.
    fn full<'f>(&'f self, source: &'f Part, schema: &'f Part, table: &'f Part) -> BoxFuture<'f, Result<Resolved>> {
        Box::pin(async move { self.find_full(source, schema, table).await.map_err(|error| self.veiled(error, [source, schema, table])) })
    }

    /// Outside of what is granted, a table that is there and one that is not get the same answer: no right to it.
    fn veiled(&self, error: Error, name: [&Part; 3]) -> Error {
        let [source, schema, table] = name.map(fold);
        let house = [WHOLE_DATABASE, SYSTEM].contains(&source.as_str());
        if house || error.code() != ErrorCode::UnknownTable || self.principal.may_see(&TableName::new(source, schema, table)) {
            return error;
        }
        let typed = display(&name.map(Part::clone));
        let refused = Error::new(ErrorCode::Forbidden, format!("no right to {typed}")).with_detail("it was not granted to you, or it does not exist");
        match error.hint() {
            Some(hint) if hint != MAKE_SCHEMA => refused.with_hint(hint),
            _ => refused.with_hint(LISTED),
        }
    }

    async fn find_full(&self, source: &Part, schema: &Part, table: &Part) -> Result<Resolved> {
        let house = [WHOLE_DATABASE, SYSTEM].contains(&fold(source).as_str());
        if (house || self.is_source(source))
            && let Some(found) = catalog_table(&fold(source), schema, table)
        {
            return Ok(found);
        }
        if house {
            return self.in_schema(schema, table).await;
        }
        if self.is_lake(source) {
            return self.in_lake(schema, table).await;
        }
        let Some(handle) = self.source(source) else { return Err(self.unknown_source(source)) };
        let typed = display(&[source.clone(), schema.clone(), table.clone()]);
        let visible = |table: &SourceTable| self.sees(handle.name(), table);
        match handle.catalog().await?.find(schema, table, visible) {
            Found::One(found) => Ok(live(handle, found)),
            Found::Ambiguous(names) => Err(ambiguous(&typed, &names)),
            // The table may be younger than what is remembered.
            Found::None => match handle.catalog_again().await?.find(schema, table, visible) {
                Found::One(found) => Ok(live(handle, found)),
                Found::Ambiguous(names) => Err(ambiguous(&typed, &names)),
                Found::None => {
                    let known = handle.catalog().await?;
                    Err(self.unknown_in(&typed, handle, &known))
                }
            },
        }
    }

    async fn in_schema(&self, schema: &Part, table: &Part) -> Result<Resolved> {
        if let Some(found) = self.well_known(schema, table) {
            return Ok(found);
        }
        // Tools that saw `app_pg.public` as a schema write it as one quoted name.
        if let Some((source, schema)) = schema.text.split_once('.') {
            let (source, schema) = (quoted(source), quoted(schema));
            return self.full(&source, &schema, table).await;
        }
        if let Some(database) = self.database_source() {
            let found = self.full(&database, schema, table).await;
            if found.is_ok() || !self.is_source(schema) {
                return found;
            }
        }
        if self.is_source(schema) {
            return self.only_schema(schema, table).await;
        }
        let typed = display(&[schema.clone(), table.clone()]);
        Err(self.unknown(&typed, &self.known_names().await).with_detail("names have three parts: source.schema.table"))
    }

    /// `source.table`, where the source has just one table of that name.
    async fn only_schema(&self, source: &Part, table: &Part) -> Result<Resolved> {
        let schemas = match self.is_lake(source) {
            true => self.lake_schemas_with(table).await?,
            false => match self.source(source) {
                Some(handle) => handle.catalog().await?.schemas_with(table, |table| self.sees(handle.name(), table)),
                None => Vec::new(),
            },
        };
        let typed = display(&[source.clone(), table.clone()]);
        match schemas.as_slice() {
            [schema] => {
                let schema = quoted(schema);
                self.full(source, &schema, table).await
            }
            [] => Err(self.unknown(&typed, &self.known_names().await).with_detail("names have three parts: source.schema.table")),
            several => Err(ambiguous(&typed, &several.iter().map(|schema| format!("{}.{schema}.{}", source.text, table.text)).collect::<Vec<_>>())),
        }
    }

    async fn bare(&self, table: &Part) -> Result<Resolved> {
        if fold(table).starts_with("pg_") {
            return Ok(Resolved::Catalog(TableName::new(self.entered(), PG_CATALOG, fold(table))));
        }
        if let Some(database) = self.database_source() {
            return self.only_schema(&database, table).await;
        }
        let typed = display(std::slice::from_ref(table));
        Err(self.unknown(&typed, &self.known_names().await).with_detail("names have three parts: source.schema.table"))
    }

    /// Weir's own tables and the catalog of the database that the session is in.
    fn well_known(&self, schema: &Part, table: &Part) -> Option<Resolved> {
        match fold(schema).as_str() {
            SYSTEM => Some(Resolved::System(TableName::new(SYSTEM, SYSTEM, fold(table)))),
            _ => catalog_table(self.entered(), schema, table),
        }
    }

    /// The database that the session is in.
    fn entered(&self) -> &str {
        self.database.unwrap_or(WHOLE_DATABASE)
    }

    /// The source that a name means, or a schema in it: `app_pg`, `app_pg.public`, and `public` where the session is in a source.
    /// Errors: 42P01 with the nearest names, 42501 for what is outside the grants.
    pub async fn place(&self, name: &ObjectName) -> Result<(String, Option<String>)> {
        let parts = parts(name)?;
        let whole = |source: &Part| [WHOLE_DATABASE, SYSTEM].contains(&fold(source).as_str());
        let (source, schema) = match (parts.as_slice(), self.database_source()) {
            ([source], _) if self.is_source(source) || whole(source) => return Ok((fold(source), None)),
            ([schema], Some(database)) => (database, schema.clone()),
            ([one], None) => match one.text.split_once('.') {
                Some((source, schema)) if one.quoted => (quoted(source), quoted(schema)),
                _ => return Err(self.unknown_source(one)),
            },
            ([source, schema], _) => (source.clone(), schema.clone()),
            _ => return Err(Error::new(ErrorCode::Syntax, format!("{name} is neither a source nor a schema")).with_hint("write source or source.schema")),
        };
        if !self.is_source(&source) {
            return Err(self.unknown_source(&source));
        }
        let known = self.schemas_of(&source).await?;
        match pick(&schema, &known) {
            Some(schema) => Ok((fold(&source), Some(schema))),
            None => {
                let near = did_you_mean(&schema.text, known.iter().map(String::as_str));
                let hint = near.unwrap_or_else(|| format!("SHOW SCHEMAS FROM {} lists those you may see", source.text));
                Err(Error::new(ErrorCode::UnknownTable, format!("schema {}.{} does not exist", source.text, schema.text)).with_hint(hint))
            }
        }
    }

    /// Schemas with something that the principal may see.
    async fn schemas_of(&self, source: &Part) -> Result<Vec<String>> {
        if let Some(lake) = self.places.lake.as_ref().filter(|_| self.is_lake(source)) {
            return self.seen_in_lake(lake).await;
        }
        let Some(handle) = self.source(source) else { return Ok(Vec::new()) };
        let catalog = handle.catalog_again().await?;
        let seen = catalog.tables().iter().filter(|table| self.sees(handle.name(), table));
        let schemas: BTreeSet<String> = seen.map(|table| table.schema.clone()).collect();
        Ok(schemas.into_iter().collect())
    }

    async fn in_lake(&self, schema: &Part, table: &Part) -> Result<Resolved> {
        let Some(lake) = &self.places.lake else { return Err(self.unknown_source(schema)) };
        let schemas = self.seen_in_lake(lake).await?;
        let typed = display(&[Part { text: lake.name.to_string(), quoted: false }, schema.clone(), table.clone()]);
        let Some(schema_name) = pick(schema, &schemas) else {
            return Err(Error::new(ErrorCode::UnknownTable, format!("table {typed} does not exist"))
                .with_detail(format!("the lake has no schema {}", schema.text))
                .with_hint(did_you_mean(&schema.text, schemas.iter().map(String::as_str)).unwrap_or_else(|| MAKE_SCHEMA.into())));
        };
        let tables = self.seen_in_schema(lake, &schema_name).await?;
        let found = match pick(table, &tables) {
            Some(name) => lake.lake.table(&schema_name, &name).await?,
            None => None,
        };
        match found {
            Some(found) => {
                let name = TableName { source: lake.name.clone(), schema: schema_name, table: found.name().table.clone() };
                Ok(Resolved::Lake { name, table: found })
            }
            None if alike(table, &tables).len() > 1 => Err(ambiguous(&typed, &alike(table, &tables))),
            None => {
                let named = tables.iter().map(|name| TableName::new(lake.name.as_str(), &schema_name, name).to_string());
                Err(self.unknown(&typed, &named.collect::<Vec<_>>()))
            }
        }
    }

    /// Schemas that some grant reaches into; the others are not there.
    async fn seen_in_lake(&self, place: &LakePlace) -> Result<Vec<String>> {
        let reached = |schema: &String| Action::ALL.into_iter().any(|action| self.principal.may_in_schema(action, place.name.as_str(), schema));
        Ok(place.lake.schemas().await?.into_iter().filter(reached).collect())
    }

    /// Tables that some grant is about; the others are not there.
    async fn seen_in_schema(&self, place: &LakePlace, schema: &str) -> Result<Vec<String>> {
        let seen = |table: &String| self.principal.may_see(&TableName::new(place.name.as_str(), schema, table));
        Ok(place.lake.tables(schema).await?.into_iter().filter(seen).collect())
    }

    async fn lake_schemas_with(&self, table: &Part) -> Result<Vec<String>> {
        let Some(place) = &self.places.lake else { return Ok(Vec::new()) };
        let mut with = Vec::new();
        for schema in self.seen_in_lake(place).await? {
            if pick(table, &self.seen_in_schema(place, &schema).await?).is_some() {
                with.push(schema);
            }
        }
        Ok(with)
    }

    /// A source that some grant reaches into; without one, a source is not even a name.
    fn source(&self, part: &Part) -> Option<&Arc<SourceHandle>> {
        self.places.source(&fold(part)).filter(|handle| self.principal.may_reach(handle.name().as_str()))
    }

    fn sees(&self, source: &SourceName, table: &SourceTable) -> bool {
        self.principal.may_see(&TableName { source: source.clone(), schema: table.schema.clone(), table: table.name.clone() })
    }

    fn database_source(&self) -> Option<Part> {
        let database = self.database.filter(|database| *database != WHOLE_DATABASE)?;
        let part = Part { text: database.to_owned(), quoted: false };
        self.is_source(&part).then_some(part)
    }

    fn is_lake(&self, part: &Part) -> bool {
        self.places.lake.as_ref().is_some_and(|lake| lake.name.as_str() == fold(part) && self.principal.may_reach(lake.name.as_str()))
    }

    fn is_source(&self, part: &Part) -> bool {
        self.is_lake(part) || self.source(part).is_some()
    }

    /// Names that this principal may see, from what is remembered of the sources that answer.
    async fn known_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for handle in self.places.sources() {
            if let Ok(catalog) = handle.catalog().await {
                names.extend(self.visible(handle.name(), &catalog));
            }
        }
        if let Some(lake) = &self.places.lake {
            for schema in self.seen_in_lake(lake).await.unwrap_or_default() {
                let tables = self.seen_in_schema(lake, &schema).await.unwrap_or_default();
                names.extend(tables.into_iter().map(|table| TableName::new(lake.name.as_str(), &schema, table).to_string()));
            }
        }
        names
    }

    fn visible(&self, source: &SourceName, catalog: &SourceCatalog) -> Vec<String> {
        let seen = catalog.tables().iter().filter(|table| self.sees(source, table));
        seen.map(|table| TableName { source: source.clone(), schema: table.schema.clone(), table: table.name.clone() }.to_string()).collect()
    }

    fn unknown_in(&self, typed: &str, handle: &SourceHandle, catalog: &SourceCatalog) -> Error {
        let known = self.visible(handle.name(), catalog);
        self.unknown(typed, &known)
    }

    fn unknown(&self, typed: &str, known: &[String]) -> Error {
        let error = Error::new(ErrorCode::UnknownTable, format!("table {typed} does not exist"));
        if elsewhere::file(typed) {
            return error.with_hint(elsewhere::FILE_HINT);
        }
        let by_table = |name: &String| name.rsplit('.').next().unwrap_or_default().to_owned();
        let last = typed.rsplit('.').next().unwrap_or(typed).to_lowercase();
        let same_table: Vec<&String> = known.iter().filter(|name| by_table(name).to_lowercase() == last).take(3).collect();
        if !same_table.is_empty() {
            let names: Vec<&str> = same_table.iter().map(|name| name.as_str()).collect();
            return error.with_hint(format!("did you mean {}?", names.join(" or ")));
        }
        match did_you_mean(typed, known.iter().map(String::as_str)) {
            Some(hint) => error.with_hint(hint),
            None => error.with_hint(LISTED),
        }
    }

    fn unknown_source(&self, source: &Part) -> Error {
        let known: Vec<String> = self.places.names().iter().map(ToString::to_string).filter(|name| self.principal.may_reach(name)).collect();
        let listed = || if known.is_empty() { "you may see no source".to_owned() } else { format!("known sources: {}", known.join(", ")) };
        let hint = did_you_mean(&source.text, known.iter().map(String::as_str)).unwrap_or_else(listed);
        Error::new(ErrorCode::UnknownTable, format!("source {} does not exist", source.text)).with_hint(hint)
    }
}

/// A table of `pg_catalog` or `information_schema`, as they are in one database.
fn catalog_table(database: &str, schema: &Part, table: &Part) -> Option<Resolved> {
    let schema = fold(schema);
    let known = [PG_CATALOG, INFORMATION_SCHEMA].contains(&schema.as_str());
    let database = if database == SYSTEM { WHOLE_DATABASE } else { database };
    known.then(|| Resolved::Catalog(TableName::new(database, schema, fold(table))))
}

fn quoted(text: &str) -> Part {
    Part { text: text.to_owned(), quoted: true }
}

fn live(handle: &Arc<SourceHandle>, table: Arc<SourceTable>) -> Resolved {
    let name = TableName { source: handle.name().clone(), schema: table.schema.clone(), table: table.name.clone() };
    Resolved::Live { handle: handle.clone(), name, table }
}

fn did_you_mean<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let near = nearest(wrong, known);
    if near.is_empty() { None } else { Some(format!("did you mean {}?", near.join(" or "))) }
}

fn ambiguous(typed: &str, names: &[String]) -> Error {
    Error::new(ErrorCode::AmbiguousName, format!("name {typed} is ambiguous"))
        .with_detail(format!("it could be {}", names.join(" or ")))
        .with_hint("quote the name you mean")
}

/// The known name that a part means: exact first, else the only one that differs in case.
fn pick(part: &Part, known: &[String]) -> Option<String> {
    let spelled = if part.quoted { part.text.clone() } else { fold(part) };
    if let Some(exact) = known.iter().find(|name| **name == spelled) {
        return Some(exact.clone());
    }
    let mut folded = known.iter().filter(|name| !part.quoted && name.to_lowercase() == spelled);
    match (folded.next(), folded.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// The known names that an unquoted part fits but for its case.
fn alike(part: &Part, known: &[String]) -> Vec<String> {
    known.iter().filter(|name| !part.quoted && name.to_lowercase() == fold(part)).map(|name| format!("\"{name}\"")).collect()
}

pub(crate) fn fold(part: &Part) -> String {
    if part.quoted { part.text.clone() } else { part.text.to_lowercase() }
}

/// The parts of a name as typed. Error: something that is not a plain name.
pub(crate) fn parts(name: &ObjectName) -> Result<Vec<Part>> {
    let part = |part: &datafusion::sql::sqlparser::ast::ObjectNamePart| {
        let ident = part.as_ident().ok_or_else(|| Error::new(ErrorCode::Syntax, format!("{name} is not a name")))?;
        Ok(Part { text: ident.value.clone(), quoted: ident.quote_style.is_some() })
    };
    name.0.iter().map(part).collect()
}

fn display(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".")
}
