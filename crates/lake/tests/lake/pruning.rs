// SPDX-License-Identifier: Apache-2.0
//! Pruning never loses a row: random tables and random conditions, read with and without pruning.

use crate::support::{TestLake, ids, request, scan, spec, stream};
use arrow::array::{ArrayRef, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::cmp::Ordering;
use std::sync::Arc;
use weir_lake::{CompareOp, Literal, PartitionField, Predicate, TableSpec, Transform};

const DAY: i64 = 86_400_000_000;
const OPS: [CompareOp; 6] = [CompareOp::Equal, CompareOp::NotEqual, CompareOp::Less, CompareOp::LessOrEqual, CompareOp::Greater, CompareOp::GreaterOrEqual];

/// id, n, region, amount, price, day, ts; a value is None where it is NULL.
type Row = Vec<Option<Literal>>;

fn random_row(id: i64, rng: &mut StdRng) -> Row {
    let float = *[f64::NAN, -f64::NAN, 0.0, -0.0, 1.5, -1.5, f64::INFINITY, 1e300].choose(rng).unwrap();
    let region = *["", "E", "EU", "EUR", "US", "Ü", "zz\u{10FFFF}"].choose(rng).unwrap();
    let values = [
        Literal::Int(rng.random_range(-25..25)),
        Literal::Text(region.to_owned()),
        Literal::Float(if rng.random_bool(0.7) { rng.random_range(-3.0..3.0) } else { float }),
        Literal::Decimal { unscaled: rng.random_range(-500..500), scale: 2 },
        Literal::Date(rng.random_range(-40..40)),
        Literal::Timestamp(rng.random_range(-400 * DAY..400 * DAY)),
    ];
    let mut row = vec![Some(Literal::Int(id))];
    row.extend(values.into_iter().map(|value| rng.random_bool(0.85).then_some(value)));
    row
}

fn batch(rows: &[Row]) -> RecordBatch {
    let ints = |column: usize| rows.iter().map(|row| if let Some(Literal::Int(value)) = row[column] { Some(value) } else { None }).collect::<Int64Array>();
    let texts: StringArray = rows.iter().map(|row| if let Some(Literal::Text(value)) = &row[2] { Some(value.as_str()) } else { None }).collect();
    let floats: Float64Array = rows.iter().map(|row| if let Some(Literal::Float(value)) = row[3] { Some(value) } else { None }).collect();
    let prices: Decimal128Array = rows.iter().map(|row| if let Some(Literal::Decimal { unscaled, .. }) = row[4] { Some(unscaled) } else { None }).collect();
    let days: Date32Array = rows.iter().map(|row| if let Some(Literal::Date(value)) = row[5] { Some(value) } else { None }).collect();
    let times: TimestampMicrosecondArray = rows.iter().map(|row| if let Some(Literal::Timestamp(value)) = row[6] { Some(value) } else { None }).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(ints(0))),
        ("n", Arc::new(ints(1))),
        ("region", Arc::new(texts)),
        ("amount", Arc::new(floats)),
        ("price", Arc::new(prices.with_precision_and_scale(9, 2).unwrap())),
        ("day", Arc::new(days)),
        ("ts", Arc::new(times.with_timezone("UTC"))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn random_predicate(rows: &[Row], depth: u32, rng: &mut StdRng) -> Predicate {
    let column = rng.random_range(0..7);
    let mut literal = || rows.choose(rng).and_then(|row| row[column].clone());
    let (first, second) = (literal(), literal());
    match (rng.random_range(0..10), depth, first) {
        (0, 1.., _) => Predicate::And((0..2).map(|_| random_predicate(rows, depth - 1, rng)).collect()),
        (1, 1.., _) => Predicate::Or((0..2).map(|_| random_predicate(rows, depth - 1, rng)).collect()),
        (2, 1.., _) => Predicate::Not(Box::new(random_predicate(rows, depth - 1, rng))),
        (3, _, _) => Predicate::IsNull(column),
        (4, _, _) | (_, _, None) => Predicate::IsNotNull(column),
        (5, _, Some(first)) => Predicate::In { column, literals: [Some(first), second].into_iter().flatten().collect() },
        (6, _, Some(Literal::Text(text))) => Predicate::StartsWith { column, prefix: text.chars().take(1).collect() },
        (_, _, Some(literal)) => Predicate::Compare { column, op: *OPS.choose(rng).unwrap(), literal },
    }
}

/// The engine's meaning, three-valued: NaN above every number and both zeros equal, texts by bytes.
fn verdict(predicate: &Predicate, row: &Row) -> Option<bool> {
    match predicate {
        Predicate::And(parts) => {
            let verdicts: Vec<Option<bool>> = parts.iter().map(|part| verdict(part, row)).collect();
            match verdicts.contains(&Some(false)) {
                true => Some(false),
                false if verdicts.contains(&None) => None,
                false => Some(true),
            }
        }
        Predicate::Or(parts) => {
            let negated = Predicate::And(parts.iter().map(|part| Predicate::Not(Box::new(part.clone()))).collect());
            verdict(&negated, row).map(|all_false| !all_false)
        }
        Predicate::Not(inner) => verdict(inner, row).map(|value| !value),
        Predicate::IsNull(column) => Some(row[*column].is_none()),
        Predicate::IsNotNull(column) => Some(row[*column].is_some()),
        Predicate::In { column, literals } => row[*column].as_ref().map(|value| literals.iter().any(|literal| order(value, literal) == Ordering::Equal)),
        Predicate::StartsWith { column, prefix } => match &row[*column] {
            Some(Literal::Text(text)) => Some(text.starts_with(prefix)),
            _ => None,
        },
        Predicate::Compare { column, op, literal } => row[*column].as_ref().map(|value| match (op, order(value, literal)) {
            (CompareOp::Equal, order) => order == Ordering::Equal,
            (CompareOp::NotEqual, order) => order != Ordering::Equal,
            (CompareOp::Less, order) => order == Ordering::Less,
            (CompareOp::LessOrEqual, order) => order != Ordering::Greater,
            (CompareOp::Greater, order) => order == Ordering::Greater,
            (CompareOp::GreaterOrEqual, order) => order != Ordering::Less,
        }),
    }
}

fn order(a: &Literal, b: &Literal) -> Ordering {
    match (a, b) {
        (Literal::Int(a), Literal::Int(b)) => a.cmp(b),
        (Literal::Text(a), Literal::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Literal::Float(a), Literal::Float(b)) => a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
        (Literal::Decimal { unscaled: a, .. }, Literal::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Literal::Date(a), Literal::Date(b)) => a.cmp(b),
        (Literal::Timestamp(a), Literal::Timestamp(b)) => a.cmp(b),
        _ => panic!("values of two kinds: {a:?} and {b:?}"),
    }
}

fn by(fields: &[(&str, Transform)]) -> Vec<PartitionField> {
    fields.iter().map(|(column, transform)| PartitionField { column: (*column).to_owned(), transform: *transform }).collect()
}

/// Checks many conditions on one table; how many files were ruled out in all.
async fn check(partitioning: Vec<PartitionField>, seed: u64) -> usize {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows: Vec<Row> = (0..240).map(|id| random_row(id, &mut rng)).collect();
    let test = TestLake::new().await;
    let first = batch(&rows[..120]);
    test.lake.create_table_as(TableSpec { partitioning: partitioning.clone(), ..spec("t", &first) }, stream(vec![first])).await.unwrap();
    for part in rows[120..].chunks(30) {
        test.lake.append(test.table("t").await.as_ref(), stream(vec![batch(part)])).await.unwrap();
    }
    let table = test.table("t").await;
    assert_eq!(ids(&table, None).await, (0..240).collect::<Vec<_>>());
    let mut pruned = 0;
    for _ in 0..150 {
        let predicate = random_predicate(&rows, 2, &mut rng);
        pruned += table.plan(request(&[0], Some(predicate.clone()))).await.unwrap().files_pruned();
        let found = ids(&table, Some(predicate.clone())).await;
        for (id, row) in rows.iter().enumerate().filter(|(_, row)| verdict(&predicate, row) == Some(true)) {
            assert!(found.binary_search(&(id as i64)).is_ok(), "seed {seed}, {partitioning:?}: {predicate:?} lost {row:?}");
        }
    }
    pruned
}

#[tokio::test]
async fn unpartitioned_tables_lose_nothing() {
    assert!(check(vec![], 1).await > 0);
}

#[tokio::test]
async fn tables_by_value_and_month_lose_nothing() {
    assert!(check(by(&[("region", Transform::Identity), ("ts", Transform::Month)]), 2).await > 0);
}

#[tokio::test]
async fn tables_by_bucket_and_year_lose_nothing() {
    assert!(check(by(&[("id", Transform::Bucket(7)), ("day", Transform::Year)]), 3).await > 0);
}

#[tokio::test]
async fn tables_by_prefix_and_day_lose_nothing() {
    assert!(check(by(&[("region", Transform::Truncate(1)), ("n", Transform::Truncate(10)), ("day", Transform::Day)]), 4).await > 0);
}

#[tokio::test]
async fn tables_by_text_bucket_and_hour_lose_nothing() {
    assert!(check(by(&[("region", Transform::Bucket(3)), ("price", Transform::Truncate(100)), ("ts", Transform::Hour)]), 5).await > 0);
}

#[tokio::test]
async fn pages_are_skipped_and_nothing_is_lost() {
    let rows = crate::support::events(0..200_000);
    let test = TestLake::new().await;
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let table = test.table("t").await;
    let compare = |op, id| Predicate::Compare { column: 0, op, literal: Literal::Int(id) };
    for (from, to) in [(0, 1), (19_990, 20_010), (123_456, 123_457), (199_999, 200_000), (50_000, 150_000)] {
        let range = Predicate::And(vec![compare(CompareOp::GreaterOrEqual, from), compare(CompareOp::Less, to)]);
        let plan = table.plan(request(&[0, 1], Some(range.clone()))).await.unwrap();
        assert!(plan.rows() < 200_000 && plan.rows() >= (to - from) as u64, "{} rows planned for {from}..{to}", plan.rows());
        let found = ids(&table, Some(range.clone())).await;
        assert!((from..to).all(|id| found.binary_search(&id).is_ok()), "{from}..{to}");
        let with_others = scan(&table, request(&[0, 1, 2, 3], Some(range)), 3, None).await.unwrap();
        assert_eq!(with_others.num_rows() as u64, plan.rows());
    }
}
