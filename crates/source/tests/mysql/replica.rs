// SPDX-License-Identifier: Apache-2.0
//! Primaries are refused, replicas are read, and an answer from a replica is as old as the replica is.

use crate::{Held, spec, statement, until};
use arrow::datatypes::DataType;
use futures::StreamExt;
use weir_base::{AsOf, AsOfMethod, Clock, ErrorCode, SystemClock};
use weir_sandbox::MariaDb;
use weir_source::{ServerRole, SourceSpec};

const INT: DataType = DataType::Int64;

async fn as_of(held: &Held) -> weir_base::Result<AsOf> {
    let mut fetched = held.source.fetch(held.permit().await, statement("SELECT COUNT(*) FROM d.t", &[INT])).await?;
    while let Some(batch) = fetched.batches.next().await {
        batch?;
    }
    Ok(fetched.as_of)
}

fn cautious(url: String) -> Held {
    Held::of(SourceSpec { allow_primary: false, ..spec(url) })
}

#[tokio::test]
async fn a_primary_is_refused_unless_allowed() {
    let server = crate::shared().await;
    let held = cautious(server.url("mysql"));
    let refusals = [
        held.rows("SELECT 1", &[INT]).await.unwrap_err(),
        held.source.discover(held.permit().await).await.unwrap_err(),
        held.source.estimate(held.permit().await, &statement("SELECT 1", &[INT])).await.unwrap_err(),
    ];
    for error in refusals {
        assert_eq!(error.code(), ErrorCode::Forbidden);
        assert_eq!(error.message(), "source billing is a primary, not a replica");
        assert_eq!(error.hint(), Some("point the source at a replica, or set `allow_primary: true` for it"));
    }
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_no_primary() {
    let server = MariaDb::options().setting("read_only", "1").start().await.unwrap();
    let held = cautious(server.url("mysql"));
    assert_eq!(held.texts("SELECT 1", &[INT]).await, [["1"]]);
}

#[tokio::test]
async fn a_replica_dates_its_answers_by_what_it_has_replayed() {
    let primary = MariaDb::options().binlog().setting("server-id", "1").start().await.unwrap();
    let replica = MariaDb::options().setting("server-id", "2").start().await.unwrap();
    let position = primary.query("mysql", "SHOW MASTER STATUS").await.unwrap();
    let mut position = position.split('\t');
    let (file, offset) = (position.next().unwrap(), position.next().unwrap());
    primary.run("mysql", "CREATE USER repl@'%' IDENTIFIED BY 'pw'; GRANT REPLICATION SLAVE ON *.* TO repl@'%'").await.unwrap();
    let port = primary.port();
    let source = format!("MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='repl', MASTER_PASSWORD='pw'");
    let change = format!("CHANGE MASTER TO {source}, MASTER_LOG_FILE='{file}', MASTER_LOG_POS={offset}");
    replica.run("mysql", &format!("{change}; START SLAVE")).await.unwrap();
    primary.create_database("d").await.unwrap();
    primary.run("d", "CREATE TABLE t (id INT)").await.unwrap();
    until(&replica, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'", "1").await;

    let held = cautious(replica.url("mysql"));
    let health = held.source.probe(held.permit().await).await.unwrap();
    assert_eq!((health.role, health.replica_lag_ms), (ServerRole::Replica, Some(0)));
    let fresh = as_of(&held).await.unwrap();
    assert!(fresh.at.ms_until(SystemClock.now()) < 10_000);

    // The replica sits on the next change for an hour: it falls behind by what has passed since.
    replica.run("mysql", "STOP SLAVE; CHANGE MASTER TO MASTER_DELAY = 3600; START SLAVE").await.unwrap();
    primary.run("d", "INSERT INTO t VALUES (1)").await.unwrap();
    until(&replica, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting until MASTER_DELAY%'", "1").await;
    let asked = std::time::Instant::now();
    let behind = loop {
        let behind = as_of(&held).await.unwrap();
        if behind.method == AsOfMethod::ReplicaReplay {
            break behind;
        }
        assert!(asked.elapsed().as_secs() < 20, "the replica never falls behind");
    };
    assert!(behind.at.ms_until(SystemClock.now()) >= 1_000);

    // Replication stopped: the answer is as old as what was last known to be replayed.
    replica.run("mysql", "STOP SLAVE").await.unwrap();
    let stopped = as_of(&held).await.unwrap();
    assert_eq!(stopped.method, AsOfMethod::ReplicaReplay);
    assert!(stopped.at >= fresh.at && stopped.at <= SystemClock.now());
    let newcomer = cautious(replica.url("mysql"));
    let error = as_of(&newcomer).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::NotFreshEnough, "cannot tell how old the data of source billing is"));
}
