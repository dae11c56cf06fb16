// SPDX-License-Identifier: Apache-2.0
//! The Postgres wire: psql, the extended protocol with tokio-postgres, and raw sockets where no client is rude enough.

use crate::canned::reached;
use crate::harness::Doors;
use futures::StreamExt;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_postgres::types::Type;
use tokio_postgres::{SimpleQueryMessage, error::SqlState};

#[tokio::test(flavor = "multi_thread")]
async fn a_psql_session() {
    let doors = Doors::open().await;
    let script = "select 1;
select n from numbers(3);
select database();
select who();
select * from missing;
select over budget;
select 1 \\; select * from missing \\; select n from numbers(1);
set timezone = 'Europe/Berlin';
show timezone;
\\echo :ENCODING :SERVER_VERSION_NAME
;
begin;
insert into lake.a.b select 1;
selec 1;
select 1;
rollback;
commit;
savepoint a;
begin read only;
insert into lake.a.b select 1;
rollback;
set weir.receipt = on;
select n from numbers(2);
discard all;
show weir.receipt;
";
    let expected = " ?column? \n----------\n        1\n(1 row)\n
 n \n---\n 0\n 1\n 2\n(3 rows)\n
 database \n----------\n lake\n(1 row)\n
  who  \n-------\n local\n(1 row)\n
ERROR:  unknown table\nDETAIL:  app_pg.public.costumers\nHINT:  did you mean app_pg.public.customers?
ERROR:  forecast is over the budget\nHINT:  add a filter
 ?column? \n----------\n        1\n(1 row)\n
ERROR:  unknown table\nDETAIL:  app_pg.public.costumers\nHINT:  did you mean app_pg.public.customers?
   timezone    \n---------------\n Europe/Berlin\n(1 row)\n
UTF8 15.0
ERROR:  syntax error\nDETAIL:  at line 1, column 1
ERROR:  current transaction is aborted, commands ignored until end of transaction block\nHINT:  send ROLLBACK
WARNING:  changes made in this transaction were kept\nDETAIL:  weir commits each statement at once, so a rollback does not undo it
WARNING:  there is no transaction in progress
ERROR:  SAVEPOINT can only be used in transaction blocks\nHINT:  send BEGIN first
ERROR:  cannot execute INSERT in a read-only transaction
";
    let output = doors.psql(script).await;
    let (before, after) = output.split_at_checked(expected.len()).unwrap_or((&output, ""));
    assert_eq!(before, expected);
    assert!(after.starts_with("NOTICE:  as of 2026-11-30T18:36:18.000Z · app_pg 3 rows (forecast 3), 48 B, 2 ms\nquery "), "{after}");
    assert!(after.contains("\nDETAIL:  {\"query_id\":\""), "{after}");
    assert!(after.ends_with(" n \n---\n 0\n 1\n(2 rows)\n\n weir.receipt \n--------------\n off\n(1 row)\n\n"), "{after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn psql_copies_fetches_and_describes() {
    let doors = Doors::open().await;
    let script = "copy (select n from numbers(3)) to stdout with (format csv, header);
copy (select text_is_not_there) to stdout;
begin;
declare c cursor for select n from numbers(5000);
fetch 2 from c;
move 4000 in c;
fetch c;
fetch backward 1 from c;
rollback;
fetch c;
begin;
declare c cursor for select n from numbers(3);
fetch all from c;
fetch all from c;
close c;
declare held cursor with hold for select n from numbers(3);
commit;
fetch 2 from held;
close all;
fetch held;
\\set FETCH_COUNT 2
select n from numbers(5);
select n from numbers where n < $1 \\bind 2 \\g
select n from numbers(1) \\gdesc
";
    // psql 15 has no \bind: that line fails in psql itself and the server never sees it.
    let output = doors.psql(&script.replace("select n from numbers where n < $1 \\bind 2 \\g\n", "")).await;
    let expected = "n\n0\n1\n2
ERROR:  not in the canned service\nDETAIL:  24 bytes
 n \n---\n 0\n 1\n(2 rows)\n
  n   \n------\n 4002\n(1 row)\n
ERROR:  cursor can only scan forward\nHINT:  use FETCH n, FETCH NEXT or FETCH ALL
ERROR:  cursor \"c\" does not exist
 n \n---\n 0\n 1\n 2\n(3 rows)\n
 n \n---\n(0 rows)\n
 n \n---\n 0\n 1\n(2 rows)\n
ERROR:  cursor \"held\" does not exist
 n \n---\n 0\n 1\n 2\n 3\n 4\n(5 rows)\n
 Column |  Type  \n--------+--------\n n      | bigint\n(1 row)\n
";
    // \gdesc asks the server to name the types: that needs pg_catalog, which is the engine's.
    let expected = expected.split(" Column |").next().unwrap();
    assert!(output.starts_with(expected), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_into_a_table_is_for_the_service_to_refuse() {
    let doors = Doors::open().await;
    // Nothing stands behind it: newer psql takes the lines after a COPY that failed for its data.
    let output = doors.psql("copy lake.a.b from stdin;\n").await;
    assert_eq!(output, "ERROR:  COPY FROM is not in this version\nHINT:  rows come with INSERT\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_door_knows_only_the_local_user() {
    let doors = Doors::open().await;
    let client = doors.connect_with("user=whoever dbname=shop").await;
    assert_eq!(client.query_one("select who()", &[]).await.unwrap().get::<_, &str>(0), "local");
    assert_eq!(client.query_one("select database()", &[]).await.unwrap().get::<_, &str>(0), "shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn prepared_statements_and_their_errors() {
    let doors = Doors::open().await;
    let mut client = doors.connect().await;
    let statement = client.prepare("select n from numbers where n < $1").await.unwrap();
    assert_eq!((statement.params(), statement.columns()[0].type_()), (&[Type::INT8][..], &Type::INT8));
    assert_eq!(client.query(&statement, &[&2500_i64]).await.unwrap().iter().map(|row| row.get::<_, i64>(0)).sum::<i64>(), 2500 * 2499 / 2);
    let error = client.prepare("select * from missing").await.unwrap_err();
    let told = error.as_db_error().unwrap();
    assert_eq!((told.code(), told.message(), told.hint()), (&SqlState::UNDEFINED_TABLE, "unknown table", Some("did you mean app_pg.public.customers?")));
    assert_eq!(client.query_one("select 1", &[]).await.unwrap().get::<_, i32>(0), 1);
    assert_eq!(client.execute("insert into lake.a.b select 1", &[]).await.unwrap(), 3);
    let transaction = client.transaction().await.unwrap();
    transaction.query("select broken", &[]).await.unwrap_err();
    assert_eq!(transaction.query("select 1", &[]).await.unwrap_err().code().unwrap().code(), "25P02");
    transaction.rollback().await.unwrap();
    assert_eq!(client.query_one("select 1", &[]).await.unwrap().get::<_, i32>(0), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn portals_keep_their_stream_between_fetches() {
    let doors = Doors::open().await;
    let mut client = doors.connect().await;
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind("select n from numbers(1000000)", &[]).await.unwrap();
    for start in [0, 700, 1400] {
        let rows = transaction.query_portal(&portal, 700).await.unwrap();
        assert_eq!((rows.len(), rows[0].get::<_, i64>(0), rows[699].get::<_, i64>(0)), (700, start, start + 699));
    }
    let made = *doors.canned.batches.borrow();
    assert!(made <= 4, "2,100 rows were asked for, {made} batches of 1,000 were made");
    assert_eq!(*doors.canned.dropped.borrow(), 0);
    transaction.commit().await.unwrap();
    reached(&doors.canned.dropped, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_holds_the_stream_back() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    socket.write_all(&query_message("select n from numbers(100000000)")).await.unwrap();
    reached(&doors.canned.batches, 1).await;
    // Nobody reads. Meanwhile another client has time for many round trips, and the stream must not have run on.
    let other = doors.connect().await;
    for _ in 0..500 {
        other.simple_query("select 1").await.unwrap();
    }
    let made = *doors.canned.batches.borrow();
    assert!(made < 3000, "{made} batches of 1,000 rows were made for a client that reads nothing");
    let dropped = *doors.canned.dropped.borrow();
    drop(socket);
    reached(&doors.canned.dropped, dropped + 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_ends_in_an_error() {
    let doors = Doors::open().await;
    let client = doors.connect().await;
    let rows: Vec<_> = client.query_raw("select broken", Vec::<i64>::new()).await.unwrap().collect().await;
    assert_eq!(rows.len(), 4);
    let error = rows[3].as_ref().unwrap_err().as_db_error().unwrap();
    assert_eq!((error.code().code(), error.message(), error.detail(), error.hint()), ("08006", "source broke", Some("app_pg"), Some("ask again")));
    let error = client.query("select text with zero", &[]).await.unwrap_err();
    let told = error.as_db_error().unwrap();
    assert_eq!(told.code().code(), "0A000", "announced as bigint, came as text: {told}");
    let error = client.simple_query("select text with zero").await.unwrap_err();
    let told = error.as_db_error().unwrap();
    assert_eq!((told.code().code(), told.detail()), ("22003", Some("column \"t\"")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_request_ends_the_running_query() {
    let doors = Doors::open().await;
    let client = doors.connect().await;
    for (round, sql) in ["select stuck", "select stuck early", "select three then stuck"].into_iter().enumerate() {
        let canceller = client.cancel_token();
        let (answer, ()) = tokio::join!(client.simple_query(sql), async {
            reached(&doors.canned.begun, round as u64 + 1).await;
            canceller.cancel_query(tokio_postgres::NoTls).await.unwrap();
        });
        let error = answer.unwrap_err();
        let told = error.as_db_error().unwrap();
        assert_eq!((told.code(), told.message()), (&SqlState::QUERY_CANCELED, "query cancelled"), "{sql}");
        reached(&doors.canned.dropped, round as u64 + 1).await;
    }
    client.cancel_token().cancel_query(tokio_postgres::NoTls).await.unwrap();
    assert_eq!(client.query_one("select 1", &[]).await.unwrap().get::<_, i32>(0), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_vanishes_ends_its_query() {
    let doors = Doors::open().await;
    for (round, sql) in ["select stuck", "select stuck early"].into_iter().enumerate() {
        let mut socket = raw_session(&doors).await;
        socket.write_all(&query_message(sql)).await.unwrap();
        reached(&doors.canned.begun, round as u64 + 1).await;
        drop(socket);
        reached(&doors.canned.dropped, round as u64 + 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_arrive_while_the_query_still_runs() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    socket.write_all(&query_message("select three then stuck")).await.unwrap();
    let mut tags = Vec::new();
    while tags.iter().filter(|tag| **tag == b'D').count() < 3 {
        tags.push(read_message(&mut socket).await.0);
    }
    assert_eq!(tags, *b"TDDD");
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_messages_after_an_error_are_skipped_to_sync() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    let messages = [
        message(b'P', b"\0select * from missing\0\0\0"),
        message(b'B', b"\0\0\0\0\0\0\0\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
        message(b'P', b"\0select 1\0\0\0"),
        message(b'B', b"\0\0\0\0\0\0\0\x01\0\x01"),
        message(b'D', b"P\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ];
    socket.write_all(&messages.concat()).await.unwrap();
    let mut tags = Vec::new();
    while tags.iter().filter(|tag| **tag == b'Z').count() < 2 {
        let (tag, body) = read_message(&mut socket).await;
        tags.push(tag);
        if tag == b'D' {
            assert_eq!(body, [0, 1, 0, 0, 0, 4, 0, 0, 0, 1]);
        }
    }
    assert_eq!(tags, *b"EZ12TDCZ");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_changes_are_told_to_the_client() {
    let doors = Doors::open().await;
    let mut socket = raw_session(&doors).await;
    socket.write_all(&query_message("set timezone = 'Asia/Tokyo'; set application_name = 'probe'")).await.unwrap();
    let mut told = Vec::new();
    loop {
        let (tag, body) = read_message(&mut socket).await;
        match tag {
            b'S' => told.push(String::from_utf8(body).unwrap()),
            b'Z' => break,
            _ => {}
        }
    }
    assert_eq!(told, ["application_name\0probe\0", "TimeZone\0Asia/Tokyo\0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn startup_settings_are_applied_or_refused() {
    let doors = Doors::open().await;
    let client = doors.connect_with("user=ana application_name=probe options='-c weir.read=copy'").await;
    assert_eq!(client.query_one("show weir.read", &[]).await.unwrap().get::<_, &str>(0), "copy");
    assert_eq!(client.query_one("show application_name", &[]).await.unwrap().get::<_, &str>(0), "probe");
    let options = format!("host=127.0.0.1 port={} user=ana options='-c weir.raed=copy'", doors.postgres.port());
    let Err(error) = tokio_postgres::connect(&options, tokio_postgres::NoTls).await else { panic!("an unknown setting was taken") };
    let told = error.as_db_error().unwrap();
    assert_eq!((told.severity(), told.code().code()), ("FATAL", "42704"));
    assert!(told.hint().unwrap().starts_with("did you mean weir.read"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_lets_queries_finish_and_then_ends_them() {
    let config = weir_server::ServerConfig { drain: Duration::from_millis(200), ..Default::default() };
    let mut doors = Doors::with(config).await;
    let (idle, busy) = (doors.connect().await, doors.connect().await);
    let waiting = tokio::spawn(async move { busy.simple_query("select stuck").await });
    reached(&doors.canned.begun, 1).await;
    doors.shutdown.cancel();
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(error.code().unwrap().code(), "57P01");
    (&mut doors.running).await.unwrap().unwrap();
    assert!(idle.simple_query("select 1").await.is_err());
    assert!(TcpStream::connect(doors.postgres).await.is_err());
    reached(&doors.canned.dropped, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_statements_in_one_text_stop_at_the_first_error() {
    let doors = Doors::open().await;
    let client = doors.connect().await;
    let messages = client.simple_query("select n from numbers(2); -- ; \n set weir.read = 'live'; show weir.read").await.unwrap();
    let values: Vec<String> =
        messages.iter().filter_map(|message| if let SimpleQueryMessage::Row(row) = message { row.get(0).map(str::to_owned) } else { None }).collect();
    assert_eq!(values, ["0", "1", "live"]);
    client.simple_query("select * from missing; set weir.read = 'copy'").await.unwrap_err();
    assert_eq!(client.query_one("show weir.read", &[]).await.unwrap().get::<_, &str>(0), "live");
}

/// A session on a bare socket, past its greeting.
pub async fn raw_session(doors: &Doors) -> TcpStream {
    let mut socket = TcpStream::connect(doors.postgres).await.unwrap();
    let body = b"\0\x03\0\0user\0ana\0\0";
    socket.write_all(&[&(body.len() as u32 + 4).to_be_bytes()[..], body].concat()).await.unwrap();
    while read_message(&mut socket).await.0 != b'Z' {}
    socket
}

pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

pub fn query_message(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

pub async fn read_message(socket: &mut TcpStream) -> (u8, Vec<u8>) {
    let read = async {
        let tag = socket.read_u8().await.unwrap();
        let length = socket.read_u32().await.unwrap() as usize;
        let mut body = vec![0; length - 4];
        socket.read_exact(&mut body).await.unwrap();
        (tag, body)
    };
    tokio::time::timeout(Duration::from_secs(10), read).await.expect("the server answers within 10 s")
}
