// SPDX-License-Identifier: Apache-2.0
//! Deterministic lake tables: events of a shop over ninety days, and a payment for each event in another order.

use crate::weir_here::WeirHere;
use arrow::array::{ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use futures::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;
use weir_base::{Error, Result};
use weir_lake::{BatchStream, LakeTable, PartitionField, TableSpec, Transform};

pub const SCHEMA: &str = "web";
pub const EVENTS: &str = "events";
pub const EVENTS_BY_DAY: &str = "events_by_day";
pub const PAYMENTS: &str = "payments";

const KINDS: [&str; 8] = ["view", "view", "view", "search", "search", "cart", "checkout", "purchase"];
const COUNTRIES: [&str; 10] = ["DE", "FR", "PL", "IT", "ES", "NL", "SE", "AT", "CZ", "PT"];
const METHODS: [&str; 4] = ["card", "invoice", "paypal", "sepa"];
const CUSTOMERS: u64 = 1_000_000;
const BATCH_ROWS: u64 = 65_536;
/// 2026-01-01 00:00:00.
const FIRST_MICROS: i64 = 1_767_225_600_000_000;
const DAYS: i64 = 90;
const DAY_MICROS: i64 = 86_400_000_000;

/// The table, written by Weir unless a kept folder has it already.
pub async fn table(weir: &WeirHere, name: &str, rows: u64) -> Result<Arc<LakeTable>> {
    weir.lake.create_schema(SCHEMA, true).await?;
    if let Some(known) = weir.lake.table(SCHEMA, name).await? {
        if known.rows() == rows {
            return Ok(known);
        }
        weir.lake.drop_table(SCHEMA, name, true).await?;
    }
    eprintln!("  writing {rows} rows into {SCHEMA}.{name}");
    let schema = if name == PAYMENTS { payment_schema() } else { event_schema() };
    let mut spec = TableSpec::new(SCHEMA, name, schema.clone());
    if name == EVENTS_BY_DAY {
        spec.partitioning = vec![PartitionField { column: "occurred_at".into(), transform: Transform::Day }];
    }
    let make = if name == PAYMENTS { payments } else { events };
    weir.lake.create_table_as(spec, stream(schema, rows, make)).await?;
    let made = weir.lake.table(SCHEMA, name).await?;
    made.ok_or_else(|| Error::internal("the table that was just made is not found"))
}

/// The metadata file that the catalog points at: the newest, since nobody else writes.
pub fn metadata_file(table: &LakeTable) -> Result<PathBuf> {
    let folder = PathBuf::from(table.location().trim_start_matches("file://")).join("metadata");
    let entries = std::fs::read_dir(&folder).map_err(|error| crate::weir_here::unusable(&folder, &error))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(".metadata.json")).collect();
    found.sort();
    found.pop().ok_or_else(|| Error::internal("a table without metadata"))
}

/// Columns for the rows from the first number up to the second, of that many in all.
type MakeColumns = fn(std::ops::Range<u64>, u64) -> Result<Vec<ArrayRef>>;

fn stream(schema: SchemaRef, rows: u64, make: MakeColumns) -> BatchStream {
    let starts = (0..rows).step_by(BATCH_ROWS as usize);
    let batches = starts.map(move |start| {
        let columns = make(start..rows.min(start + BATCH_ROWS), rows)?;
        RecordBatch::try_new(schema.clone(), columns).map_err(|error| Error::internal("columns do not make a batch").with_detail(error.to_string()))
    });
    futures::stream::iter(batches).boxed()
}

fn event_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("event_id", DataType::Int64, false),
        Field::new("customer_id", DataType::Int64, false),
        Field::new("kind", DataType::Utf8, false),
        Field::new("country", DataType::Utf8, false),
        Field::new("url", DataType::Utf8, false),
        Field::new("amount", DataType::Decimal128(12, 2), false),
        Field::new("duration_ms", DataType::Int32, true),
        Field::new("occurred_at", DataType::Timestamp(TimeUnit::Microsecond, None), false),
    ]))
}

fn events(range: std::ops::Range<u64>, rows: u64) -> Result<Vec<ArrayRef>> {
    let seeds: Vec<u64> = range.clone().map(scatter).collect();
    let ids: Int64Array = range.clone().map(|row| row as i64).collect();
    let customers: Int64Array = seeds.iter().map(|seed| (seed % CUSTOMERS) as i64).collect();
    let kinds = StringArray::from_iter_values(seeds.iter().map(|seed| pick(&KINDS, seed >> 20)));
    let countries = StringArray::from_iter_values(seeds.iter().map(|seed| pick(&COUNTRIES, seed >> 27)));
    let urls = StringArray::from_iter_values(seeds.iter().map(|seed| url(*seed)));
    let amounts: Decimal128Array = seeds.iter().map(|seed| Some(i128::from((seed >> 16) % 1_000_000))).collect();
    let amounts = money(amounts)?;
    let durations: Int32Array = seeds.iter().map(|seed| (seed % 50 != 0).then_some(((seed >> 33) % 10_000) as i32)).collect();
    let times: TimestampMicrosecondArray = range.zip(&seeds).map(|(row, seed)| Some(occurred(row, rows, *seed))).collect();
    Ok(vec![Arc::new(ids), Arc::new(customers), Arc::new(kinds), Arc::new(countries), Arc::new(urls), amounts, Arc::new(durations), Arc::new(times)])
}

fn payment_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("payment_id", DataType::Int64, false),
        Field::new("event_id", DataType::Int64, false),
        Field::new("method", DataType::Utf8, false),
        Field::new("fee", DataType::Decimal128(12, 2), false),
    ]))
}

fn payments(range: std::ops::Range<u64>, rows: u64) -> Result<Vec<ArrayRef>> {
    let stride = stride(rows);
    let ids: Int64Array = range.clone().map(|row| row as i64).collect();
    let events: Int64Array = range.clone().map(|row| (u128::from(row) * u128::from(stride) % u128::from(rows)) as i64).collect();
    let seeds: Vec<u64> = range.map(|row| scatter(row ^ 0xA5A5)).collect();
    let methods = StringArray::from_iter_values(seeds.iter().map(|seed| pick(&METHODS, seed >> 11)));
    let fees: Decimal128Array = seeds.iter().map(|seed| Some(i128::from((seed >> 16) % 1_000))).collect();
    Ok(vec![Arc::new(ids), Arc::new(events), Arc::new(methods), money(fees)?])
}

fn money(cents: Decimal128Array) -> Result<ArrayRef> {
    let money = cents.with_precision_and_scale(12, 2);
    money.map(|money| Arc::new(money) as ArrayRef).map_err(|error| Error::internal("amounts do not fit").with_detail(error.to_string()))
}

/// In order of time, an hour of disorder included.
fn occurred(row: u64, rows: u64, seed: u64) -> i64 {
    let through = (i128::from(row) * i128::from(DAYS * DAY_MICROS) / i128::from(rows)) as i64;
    let late = ((seed >> 5) % 3_600_000_000) as i64;
    FIRST_MICROS + (through - late).max(0)
}

fn url(seed: u64) -> String {
    let referrer = if seed.is_multiple_of(17) { "?ref=mail" } else { "" };
    format!("/products/{}/{:05}{referrer}", pick(&["shoes", "books", "tools", "toys"], seed >> 41), (seed >> 44) % 50_000)
}

fn pick<'w>(words: &[&'w str], seed: u64) -> &'w str {
    words[(seed % words.len() as u64) as usize]
}

/// A number that shares no factor with `rows`, so that its multiples reach every row once.
fn stride(rows: u64) -> u64 {
    let divides = |a: u64, b: u64| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    (7_368_787..).find(|candidate| divides(*candidate, rows)).unwrap_or(1)
}

/// SplitMix64: neighbours get numbers that look unrelated.
fn scatter(row: u64) -> u64 {
    let mut mixed = row.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    #[test]
    fn each_event_is_paid_once() {
        let rows = 10_000;
        let columns = payments(0..rows, rows).unwrap();
        let mut paid: Vec<i64> = columns[1].as_primitive::<Int64Type>().values().to_vec();
        assert_ne!(paid[1], 1);
        paid.sort_unstable();
        assert!(paid.into_iter().eq(0..rows as i64));
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let whole = events(0..100, 1_000).unwrap();
        let part = events(40..100, 1_000).unwrap();
        assert!(whole.iter().zip(&part).all(|(whole, part)| whole.slice(40, 60).as_ref() == part.as_ref()));
    }
}
