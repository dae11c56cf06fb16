// SPDX-License-Identifier: Apache-2.0
//! Tables, views and columns of the file, from its schema table.

use super::collation::collations;
use super::declared_type::{Meaning, meaning};
use super::session::Session;
use crate::{Altering, Column, Discovered, SourceTable, TableKind};
use std::collections::BTreeMap;
use weir_base::{Error, Result, SourceName};

/// Ends the collation of texts whose bytes are not UTF-8 in the file.
pub(super) const UTF16: &str = " (UTF-16)";
/// Not a name that SQLite has: how texts of this column compare is not known.
const UNKNOWN: &str = "unknown";

const COLUMNS: &str = "SELECT m.name, m.type, m.sql, x.name, x.type, x.\"notnull\", x.pk, (SELECT encoding FROM pragma_encoding), \
     (SELECT CASE WHEN l.strict THEN 'strict' WHEN NOT l.wr THEN 'rowid' END FROM pragma_table_list l WHERE l.schema = 'main' AND l.name = m.name) \
     FROM sqlite_master m JOIN pragma_table_xinfo(m.name) x \
     WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND x.hidden <> 1";

/// One query for everything. A view that no longer works would fail it, and then tables are asked one by one.
pub(super) async fn discover(session: &mut Session, source: &SourceName, schema: &str) -> Result<Discovered> {
    let mut warnings = Vec::new();
    let rows = match session.rows(&format!("{COLUMNS} ORDER BY m.name, x.cid")).await {
        Ok(rows) => rows,
        Err(_) => one_by_one(session, source, schema, &mut warnings).await?,
    };
    let estimates = row_estimates(session).await?;
    Ok(Discovered { tables: tables(rows, &estimates, source, schema)?, warnings })
}

async fn one_by_one(session: &mut Session, source: &SourceName, schema: &str, warnings: &mut Vec<String>) -> Result<Vec<Vec<Option<String>>>> {
    let names = session.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name").await?;
    let mut rows = Vec::new();
    for name in names.into_iter().flatten().flatten() {
        let literal = name.replace('\'', "''");
        match session.rows(&format!("{COLUMNS} AND m.name = '{literal}' ORDER BY x.cid")).await {
            Ok(columns) => rows.extend(columns),
            Err(error) => warnings.push(format!("{source}.{schema}.{name} cannot be described: {}", error.message())),
        }
    }
    Ok(rows)
}

/// Rows per table as `ANALYZE` counted them, where it ever ran. The first number of every index is the table's row count.
async fn row_estimates(session: &mut Session) -> Result<BTreeMap<String, u64>> {
    if session.rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").await?.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = session.rows("SELECT tbl, stat FROM sqlite_stat1").await?;
    let estimate = |row: Vec<Option<String>>| {
        let [table, stat] = <[Option<String>; 2]>::try_from(row).ok()?;
        Some((table?, stat?.split(' ').next()?.parse().ok()?))
    };
    Ok(rows.into_iter().filter_map(estimate).collect())
}

fn tables(rows: Vec<Vec<Option<String>>>, estimates: &BTreeMap<String, u64>, source: &SourceName, schema: &str) -> Result<Vec<SourceTable>> {
    let mut tables: Vec<SourceTable> = Vec::new();
    let mut named: Option<BTreeMap<String, String>> = None;
    for row in rows {
        let shape = || Error::internal(format!("schema of source {source} answered in an unknown shape"));
        let [table, kind, sql, column, declared, not_null, key, encoding, storage] = <[Option<String>; 9]>::try_from(row).map_err(|_| shape())?;
        let (Some(table), Some(column)) = (table, column) else {
            return Err(shape());
        };
        let view = kind.as_deref() == Some("view");
        if tables.last().is_none_or(|last| last.name != table) {
            named = sql.as_deref().filter(|sql| !view && plain_table(sql)).and_then(collations);
            tables.push(SourceTable {
                schema: schema.to_owned(),
                rows_estimate: estimates.get(&table).copied(),
                name: table,
                kind: if view { TableKind::View } else { TableKind::Table },
                columns: Vec::new(),
                bytes_estimate: None,
                comment: None,
                unique: Vec::new(),
            });
        }
        let collation = collation_of(named.as_ref(), &column, encoding.as_deref());
        // A key column of a rowid table may hold NULLs unless it says otherwise, so only NOT NULL counts.
        let nullable = not_null.as_deref() != Some("1");
        let integer_key = key.as_deref() == Some("1") && declared.as_deref().is_some_and(|declared| declared.eq_ignore_ascii_case("integer"));
        if let Some(last) = tables.last_mut() {
            // The key of a table with row ids is the row id itself, so a number whatever the table keeps to.
            let kept = storage.as_deref() == Some("strict") || integer_key && storage.as_deref() == Some("rowid");
            let place = last.columns.len();
            if key.as_deref().is_some_and(|key| key != "0") {
                match last.unique.first_mut() {
                    Some(own) => own.push(place),
                    None => last.unique.push(vec![place]),
                }
            }
            last.columns.push(describe(column, declared.unwrap_or_default(), nullable && !integer_key, collation, kept));
        }
    }
    for table in &mut tables {
        let SourceTable { unique, columns, .. } = table;
        unique.retain(|places| places.iter().all(|place| !columns[*place].nullable));
    }
    Ok(tables)
}

/// `kept` when SQLite lets nothing but the declared type in; `bytewise_equality` says so too, of numbers and blobs.
fn describe(name: String, declared: String, nullable: bool, collation: String, kept: bool) -> Column {
    let meaning = meaning(&declared);
    let strays_not = kept && matches!(meaning, Meaning::Integer | Meaning::Real | Meaning::Blob);
    Column {
        name,
        data_type: meaning.data_type(),
        nullable,
        bytewise_equality: strays_not || meaning == Meaning::Text && collation.strip_suffix(UTF16).unwrap_or(&collation) == "BINARY",
        collation: matches!(meaning, Meaning::Text | Meaning::Date).then_some(collation),
        read_as: meaning.read_as(),
        native_type: declared,
        labels: None,
        degraded: None,
        altering: Altering::default(),
    }
}

/// Virtual tables compare as their modules please.
fn plain_table(sql: &str) -> bool {
    !sql.trim_start().get(..14).is_some_and(|start| start.eq_ignore_ascii_case("create virtual"))
}

fn collation_of(named: Option<&BTreeMap<String, String>>, column: &str, encoding: Option<&str>) -> String {
    let name = named.map_or(UNKNOWN, |named| named.get(&column.to_lowercase()).map_or("BINARY", String::as_str));
    let suffix = if encoding.is_some_and(|encoding| encoding.starts_with("UTF-16")) { UTF16 } else { "" };
    format!("{name}{suffix}")
}
