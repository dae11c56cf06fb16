// SPDX-License-Identifier: Apache-2.0
//! Types of sums and averages as clients are told them: those of PostgreSQL.

use crate::kit::{Doors, SqliteFile, World};
use sqlx::{Column, Connection, Executor, PgConnection, Statement, TypeInfo};

const TYPES: [(&str, &str); 8] = [
    ("sum(big)", "NUMERIC"),
    ("sum(big) OVER ()", "NUMERIC"),
    ("sum(DISTINCT big)", "NUMERIC"),
    ("sum(big::int)", "INT8"),
    ("sum(1)", "INT8"),
    ("sum(CASE WHEN big > 0 THEN 1 ELSE 0 END)", "INT8"),
    ("sum(big::double precision)", "FLOAT8"),
    ("avg(big)", "NUMERIC"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_sum_of_bigint_is_numeric_at_every_door() {
    let file = SqliteFile::with("CREATE TABLE t (big INTEGER); INSERT INTO t VALUES (9223372036854775807), (9223372036854775807)").await;
    let world = World::builder().source("s", "sqlite", &file.url()).start().await;
    let doors = Doors::open(&world).await;
    let mut client = PgConnection::connect(&format!("postgres://local@{}/weir?sslmode=disable", doors.postgres)).await.expect("a connection");
    for (expression, name) in TYPES {
        let sql = format!("SELECT {expression} FROM s.main.t");
        let described = client.prepare(&sql).await.unwrap_or_else(|error| panic!("{expression}: {error}"));
        assert_eq!(described.columns()[0].type_info().name(), name, "{expression}");
    }
    assert_eq!(
        doors.psql("SELECT sum(big), avg(big) FROM s.main.t").await.lines().nth(2).map(str::trim),
        Some("18446744073709551614 | 9223372036854775807.0000000000000000")
    );
    let answer = reqwest::Client::new()
        .post(format!("http://{}/v1/query", doors.http))
        .json(&serde_json::json!({"sql": "SELECT sum(big) AS total, sum(1) AS rows FROM s.main.t"}))
        .send()
        .await
        .expect("an answer");
    let answer: serde_json::Value = answer.json().await.expect("JSON");
    assert_eq!(answer["rows"], serde_json::json!([["18446744073709551614", 2]]));
}
