// SPDX-License-Identifier: Apache-2.0
//! Advice on a plan: indexes that would let a source find the few rows that a question wants, as the statements that make them.

use crate::push_down::TableUse;
use crate::scan::SourceScan;
use weir_api::{Forecast, Suggestion};
use weir_source::{Column, ColumnStatistics, SourceTable};

/// Smaller tables are read as fast without an index.
const ROWS_MIN: u64 = 10_000;
/// An index helps to find a small part of a table.
const SHARE_MAX: f64 = 0.1;

/// What would help the source with a statement.
pub(crate) async fn on_scan(scan: &SourceScan, forecast: &Forecast) -> Vec<Suggestion> {
    // Others have no indexes, or none that a statement of ours would use.
    if !matches!(scan.handle.source.kind(), "postgres" | "mysql" | "sqlite") {
        return Vec::new();
    }
    let Ok(catalog) = scan.handle.catalog().await else { return Vec::new() };
    let mut found: Vec<Suggestion> = Vec::new();
    for used in &scan.fragment.tables {
        let Some(table) = catalog.tables().iter().find(|table| table.schema == used.name.schema && table.name == used.name.table) else { continue };
        let Some(known) = scan.handle.known_statistics(table) else { continue };
        if let Some(suggestion) = of_table(scan, used, table, &known.columns, known.rows.or(table.rows_estimate), forecast)
            && !found.iter().any(|other| other.sql == suggestion.sql)
        {
            found.push(suggestion);
        }
    }
    found
}

/// What a statement gives that is no rows of its table: how many it looks through for them is not known.
const OTHER_ROWS: &[&str] = &["aggregate", "distinct", "first", "limit", "union", "window"];

fn of_table(scan: &SourceScan, used: &TableUse, table: &SourceTable, known: &[ColumnStatistics], rows: Option<u64>, forecast: &Forecast) -> Option<Suggestion> {
    let rows = rows.filter(|rows| *rows >= ROWS_MIN)?;
    if scan.fragment.limit.is_some() || scan.fragment.pushed.iter().any(|what| OTHER_ROWS.iter().any(|other| what.starts_with(other))) {
        return None;
    }
    let few = forecast.rows.is_some_and(|found| (found as f64) < rows as f64 * SHARE_MAX);
    let bounded = || used.bounded.iter().filter_map(|name| table.columns.iter().position(|column| column.name == *name));
    let serves =
        |index: &usize| known.get(*index).is_some_and(|known| if by_bytes(scan, &table.columns[*index]) { known.indexed_by_bytes } else { known.indexed });
    if !few || bounded().any(|index| serves(&index)) {
        return None;
    }
    // The one with the most values leaves the fewest rows.
    let column = bounded().max_by_key(|index| known.get(*index).and_then(|known| known.distinct))?;
    let column = &table.columns[column];
    let dialect = scan.handle.source.dialect();
    let (quoted, target) = (dialect.quote(&column.name), dialect.table(&table.schema, &table.name));
    let by_bytes = by_bytes(scan, column);
    let key = if by_bytes { dialect.bytewise(&quoted).unwrap_or_else(|| quoted.clone()) } else { quoted.clone() };
    let sql = match scan.handle.source.kind() {
        "postgres" => format!("CREATE INDEX ON {target} ({key})"),
        _ => format!("CREATE INDEX {} ON {target} ({key})", dialect.quote(&format!("{}_{}", table.name, column.name))),
    };
    let order = if by_bytes { " in the order of its bytes, in which it is compared" } else { "" };
    let why = format!("{} looks through {rows} rows for {}: no index begins with {quoted}{order}", scan.handle.name(), forecast.rows.unwrap_or_default());
    Some(Suggestion { sql, why })
}

/// Whether the statement compares the column in another order than its own.
fn by_bytes(scan: &SourceScan, column: &Column) -> bool {
    let dialect = scan.handle.source.dialect();
    scan.handle.source.kind() == "postgres" && dialect.bytewise(&dialect.quote(&column.name)).is_some_and(|written| scan.fragment.sql.contains(&written))
}
