// SPDX-License-Identifier: Apache-2.0
//! Schemas and tables: made, filled, read, looked at, dropped; and each call with input that it must refuse.

use crate::support::{TestLake, events, ids, request, scan, sorted, spec, stream};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Int8Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, TimeUnit, UInt32Type};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_base::{AsOfMethod, ErrorCode, Result};
use weir_lake::{BatchFilter, CatalogConfig, CompareOp, Lake, Literal, PartitionField, Predicate, ScanRequest, TableSpec, Transform, Version};

#[tokio::test]
async fn schemas_are_made_listed_and_dropped() {
    let test = TestLake::new().await;
    let lake = &test.lake;
    assert_eq!(lake.create_schema("web", false).await.unwrap_err().code(), ErrorCode::AlreadyExists);
    lake.create_schema("web", true).await.unwrap();
    lake.create_schema("hot", false).await.unwrap();
    assert_eq!(lake.schemas().await.unwrap(), ["hot", "web"]);
    assert_eq!(lake.create_schema("", false).await.unwrap_err().code(), ErrorCode::BadValue);

    lake.create_table(spec("t", &events(0..1))).await.unwrap();
    let full = lake.drop_schema("web", false).await.unwrap_err();
    assert_eq!((full.code(), full.message()), (ErrorCode::StillUsed, "schema \"web\" is not empty"));
    lake.drop_schema("hot", false).await.unwrap();
    let unknown = lake.drop_schema("wep", false).await.unwrap_err();
    assert_eq!((unknown.code(), unknown.hint()), (ErrorCode::UnknownSchema, Some("did you mean web?")));
    lake.drop_schema("wep", true).await.unwrap();
}

#[tokio::test]
async fn a_table_is_made_from_rows_and_grows() {
    let test = TestLake::new().await;
    let written = test.lake.create_table_as(spec("clicks", &events(0..1)), stream(vec![events(0..10_000), events(10_000..30_000)])).await.unwrap();
    assert_eq!((written.rows, written.files, written.created), (30_000, 1, true));
    let first = test.table("clicks").await;
    assert_eq!(first.snapshot_id(), written.snapshot_id);
    assert_eq!(first.as_of().method, AsOfMethod::Snapshot);
    assert_eq!((first.rows(), first.bytes() > 0, first.rows_exact()), (30_000, true, true));
    assert_eq!(ids(&first, None).await, (0..30_000).collect::<Vec<_>>());

    let appended = test.lake.append(&first, stream(vec![events(30_000..30_010)])).await.unwrap();
    assert_eq!((appended.rows, appended.files), (10, 1));
    let second = test.table("clicks").await;
    assert_eq!(ids(&second, None).await, (0..30_010).collect::<Vec<_>>());
    assert_eq!(first.rows(), 30_000, "a table that was looked up stays as it was");
    assert_eq!(ids(&first, None).await.len(), 30_000);
    assert!(second.as_of().at >= first.as_of().at);

    let then = test.lake.table_at("web", "clicks", Version::Snapshot(written.snapshot_id.unwrap())).await.unwrap().unwrap();
    assert_eq!(then.rows(), 30_000);
    let by_time = test.lake.table_at("web", "clicks", Version::At(second.as_of().at)).await.unwrap().unwrap();
    assert_eq!(by_time.rows(), 30_010);
    assert_eq!(test.lake.table_at("web", "clicks", Version::Snapshot(1)).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn names_are_checked_and_conditions_of_creation_hold() {
    let test = TestLake::new().await;
    let lake = &test.lake;
    let rows = events(0..5);
    lake.create_table_as(spec("t", &rows), stream(vec![rows.clone()])).await.unwrap();
    assert_eq!(lake.create_table_as(spec("t", &rows), stream(vec![])).await.unwrap_err().code(), ErrorCode::AlreadyExists);
    assert_eq!(lake.create_table(spec("t", &rows)).await.unwrap_err().code(), ErrorCode::AlreadyExists);
    let again = lake.create_table_as(TableSpec { if_not_exists: true, ..spec("t", &rows) }, stream(vec![rows.clone()])).await.unwrap();
    assert_eq!((again.created, again.rows), (false, 0));
    assert_eq!(lake.create_table(TableSpec { if_not_exists: true, ..spec("t", &rows) }).await.unwrap().rows(), 5);

    let elsewhere = TableSpec { schema: "nowhere".into(), ..spec("t", &rows) };
    assert_eq!(lake.create_table_as(elsewhere, stream(vec![])).await.unwrap_err().code(), ErrorCode::UnknownSchema);
    let unnamed = TableSpec { table: String::new(), ..spec("t", &rows) };
    assert_eq!(lake.create_table(unnamed).await.unwrap_err().code(), ErrorCode::BadValue);

    let before = test.files().len();
    lake.create_table_as(TableSpec { or_replace: true, ..spec("t", &rows) }, stream(vec![events(100..103)])).await.unwrap();
    assert_eq!(ids(&test.table("t").await, None).await, [100, 101, 102]);
    assert_eq!(test.files().len(), before, "the replaced table's files are gone");
}

#[tokio::test]
async fn a_dropped_table_leaves_nothing() {
    let test = TestLake::new().await;
    let rows = events(0..100);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows.clone()])).await.unwrap();
    test.lake.append(test.table("t").await.as_ref(), stream(vec![rows])).await.unwrap();
    assert_eq!(test.lake.tables("web").await.unwrap(), ["t"]);
    let unknown = test.lake.drop_table("web", "tt", false).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::UnknownTable);
    test.lake.drop_table("web", "tt", true).await.unwrap();
    test.lake.drop_table("web", "t", false).await.unwrap();
    assert!(test.lake.table("web", "t").await.unwrap().is_none());
    assert_eq!(test.files(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn an_empty_table_reads_as_empty() {
    let test = TestLake::new().await;
    let written = test.lake.create_table_as(spec("t", &events(0..1)), stream(vec![])).await.unwrap();
    assert_eq!((written.rows, written.snapshot_id, written.created), (0, None, true));
    let table = test.table("t").await;
    assert_eq!((table.rows(), table.snapshot_id()), (0, None));
    assert!(table.as_of().at.micros() > 1_700_000_000_000_000);
    assert_eq!(scan(&table, request(&[0, 1], None), 2, None).await.unwrap().num_rows(), 0);
}

pub fn every_type() -> RecordBatch {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None]);
    let person = StructArray::from(vec![
        (Arc::new(Field::new("first", DataType::Utf8, true)), Arc::new(StringArray::from(vec![Some("Ada"), None])) as ArrayRef),
        (Arc::new(Field::new("age", DataType::Int64, true)), Arc::new(Int64Array::from(vec![36, 41])) as ArrayRef),
    ]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("tiny", Arc::new(Int8Array::from(vec![Some(-128), None]))),
        ("huge", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("price", Arc::new(Decimal128Array::from(vec![Some(-1050), None]).with_precision_and_scale(12, 2).unwrap())),
        ("day", Arc::new(Date32Array::from(vec![Some(-1), None]))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![Some(86_399_999_999), None]))),
        ("naive", Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None]))),
        ("zoned", Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None]).with_timezone("+02:00"))),
        ("text", Arc::new(StringArray::from(vec![Some("grün 'x' \u{10FFFF}"), None]))),
        ("raw", Arc::new(BinaryArray::from(vec![Some(&b"\x00\xff"[..]), None]))),
        ("list", Arc::new(list)),
        ("person", Arc::new(person)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

#[tokio::test]
async fn every_type_comes_back_exactly() {
    let test = TestLake::new().await;
    let rows = every_type();
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows.clone()])).await.unwrap();
    let table = test.table("t").await;
    let all: Vec<usize> = (0..rows.num_columns()).collect();
    let back = scan(&table, request(&all, None), 1, None).await.unwrap();
    assert_eq!(back.column(0).as_ref(), &Int32Array::from(vec![Some(-128), None]) as &dyn Array);
    assert_eq!(back.schema().field(1).data_type(), &DataType::Decimal128(20, 0));
    assert_eq!(back.column(1).as_primitive::<arrow::datatypes::Decimal128Type>().value(0), i128::from(u64::MAX));
    assert_eq!(back.schema().field(7).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
    assert_eq!(back.column(7).as_primitive::<arrow::datatypes::TimestampMicrosecondType>().value(0), 1);
    for column in [2, 3, 4, 5, 6, 8, 9, 10, 11] {
        assert_eq!(back.column(column).as_ref(), rows.column(column).as_ref(), "column {column}");
    }
    assert_eq!(back.schema(), Arc::new(table.schema().project(&all).unwrap()));
}

#[tokio::test]
async fn rows_that_do_not_fit_the_table_are_refused() {
    let test = TestLake::new().await;
    test.lake.create_table(spec("t", &events(0..1))).await.unwrap();
    let table = test.table("t").await;
    let before = test.files();
    let narrow = events(0..3).project(&[0, 1]).unwrap();
    assert_eq!(test.lake.append(&table, stream(vec![narrow])).await.unwrap_err().code(), ErrorCode::TypeMismatch);
    let swapped = events(0..3).project(&[1, 0, 2, 3]).unwrap();
    let error = test.lake.append(&table, stream(vec![swapped])).await.unwrap_err();
    assert_eq!(error.message(), "column \"id\" takes another type");
    assert_eq!(test.files(), before);

    let strict = Schema::new(vec![Field::new("id", DataType::Int64, false)]);
    let table = test.lake.create_table(TableSpec::new("web", "strict", Arc::new(strict))).await.unwrap();
    assert!(!table.schema().field(0).is_nullable());
    let null = RecordBatch::try_from_iter_with_nullable(vec![("id", Arc::new(Int64Array::from(vec![None])) as ArrayRef, true)]).unwrap();
    assert_eq!(test.lake.append(&table, stream(vec![null])).await.unwrap_err().message(), "column \"id\" may not be NULL");
}

#[tokio::test]
async fn scans_project_limit_and_count() {
    let test = TestLake::new().await;
    let rows = events(0..50_000);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    test.lake.append(test.table("t").await.as_ref(), stream(vec![events(50_000..100_000)])).await.unwrap();
    let table = test.table("t").await;

    let reversed = scan(&table, request(&[3, 0], None), 3, None).await.unwrap();
    assert_eq!(reversed.schema().field(0).name(), "ts");
    assert_eq!(reversed.num_rows(), 100_000);
    let counted = scan(&table, request(&[], None), 2, None).await.unwrap();
    assert_eq!((counted.num_columns(), counted.num_rows()), (0, 100_000));

    let limited = table.plan(ScanRequest { projection: vec![0], predicate: None, limit: Some(10) }).await.unwrap();
    assert_eq!((limited.files(), limited.rows()), (1, 50_000));
    let few = scan(&table, ScanRequest { projection: vec![0], predicate: None, limit: Some(10) }, 2, None).await.unwrap();
    assert!((10..30_000).contains(&few.num_rows()), "{} rows for a limit of 10", few.num_rows());
    assert_eq!(table.plan(request(&[9], None)).await.unwrap_err().code(), ErrorCode::Internal);
}

#[tokio::test]
async fn a_plan_says_what_it_reads() {
    let test = TestLake::new().await;
    let rows = events(0..1000);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    test.lake.append(test.table("t").await.as_ref(), stream(vec![events(1000..2000)])).await.unwrap();
    let table = test.table("t").await;
    let late = Predicate::Compare { column: 0, op: CompareOp::GreaterOrEqual, literal: Literal::Int(1500) };
    let plan = table.plan(request(&[0, 1], Some(late))).await.unwrap();
    assert_eq!((plan.files(), plan.files_pruned(), plan.row_groups(), plan.rows()), (1, 1, 1, 1000));
    assert!(plan.bytes() > 0 && plan.bytes() < table.bytes() / 2);
    let statistics = plan.column_statistics();
    assert_eq!((&statistics[0].min, &statistics[0].max), (&Some(Literal::Int(1000)), &Some(Literal::Int(1999))));
    let whole = table.column_statistics();
    assert_eq!((&whole[0].min, &whole[0].max, whole[0].min_max_exact), (&Some(Literal::Int(0)), &Some(Literal::Int(1999)), true));
    assert_eq!(whole[1].null_count, Some(286));
    let of_id = |op, value| Predicate::Compare { column: 0, op, literal: Literal::Int(value) };
    assert!(table.always(&of_id(CompareOp::GreaterOrEqual, 0)) && table.always(&of_id(CompareOp::Less, 2000)) && table.always(&of_id(CompareOp::NotEqual, -1)));
    assert!(!table.always(&of_id(CompareOp::Greater, 0)) && !table.always(&of_id(CompareOp::Less, 1999)), "one row fails");
    let of_name = Predicate::Compare { column: 1, op: CompareOp::GreaterOrEqual, literal: Literal::Text(String::new()) };
    assert!(!table.always(&of_name), "NULL is not at least the least text");
    let dear = Predicate::Compare { column: 2, op: CompareOp::Greater, literal: Literal::Float(400.0) };
    assert_eq!(table.plan(request(&[0], Some(dear))).await.unwrap().files_pruned(), 1, "our writer counts NaN, so floats are pruned as well");
    let words = plan.describe();
    assert!(words[0].starts_with("snapshot "), "{words:?}");
    assert_eq!(words[1..4], ["2 of 4 columns", "1 of 2 files (1 ruled out by partitions and statistics)", "1 of 1 row groups in them"]);
}

/// Keeps even ids below a bound that can be lowered while the scan runs.
struct Even {
    below: i64,
    calls: AtomicUsize,
}

impl BatchFilter for Even {
    fn columns(&self) -> Vec<usize> {
        vec![0]
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert_eq!(batch.schema().field(0).name(), "id");
        let ids = batch.column(0).as_primitive::<Int64Type>();
        Ok(ids.iter().map(|id| id.map(|id| id % 2 == 0 && id < self.below)).collect())
    }

    fn predicate(&self) -> Option<Predicate> {
        Some(Predicate::Compare { column: 0, op: CompareOp::Less, literal: Literal::Int(self.below) })
    }
}

#[tokio::test]
async fn a_filter_is_applied_exactly_whether_early_or_late() {
    let test = TestLake::new().await;
    let rows = events(0..600_000);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let table = test.table("t").await;
    for below in [600_000, 50, 300_000] {
        let filter = Arc::new(Even { below, calls: AtomicUsize::new(0) });
        let kept = scan(&table, request(&[1, 3], None), 2, Some(filter.clone())).await.unwrap();
        assert_eq!(kept.num_rows() as i64, below / 2, "the filter's column is not among the returned ones");
        let kept = scan(&table, request(&[0, 1, 2, 3], None), 2, Some(filter.clone())).await.unwrap();
        assert_eq!(sorted(&kept), (0..below).step_by(2).collect::<Vec<_>>());
        let by_id = kept.column(0).as_primitive::<Int64Type>();
        let amounts = kept.column(2).as_primitive::<arrow::datatypes::Float64Type>();
        assert!(by_id.values().iter().zip(amounts.values()).all(|(id, amount)| *id as f64 / 4.0 == *amount));
        assert!(filter.calls.load(Ordering::Relaxed) > 0);
    }
}

#[tokio::test]
async fn a_filter_that_rules_row_groups_out_saves_reading_them() {
    let test = TestLake::new().await;
    let rows = events(0..600_000);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let table = test.table("t").await;
    let filter = Arc::new(Even { below: 50, calls: AtomicUsize::new(0) });
    scan(&table, request(&[1], None), 1, Some(filter.clone())).await.unwrap();
    let batches_of_one_group = 262_144 / 8_192;
    assert_eq!(filter.calls.load(Ordering::Relaxed), batches_of_one_group);
}

/// Keeps ids that every one of some numbers divides, and amounts below a bound; asked as a whole or by column.
#[derive(Clone)]
struct Rare {
    columns: Vec<usize>,
    seen: [Arc<AtomicUsize>; 2],
}

impl BatchFilter for Rare {
    fn columns(&self) -> Vec<usize> {
        self.columns.clone()
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let mut kept = vec![true; batch.num_rows()];
        for (column, array) in self.columns.iter().zip(batch.columns()) {
            self.seen[*column / 2].fetch_add(batch.num_rows(), Ordering::Relaxed);
            for (row, kept) in kept.iter_mut().enumerate() {
                *kept &= match column {
                    0 => array.as_primitive::<Int64Type>().value(row) % 100 == 0,
                    _ => array.as_primitive::<arrow::datatypes::Float64Type>().value(row) < 100_000.0,
                };
            }
        }
        Ok(kept.into())
    }

    fn stages(&self) -> Result<Vec<Arc<dyn BatchFilter>>> {
        Ok(self.columns.iter().map(|column| Arc::new(Self { columns: vec![*column], ..self.clone() }) as Arc<dyn BatchFilter>).collect())
    }
}

#[tokio::test]
async fn a_filter_in_stages_decodes_later_columns_for_the_rows_that_are_left() {
    let test = TestLake::new().await;
    let rows = events(0..1_000_000);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let filter = Rare { columns: vec![0, 2], seen: Default::default() };
    let kept = scan(&test.table("t").await, request(&[0, 3], None), 1, Some(Arc::new(filter.clone()))).await.unwrap();
    assert_eq!(sorted(&kept), (0..400_000).step_by(100).collect::<Vec<_>>());
    let [ids, amounts] = filter.seen.map(|seen| seen.load(Ordering::Relaxed));
    assert_eq!(ids, 1_000_000);
    // The first row group is read in full, to see what the filter keeps.
    assert_eq!(amounts, 262_144 + (262_144..1_000_000).step_by(4).filter(|id| id % 100 == 0).count());
}

#[tokio::test]
async fn a_broken_filter_is_an_error_of_the_scan() {
    struct Broken;
    impl BatchFilter for Broken {
        fn columns(&self) -> Vec<usize> {
            vec![0]
        }
        fn evaluate(&self, _: &RecordBatch) -> Result<BooleanArray> {
            Err(crate::support::broken())
        }
    }
    let test = TestLake::new().await;
    let rows = events(0..10);
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let error = scan(&test.table("t").await, request(&[1], None), 1, Some(Arc::new(Broken))).await.unwrap_err();
    assert_eq!(error.message(), "the source broke");
}

#[tokio::test]
async fn partitioned_tables_are_written_and_pruned() {
    let test = TestLake::new().await;
    let rows = events(0..5000);
    let partitioning = [("id", Transform::Bucket(8)), ("name", Transform::Truncate(6)), ("ts", Transform::Month)];
    let partitioning = partitioning.map(|(column, transform)| PartitionField { column: column.into(), transform });
    let wanted = TableSpec { partitioning: partitioning.to_vec(), ..spec("t", &rows) };
    let written = test.lake.create_table_as(wanted, stream(vec![rows])).await.unwrap();
    let table = test.table("t").await;
    assert_eq!(table.partitioning(), ["bucket(8, id)", "truncate(6, name)", "month(ts)"]);
    assert_eq!(ids(&table, None).await, (0..5000).collect::<Vec<_>>());
    let one = Predicate::Compare { column: 0, op: CompareOp::Equal, literal: Literal::Int(1234) };
    let plan = table.plan(request(&[0], Some(one.clone()))).await.unwrap();
    assert!(plan.files() < written.files as usize / 8, "{} of {}", plan.files(), written.files);
    assert!(ids(&table, Some(one)).await.contains(&1234));
    test.lake.append(&table, stream(vec![events(5000..5100)])).await.unwrap();
    assert_eq!(ids(&test.table("t").await, None).await.len(), 5100);
}

#[tokio::test]
async fn more_partitions_than_may_be_open_at_once_lose_no_row() {
    let test = TestLake::new().await;
    let by_id = vec![PartitionField { column: "id".into(), transform: Transform::Identity }];
    let wanted = TableSpec { partitioning: by_id, ..spec("t", &events(0..1)) };
    let written = test.lake.create_table_as(wanted, stream(vec![events(0..200), events(0..200)])).await.unwrap();
    assert!(written.files > 200, "{} files: some partitions were closed and begun again", written.files);
    let twice: Vec<i64> = (0..200).flat_map(|id| [id, id]).collect();
    assert_eq!(ids(&test.table("t").await, None).await, twice);
}

#[tokio::test]
async fn wrong_partitioning_is_refused() {
    let test = TestLake::new().await;
    let by = |column: &str, transform| TableSpec { partitioning: vec![PartitionField { column: column.into(), transform }], ..spec("t", &events(0..1)) };
    let unknown = test.lake.create_table(by("nmae", Transform::Identity)).await.unwrap_err();
    assert_eq!((unknown.code(), unknown.hint()), (ErrorCode::UnknownColumn, Some("did you mean name?")));
    assert_eq!(test.lake.create_table(by("name", Transform::Month)).await.unwrap_err().code(), ErrorCode::BadValue);
    assert_eq!(test.lake.create_table(by("id", Transform::Bucket(0))).await.unwrap_err().code(), ErrorCode::BadValue);
    assert_eq!(test.files(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn a_lake_needs_a_usable_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let good = crate::support::config(folder.path());
    let rest = weir_lake::LakeConfig { catalog: CatalogConfig::Rest { url: "http://127.0.0.1:1".into(), token: None }, ..good.clone() };
    assert_eq!(Lake::open(rest).await.unwrap_err().code(), ErrorCode::Unsupported);
    let relative = weir_lake::LakeConfig { warehouse: "file://lake".into(), ..good.clone() };
    assert_eq!(Lake::open(relative).await.unwrap_err().code(), ErrorCode::Config);
    std::fs::write(folder.path().join("catalog.db"), "this is no database, and it is long enough to be noticed as none").unwrap();
    assert_eq!(Lake::open(good).await.unwrap_err().code(), ErrorCode::SourceBroke);
}

#[tokio::test]
async fn dictionaries_are_written_as_their_values() {
    let test = TestLake::new().await;
    let keys = arrow::array::DictionaryArray::<UInt32Type>::from_iter(["a", "b", "a"]);
    let rows = RecordBatch::try_from_iter(vec![("d", Arc::new(keys) as ArrayRef)]).unwrap();
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let back = scan(&test.table("t").await, request(&[0], None), 1, None).await.unwrap();
    assert_eq!(back.column(0).as_ref(), &StringArray::from(vec!["a", "b", "a"]) as &dyn Array);
}

/// Futures of the lake run in tasks of their own: the compiler must see that they may cross threads.
#[tokio::test]
async fn every_call_may_run_in_a_task() {
    let test = TestLake::new().await;
    let lake = test.lake.clone();
    let work = async move {
        lake.create_schema("task", true).await?;
        let made = lake.create_table_as(TableSpec { schema: "task".into(), ..spec("t", &events(0..1)) }, stream(vec![events(0..3)])).await?;
        let table = lake.create_table(TableSpec { schema: "task".into(), ..spec("u", &events(0..1)) }).await?;
        lake.append(&table, stream(vec![events(0..3)])).await?;
        let found = lake.table("task", "t").await?.map(|table| table.rows());
        table.plan(ScanRequest::default()).await?;
        lake.drop_table("task", "t", false).await?;
        lake.drop_table("task", "u", false).await?;
        lake.drop_schema("task", false).await?;
        Ok::<_, weir_base::Error>((made.rows, found))
    };
    fn shared<T: Send + Sync + 'static>() {}
    shared::<(Lake, weir_lake::LakeTable, weir_lake::ScanPlan, weir_lake::Scan)>();
    assert_eq!(tokio::spawn(work).await.unwrap().unwrap(), (3, Some(3)));
}
