// SPDX-License-Identifier: Apache-2.0
//! The lake on an S3 server, with signatures and path-style addresses.

use crate::support::{broken, config, events, ids, request, scan, spec, stream};
use futures::StreamExt;
use std::path::Path;
use std::sync::Arc;
use weir_base::{ErrorCode, Result};
use weir_lake::{CompareOp, Lake, LakeConfig, Literal, Predicate, S3Config, TableSpec};

async fn open(s3: &weir_sandbox::S3, folder: &Path, change: impl Fn(&mut S3Config)) -> Result<Arc<Lake>> {
    let mut settings = S3Config {
        endpoint: Some(s3.endpoint().to_owned()),
        region: "us-east-1".into(),
        access_key: Some(s3.access_key().to_owned()),
        secret_key: Some(s3.secret_key().to_owned()),
        path_style: true,
    };
    change(&mut settings);
    let lake = Lake::open(LakeConfig { warehouse: "s3://weir/lake".into(), s3: Some(settings), ..config(folder) }).await?;
    lake.create_schema("web", true).await?;
    Ok(lake)
}

fn objects(folder: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { count += objects(&path) } else { count += usize::from(path.extension().is_some_and(|kind| kind == "parquet" || kind == "avro")) }
    }
    count
}

#[tokio::test]
async fn tables_live_on_s3() {
    let s3 = weir_sandbox::S3::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lake = open(&s3, folder.path(), |_| {}).await.unwrap();
    let rows = events(0..300_000);
    lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    let table = lake.table("web", "t").await.unwrap().unwrap();
    assert!(table.location().starts_with("s3://weir/lake/web/t-"));
    lake.append(&table, stream(vec![events(300_000..300_100)])).await.unwrap();

    let fresh = open(&s3, folder.path(), |_| {}).await.unwrap();
    let table = fresh.table("web", "t").await.unwrap().unwrap();
    assert_eq!(ids(&table, None).await, (0..300_100).collect::<Vec<_>>());
    let few = Predicate::Compare { column: 0, op: CompareOp::GreaterOrEqual, literal: Literal::Int(300_050) };
    let plan = table.plan(request(&[0, 1, 3], Some(few.clone()))).await.unwrap();
    assert_eq!((plan.files(), plan.files_pruned()), (1, 1));
    assert_eq!(scan(&table, request(&[0, 1, 3], Some(few)), 2, None).await.unwrap().num_rows(), 100);

    fresh.create_table_as(TableSpec { or_replace: true, ..spec("t", &events(0..1)) }, stream(vec![events(0..3)])).await.unwrap();
    assert_eq!(ids(&fresh.table("web", "t").await.unwrap().unwrap(), None).await, [0, 1, 2]);
    fresh.drop_table("web", "t", false).await.unwrap();
    assert_eq!(objects(&s3.folder()), 0);
}

#[tokio::test]
async fn a_failed_write_leaves_no_objects() {
    let s3 = weir_sandbox::S3::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lake = open(&s3, folder.path(), |_| {}).await.unwrap();
    let breaking = futures::stream::iter([Ok(events(0..600_000)), Err(broken())]).boxed();
    let error = lake.create_table_as(spec("t", &events(0..1)), breaking).await.unwrap_err();
    assert_eq!(error.message(), "the source broke");
    assert_eq!(objects(&s3.folder()), 0);
    assert!(lake.table("web", "t").await.unwrap().is_none());
}

fn remove_data(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_data(&path);
        } else if path.extension().is_some_and(|kind| kind == "parquet") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[tokio::test]
async fn objects_that_vanish_while_they_are_read_are_an_error() {
    let s3 = weir_sandbox::S3::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lake = open(&s3, folder.path(), |_| {}).await.unwrap();
    lake.create_table_as(spec("t", &events(0..1)), stream(vec![events(0..1_000_000)])).await.unwrap();
    let table = lake.table("web", "t").await.unwrap().unwrap();
    let plan = table.plan(request(&[0, 1, 2, 3], None)).await.unwrap();
    let mut rows = plan.open(1).partition(0, None);
    assert_eq!(rows.next().await.unwrap().unwrap().num_rows(), 8_192);
    remove_data(&s3.folder());
    let last = rows.collect::<Vec<_>>().await.pop().unwrap();
    assert_eq!(last.unwrap_err().code(), ErrorCode::SourceBroke);
}

#[tokio::test]
async fn wrong_keys_and_dead_stores_are_told_apart_without_secrets() {
    let s3 = weir_sandbox::S3::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rows = events(0..10);
    let lake = open(&s3, folder.path(), |settings| settings.secret_key = Some("not-the-secret".into())).await.unwrap();
    let refused = lake.create_table_as(spec("t", &rows), stream(vec![rows.clone()])).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SourceBroke);
    assert!(!format!("{refused:?}").contains("not-the-secret"));

    let lake = open(&s3, folder.path(), |settings| settings.endpoint = Some("http://127.0.0.1:1".into())).await.unwrap();
    let dead = lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap_err();
    assert_eq!(dead.code(), ErrorCode::SourceUnreachable, "{dead:?}");
}
