// SPDX-License-Identifier: Apache-2.0
//! Streams: whole, held back, cancelled, dropped; and what the ledger and the process list say of them.

use crate::{Held, limits, shared, statement, until};
use arrow::array::{Array, Int64Array};
use arrow::datatypes::DataType;
use futures::StreamExt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use weir_base::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX};
use weir_base::{AsOfMethod, ByteSize, Clock, ErrorCode, SystemClock};
use weir_guard::{Ledger, Limits, Outcome};

const INT: DataType = DataType::Int64;
const TEXT: DataType = DataType::Utf8;
/// A source must be idle within 250 ms of a cancel; the rest is for the polling client on a busy machine.
const IDLE_WITHIN: Duration = Duration::from_millis(1_500);

fn running(mark: &str) -> String {
    format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep' AND INFO LIKE '/* weir %{mark}%'")
}

#[tokio::test]
async fn every_row_comes_once_and_is_counted() {
    let held = Held::new(shared().await.url("test"));
    let ledger = Ledger::new();
    let permit = held.admission(&ledger, &CancellationToken::new()).await.permit().await.unwrap();
    let sql = "SELECT CAST(seq AS SIGNED), CONCAT('row ', seq) FROM seq_1_to_300000";
    let before = SystemClock.now();
    let mut fetched = held.source.fetch(permit, statement(sql, &[INT, TEXT])).await.unwrap();
    assert_eq!(fetched.as_of.method, AsOfMethod::Clock);
    assert!(before.ms_until(fetched.as_of.at).abs() < 5_000);
    let (mut rows, mut sum) = (0, 0);
    while let Some(batch) = fetched.batches.next().await {
        let batch = batch.unwrap();
        assert!(batch.num_rows() <= BATCH_ROWS_MAX);
        let ids = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
        rows += ids.len();
        sum += ids.values().iter().sum::<i64>();
    }
    assert_eq!((rows, sum), (300_000, 300_000 * 300_001 / 2));
    let reading = ledger.read().remove(0);
    assert_eq!((reading.rows, reading.outcome, reading.sql.as_str()), (300_000, Outcome::Done, sql));
    // Per row: a header of 4 bytes, 1 + 1 bytes of row head, 8 of the number, and the text with its length.
    let texts: u64 = (1..=300_000u64).map(|n| 4 + 1 + n.to_string().len() as u64).sum();
    let exact = 300_000 * 14 + texts;
    assert!((exact..exact + 1_000).contains(&reading.bytes), "{} bytes counted, {exact} in the rows", reading.bytes);
}

#[tokio::test]
async fn wide_rows_close_a_batch_by_bytes() {
    let held = Held::new(shared().await.url("test"));
    let permit = held.permit().await;
    let sql = "SELECT REPEAT('x', 1000000) FROM seq_1_to_20";
    let mut fetched = held.source.fetch(permit, statement(sql, &[TEXT])).await.unwrap();
    let first = fetched.batches.next().await.unwrap().unwrap();
    assert_eq!(first.num_rows(), BATCH_BYTES_MAX / 1_000_000 + 1);
}

#[tokio::test]
async fn nobody_reading_holds_the_server_back() {
    let server = shared().await;
    let held = Held::new(server.url("test"));
    let ledger = Ledger::new();
    let permit = held.admission(&ledger, &CancellationToken::new()).await.permit().await.unwrap();
    let sql = "SELECT CAST(seq AS SIGNED), REPEAT('held back', 20) FROM seq_1_to_5000000";
    let mut fetched = held.source.fetch(permit, statement(sql, &[INT, TEXT])).await.unwrap();
    fetched.batches.next().await.unwrap().unwrap();
    let waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Writing to net' AND INFO LIKE '/* weir %held back%'";
    until(server, waiting, "1").await;
    let mut last = 0;
    loop {
        let bytes = ledger.read()[0].bytes;
        if bytes == last {
            break;
        }
        last = bytes;
        until(server, waiting, "1").await;
    }
    assert!(last < 40_000_000, "{} of about 1 GB were read ahead", ByteSize(last));
    drop(fetched);
    assert!(until(server, &running("held back"), "0").await < IDLE_WITHIN);
}

#[tokio::test]
async fn cancel_ends_the_statement_at_the_source() {
    let server = shared().await;
    let held = Held::new(server.url("test"));
    for sql in ["SELECT SLEEP(60) + 1 AS cancelled_asleep", "SELECT COUNT(*) AS cancelled_busy FROM seq_1_to_100000 a JOIN seq_1_to_100000 b"] {
        let cancel = CancellationToken::new();
        let ledger = Ledger::new();
        let permit = held.admission(&ledger, &cancel).await.permit().await.unwrap();
        let source = held.source.clone();
        let asked = statement(sql, &[INT]);
        let fetching = tokio::spawn(async move { source.fetch(permit, asked).await.map(|_| ()) });
        until(server, &running("AS cancelled_"), "1").await;
        cancel.cancel();
        let error = fetching.await.unwrap().unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled);
        assert!(until(server, &running("AS cancelled_"), "0").await < IDLE_WITHIN);
        assert_eq!(ledger.read()[0].outcome, Outcome::Cancelled);
    }
    assert_eq!(held.texts("SELECT 1", &[INT]).await, [["1"]]);
}

#[tokio::test]
async fn dropping_the_call_or_the_stream_ends_the_statement() {
    let server = shared().await;
    let held = Held::new(server.url("test"));
    let source = held.source.clone();
    let (permit, asked) = (held.permit().await, statement("SELECT SLEEP(60) + 2 AS dropped_call", &[INT]));
    let fetching = tokio::spawn(async move { source.fetch(permit, asked).await.map(|_| ()) });
    until(server, &running("dropped_call"), "1").await;
    fetching.abort();
    assert!(until(server, &running("dropped_call"), "0").await < IDLE_WITHIN);

    let sql = "SELECT CAST(seq AS SIGNED) AS dropped_stream, SLEEP(seq > 20000) FROM seq_1_to_40000";
    let mut fetched = held.source.fetch(held.permit().await, statement(sql, &[INT, INT])).await.unwrap();
    fetched.batches.next().await.unwrap().unwrap();
    until(server, &running("dropped_stream"), "1").await;
    drop(fetched);
    assert!(until(server, &running("dropped_stream"), "0").await < IDLE_WITHIN);
    // The permit comes back once the session is gone.
    let all = Limits { connections: 4, ..limits() }.connections;
    let again = held.guard.admit(&weir_guard::Asker::house(), all, &Ledger::new(), &CancellationToken::new(), |_| ()).await.unwrap();
    assert_eq!(held.guard.load().in_use, all);
    drop(again);
}

#[tokio::test]
async fn who_asks_stands_in_the_process_list() {
    let server = shared().await;
    let held = Held::new(server.url("test"));
    let source = held.source.clone();
    let cancel = CancellationToken::new();
    let permit = held.admission(&Ledger::new(), &cancel).await.permit().await.unwrap();
    let asked = statement("SELECT SLEEP(60) + 3 AS attributed", &[INT]);
    let mark = format!("/* weir user=ana query={} */ SELECT SLEEP(60) + 3 AS attributed", asked.query_id);
    let fetching = tokio::spawn(async move { source.fetch(permit, asked).await.map(|_| ()) });
    until(server, "SELECT INFO FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* weir %AS attributed'", &mark).await;
    cancel.cancel();
    fetching.await.unwrap().unwrap_err();
    let rows = held.texts("SELECT @weir_user, LENGTH(@weir_query)", &[TEXT, INT]).await;
    assert_eq!(rows, [["ana", "36"]]);
}

#[tokio::test]
async fn a_session_is_used_again() {
    let held = Held::new(shared().await.url("test"));
    let first = held.texts("SELECT CONNECTION_ID()", &[INT]).await;
    let second = held.texts("SELECT CONNECTION_ID()", &[INT]).await;
    assert_eq!(first, second);
    held.source.close().await;
    assert_ne!(held.texts("SELECT CONNECTION_ID()", &[INT]).await, first);
}
