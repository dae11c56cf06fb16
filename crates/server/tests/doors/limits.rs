// SPDX-License-Identifier: Apache-2.0
//! Limits and broken input on the Postgres wire.

use crate::harness::Doors;
use crate::postgres::{message, query_message, raw_session, read_message};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn field(body: &[u8], wanted: u8) -> String {
    let fields = body.split(|byte| *byte == 0);
    fields.filter(|field| field.first() == Some(&wanted)).map(|field| String::from_utf8(field[1..].to_vec()).unwrap()).next().unwrap_or_default()
}

const ALONE: &str = "WEIR_TEST_ALONE";

#[tokio::test(flavor = "multi_thread")]
async fn a_long_text_is_refused_and_the_session_goes_on() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    for size in [2 * 1024 * 1024, 100 * 1024 * 1024] {
        let body = vec![b'x'; size];
        let mut header = vec![b'Q'];
        header.extend_from_slice(&(size as u32 + 5).to_be_bytes());
        socket.write_all(&header).await.unwrap();
        socket.write_all(&body).await.unwrap();
        socket.write_all(&[0]).await.unwrap();
        let (tag, body) = read_message(&mut socket).await;
        assert_eq!((tag, field(&body, b'C').as_str(), field(&body, b'M').as_str()), (b'E', "54000", "statement is too long"));
        assert_eq!(read_message(&mut socket).await, (b'Z', b"I".to_vec()));
    }
    socket.write_all(&query_message("select 1")).await.unwrap();
    assert_eq!(read_message(&mut socket).await.0, b'T');
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_per_session_are_limited() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    let mut messages = Vec::new();
    for index in 0..=1000 {
        messages.extend(message(b'P', format!("s{index}\0select 1\0\0\0").as_bytes()));
    }
    messages.extend(message(b'S', b""));
    socket.write_all(&messages).await.unwrap();
    for _ in 0..1000 {
        assert_eq!(read_message(&mut socket).await.0, b'1');
    }
    let (tag, body) = read_message(&mut socket).await;
    assert_eq!((tag, field(&body, b'C').as_str(), field(&body, b'M').as_str()), (b'E', "54000", "too many prepared statements"));
    assert_eq!(read_message(&mut socket).await, (b'Z', b"I".to_vec()));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_columns_come_whole_and_more_are_refused() {
    let doors = Doors::open().await;
    let client = doors.connect().await;
    let row = client.query_one("select wide 10000", &[]).await.unwrap();
    assert_eq!((row.len(), row.get::<_, i32>(9999)), (10_000, 7));
    let error = client.simple_query("select wide 20000").await.unwrap_err();
    let told = error.as_db_error().unwrap();
    assert_eq!((told.code().code(), told.message()), ("54000", "too many columns"));
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_messages_end_in_errors() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    socket.write_all(&message(b'Q', b"select '\xff'\0")).await.unwrap();
    let (tag, body) = read_message(&mut socket).await;
    assert_eq!((tag, field(&body, b'C').as_str()), (b'E', "22021"));
    assert_eq!(read_message(&mut socket).await.0, b'Z');
    socket.write_all(&[b'Q', 0xff, 0xff, 0xff, 0xff]).await.unwrap();
    let (tag, body) = read_message(&mut socket).await;
    assert_eq!((tag, field(&body, b'S').as_str(), field(&body, b'C').as_str()), (b'E', "FATAL", "08P01"));
    assert_eq!(socket.read(&mut [0; 16]).await.unwrap(), 0);
    let mut socket = TcpStream::connect(doors.postgres).await.unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let (tag, body) = read_message(&mut socket).await;
    assert_eq!((tag, field(&body, b'C').as_str()), (b'E', "08P01"));
}

/// The whole test process with 200 sessions stays within what 200 idle connections may cost.
#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_are_cheap() {
    // In a process of its own: what other tests take meanwhile would count.
    if std::env::var_os(ALONE).is_none() {
        let mut alone = tokio::process::Command::new(std::env::current_exe().unwrap());
        alone.args(["limits::idle_connections_are_cheap", "--exact"]).env(ALONE, "1");
        let ended = alone.output().await.unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    let doors = Doors::open().await;
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<i64>().unwrap() * 1024
    };
    let before = resident();
    let mut sockets = Vec::new();
    for _ in 0..200 {
        sockets.push(raw_session(&doors).await);
    }
    let cost = resident() - before;
    assert!(cost < 100 * 1024 * 1024, "200 idle connections cost {cost} bytes");
}
