// SPDX-License-Identifier: Apache-2.0
//! Writes: into the lake where a role allows it, and never into a source.

mod create;
mod insert;
mod partitioning;
mod target;

use crate::bind::Command;
use crate::execute::command;
use crate::session::PlanningSession;
use crate::shared::Shared;
use datafusion::sql::sqlparser::ast::ObjectName;
use std::sync::Arc;
use target::Target;
use weir_api::{Answer, Parameter};
use weir_base::{Error, ErrorCode, Result};
use weir_lake::Lake;
use weir_policy::{Access, Action};

/// Carries out a command that writes. Errors: 25006 for a source, 42501 for a missing right, 0A000 for what comes later.
pub(crate) async fn write(planning: &PlanningSession<'_>, shared: &Arc<Shared>, writing: Command, params: &[Parameter]) -> Result<Answer> {
    let tag = match writing {
        Command::CreateSchema { name, if_not_exists } => create_schema(planning, &name, if_not_exists).await?,
        Command::DropSchemas { names, if_exists } => drop_schemas(planning, &names, if_exists).await?,
        Command::DropTables { names, if_exists } => drop_tables(planning, &names, if_exists).await?,
        Command::CreateTable(table) => create::create_table(planning, *table, params).await?,
        Command::Insert(statement) => insert::insert(planning, *statement, params).await?,
        Command::OtherWrite { what, target } => return Err(other_write(planning, &what, target.as_ref())),
        _ => return Err(Error::internal("not a write")),
    };
    Ok(command(shared, planning.run, tag))
}

/// The lake, or the error of a Weir without one.
fn lake<'a>(planning: &PlanningSession<'a>) -> Result<&'a Lake> {
    let place = planning.engine.parts.places.lake.as_ref();
    place
        .map(|place| place.lake.as_ref())
        .ok_or_else(|| Error::new(ErrorCode::Unsupported, "there is no lake to write to").with_hint("add `lake` to weir.yaml"))
}

async fn create_schema(planning: &PlanningSession<'_>, name: &ObjectName, if_not_exists: bool) -> Result<String> {
    let schema = target::schema(planning, name)?;
    target::may_in_schema(planning, Action::Create, &schema)?;
    lake(planning)?.create_schema(&schema, if_not_exists).await?;
    Ok("CREATE SCHEMA".into())
}

async fn drop_schemas(planning: &PlanningSession<'_>, names: &[ObjectName], if_exists: bool) -> Result<String> {
    for name in names {
        let schema = target::schema(planning, name)?;
        target::may_in_schema(planning, Action::Drop, &schema)?;
        lake(planning)?.drop_schema(&schema, if_exists).await?;
    }
    Ok("DROP SCHEMA".into())
}

async fn drop_tables(planning: &PlanningSession<'_>, names: &[ObjectName], if_exists: bool) -> Result<String> {
    let targets = names.iter().map(|name| Target::of(planning, name)).collect::<Result<Vec<_>>>()?;
    let accesses: Vec<Access> = targets.iter().map(|target| Access { action: Action::Drop, table: target.name.clone() }).collect();
    planning.principal.decide(&accesses)?;
    for target in &targets {
        lake(planning)?.drop_table(&target.name.schema, &target.name.table, if_exists).await?;
    }
    Ok("DROP TABLE".into())
}

/// A source says 25006; the lake will do it in a later version.
fn other_write(planning: &PlanningSession<'_>, what: &str, name: Option<&ObjectName>) -> Error {
    if let Some(error) = name.and_then(|name| Target::of(planning, name).err()) {
        return error;
    }
    let error = Error::new(ErrorCode::Unsupported, format!("{what} is not in this version"));
    match what {
        "COPY FROM" => error.with_hint("rows come with INSERT … VALUES, or from a source of weir.yaml with INSERT … SELECT or CREATE TABLE … AS SELECT"),
        _ => error.with_hint("the lake takes CREATE TABLE … AS, INSERT and DROP"),
    }
}
