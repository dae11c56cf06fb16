// SPDX-License-Identifier: Apache-2.0
//! What goes wrong while writing leaves nothing behind; what goes wrong while reading is an error, never a short answer.

use crate::support::{TestLake, broken, config, events, ids, request, scan, spec, stream};
use arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use futures::{FutureExt, StreamExt};
use rand::RngCore;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_base::ErrorCode;
use weir_lake::{BatchStream, Lake, PartitionField, TableSpec, Transform};

fn breaking_after(batches: Vec<RecordBatch>) -> BatchStream {
    futures::stream::iter(batches.into_iter().map(Ok).chain([Err(broken())])).boxed()
}

#[tokio::test]
async fn a_broken_input_leaves_no_table_and_no_file() {
    let test = TestLake::new().await;
    let by_name = vec![PartitionField { column: "name".into(), transform: Transform::Identity }];
    for partitioning in [vec![], by_name] {
        let wanted = TableSpec { partitioning, ..spec("t", &events(0..1)) };
        let error = test.lake.create_table_as(wanted, breaking_after(vec![events(0..300_000)])).await.unwrap_err();
        assert_eq!(error.message(), "the source broke");
        assert!(test.lake.table("web", "t").await.unwrap().is_none());
        assert_eq!(test.files(), Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn a_broken_append_leaves_the_table_as_it_was() {
    let test = TestLake::new().await;
    test.lake.create_table_as(spec("t", &events(0..1)), stream(vec![events(0..10)])).await.unwrap();
    let (table, before) = (test.table("t").await, test.files());
    let error = test.lake.append(&table, breaking_after(vec![events(10..300_000)])).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceBroke);
    assert_eq!(test.files(), before);
    assert_eq!(test.table("t").await.snapshot_id(), table.snapshot_id());
}

#[tokio::test]
async fn a_write_that_is_given_up_removes_its_files() {
    let test = TestLake::new().await;
    let endless = stream(vec![events(0..400_000)]).chain(futures::stream::pending()).boxed();
    let mut write = test.lake.create_table_as(spec("t", &events(0..1)), endless).boxed();
    let deadline = Instant::now() + Duration::from_secs(20);
    while test.files().is_empty() {
        assert!((&mut write).now_or_never().is_none());
        assert!(Instant::now() < deadline, "no file was begun");
    }
    drop(write);
    assert_eq!(test.files(), Vec::<PathBuf>::new());
    assert!(test.lake.table("web", "t").await.unwrap().is_none());
}

#[tokio::test]
async fn concurrent_appends_all_arrive() {
    let test = TestLake::new().await;
    test.lake.create_table(spec("t", &events(0..1))).await.unwrap();
    let table = test.table("t").await;
    let writes = (0..8).map(|part| test.lake.append(&table, stream(vec![events(part * 100..part * 100 + 100)])));
    let written = futures::future::try_join_all(writes).await.unwrap();
    assert_eq!(written.iter().map(|written| written.rows).sum::<u64>(), 800);
    let table = test.table("t").await;
    assert_eq!(ids(&table, None).await, (0..800).collect::<Vec<_>>());
    assert_eq!(table.snapshots().len(), 8);
    let lists = test.files().iter().filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("snap-")).count();
    assert_eq!(lists, 8, "attempts that lost the race left no manifest lists");
}

#[tokio::test]
async fn of_two_tables_of_one_name_one_is_made() {
    let test = TestLake::new().await;
    let make = |from: i64| test.lake.create_table_as(spec("t", &events(0..1)), stream(vec![events(from..from + 10)]));
    let (one, two) = futures::future::join(make(0), make(100)).await;
    let outcomes = [one, two];
    let lost = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).map(|error| error.code()).collect::<Vec<_>>();
    assert_eq!(lost, [ErrorCode::AlreadyExists]);
    assert_eq!(ids(&test.table("t").await, None).await.len(), 10);
    assert_eq!(test.files().iter().filter(|file| file.extension().unwrap() == "parquet").count(), 1);

    let make = |from: i64| {
        let wanted = TableSpec { if_not_exists: true, ..spec("u", &events(0..1)) };
        test.lake.create_table_as(wanted, stream(vec![events(from..from + 10)]))
    };
    let (one, two) = futures::future::try_join(make(0), make(100)).await.unwrap();
    assert_eq!((one.created as u8 + two.created as u8, one.rows + two.rows), (1, 10));
}

#[tokio::test]
async fn rows_for_a_table_that_was_dropped_meanwhile_are_refused() {
    let test = TestLake::new().await;
    test.lake.create_table(spec("t", &events(0..1))).await.unwrap();
    let table = test.table("t").await;
    let lake = test.lake.clone();
    let dropping = futures::stream::once(async move {
        lake.drop_table("web", "t", false).await?;
        lake.create_table(spec("t", &events(0..1))).await?;
        Ok(events(0..10))
    });
    let error = test.lake.append(&table, dropping.boxed()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::CommitConflict);
    assert_eq!(test.table("t").await.rows(), 0);
    assert!(!test.files().iter().any(|file| file.extension().unwrap() == "parquet"));
}

#[tokio::test]
async fn a_lost_or_cut_data_file_is_an_error() {
    let test = TestLake::new().await;
    test.lake.create_table_as(spec("t", &events(0..1)), stream(vec![events(0..100_000)])).await.unwrap();
    let data = test.files().into_iter().find(|file| file.extension().unwrap() == "parquet").unwrap();
    let whole = std::fs::read(&data).unwrap();

    let mut damaged = whole.clone();
    damaged[1000..60_000].fill(0xAA);
    std::fs::write(&data, &damaged).unwrap();
    assert_eq!(scan(&test.table("t").await, request(&[0, 1], None), 1, None).await.unwrap_err().code(), ErrorCode::SourceBroke);

    std::fs::write(&data, &whole[..whole.len() / 2]).unwrap();
    let fresh = Lake::open(config(test.folder())).await.unwrap();
    let table = fresh.table("web", "t").await.unwrap().unwrap();
    assert_eq!(scan(&table, request(&[0], None), 1, None).await.unwrap_err().code(), ErrorCode::SourceBroke);

    std::fs::remove_file(&data).unwrap();
    assert_eq!(scan(&table, request(&[0], None), 1, None).await.unwrap_err().code(), ErrorCode::SourceBroke);
}

/// Bytes that do not compress.
fn noise(rows: usize) -> RecordBatch {
    let mut bytes = vec![0; rows * 64];
    rand::rng().fill_bytes(&mut bytes);
    let raw = BinaryArray::from_iter_values(bytes.chunks(64));
    RecordBatch::try_from_iter_with_nullable(vec![("raw", Arc::new(raw) as ArrayRef, true)]).unwrap()
}

/// Runs this test binary again under a file size limit, which stops a write in the middle just as a full disk does.
fn under_quota(folder: &Path) -> String {
    let shell = "trap '' XFSZ; ulimit -f 2000; exec \"$0\" --exact faults::child_that_writes_too_much --nocapture --test-threads=1";
    let output = Command::new("sh").arg("-c").arg(shell).arg(std::env::current_exe().unwrap()).env("WEIR_LAKE_QUOTA_TEST", folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn child_that_writes_too_much() {
    let Some(folder) = std::env::var_os("WEIR_LAKE_QUOTA_TEST") else { return };
    let lake = Lake::open(config(Path::new(&folder))).await.unwrap();
    let created = lake.create_table_as(spec("t", &noise(1)), stream(vec![noise(100_000), noise(100_000)])).await.unwrap_err();
    let appended = lake.append(&lake.table("web", "old").await.unwrap().unwrap(), stream(vec![noise(100_000)])).await.unwrap_err();
    println!("created: {:?}, appended: {:?}", created.code(), appended.code());
}

#[tokio::test]
async fn a_full_disk_is_said_and_leaves_nothing_half_done() {
    let test = TestLake::new().await;
    test.lake.create_table_as(spec("old", &noise(1)), stream(vec![noise(10)])).await.unwrap();
    let before = test.files();
    let said = under_quota(test.folder());
    assert!(said.contains("created: OutOfResources, appended: OutOfResources"), "{said}");
    assert_eq!(test.files(), before);
    assert!(test.lake.table("web", "t").await.unwrap().is_none());
    assert_eq!(test.table("old").await.rows(), 10);
}
