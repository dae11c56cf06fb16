// SPDX-License-Identifier: Apache-2.0
//! Every type on the wire, in text and in binary, held against what a real PostgreSQL says.

use crate::harness::{Doors, run};
use tokio::process::Command;

const TEXT_ROW: [&str; 21] = [
    "t",
    "-8",
    "-32768",
    "2147483647",
    "-9223372036854775808",
    "4294967295",
    "18446744073709551615",
    "0.1",
    "-Infinity",
    "-123456789012.3450",
    "naïve \\ \t, \"q\"",
    "\\x0001ff",
    "2026-11-30",
    "18:36:18.5",
    "2026-11-30 18:36:18.123456",
    "2026-12-01 00:06:18.123456+05:30",
    "1 year 2 mons 3 days 00:00:04",
    "{1,NULL,3}",
    "{\"a\":1,\"b\":\"x\\\"y\"}",
    "red",
    "",
];

/// The same values as a PostgreSQL literal, to see that its bytes are ours.
const AS_POSTGRES: &str = "select true, (-8)::int2, (-32768)::int2, 2147483647, (-9223372036854775808)::int8, 4294967295::int8, 18446744073709551615::numeric(20,0), 0.1::float4, \
    '-Infinity'::float8, (-123456789012.3450)::numeric(20,4), E'naïve \\\\ \\t, \"q\"'::text, '\\x0001ff'::bytea, date '2026-11-30', time '18:36:18.5', \
    timestamp '2026-11-30 18:36:18.123456', timestamptz '2026-11-30 18:36:18.123456+00', interval '1 year 2 mons 3 days 00:00:04', '{1,NULL,3}'::int4[], \
    '{\"a\":1,\"b\":\"x\\\"y\"}'::json, 'red'::text, null::text";

#[tokio::test(flavor = "multi_thread")]
async fn text_values_are_those_of_postgres() {
    let doors = Doors::open().await;
    let client = doors.connect().await;
    client.simple_query("set timezone = 'Asia/Kolkata'").await.unwrap();
    let messages = client.simple_query("select * from every_type").await.unwrap();
    let rows: Vec<_> =
        messages.iter().filter_map(|message| if let tokio_postgres::SimpleQueryMessage::Row(row) = message { Some(row) } else { None }).collect();
    for (index, expected) in TEXT_ROW.iter().enumerate() {
        let expected = (index < 20).then_some(*expected);
        assert_eq!(rows[0].get(index), expected, "column {index}");
        assert_eq!(rows[1].get(index), None, "column {index}");
    }
    assert_eq!(rows.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_described_as_in_postgres() {
    let doors = Doors::open().await;
    let client = doors.connect().await;
    let statement = client.prepare("select * from every_type").await.unwrap();
    let names: Vec<&str> = statement.columns().iter().map(|column| column.type_().name()).collect();
    let expected = [
        "bool",
        "int2",
        "int2",
        "int4",
        "int8",
        "int8",
        "numeric",
        "float4",
        "float8",
        "numeric",
        "text",
        "bytea",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "interval",
        "_int4",
        "json",
        "text",
        "text",
    ];
    assert_eq!(names, expected);
}

/// Both servers write the same row in COPY's three formats; the bytes have to be equal.
#[tokio::test(flavor = "multi_thread")]
async fn copies_are_byte_for_byte_those_of_a_real_postgres() {
    let doors = Doors::open().await;
    let postgres = weir_sandbox::Postgres::start().await.unwrap();
    for options in ["format binary", "format text", "format csv, header", "format csv, delimiter ';', null 'NIL', force_quote *"] {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
        let names = "bool, tiny, small, int, big, uint, ubig, real, double, money, text, bytes, day, clock, stamp, instant, span, list, object, color, nothing";
        let nulls = AS_POSTGRES.trim_start_matches("select ").split("::json").next().map(|_| vec!["null"; 21].join(", ")).unwrap();
        let reference = format!("with every_type({names}) as ({AS_POSTGRES} union all select {nulls}) select * from every_type").replace('\n', " ");
        copy_to(&doors.psql_url(), "select * from every_type", options, &ours).await;
        copy_to(&postgres.url("postgres"), &reference, options, &theirs).await;
        assert_eq!(std::fs::read(&ours).unwrap(), std::fs::read(&theirs).unwrap(), "{options}");
    }
}

async fn copy_to(url: &str, query: &str, options: &str, file: &std::path::Path) {
    let mut command = Command::new("psql");
    command.args(["-X", "-q", "-d", url, "-v", "ON_ERROR_STOP=1"]).env("PGTZ", "UTC").env("PGCLIENTENCODING", "UTF8");
    let finished = run(command, &format!("\\copy ({query}) to '{}' with ({options})\n", file.display())).await;
    assert!(finished.success, "{}", finished.output);
}
