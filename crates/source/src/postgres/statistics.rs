// SPDX-License-Identifier: Apache-2.0
//! What ANALYZE has counted, from `pg_stats`, which shows of each column only what the account may read.
//!
//! A table with partitions, or with tables that inherit from it, has statistics of all of them together only once somebody has
//! analyzed it by name; until then those of its parts are put together here.

use crate::statistics::places;
use crate::{ColumnStatistics, SourceTable, TableStatistics, Value};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_postgres::{Client, Row};

type Failed = tokio_postgres::Error;

/// Rows of the tables asked for, by their place in the question, and of all below them.
const ROWS: &str = "WITH RECURSIVE below AS ( \
        SELECT asked.place, c.oid AS leaf \
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(schema_name, table_name, place) \
        JOIN pg_catalog.pg_namespace n ON n.nspname = asked.schema_name \
        JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = asked.table_name \
        UNION SELECT below.place, i.inhrelid FROM below JOIN pg_catalog.pg_inherits i ON i.inhparent = below.leaf \
    ) \
    SELECT below.place, sum(CASE WHEN c.reltuples >= 0 THEN c.reltuples END)::float8 \
    FROM below JOIN pg_catalog.pg_class c ON c.oid = below.leaf WHERE c.relkind IN ('r', 'm', 'f') GROUP BY below.place";

/// Columns that an index begins with.
const INDEXED: &str = "SELECT asked.place, a.attname::text, \
        coalesce(k.collname IN ('C', 'POSIX') OR k.collname = 'default' AND d.datcollate IN ('C', 'POSIX'), true), o.opcname LIKE '%pattern\\_ops' \
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(schema_name, table_name, place) \
    JOIN pg_catalog.pg_namespace n ON n.nspname = asked.schema_name \
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = asked.table_name \
    JOIN pg_catalog.pg_index x ON x.indrelid = c.oid AND x.indisvalid AND x.indpred IS NULL \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0] \
    JOIN pg_catalog.pg_opclass o ON o.oid = x.indclass[0] \
    LEFT JOIN pg_catalog.pg_collation k ON k.oid = x.indcollation[0] \
    LEFT JOIN pg_catalog.pg_database d ON d.datname = current_database()";

/// Columns of the tables themselves. Long values are left where they are: an estimate does not need them.
const WHOLE: &str = "SELECT asked.place, s.attname::text, s.inherited, s.null_frac::float8, s.n_distinct::float8, NULL::float8, \
        CASE WHEN s.avg_width <= 64 THEN s.most_common_vals::text::text[] END, s.most_common_freqs::float8[], \
        CASE WHEN s.avg_width <= 64 THEN s.histogram_bounds::text::text[] END \
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(schema_name, table_name, place) \
    JOIN pg_catalog.pg_stats s ON s.schemaname = asked.schema_name AND s.tablename = asked.table_name \
    ORDER BY asked.place, s.inherited DESC";

/// Columns of what stands below them, the tables themselves too where they have rows: with the rows of each, and only the ends of
/// what it holds.
const PARTS: &str = "WITH RECURSIVE below AS ( \
        SELECT asked.place, c.oid AS leaf \
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(schema_name, table_name, place) \
        JOIN pg_catalog.pg_namespace n ON n.nspname = asked.schema_name \
        JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = asked.table_name \
        WHERE EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) \
        UNION SELECT below.place, i.inhrelid FROM below JOIN pg_catalog.pg_inherits i ON i.inhparent = below.leaf \
    ) \
    SELECT below.place, s.attname::text, false, s.null_frac::float8, s.n_distinct::float8, c.reltuples::float8, \
        NULL::text[], NULL::float8[], ARRAY[h.bounds[1], h.bounds[array_length(h.bounds, 1)]] \
    FROM below JOIN pg_catalog.pg_class c ON c.oid = below.leaf JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND NOT s.inherited \
    CROSS JOIN LATERAL (SELECT CASE WHEN s.avg_width <= 64 THEN s.histogram_bounds::text::text[] END AS bounds) AS h \
    WHERE c.relkind IN ('r', 'f') AND c.reltuples > 0 LIMIT $3";

/// Columns of parts that are looked at, of all tables of a question.
const PARTS_MAX: i64 = 20_000;

/// One row of `pg_stats`.
struct Counted {
    null_fraction: f64,
    distinct: f64,
    rows: f64,
    ends: Vec<String>,
}

/// What is known of the tables, in their order.
pub(super) async fn statistics(client: &Client, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>, Failed> {
    let schemas: Vec<&str> = tables.iter().map(|table| table.schema.as_str()).collect();
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let asked: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&schemas, &names];
    let (rows, indexed, whole) = tokio::join!(client.query(ROWS, &asked), client.query(INDEXED, &asked), client.query(WHOLE, &asked));
    let mut found: Vec<TableStatistics> = tables.iter().map(|table| TableStatistics::unknown(table.columns.len())).collect();
    for row in rows? {
        let (place, rows) = (place(&row)?, row.try_get::<_, Option<f64>>(1)?);
        found[place].rows = rows.map(|rows| rows as u64);
    }
    let mut inherited = vec![false; tables.len()];
    for row in whole? {
        let place = place(&row)?;
        let all_below: bool = row.try_get(2)?;
        // The row of all comes first; that of the table alone would tell of less.
        inherited[place] |= all_below;
        if all_below == inherited[place]
            && let Some(index) = column(&tables[place], &row)?
        {
            found[place].columns[index] = of_row(&row, &tables[place], index, found[place].rows)?;
        }
    }
    let parts = client.query(PARTS, &[&schemas, &names, &PARTS_MAX]).await?;
    together(parts, tables, &inherited, &mut found)?;
    for row in indexed? {
        let place = place(&row)?;
        if let Some(index) = column(&tables[place], &row)? {
            let (by_bytes, for_patterns): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
            let column = &mut found[place].columns[index];
            column.indexed = true;
            // One for patterns finds what a text begins with or is, and no range.
            column.indexed_by_bytes |= by_bytes && !for_patterns;
            column.indexed_for_prefixes |= by_bytes || for_patterns;
        }
    }
    Ok(found)
}

/// The table's place in the question, from 0.
fn place(row: &Row) -> Result<usize, Failed> {
    Ok(row.try_get::<_, i64>(0)?.saturating_sub(1) as usize)
}

fn column(table: &SourceTable, row: &Row) -> Result<Option<usize>, Failed> {
    let name: &str = row.try_get(1)?;
    Ok(table.columns.iter().position(|column| column.name == name))
}

fn of_row(row: &Row, table: &SourceTable, index: usize, rows: Option<u64>) -> Result<ColumnStatistics, Failed> {
    let data_type = &table.columns[index].data_type;
    let values: Option<Vec<Option<String>>> = row.try_get(6)?;
    let shares: Option<Vec<f64>> = row.try_get(7)?;
    let common = values.unwrap_or_default().into_iter().zip(shares.unwrap_or_default());
    let common = common.filter_map(|(value, share)| Some((Value::of_text(&value?, data_type)?, share)));
    let bounds: Option<Vec<Option<String>>> = row.try_get(8)?;
    let bounds: Vec<String> = bounds.unwrap_or_default().into_iter().flatten().collect();
    Ok(ColumnStatistics {
        distinct: distinct(row.try_get(4)?, rows.map(|rows| rows as f64)).map(|distinct| distinct.round() as u64),
        null_fraction: Some(row.try_get(3)?),
        common: common.collect(),
        quantiles: places(&bounds, data_type),
        ..ColumnStatistics::default()
    })
}

/// A count, or with a minus a share of the rows; 0 is unknown.
fn distinct(told: f64, rows: Option<f64>) -> Option<f64> {
    if told > 0.0 {
        return Some(told);
    }
    if told < 0.0 { rows.map(|rows| -told * rows) } else { None }
}

/// The columns of parts as those of their whole, where that was not counted as such.
fn together(parts: Vec<Row>, tables: &[Arc<SourceTable>], inherited: &[bool], found: &mut [TableStatistics]) -> Result<(), Failed> {
    let mut by_column: HashMap<(usize, usize), Vec<Counted>> = HashMap::new();
    for row in parts {
        let place = place(&row)?;
        let Some(index) = column(&tables[place], &row)?.filter(|_| !inherited[place]) else { continue };
        let ends: Option<Vec<Option<String>>> = row.try_get(8)?;
        let counted = Counted {
            null_fraction: row.try_get(3)?,
            distinct: row.try_get(4)?,
            rows: row.try_get(5)?,
            ends: ends.unwrap_or_default().into_iter().flatten().collect(),
        };
        by_column.entry((place, index)).or_default().push(counted);
    }
    for ((place, index), parts) in by_column {
        found[place].columns[index] = whole(&parts, &tables[place], index);
    }
    Ok(())
}

/// Parts that hold ranges of their own have values of their own; of others it is only known that there are as many as in the richest.
fn whole(parts: &[Counted], table: &SourceTable, index: usize) -> ColumnStatistics {
    let rows: f64 = parts.iter().map(|part| part.rows).sum();
    let nulls: f64 = parts.iter().map(|part| part.rows * part.null_fraction).sum();
    let distincts: Option<Vec<f64>> = parts.iter().map(|part| distinct(part.distinct, Some(part.rows))).collect();
    let mut ranges: Vec<Vec<f64>> = parts.iter().map(|part| places(&part.ends, &table.columns[index].data_type)).collect();
    ranges.sort_by(|a, b| a.first().unwrap_or(&0.0).total_cmp(b.first().unwrap_or(&0.0)));
    let known = ranges.iter().all(|range| range.len() == 2);
    let apart = known && ranges.windows(2).all(|pair| pair[0][1] < pair[1][0]);
    let distinct = distincts.map(|each| if apart { each.iter().sum() } else { each.iter().copied().fold(0.0, f64::max) });
    let low = ranges.iter().filter_map(|range| range.first()).copied().fold(f64::INFINITY, f64::min);
    let high = ranges.iter().filter_map(|range| range.last()).copied().fold(f64::NEG_INFINITY, f64::max);
    ColumnStatistics {
        distinct: distinct.map(|distinct| distinct.round() as u64),
        null_fraction: (rows > 0.0).then(|| nulls / rows),
        quantiles: if known && low <= high { vec![low, high] } else { Vec::new() },
        ..ColumnStatistics::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_values_are_a_count_or_a_share() {
        assert_eq!(distinct(7.0, None), Some(7.0));
        assert_eq!(distinct(-0.5, Some(200.0)), Some(100.0));
        assert_eq!(distinct(-0.5, None), None);
        assert_eq!(distinct(0.0, Some(200.0)), None);
    }
}
