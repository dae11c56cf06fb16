// SPDX-License-Identifier: Apache-2.0
//! What `ANALYZE` has counted in the file, and the largest row id where it never ran.

use super::session::Session;
use crate::{SourceTable, TableStatistics};
use std::sync::Arc;
use weir_base::Result;

/// What is known of the tables, in their order. A table that cannot be described (a view that no longer works) is unknown.
pub(super) async fn statistics(session: &mut Session, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>> {
    let counted = !session.rows("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").await?.is_empty();
    let mut found = Vec::with_capacity(tables.len());
    for table in tables {
        let unknown = TableStatistics { rows: table.rows_estimate, ..TableStatistics::unknown(table.columns.len()) };
        found.push(of_table(session, table, counted, unknown.clone()).await.unwrap_or(unknown));
    }
    Ok(found)
}

async fn of_table(session: &mut Session, table: &SourceTable, counted: bool, mut known: TableStatistics) -> Result<TableStatistics> {
    let name = table.name.replace('\'', "''");
    if known.rows.is_none() {
        known.rows = largest_row_id(session, &name, &table.name).await?;
    }
    for row in session.rows(&format!("SELECT name FROM pragma_table_info('{name}') WHERE pk = 1 AND lower(type) = 'integer'")).await? {
        // Alone, such a key is the row id itself.
        let alone = session.rows(&format!("SELECT 1 FROM pragma_table_info('{name}') WHERE pk = 2")).await?.is_empty();
        if let Some(index) = place(table, row.first()).filter(|_| alone) {
            known.columns[index].indexed = true;
            known.columns[index].distinct = known.rows;
            known.columns[index].null_fraction = Some(0.0);
        }
    }
    let stat = if counted { format!("(SELECT s.stat FROM sqlite_stat1 s WHERE s.tbl = '{name}' AND s.idx = l.name)") } else { "NULL".to_owned() };
    let indexes = format!(
        "SELECT i.name, {stat}, l.\"unique\" AND (SELECT count(*) FROM pragma_index_info(l.name)) = 1 \
         FROM pragma_index_list('{name}') l JOIN pragma_index_info(l.name) i ON i.seqno = 0 WHERE NOT l.partial"
    );
    for row in session.rows(&indexes).await? {
        let Some(index) = place(table, row.first()) else { continue };
        let column = &mut known.columns[index];
        column.indexed = true;
        let unique = row.get(2).and_then(Option::as_deref) == Some("1");
        let distinct = row.get(1).and_then(Option::as_deref).and_then(distinct).or(known.rows.filter(|_| unique));
        column.distinct = column.distinct.max(distinct);
    }
    Ok(known)
}

/// No more rows than that, and one step into the table. Only of tables that have row ids which nobody else has named so.
async fn largest_row_id(session: &mut Session, literal: &str, name: &str) -> Result<Option<u64>> {
    let plain = "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr = 0";
    if session.rows(&format!("{plain} AND name = '{literal}'")).await?.is_empty() {
        return Ok(None);
    }
    let quoted = name.replace('"', "\"\"");
    let rows = session.rows(&format!("SELECT max(_rowid_) FROM main.\"{quoted}\"")).await?;
    Ok(rows.into_iter().flatten().flatten().next().map_or(Some(0), |id| id.parse().ok()))
}

/// `rows per-value …`: rows of the index, then how many of them have one value of its first column.
fn distinct(stat: &str) -> Option<u64> {
    let mut numbers = stat.split(' ').map(str::parse::<u64>);
    let rows = numbers.next()?.ok()?;
    let per_value = numbers.next()?.ok().filter(|rows| *rows > 0)?;
    Some(rows / per_value)
}

fn place(table: &SourceTable, name: Option<&Option<String>>) -> Option<usize> {
    let name = name?.as_deref()?;
    table.columns.iter().position(|column| column.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_value() {
        assert_eq!(distinct("20000 100"), Some(200));
        assert_eq!(distinct("20000 100 1 unordered"), Some(200));
        assert_eq!(distinct("20000"), None);
        assert_eq!(distinct("x 1"), None);
    }
}
