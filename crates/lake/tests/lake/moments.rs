// SPDX-License-Identifier: Apache-2.0
//! Dates and times far away: refused where a partition would be made of them, kept and found everywhere else.

use crate::support::{TestLake, ids, spec, stream};
use arrow::array::{ArrayRef, Date32Array, Int64Array, RecordBatch, TimestampMicrosecondArray};
use std::cmp::Ordering;
use std::sync::Arc;
use weir_base::ErrorCode;
use weir_lake::{CompareOp, Literal, PartitionField, Predicate, TableSpec, Transform};

const DAY: i64 = 86_400_000_000;
/// -200000-01-01, 200000-12-31, and 5000000-01-01, in days since 1970-01-01.
const FIRST: i32 = -73_768_028;
const LAST: i32 = 72_329_337;
const BEYOND_CALENDARS: i32 = 1_825_492_972;

/// An id, a day, an instant (without a zone and with one); a missing value is NULL.
type Row = (i64, Option<i32>, Option<i64>);

fn batch(rows: &[Row]) -> RecordBatch {
    let times = || rows.iter().map(|row| row.2).collect::<TimestampMicrosecondArray>();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>())),
        ("day", Arc::new(rows.iter().map(|row| row.1).collect::<Date32Array>())),
        ("ts", Arc::new(times())),
        ("tz", Arc::new(times().with_timezone("UTC"))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn by(column: &str, transform: Transform, rows: &RecordBatch) -> TableSpec {
    TableSpec { partitioning: vec![PartitionField { column: column.into(), transform }], ..spec("t", rows) }
}

const WAYS: [(&str, Transform); 13] = [
    ("day", Transform::Identity),
    ("day", Transform::Year),
    ("day", Transform::Month),
    ("day", Transform::Day),
    ("ts", Transform::Identity),
    ("ts", Transform::Year),
    ("ts", Transform::Month),
    ("ts", Transform::Day),
    ("ts", Transform::Hour),
    ("tz", Transform::Year),
    ("tz", Transform::Month),
    ("tz", Transform::Day),
    ("tz", Transform::Hour),
];

#[tokio::test]
async fn moments_too_far_for_a_partition_are_refused_by_name() {
    let far_days = [FIRST - 1, LAST + 1, BEYOND_CALENDARS, i32::MIN, i32::MAX];
    let far_times = [i64::from(FIRST) * DAY - 1, (i64::from(LAST) + 1) * DAY, i64::MAX - 1, i64::MIN, i64::MAX];
    for (column, transform) in WAYS {
        let test = TestLake::new().await;
        let near = batch(&[(1, Some(0), Some(0)), (2, None, None)]);
        test.lake.create_table_as(by(column, transform, &near), stream(vec![near])).await.unwrap();
        let before = test.files();
        for (day, time) in far_days.into_iter().zip(far_times) {
            let far = batch(&[(3, None, None), (4, Some(day), Some(time))]);
            let error = test.lake.append(test.table("t").await.as_ref(), stream(vec![far])).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::MomentOutOfRange, "{transform:?} of {column}: {error:?}");
            assert_eq!(error.message(), format!("column \"{column}\" holds a date or time that cannot name a partition"));
            assert!(error.hint().unwrap().contains("leave the column out of the partitioning"));
        }
        assert_eq!(test.files(), before, "nothing of a refused write is kept");
        assert_eq!(ids(&test.table("t").await, None).await, [1, 2]);
    }
}

#[tokio::test]
async fn the_farthest_moments_that_name_a_partition_are_found_again() {
    let rows = [
        (0, Some(FIRST), Some(i64::from(FIRST) * DAY)),
        (1, Some(-1), Some(-1)),
        (2, Some(0), Some(0)),
        (3, Some(741_453), Some(741_453 * DAY + 1)),
        (4, Some(LAST), Some((i64::from(LAST) + 1) * DAY - 1)),
        (5, None, None),
    ];
    for (column, transform) in WAYS {
        let test = TestLake::new().await;
        let all = batch(&rows);
        test.lake.create_table_as(by(column, transform, &all), stream(vec![all])).await.unwrap();
        check_every_side(&test, &rows, &format!("{transform:?} of {column}")).await;
    }
}

/// Moments that no calendar knows are kept where no partition is made of them, and filters of any reach find them.
#[tokio::test]
async fn moments_beyond_every_calendar_are_kept_and_found() {
    let rows = [
        (0, Some(i32::MIN), Some(i64::MIN)),
        (1, Some(-1), Some(-1)),
        (2, Some(0), Some(0)),
        (3, Some(741_453), Some(741_453 * DAY + 1)),
        (4, Some(BEYOND_CALENDARS), Some(i64::MAX)),
        (5, None, None),
    ];
    let whole = TestLake::new().await;
    let one = batch(&rows);
    whole.lake.create_table_as(spec("t", &one), stream(vec![one])).await.unwrap();
    check_every_side(&whole, &rows, "one file").await;
    for (column, transform) in [("id", Transform::Identity), ("day", Transform::Bucket(4)), ("ts", Transform::Bucket(4)), ("tz", Transform::Bucket(4))] {
        let parted = TestLake::new().await;
        let all = batch(&rows);
        parted.lake.create_table_as(by(column, transform, &all), stream(vec![all])).await.unwrap();
        check_every_side(&parted, &rows, &format!("{transform:?} of {column}")).await;
    }
}

/// Filters of any reach keep at least the rows that match.
async fn check_every_side(test: &TestLake, rows: &[Row], way: &str) {
    let table = test.table("t").await;
    assert_eq!(ids(&table, None).await, rows.iter().map(|row| row.0).collect::<Vec<_>>(), "{way}");
    for day in [i32::MIN, FIRST, -1, 0, 741_453, LAST, BEYOND_CALENDARS, i32::MAX] {
        let micros = i64::from(day).saturating_mul(DAY);
        for (column, literal) in [(1, Literal::Date(day)), (2, Literal::Timestamp(micros)), (3, Literal::Timestamp(micros))] {
            let value = |row: &Row| if column == 1 { row.1.map(|value| i64::from(value).cmp(&i64::from(day))) } else { row.2.map(|value| value.cmp(&micros)) };
            for (op, wanted) in [(CompareOp::Less, Ordering::Less), (CompareOp::Equal, Ordering::Equal), (CompareOp::Greater, Ordering::Greater)] {
                let found = ids(&table, Some(Predicate::Compare { column, op, literal: literal.clone() })).await;
                let lost: Vec<i64> = rows.iter().filter(|row| value(row) == Some(wanted) && !found.contains(&row.0)).map(|row| row.0).collect();
                assert!(lost.is_empty(), "{way}: column {column} {op:?} {literal:?} lost {lost:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_zoned_time_with_a_fraction_before_1970_names_no_partition() {
    let test = TestLake::new().await;
    let whole = batch(&[(1, None, Some(-2_000_000)), (2, None, Some(1)), (3, None, None)]);
    test.lake.create_table_as(by("tz", Transform::Identity, &whole), stream(vec![whole])).await.unwrap();
    let table = test.table("t").await;
    assert_eq!(ids(&table, None).await, [1, 2, 3]);
    let error = test.lake.append(&table, stream(vec![batch(&[(4, None, Some(-1))])])).await.unwrap_err();
    assert_eq!((error.code(), error.detail()), (ErrorCode::MomentOutOfRange, Some("it holds a fraction of a second before 1970")));
    let far = test.lake.append(&table, stream(vec![batch(&[(4, None, Some(i64::MAX))])])).await.unwrap_err();
    assert_eq!(far.code(), ErrorCode::MomentOutOfRange);
}

#[tokio::test]
async fn the_last_second_of_a_day_before_1970_stays_in_that_day() {
    let test = TestLake::new().await;
    let rows = batch(&[
        (1, None, Some(-DAY - 500_000)),
        (2, None, Some(-DAY)),
        (3, None, Some(-1)),
        (4, None, Some(0)),
        (5, None, Some(-2 * DAY - 1)),
        (6, None, None),
    ]);
    test.lake.create_table_as(by("ts", Transform::Day, &rows), stream(vec![rows])).await.unwrap();
    let folders = test.files().into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "parquet"));
    let mut days: Vec<String> = folders.map(|file| file.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned()).collect();
    days.sort();
    assert_eq!(days, ["ts_day=1969-12-29", "ts_day=1969-12-30", "ts_day=1969-12-31", "ts_day=1970-01-01", "ts_day=null"]);
    assert_eq!(ids(&test.table("t").await, None).await, [1, 2, 3, 4, 5, 6]);
}
