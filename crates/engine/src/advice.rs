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
    let few = forecast.rows.is_some_and(|found| found as f64 <= (rows as f64 * SHARE_MAX).ceil());
    let asked = asked(scan, used, table);
    let serves = |asked: &Asked| known.get(asked.index).is_some_and(|known| asked.is_served(known));
    if !few || asked.iter().any(serves) {
        return None;
    }
    // The one with the most values leaves the fewest rows, and a whole value fewer than what it begins with.
    let values = |asked: &&Asked| known.get(asked.index).and_then(|known| known.distinct);
    let best = asked.iter().filter(|asked| asked.way != Way::Prefix).max_by_key(values).or_else(|| asked.iter().max_by_key(values))?;
    let column = &table.columns[best.index];
    let dialect = scan.handle.source.dialect();
    let (quoted, target) = (dialect.quote(&column.name), dialect.table(&table.schema, &table.name));
    let postgres = scan.handle.source.kind() == "postgres";
    let by_bytes = best.way == Way::Bytes || best.way == Way::Prefix && postgres;
    let key = if by_bytes { dialect.bytewise(&quoted).unwrap_or_else(|| quoted.clone()) } else { quoted.clone() };
    let sql = match postgres {
        true => format!("CREATE INDEX ON {target} ({key})"),
        false => format!("CREATE INDEX {} ON {target} ({key})", dialect.quote(&format!("{}_{}", table.name, column.name))),
    };
    let order = match best.way {
        Way::Bytes => " in the order of its bytes, in which it is compared",
        Way::Prefix if postgres => " in the order of its bytes, in which it is looked through for what it begins with",
        Way::Prefix | Way::Value => "",
    };
    let why = format!("{} looks through {rows} rows for {}: no index begins with {quoted}{order}", scan.handle.name(), forecast.rows.unwrap_or_default());
    Some(Suggestion { sql, why })
}

/// How a statement looks for the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Value,
    /// In the order of bytes, which is not the column's own.
    Bytes,
    Prefix,
}

struct Asked {
    index: usize,
    way: Way,
}

impl Asked {
    fn is_served(&self, known: &ColumnStatistics) -> bool {
        match self.way {
            Way::Value => known.indexed,
            Way::Bytes => known.indexed_by_bytes,
            Way::Prefix => known.indexed_for_prefixes,
        }
    }
}

/// The columns of a table that an index could find what is asked of.
fn asked(scan: &SourceScan, used: &TableUse, table: &SourceTable) -> Vec<Asked> {
    let place = |name: &String| table.columns.iter().position(|column| column.name == *name).filter(|index| indexable(scan, &table.columns[*index]));
    let bounded = used.bounded.iter().filter_map(place);
    let bounded = bounded.map(|index| Asked { index, way: if by_bytes(scan, &table.columns[index]) { Way::Bytes } else { Way::Value } });
    // What is cast before it is looked at has no index.
    let bare = |index: &usize| scan.fragment.sql.contains(&format!("{} LIKE ", scan.handle.source.dialect().quote(&table.columns[*index].name)));
    let prefixed = used.prefixed.iter().filter_map(place).filter(bare).map(|index| Asked { index, way: Way::Prefix });
    bounded.chain(prefixed).collect()
}

/// MySQL and MariaDB make no index over a whole text that may be long.
fn indexable(scan: &SourceScan, column: &Column) -> bool {
    const LETTERS_MAX: usize = 768;
    let native = column.native_type.to_ascii_lowercase();
    let letters = || native.split_once('(')?.1.split(')').next()?.parse::<usize>().ok();
    match scan.handle.source.kind() {
        "mysql" if ["text", "blob", "json"].iter().any(|word| native.contains(word)) => false,
        "mysql" if native.starts_with("varchar") || native.starts_with("varbinary") => letters().is_none_or(|letters| letters <= LETTERS_MAX),
        _ => true,
    }
}

/// Whether the statement compares the column in another order than its own.
fn by_bytes(scan: &SourceScan, column: &Column) -> bool {
    let dialect = scan.handle.source.dialect();
    scan.handle.source.kind() == "postgres" && dialect.bytewise(&dialect.quote(&column.name)).is_some_and(|written| scan.fragment.sql.contains(&written))
}
