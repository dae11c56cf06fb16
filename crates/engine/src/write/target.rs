// SPDX-License-Identifier: Apache-2.0
//! What a write is aimed at: a place in the lake, or a source, which is an error.

use crate::bind::names::{INFORMATION_SCHEMA, PG_CATALOG, SYSTEM, WHOLE_DATABASE, fold, parts};
use crate::discovery::Part;
use crate::session::PlanningSession;
use datafusion::sql::sqlparser::ast::ObjectName;
use weir_base::{Error, ErrorCode, Result, TableName};
use weir_policy::Action;

/// A table of the lake, there or not yet.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub name: TableName,
}

impl Target {
    /// Errors: 25006 for a table of a source, 42601 for a name without a schema.
    pub fn of(planning: &PlanningSession<'_>, name: &ObjectName) -> Result<Self> {
        let parts = parts(name)?;
        refuse_source(planning, &parts)?;
        let lake = lake_name(planning)?;
        match parts.as_slice() {
            [place, schema, table] => {
                let place = fold(place);
                if place == lake || place == WHOLE_DATABASE {
                    let split = schema.text.strip_prefix(&format!("{lake}."));
                    return Ok(Self { name: TableName::new(lake.as_str(), split.map_or_else(|| fold(schema), str::to_owned), fold(table)) });
                }
                Err(not_the_lake(planning, &place, &lake))
            }
            [schema, table] => Self::in_schema(planning, schema, table, &lake),
            _ => Err(Error::new(ErrorCode::Syntax, format!("{name} does not name a table")).with_hint(format!("write {lake}.schema.table"))),
        }
    }

    fn in_schema(planning: &PlanningSession<'_>, schema: &Part, table: &Part, lake: &str) -> Result<Self> {
        if let Some((place, inner)) = schema.text.split_once('.') {
            return if place == lake { Ok(Self { name: TableName::new(lake, inner, fold(table)) }) } else { Err(not_the_lake(planning, place, lake)) };
        }
        let database = planning.session.database.as_deref().unwrap_or(WHOLE_DATABASE);
        let place = fold(schema);
        if place != lake && planning.engine.parts.places.source(&place).is_some() {
            return Err(read_only(&place));
        }
        if database != lake && planning.engine.parts.places.source(database).is_some() {
            return Err(read_only(database));
        }
        Ok(Self { name: TableName::new(lake, place, fold(table)) })
    }
}

/// 25006 for a name that begins with a source, also where there is no lake at all.
fn refuse_source(planning: &PlanningSession<'_>, parts: &[Part]) -> Result<()> {
    let first = parts.first().map(fold).unwrap_or_default();
    let place = first.split_once('.').map_or(first.as_str(), |(place, _)| place);
    let second = parts.get(1).map(fold).unwrap_or_default();
    let house = [SYSTEM, PG_CATALOG, INFORMATION_SCHEMA];
    if parts.len() > 1 && house.contains(&place) || parts.len() > 2 && house.contains(&second.as_str()) {
        let schema = if house.contains(&place) { place } else { second.as_str() };
        return Err(Error::new(ErrorCode::ReadOnlySource, format!("schema {schema} is read-only")).with_detail("Weir itself keeps its tables"));
    }
    match planning.engine.parts.places.source(place) {
        Some(_) if parts.len() > 1 => Err(read_only(place)),
        _ => Ok(()),
    }
}

/// The schema of the lake that a name means: `lake.web`, or `web`.
pub(crate) fn schema(planning: &PlanningSession<'_>, name: &ObjectName) -> Result<String> {
    let parts = parts(name)?;
    let lake = lake_name(planning)?;
    match parts.as_slice() {
        [place, schema] if fold(place) == lake => Ok(fold(schema)),
        [place, _] => Err(not_the_lake(planning, &fold(place), &lake)),
        [schema] => match planning.session.database.as_deref() {
            Some(database) if database != lake && planning.engine.parts.places.source(database).is_some() => Err(read_only(database)),
            _ => Ok(schema.text.strip_prefix(&format!("{lake}.")).map_or_else(|| fold(schema), str::to_owned)),
        },
        _ => Err(Error::new(ErrorCode::Syntax, format!("{name} does not name a schema")).with_hint(format!("write {lake}.schema"))),
    }
}

/// Error: 42501 when no grant reaches into the schema.
pub(crate) fn may_in_schema(planning: &PlanningSession<'_>, action: Action, schema: &str) -> Result<()> {
    let lake = lake_name(planning)?;
    if planning.principal.may_in_schema(action, &lake, schema) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Forbidden, format!("no right to {} schema {lake}.{schema}", action.word())).with_hint("ask for a grant in `roles` of weir.yaml"))
}

fn lake_name(planning: &PlanningSession<'_>) -> Result<String> {
    super::lake(planning)?;
    Ok(planning.engine.parts.places.lake.as_ref().map(|place| place.name.to_string()).unwrap_or_default())
}

fn not_the_lake(planning: &PlanningSession<'_>, place: &str, lake: &str) -> Error {
    if planning.engine.parts.places.source(place).is_some() {
        return read_only(place);
    }
    Error::new(ErrorCode::UnknownSchema, format!("{place} is neither the lake nor a source")).with_hint(format!("the lake is called {lake}"))
}

fn read_only(source: &str) -> Error {
    Error::new(ErrorCode::ReadOnlySource, format!("source {source} is read-only"))
        .with_detail("Weir never writes to a source, whoever asks")
        .with_hint("write to the lake instead")
}
