// SPDX-License-Identifier: Apache-2.0
//! A source is never hurt: statements that are broken off at any moment leave a server that runs, and nothing behind in it.

use crate::{Held, limits, statement, until};
use arrow::datatypes::DataType;
use futures::StreamExt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use weir_base::{ErrorCode, Result};
use weir_guard::{Ledger, Limits, Permit};
use weir_sandbox::MariaDb;

const TEXT: DataType = DataType::Utf8;
/// Each makes the server fill a temporary table, and move it to disk when it outgrows the little memory it gets here.
const STATEMENTS: [&str; 4] = [
    "SELECT body FROM texts GROUP BY body HAVING COUNT(*) > 0",
    "SELECT body FROM texts UNION SELECT CONCAT(body, 'x') FROM texts",
    "SELECT DISTINCT CONCAT(seq, REPEAT('y', 200)) FROM seq_1_to_2000",
    "SELECT b.body FROM (SELECT body, MAX(id) AS id FROM texts GROUP BY body) a JOIN texts b ON b.id = a.id ORDER BY b.body",
];
const ROUNDS: u64 = 120;

async fn busy_server() -> MariaDb {
    let server = MariaDb::options().setting("tmp-memory-table-size", "16384").setting("max-heap-table-size", "16384").start().await.unwrap();
    let tables: String = (0..60).map(|table| format!("CREATE TABLE t{table} (id INT, a VARCHAR(40), b TEXT, c ENUM('x', 'y')) ENGINE = MyISAM;")).collect();
    let texts =
        "CREATE TABLE texts (id INT PRIMARY KEY, body TEXT); INSERT INTO texts SELECT seq, CONCAT(seq % 1000, REPEAT('z', seq % 200)) FROM seq_1_to_2000;";
    server.run("busy", &format!("{tables}{texts}")).await.unwrap();
    server
}

/// A listing of all tables, or one of the statements, to its end.
async fn ask(held: &Held, permit: Permit, round: u64) -> Result<()> {
    if round.is_multiple_of(3) {
        return held.source.discover(permit).await.map(|_| ());
    }
    let sql = STATEMENTS[(round / 3 % STATEMENTS.len() as u64) as usize];
    let mut fetched = held.source.fetch(permit, statement(sql, &[TEXT])).await?;
    while let Some(batch) = fetched.batches.next().await {
        batch?;
    }
    Ok(())
}

/// Asks again and again, and goes away or cancels at another moment each time; how often that came before the end.
async fn break_off(held: Arc<Held>) -> usize {
    let mut broken_off = 0;
    for round in 0..ROUNDS {
        let moment = Duration::from_micros(round * 7_919 % 20_000);
        let cancel = CancellationToken::new();
        let permit = held.admission(&Ledger::new(), &cancel).await.permit().await.unwrap();
        let mut asked = pin!(ask(&held, permit, round));
        let ended = match timeout(moment, &mut asked).await {
            Ok(ended) => ended,
            Err(_elapsed) if round.is_multiple_of(2) => {
                broken_off += 1;
                continue;
            }
            Err(_elapsed) => {
                cancel.cancel();
                asked.await
            }
        };
        if let Err(error) = ended {
            assert_eq!(error.code(), ErrorCode::Cancelled, "{error:?}");
            broken_off += 1;
        }
    }
    broken_off
}

/// Asks again and again of a server that itself ends statements after a few milliseconds; how often it did.
async fn time_out(url: String, statement_timeout: Duration) -> usize {
    let held = Held::limited(url, Limits { statement_timeout, ..limits() });
    let mut timed_out = 0;
    for round in 0..ROUNDS {
        let ended = ask(&held, held.permit().await, round).await;
        timed_out += usize::from(ended.is_err_and(|error| error.code() == ErrorCode::Cancelled));
    }
    timed_out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_broken_off_at_any_moment_leave_the_server_unhurt() {
    let server = busy_server().await;
    let held = Arc::new(Held::new(server.url("busy")));
    let breaking: Vec<_> = (0..2).map(|_| tokio::spawn(break_off(held.clone()))).collect();
    let timing = [2, 8].map(|ms| tokio::spawn(time_out(server.url("busy"), Duration::from_millis(ms))));
    // A MariaDB that starts sweeps its folder of temporary tables: that must not be the one of a server that runs.
    for _ in 0..6 {
        drop(MariaDb::start().await.unwrap());
    }
    let (mut broken_off, mut timed_out) = (0, 0);
    for task in breaking {
        broken_off += task.await.unwrap();
    }
    for task in timing {
        timed_out += task.await.unwrap();
    }
    assert!(broken_off > 20 && timed_out > 20, "{broken_off} broken off, {timed_out} timed out");

    // Every session gives its permit back, and the server answers: nobody would start it again.
    let all = limits().connections;
    let every = timeout(Duration::from_secs(20), held.guard.admit(&weir_guard::Asker::house(), all, &Ledger::new(), &CancellationToken::new(), |_| ()))
        .await
        .unwrap()
        .unwrap();
    drop(every);
    held.source.close().await;
    until(&server, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = 'busy'", "0").await;
    let log = std::fs::read_to_string(server.log_path()).unwrap();
    assert!(!log.contains("got signal"), "{log}");
    let left: Vec<_> = std::fs::read_dir(server.folder().join("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("#sql")), "{left:?}");
}
