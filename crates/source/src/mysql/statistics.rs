// SPDX-License-Identifier: Apache-2.0
//! What the server knows of values: the cardinality of indexes, which it always keeps, and in MariaDB what `ANALYZE TABLE … PERSISTENT`
//! has counted of each column, where the account may read that.

use super::dialect::MySqlDialect;
use super::failure::Failure;
use super::session::{Product, Session};
use crate::statistics::places;
use crate::{ColumnStatistics, Dialect, Operand, SourceTable, TableStatistics};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// What is known of the tables, in their order.
pub(super) async fn statistics(session: &mut Session, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>, Failure> {
    let mut found = Vec::with_capacity(tables.len());
    let mut counts_columns = session.product == Product::MariaDb;
    for table in tables {
        let mut known = TableStatistics { rows: table.rows_estimate, ..TableStatistics::unknown(table.columns.len()) };
        let (schema, name) = (text(&table.schema)?, text(&table.name)?);
        of_indexes(session, &schema, &name, table, &mut known).await?;
        if counts_columns {
            counts_columns = of_columns(session, &schema, &name, table, &mut known).await?;
        }
        found.push(known);
    }
    Ok(found)
}

fn text(name: &str) -> Result<String, Failure> {
    Ok(MySqlDialect.literal(Operand::Text(name), &DataType::Utf8)?)
}

/// First columns of indexes. The names stand there as constants, since the server opens every table for anything else.
async fn of_indexes(session: &mut Session, schema: &str, name: &str, table: &SourceTable, known: &mut TableStatistics) -> Result<(), Failure> {
    let sql = format!(
        "SELECT COLUMN_NAME, CARDINALITY FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {name} AND SEQ_IN_INDEX = 1 AND SUB_PART IS NULL"
    );
    for row in session.query(&sql).await?.rows {
        let Some(column) = column(table, known, row.first()) else { continue };
        (column.indexed, column.indexed_for_prefixes) = (true, true);
        let distinct = number(row.get(1)).map(|distinct| distinct as u64);
        column.distinct = column.distinct.max(distinct);
    }
    Ok(())
}

/// Every column that was counted. False when the account may not read this; then it need not be asked again.
async fn of_columns(session: &mut Session, schema: &str, name: &str, table: &SourceTable, known: &mut TableStatistics) -> Result<bool, Failure> {
    let sql = format!(
        "SELECT column_name, min_value, max_value, nulls_ratio, avg_frequency, hist_type, decode_histogram(hist_type, histogram) \
         FROM mysql.column_stats WHERE db_name = {schema} AND table_name = {name}"
    );
    let rows = match session.query(&sql).await {
        Ok(answer) => answer.rows,
        Err(Failure::Server(_)) => return Ok(false),
        Err(failure) => return Err(failure),
    };
    for row in rows {
        let Some(index) = row.first().and_then(Option::as_deref).and_then(|name| table.columns.iter().position(|column| column.name == name)) else { continue };
        let data_type = &table.columns[index].data_type;
        let ends: Vec<String> = [1, 2].iter().filter_map(|place| row.get(*place).cloned().flatten()).collect();
        let ends = places(&ends, data_type);
        let nulls = number(row.get(3));
        let column = &mut known.columns[index];
        column.null_fraction = nulls;
        column.distinct = column.distinct.or(distinct(known.rows, nulls, number(row.get(4))));
        column.quantiles = match row.get(5).and_then(Option::as_deref) {
            Some("SINGLE_PREC_HB" | "DOUBLE_PREC_HB") => between(&ends, row.get(6).and_then(Option::as_deref)),
            _ => ends,
        };
    }
    Ok(true)
}

/// The server keeps how many rows a value has on average.
fn distinct(rows: Option<u64>, nulls: Option<f64>, rows_per_value: Option<f64>) -> Option<u64> {
    let per_value = rows_per_value.filter(|rows| *rows >= 1.0)?;
    Some((rows? as f64 * (1.0 - nulls.unwrap_or(0.0)) / per_value).round() as u64)
}

/// A histogram tells how much of the range each part of equally many rows takes.
fn between(ends: &[f64], widths: Option<&str>) -> Vec<f64> {
    let (Some(widths), [low, high]) = (widths, ends) else { return ends.to_vec() };
    let mut at = 0.0;
    let mut quantiles = vec![*low];
    for width in widths.split(',') {
        let Ok(width) = width.trim().parse::<f64>() else { return ends.to_vec() };
        at += width;
        quantiles.push(low + (high - low) * at.min(1.0));
    }
    quantiles
}

fn column<'a>(table: &SourceTable, known: &'a mut TableStatistics, name: Option<&Option<String>>) -> Option<&'a mut ColumnStatistics> {
    let name = name?.as_deref()?;
    let index = table.columns.iter().position(|column| column.name == name)?;
    known.columns.get_mut(index)
}

fn number(field: Option<&Option<String>>) -> Option<f64> {
    field?.as_deref()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_of_a_range_are_quantiles() {
        assert_eq!(between(&[0.0, 100.0], Some("0.1,0.4,0.5")), [0.0, 10.0, 50.0, 100.0]);
        assert_eq!(between(&[0.0, 100.0], None), [0.0, 100.0]);
        assert_eq!(between(&[0.0, 100.0], Some("x")), [0.0, 100.0]);
        assert!(between(&[], Some("0.5,0.5")).is_empty());
    }

    #[test]
    fn rows_per_value_tell_the_values() {
        assert_eq!(distinct(Some(1000), Some(0.5), Some(5.0)), Some(100));
        assert_eq!(distinct(None, None, Some(5.0)), None);
        assert_eq!(distinct(Some(1000), None, Some(0.0)), None);
    }
}
