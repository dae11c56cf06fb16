// SPDX-License-Identifier: Apache-2.0
//! `VERIFY q`: the same question with and without push-down, and whether the two answers are the same rows.

use crate::bind::bind;
use crate::plan::plan;
use crate::session::PlanningSession;
use crate::shared::Shared;
use crate::{admit, errors, execute};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::row::{RowConverter, SortField};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::sql::sqlparser::ast::Statement;
use futures::StreamExt;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;
use weir_api::{Answer, Parameter, PushDown};
use weir_base::{Error, ErrorCode, Result};

/// One line for each way: `pushdown`, `rows`, `rows_moved`, `bytes_moved`, `elapsed_ms`, `same`.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("pushdown", DataType::Utf8, false),
        Field::new("rows", DataType::Int64, false),
        Field::new("rows_moved", DataType::Int64, false),
        Field::new("bytes_moved", DataType::Int64, false),
        Field::new("elapsed_ms", DataType::Float64, false),
        Field::new("same", DataType::Boolean, false),
    ]))
}

/// What one way of answering came to.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    rows: i64,
    /// Of all rows, whatever their order.
    sum: u128,
    rows_moved: i64,
    bytes_moved: i64,
    elapsed_ms: f64,
}

/// Errors: those of the question, when both ways end in the same; 22003 when only one reads a value that cannot be read; XX000 when the two ways do not agree.
pub(crate) async fn verify(planning: &PlanningSession<'_>, shared: &Arc<Shared>, statement: Statement, params: &[Parameter]) -> Result<Answer> {
    planning.run.begin_way("on");
    let on = told(planning, statement.clone(), params, PushDown::On).await;
    planning.run.release();
    planning.run.begin_way("off");
    let off = told(planning, statement, params, PushDown::Off).await;
    let (on, off) = match (on, off) {
        (Ok(on), Ok(off)) => (on, off),
        (Err(on), Err(off)) if on.code() == off.code() => return Err(on),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) if unreadable(&error) => return Err(reads_more(error)),
        (Err(error), other) | (other, Err(error)) => {
            let way = if other.is_ok() { "one way fails and the other does not" } else { "the two ways fail differently" };
            return Err(differs(&format!("{way}: {error}")));
        }
    };
    if (on.rows, on.sum) != (off.rows, off.sum) {
        return Err(differs(&format!("{} rows with push-down, {} without{}", on.rows, off.rows, if on.rows == off.rows { ", with other values" } else { "" })));
    }
    Ok(execute::rows(shared, planning.run, table(&[("on", &on), ("off", &off)])?))
}

/// What connectors say of a value that no type here holds.
fn unreadable(error: &Error) -> bool {
    error.code() == ErrorCode::ValueOutOfRange && error.message().ends_with("cannot be represented exactly")
}

/// Such a value is an error only for whom it travels to.
fn reads_more(error: Error) -> Error {
    let what = error.detail().map(|detail| format!("; {detail}")).unwrap_or_default();
    Error::new(ErrorCode::ValueOutOfRange, "one way of asking reads a value that cannot be read, and the other does not")
        .with_detail(format!("{}{what}", error.message()))
        .with_hint("both are right, and neither can be compared with the other: NaN or infinity in a numeric, dates and timestamps out of range, and strays of SQLite are an error where they travel, and without push-down all rows do; `values` of the source says how else to read them")
}

fn differs(detail: &str) -> Error {
    Error::internal("push-down changes the answer").with_detail(detail.to_owned()).with_hint(
        "run it again: data may have changed in between, now() is another moment each way, and the first rows of a LIMIT need an order; if it stays, report it, and SET weir.pushdown = off",
    )
}

async fn told(planning: &PlanningSession<'_>, statement: Statement, params: &[Parameter], pushdown: PushDown) -> Result<Told> {
    let planning = PlanningSession { pushdown, ..PlanningSession::new(planning.engine, planning.session, planning.principal, planning.run) };
    let (rows_before, bytes_before) = moved(&planning);
    let started = Instant::now();
    let bound = bind(&planning, statement, params).await?;
    check_lasting(&bound.plan)?;
    let physical = plan(&planning, bound).await?;
    admit::admit(&physical, &planning).await?;
    let mut batches = execute::start(&physical)?;
    let (mut rows, mut sum) = (0, 0_u128);
    while let Some(batch) = batches.next().await {
        let batch = batch.map_err(errors::from_datafusion)?;
        rows += batch.num_rows() as i64;
        sum = sum.wrapping_add(sum_of(&batch)?);
    }
    let (rows_after, bytes_after) = moved(&planning);
    Ok(Told { rows, sum, rows_moved: rows_after - rows_before, bytes_moved: bytes_after - bytes_before, elapsed_ms: started.elapsed().as_secs_f64() * 1000.0 })
}

/// Error: 0A000 for a question that has another answer each time.
fn check_lasting(plan: &LogicalPlan) -> Result<()> {
    let moves = |expr: &Expr| {
        let now = |node: &Expr| Ok(matches!(node, Expr::ScalarFunction(function) if function.func.signature().volatility == Volatility::Volatile));
        expr.exists(now).unwrap_or(true)
    };
    let mut passing = false;
    let looked = plan.apply_with_subqueries(|node| {
        passing |= node.expressions().iter().any(moves);
        Ok(TreeNodeRecursion::Continue)
    });
    looked.map_err(errors::from_datafusion)?;
    if !passing {
        return Ok(());
    }
    let error = Error::new(ErrorCode::Unsupported, "a question that has another answer each time is not verified");
    Err(error.with_hint("write a constant in the place of random() or uuid()"))
}

/// Rows and bytes that left sources for this query so far.
fn moved(planning: &PlanningSession<'_>) -> (i64, i64) {
    let readings = planning.run.ledger.read();
    (readings.iter().map(|reading| reading.rows as i64).sum(), readings.iter().map(|reading| reading.bytes as i64).sum())
}

/// Each row's hash added up: the same for the same rows in any order, and each copy counts.
fn sum_of(batch: &RecordBatch) -> Result<u128> {
    let broken = |error: arrow::error::ArrowError| Error::internal("rows cannot be compared").with_detail(error.to_string());
    if batch.num_columns() == 0 {
        return Ok(0);
    }
    let fields = batch.schema().fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
    let converter = RowConverter::new(fields).map_err(broken)?;
    let rows = converter.convert_columns(batch.columns()).map_err(broken)?;
    let hash = |seed: u8, row: &[u8]| {
        let mut hasher = DefaultHasher::new();
        (seed, row).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    Ok(rows.iter().fold(0_u128, |sum, row| sum.wrapping_add((hash(0, row.as_ref()) << 64) | hash(1, row.as_ref()))))
}

fn table(ways: &[(&str, &Told)]) -> Result<RecordBatch> {
    let numbers = |value: fn(&Told) -> i64| Arc::new(ways.iter().map(|(_, told)| Some(value(told))).collect::<Int64Array>()) as ArrayRef;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(ways.iter().map(|(name, _)| Some(*name)).collect::<StringArray>()),
        numbers(|told| told.rows),
        numbers(|told| told.rows_moved),
        numbers(|told| told.bytes_moved),
        Arc::new(ways.iter().map(|(_, told)| Some((told.elapsed_ms * 1000.0).round() / 1000.0)).collect::<Float64Array>()),
        Arc::new(ways.iter().map(|_| Some(true)).collect::<BooleanArray>()),
    ];
    RecordBatch::try_new(schema(), columns).map_err(|error| Error::internal("verdict does not fit its schema").with_detail(error.to_string()))
}
