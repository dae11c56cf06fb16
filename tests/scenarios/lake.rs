// SPDX-License-Identifier: Apache-2.0
//! Writes to the lake through SQL: on S3, side by side, cancelled midway, with no space left.

use crate::kit::{SqliteFile, World, eventually, s3};
use std::path::Path;
use std::process::Stdio;
use weir_api::{Query, QueryService};
use weir_base::ErrorCode;

fn data_files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| if path.is_dir() { data_files(&path) } else { usize::from(path.extension().is_some_and(|kind| kind == "parquet")) }).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_on_s3_make_the_round_trip() {
    let file = SqliteFile::with("CREATE TABLE t (id INTEGER, region TEXT); INSERT INTO t VALUES (1, 'EU'), (2, 'US'), (3, NULL);").await;
    let world = World::builder().source("crm", "sqlite", &file.url()).lake_on(s3().await, "round_trip").start().await;
    world.rows("CREATE SCHEMA lake.web").await;
    assert_eq!(world.rows("CREATE TABLE lake.web.t PARTITIONED BY (region) AS SELECT * FROM crm.main.t").await, [["SELECT 3"]]);
    assert_eq!(world.rows("INSERT INTO lake.web.t VALUES (4, 'EU')").await, [["INSERT 0 1"]]);
    assert_eq!(world.rows("SELECT id FROM lake.web.t WHERE region = 'EU' ORDER BY id").await, [["1"], ["4"]]);
    assert_eq!(data_files(&s3().await.folder().join(s3().await.bucket()).join("round_trip")), 4);
    world.rows("DROP TABLE lake.web.t").await;
    assert_eq!(world.error("SELECT * FROM lake.web.t").await.code(), ErrorCode::UnknownTable);
}

#[tokio::test(flavor = "multi_thread")]
async fn inserts_side_by_side_all_land() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    world.rows("CREATE TABLE lake.s.t (id bigint)").await;
    let writers = (0..6).map(|n| {
        let (engine, session) = (world.engine.clone(), world.session("local", None));
        tokio::spawn(async move {
            engine
                .run(&session, Query::new(format!("INSERT INTO lake.s.t SELECT value FROM generate_series({}, {})", n * 100 + 1, n * 100 + 100)))
                .await
                .map(|_| ())
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(world.rows("SELECT count(*), count(DISTINCT id), sum(id) FROM lake.s.t").await, [["600", "600", "180300"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_creators_wins() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    let creators = (0..4).map(|n| {
        let (engine, session) = (world.engine.clone(), world.session("local", None));
        tokio::spawn(async move { engine.run(&session, Query::new(format!("CREATE TABLE lake.s.t AS SELECT {n} AS a"))).await.map(|_| ()) })
    });
    let mut outcomes = Vec::new();
    for creator in creators.collect::<Vec<_>>() {
        outcomes.push(creator.await.unwrap());
    }
    let lost: Vec<ErrorCode> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err().map(|error| error.code())).collect();
    assert_eq!(lost, [ErrorCode::AlreadyExists; 3]);
    assert_eq!(world.value("SELECT count(*) FROM lake.s.t").await, "1");
    assert_eq!(data_files(&world.folder().join("lake")), 1, "the losers' files are gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_is_cancelled_midway_leaves_nothing() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    let lake = world.folder().join("lake");
    let query = Query::new("CREATE TABLE lake.s.t AS SELECT value, md5(CAST(value AS text)) AS hash FROM generate_series(1, 1000000000)");
    let id = query.id;
    let writing = tokio::spawn({
        let (engine, session) = (world.engine.clone(), world.session.clone());
        async move { engine.run(&session, query).await.map(|_| ()) }
    });
    eventually("a file is begun", async || data_files(&lake) > 0).await;
    assert!(world.engine.cancel(&world.session, id).await.unwrap());
    assert_eq!(writing.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
    eventually("the file is gone", async || data_files(&lake) == 0).await;
    assert_eq!(world.value("SELECT count(*) FROM system.tables WHERE source = 'lake'").await, "0");
    assert_eq!(world.rows("CREATE TABLE lake.s.t AS SELECT 1 AS a").await, [["SELECT 1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_fails_midway_leaves_nothing() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    let error = world.error("CREATE TABLE lake.s.t AS SELECT 100 / (value - 900000) AS x FROM generate_series(1, 1000000)").await;
    assert_eq!(error.code(), ErrorCode::DivisionByZero);
    assert_eq!(world.value("SELECT count(*) FROM system.tables WHERE source = 'lake'").await, "0");
    assert_eq!(data_files(&world.folder().join("lake")), 0);
}

/// Set for the copy of this test that runs under a limit of file sizes, which is how a full disk is had without one.
const INSIDE: &str = "WEIR_TEST_NO_SPACE";

#[tokio::test(flavor = "multi_thread")]
async fn with_no_space_left_no_table_appears() {
    if std::env::var_os(INSIDE).is_some() {
        return write_without_space().await;
    }
    let this = std::env::current_exe().unwrap();
    let run = format!("trap '' XFSZ; ulimit -f 2048; exec '{}' --exact scenarios::lake::with_no_space_left_no_table_appears --nocapture", this.display());
    let ran = tokio::process::Command::new("bash").args(["-c", &run]).env(INSIDE, "1").stdin(Stdio::null()).output().await.unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && told.contains("no space was left, and no table"), "{told}");
}

async fn write_without_space() {
    let world = World::builder().start().await;
    world.rows("CREATE SCHEMA lake.s").await;
    world.rows("CREATE TABLE lake.s.before AS SELECT 1 AS a").await;
    let error = world.error("CREATE TABLE lake.s.t AS SELECT md5(CAST(value AS text)) AS hash FROM generate_series(1, 1000000)").await;
    assert_eq!(error.code(), ErrorCode::OutOfResources, "{error:?}");
    assert_eq!(world.rows("SELECT name FROM system.tables WHERE source = 'lake'").await, [["lake.s.before"]]);
    assert_eq!(world.value("SELECT a FROM lake.s.before").await, "1");
    println!("no space was left, and no table");
}
