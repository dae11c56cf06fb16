// SPDX-License-Identifier: Apache-2.0
//! SHOW TABLES, SHOW SCHEMAS, SHOW COLUMNS and DESCRIBE: questions about the `system` tables in other words.

use super::statement::parse;
use datafusion::sql::sqlparser::ast::{ShowStatementFilter, ShowStatementFilterPosition, ShowStatementIn, ShowStatementOptions, Statement};
use weir_base::{Error, ErrorCode, Result};

/// The question behind a SHOW; any other statement comes back as it is.
pub(super) fn as_question(statement: Statement) -> Result<Statement> {
    let sql = match &statement {
        Statement::ShowTables { show_options, .. } => listed(
            "SELECT source, schema, \"table\", kind, rows_estimate FROM system.tables WHERE true",
            "source = {p0} AND schema = {p1}",
            "\"table\"",
            show_options,
            "source, schema, \"table\"",
        )?,
        Statement::ShowSchemas { show_options, .. } => {
            listed("SELECT DISTINCT source, schema FROM system.tables WHERE true", "source = {p0}", "schema", show_options, "source, schema")?
        }
        Statement::ShowDatabases { show_options, .. } => {
            listed("SELECT source, type, state FROM system.sources WHERE true", "source = {p0}", "source", show_options, "source")?
        }
        Statement::ShowColumns { show_options, .. } => {
            listed(COLUMNS, "concat(source, '.', schema, '.', \"table\") = concat({p0}, '.', {p1}, '.', {p2})", "\"column\"", show_options, "position")?
        }
        Statement::ExplainTable { table_name, .. } => {
            let parts: Vec<String> = table_name.0.iter().map(|part| part.as_ident().map_or_else(|| part.to_string(), |ident| ident.value.clone())).collect();
            format!("{COLUMNS} AND concat(source, '.', schema, '.', \"table\") = {} ORDER BY position", quoted(&parts.join(".")))
        }
        _ => return Ok(statement),
    };
    parse(&sql)
}

const COLUMNS: &str = "SELECT \"column\", type, native_type, nullable FROM system.columns WHERE true";

/// `base`, narrowed to what IN or FROM names, and to what LIKE fits.
fn listed(base: &str, within: &str, name: &str, options: &ShowStatementOptions, order: &str) -> Result<String> {
    let mut sql = base.to_owned();
    if let Some(place) = &options.show_in {
        sql.push_str(" AND ");
        sql.push_str(&filled(within, place)?);
    }
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

/// The parts of the name after IN, into the places of `within` that they fill; parts that are missing narrow nothing.
fn filled(within: &str, place: &ShowStatementIn) -> Result<String> {
    let name = place.parent_name.as_ref().ok_or_else(|| Error::new(ErrorCode::Syntax, "SHOW … IN needs a name"))?;
    let parts: Vec<String> = name.0.iter().map(|part| part.as_ident().map_or_else(|| part.to_string(), |ident| ident.value.clone())).collect();
    let wanted = within.matches("{p").count();
    if parts.len() > wanted || (parts.len() < wanted && wanted == 3) {
        return Err(Error::new(ErrorCode::Syntax, format!("{name} has {} parts where {wanted} are needed", parts.len()))
            .with_hint("names have three parts: source.schema.table"));
    }
    let kept: Vec<&str> = if wanted == 3 { vec![within] } else { within.split(" AND ").take(parts.len()).collect() };
    let mut filled = kept.join(" AND ");
    for (index, part) in parts.iter().enumerate() {
        filled = filled.replace(&format!("{{p{index}}}"), &quoted(part));
    }
    Ok(filled)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> String {
        as_question(parse(sql).unwrap()).unwrap().to_string()
    }

    #[test]
    fn shows_are_questions() {
        assert_eq!(
            of("SHOW TABLES FROM app_pg.public LIKE 'c%'"),
            "SELECT source, schema, \"table\", kind, rows_estimate FROM system.tables WHERE true AND source = 'app_pg' AND schema = 'public' AND \"table\" LIKE 'c%' ORDER BY source, schema, \"table\""
        );
        assert!(of("SHOW TABLES IN app_pg").contains("WHERE true AND source = 'app_pg' ORDER BY"));
        assert!(of("SHOW COLUMNS FROM app_pg.public.customers").contains("= concat('app_pg', '.', 'public', '.', 'customers')"));
        assert!(of("DESCRIBE lake.web.t").contains("= 'lake.web.t'"));
        assert!(as_question(parse("SHOW COLUMNS FROM customers").unwrap()).is_err());
    }
}
