// SPDX-License-Identifier: Apache-2.0
//! The demo's lake tables: clicks and orders as Arrow, written by Weir's own lake, partitioned by day and month.

use super::market::{Click, Market, Order};
use super::steps::Step;
use arrow::array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use futures::{StreamExt, TryStreamExt};
use std::ops::Range;
use std::sync::Arc;
use weir_base::{Error, Result};
use weir_lake::{BatchStream, Lake, PartitionField, TableSpec, Transform};

const SCHEMA: &str = "web";
const ROWS_PER_BATCH: u64 = 16_384;
/// Batches that are made ahead of the writer.
const BATCHES_AHEAD: usize = 2;

type Make = fn(&Market, Range<u64>) -> Result<RecordBatch>;

/// Writes both tables anew; each step counts rows.
pub async fn load(lake: &Lake, market: Market, clicks: &Step, orders: &Step) -> Result<()> {
    lake.create_schema(SCHEMA, true).await?;
    let clickstream = spec("clickstream", click_schema(), "event_time", Transform::Day);
    lake.create_table_as(clickstream, batches(market, market.click_count(), click_batch, clicks)).await?;
    let ordered = spec("orders", order_schema(), "ordered_at", Transform::Month);
    lake.create_table_as(ordered, batches(market, market.order_count(), order_batch, orders)).await?;
    Ok(())
}

fn spec(table: &str, columns: SchemaRef, by: &str, transform: Transform) -> TableSpec {
    let mut spec = TableSpec::new(SCHEMA, table, columns);
    spec.partitioning = vec![PartitionField { column: by.into(), transform }];
    spec.or_replace = true;
    spec
}

fn batches(market: Market, count: u64, make: Make, step: &Step) -> BatchStream {
    let starts: Vec<u64> = (0..count).step_by(ROWS_PER_BATCH as usize).collect();
    let step = step.clone();
    let made = futures::stream::iter(starts).map(move |start| {
        let rows = start..(start + ROWS_PER_BATCH).min(count);
        tokio::task::spawn_blocking(move || make(&market, rows))
    });
    let batches = made.buffered(BATCHES_AHEAD).map(|made| made.map_err(|error| Error::internal("a batch was not made").with_detail(error.to_string()))?);
    batches.inspect_ok(move |batch| step.advance(batch.num_rows() as u64)).boxed()
}

fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

fn click_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("event_id", DataType::Int64, false),
        Field::new("customer_id", DataType::Int64, true),
        Field::new("seller_id", DataType::Int64, false),
        Field::new("campaign_id", DataType::Int64, false),
        Field::new("product_id", DataType::Int64, false),
        Field::new("event_time", instant(), false),
        Field::new("event_type", DataType::Utf8, false),
        Field::new("url", DataType::Utf8, false),
    ]))
}

fn click_batch(market: &Market, rows: Range<u64>) -> Result<RecordBatch> {
    let clicks: Vec<Click> = rows.map(|index| Click::at(market, index)).collect();
    let columns: Vec<ArrayRef> = vec![
        ids(clicks.iter().map(|click| click.event_id)),
        Arc::new(clicks.iter().map(|click| click.customer_id.map(|id| id as i64)).collect::<Int64Array>()),
        ids(clicks.iter().map(|click| click.seller_id)),
        ids(clicks.iter().map(|click| click.campaign_id)),
        ids(clicks.iter().map(|click| click.product_id)),
        instants(clicks.iter().map(|click| click.event_time)),
        Arc::new(StringArray::from_iter_values(clicks.iter().map(|click| click.event_type))),
        Arc::new(StringArray::from_iter_values(clicks.iter().map(Click::url))),
    ];
    batch(click_schema(), columns)
}

fn order_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("order_id", DataType::Int64, false),
        Field::new("customer_id", DataType::Int64, false),
        Field::new("seller_id", DataType::Int64, false),
        Field::new("campaign_id", DataType::Int64, false),
        Field::new("product_id", DataType::Int64, false),
        Field::new("ordered_at", instant(), false),
        Field::new("kind", DataType::Utf8, false),
        Field::new("amount", DataType::Decimal128(12, 2), false),
    ]))
}

fn order_batch(market: &Market, rows: Range<u64>) -> Result<RecordBatch> {
    let orders: Vec<Order> = rows.map(|index| Order::at(market, index)).collect();
    let amounts = Decimal128Array::from_iter_values(orders.iter().map(|order| i128::from(order.cents))).with_precision_and_scale(12, 2).map_err(wrong)?;
    let columns: Vec<ArrayRef> = vec![
        ids(orders.iter().map(|order| order.order_id)),
        ids(orders.iter().map(|order| order.customer_id)),
        ids(orders.iter().map(|order| order.seller_id)),
        ids(orders.iter().map(|order| order.campaign_id)),
        ids(orders.iter().map(|order| order.product_id)),
        instants(orders.iter().map(|order| order.ordered_at)),
        Arc::new(StringArray::from_iter_values(orders.iter().map(|order| order.kind))),
        Arc::new(amounts),
    ];
    batch(order_schema(), columns)
}

fn ids(numbers: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(numbers.map(|number| number as i64)))
}

fn instants(micros: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone("UTC"))
}

fn batch(schema: SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema, columns).map_err(wrong)
}

fn wrong(error: arrow::error::ArrowError) -> Error {
    Error::internal("demo rows do not fit their columns").with_detail(error.to_string())
}
