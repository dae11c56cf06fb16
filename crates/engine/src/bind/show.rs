// SPDX-License-Identifier: Apache-2.0
//! SHOW TABLES, SHOW SCHEMAS, SHOW COLUMNS and DESCRIBE: questions about the `system` tables in other words.
//! What they name has to be there, as everywhere else.

use super::names::{Resolved, SYSTEM, WHOLE_DATABASE};
use super::statement::parse;
use crate::pg_catalog::type_name;
use crate::session::PlanningSession;
use arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast::{ObjectName, ShowStatementFilter, ShowStatementFilterPosition, ShowStatementOptions, Statement};
use weir_base::{Error, ErrorCode, Result};

/// The question behind a SHOW or DESCRIBE; any other statement comes back as it is.
/// Errors: 42P01 with the nearest names for a place or table that is not there, 42501 for one outside the grants.
pub(super) async fn as_question(session: &PlanningSession<'_>, statement: Statement) -> Result<Statement> {
    let sql = match &statement {
        Statement::ShowTables { show_options, .. } => {
            listed(&within(session, show_options, TABLES).await?, "\"table\"", show_options, "source, schema, \"table\"")?
        }
        Statement::ShowSchemas { show_options, .. } => listed(&within(session, show_options, SCHEMAS).await?, "schema", show_options, "source, schema")?,
        Statement::ShowDatabases { show_options, .. } => listed("SELECT source, type, state FROM system.sources WHERE true", "source", show_options, "source")?,
        Statement::ShowColumns { show_options, .. } => {
            let table = inside(show_options)
                .ok_or_else(|| Error::new(ErrorCode::Syntax, "SHOW COLUMNS needs a table").with_hint("write SHOW COLUMNS FROM source.schema.table"))?;
            listed(&columns_of(session, table).await?, "\"column\"", show_options, "position")?
        }
        Statement::ExplainTable { table_name, .. } => format!("{} ORDER BY position", columns_of(session, table_name).await?),
        _ => return Ok(statement),
    };
    parse(&sql)
}

const TABLES: &str = "SELECT source, schema, \"table\", kind, rows_estimate FROM system.tables WHERE true";
const SCHEMAS: &str = "SELECT DISTINCT source, schema FROM system.tables WHERE true";
const COLUMNS: &str = "SELECT \"column\", type, native_type, nullable FROM";
/// Weir's own tables, which `system.tables` does not list.
const HOUSE: &str = "SELECT source, schema, \"table\", kind, rows_estimate FROM (SELECT table_schema AS source, table_schema AS schema,
    table_name AS \"table\", 'view' AS kind, NULL::bigint AS rows_estimate FROM weir.information_schema.tables WHERE table_schema = 'system') WHERE true";

fn inside(options: &ShowStatementOptions) -> Option<&ObjectName> {
    options.show_in.as_ref().and_then(|place| place.parent_name.as_ref())
}

/// `base`, narrowed to the source or schema that IN or FROM names.
async fn within(session: &PlanningSession<'_>, options: &ShowStatementOptions, base: &str) -> Result<String> {
    let Some(named) = inside(options) else { return Ok(base.to_owned()) };
    Ok(match session.names().place(named).await? {
        (house, None) if house == WHOLE_DATABASE => base.to_owned(),
        (house, None) if house == SYSTEM && base == TABLES => HOUSE.to_owned(),
        (source, None) => format!("{base} AND source = {}", quoted(&source)),
        (source, Some(schema)) => format!("{base} AND source = {} AND schema = {}", quoted(&source), quoted(&schema)),
    })
}

/// The question for the columns of one table, which is there.
async fn columns_of(session: &PlanningSession<'_>, typed: &ObjectName) -> Result<String> {
    let table = session.names().resolve(typed).await?;
    if matches!(table, Resolved::System(_) | Resolved::Catalog(_)) {
        let columns = super::provider(session, &table).await?.schema();
        return Ok(format!("{COLUMNS} ({}) WHERE true", written_out(&columns)));
    }
    let name = table.name();
    let (source, schema, table) = (quoted(name.source.as_str()), quoted(&name.schema), quoted(&name.table));
    Ok(format!("{COLUMNS} system.columns WHERE source = {source} AND schema = {schema} AND \"table\" = {table}"))
}

/// Columns as rows, for the tables that `system.columns` does not list.
fn written_out(columns: &SchemaRef) -> String {
    let row = |(position, field): (usize, &arrow::datatypes::FieldRef)| {
        let (name, kind) = (quoted(field.name()), quoted(&type_name(field.data_type())));
        format!("SELECT {position} AS position, {name} AS \"column\", {kind} AS type, NULL::text AS native_type, {} AS nullable", field.is_nullable())
    };
    columns.fields().iter().enumerate().map(row).collect::<Vec<_>>().join(" UNION ALL ")
}

/// `base`, narrowed to what LIKE fits.
fn listed(base: &str, name: &str, options: &ShowStatementOptions, order: &str) -> Result<String> {
    let mut sql = base.to_owned();
    if let Some(filter) = &options.filter_position {
        let (ShowStatementFilterPosition::Infix(filter) | ShowStatementFilterPosition::Suffix(filter)) = filter;
        sql.push_str(&match filter {
            ShowStatementFilter::Like(pattern) | ShowStatementFilter::NoKeyword(pattern) => format!(" AND {name} LIKE {}", quoted(pattern)),
            ShowStatementFilter::ILike(pattern) => format!(" AND {name} ILIKE {}", quoted(pattern)),
            ShowStatementFilter::Where(_) => {
                return Err(Error::new(ErrorCode::Unsupported, "SHOW … WHERE is not in Weir").with_hint("select from system.tables or system.columns"));
            }
        });
    }
    Ok(format!("{sql} ORDER BY {order}"))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
