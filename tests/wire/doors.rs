// SPDX-License-Identifier: Apache-2.0
//! The same questions through every door: psql as text, psycopg in binary, JDBC, HTTP as JSON and as Arrow. Same rows, same age, same errors.

use super::ground;
use crate::kit::Doors;
use arrow::ipc::reader::StreamReader;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Value, json};
use weir_base::{Clock, SystemClock, Timestamp};

/// Questions whose values every door writes alike: whole numbers, texts, decimals, truths, NULLs.
const QUESTIONS: [&str; 17] = [
    "SELECT 1 AS one, 'it''s' AS text, NULL AS nothing",
    "SELECT id, email FROM app_pg.public.customers ORDER BY id",
    "SELECT id, balance FROM app_pg.public.customers ORDER BY id",
    "SELECT id, note FROM app_pg.public.customers ORDER BY id DESC",
    "SELECT id, seen FROM app_pg.public.events WHERE id <= 4 ORDER BY id",
    "SELECT kind, count(*) FROM app_pg.public.events GROUP BY kind ORDER BY kind",
    "SELECT count(*) FROM app_pg.public.events WHERE day = DATE '2026-11-03'",
    "SELECT id, customer_id, amount FROM billing_mysql.billing.payments ORDER BY id",
    "SELECT max(id) FROM billing_mysql.billing.payments",
    "SELECT c.email, sum(p.amount) AS paid FROM app_pg.public.customers c JOIN billing_mysql.billing.payments p ON p.customer_id = c.id GROUP BY c.email ORDER BY 1",
    "SELECT n.body, c.email FROM desk.main.notes n JOIN app_pg.public.customers c ON c.id = n.customer_id ORDER BY n.id",
    "SELECT count(*), min(id), max(id) FROM lake.web.visits",
    "SELECT v.kind, count(*) FROM lake.web.visits v JOIN app_pg.public.customers c ON c.id = v.customer_id GROUP BY v.kind ORDER BY v.kind",
    "SELECT \"The Id\", \"select\" FROM app_pg.\"Odd Schema\".\"Mixed Case\"",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'app_pg.public' ORDER BY table_name",
    "SELECT id FROM app_pg.public.paying",
    "WITH few AS (SELECT id FROM app_pg.public.events WHERE id < 5) SELECT sum(id) FROM few",
];

/// Questions that fail, with their codes.
const MISTAKES: [(&str, &str); 7] = [
    ("SELECT * FROM app_pg.public.costumers", "42P01"),
    ("SELECT emial FROM app_pg.public.customers", "42703"),
    ("SELEC 1", "42601"),
    ("INSERT INTO app_pg.public.customers (id, email) VALUES (9, 'x')", "25006"),
    ("SELECT 1 / 0", "22012"),
    ("SELECT nosuch(1)", "42883"),
    ("DELETE FROM billing_mysql.billing.payments", "25006"),
];

async fn over_http(doors: &Doors, sql: &str, accept: &str) -> reqwest::Response {
    let request = reqwest::Client::new().post(doors.url("/v1/query")).header("accept", accept).json(&json!({ "sql": sql }));
    request.send().await.unwrap()
}

/// Rows as lines, columns parted by bars; the instant that the answer is true for.
async fn json_rows(doors: &Doors, sql: &str) -> (String, Timestamp) {
    let answer: Value = over_http(doors, sql, "application/json").await.json().await.unwrap();
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(truth) => if *truth { "t" } else { "f" }.to_owned(),
        other => other.to_string(),
    };
    let rows = answer["rows"].as_array().unwrap_or_else(|| panic!("{sql}: {answer}"));
    let lines: Vec<String> = rows.iter().map(|row| row.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join("|")).collect();
    (lines.join("\n"), serde_json::from_value(answer["receipt"]["as_of"].clone()).unwrap())
}

async fn arrow_rows(doors: &Doors, sql: &str) -> String {
    let bytes = over_http(doors, sql, "application/vnd.apache.arrow.stream").await.bytes().await.unwrap();
    let mut lines = Vec::new();
    for batch in StreamReader::try_new(bytes.as_ref(), None).unwrap_or_else(|error| panic!("{sql}: {error}")) {
        let batch = batch.unwrap();
        let options = FormatOptions::default();
        let columns: Vec<_> = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        let cell = |column: &ArrayFormatter<'_>, row: usize| match column.value(row).to_string().as_str() {
            "true" => "t".to_owned(),
            "false" => "f".to_owned(),
            text => text.to_owned(),
        };
        lines.extend((0..batch.num_rows()).map(|row| columns.iter().map(|column| cell(column, row)).collect::<Vec<_>>().join("|")));
    }
    lines.join("\n")
}

/// What a client program says to all questions: blocks of lines, parted by a line of its own.
fn blocks(said: &str) -> Vec<String> {
    said.split("----\n").map(|block| block.trim_end_matches('\n').to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_rows_through_every_door() {
    let (_world, doors, _file) = ground::open().await;
    let psycopg = blocks(&doors.client("psycopg_rows.py", &QUESTIONS).await);
    let jdbc = blocks(&doors.client("JdbcRows.java", &QUESTIONS).await);
    for (index, sql) in QUESTIONS.iter().enumerate() {
        let psql = doors.psql_in("weir", &["-At", "-c", sql], "").await.output.trim_end_matches('\n').to_owned();
        assert!(!psql.is_empty() && !psql.contains("ERROR"), "{sql}\n{psql}");
        let before = SystemClock.now();
        let (json, as_of) = json_rows(&doors, sql).await;
        let arrow = arrow_rows(&doors, sql).await;
        for (door, rows) in [("psycopg", &psycopg[index]), ("JDBC", &jdbc[index]), ("JSON", &json), ("Arrow", &arrow)] {
            assert_eq!(rows, &psql, "{sql} through {door}");
        }
        // Live tables are as old as the question; the lake is as old as its last snapshot.
        let age_ms = as_of.ms_until(before);
        assert!(age_ms <= 1_000 || sql.contains("lake."), "{sql} is as of {as_of}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_errors_through_every_door() {
    let (_world, doors, _file) = ground::open().await;
    let texts: Vec<&str> = MISTAKES.iter().map(|(sql, _)| *sql).collect();
    let psycopg = blocks(&doors.client("psycopg_rows.py", &texts).await);
    let jdbc = blocks(&doors.client("JdbcRows.java", &texts).await);
    for (index, (sql, code)) in MISTAKES.iter().enumerate() {
        let psql = doors.psql_in("weir", &["-v", "VERBOSITY=sqlstate", "-c", sql], "").await.output;
        assert_eq!(psql, format!("ERROR:  {code}\n"), "{sql}");
        for accept in ["application/json", "application/vnd.apache.arrow.stream"] {
            let answer: Value = over_http(&doors, sql, accept).await.json().await.unwrap();
            assert_eq!(answer["error"]["code"], *code, "{sql}: {answer}");
        }
        assert_eq!((psycopg[index].as_str(), jdbc[index].as_str()), (*code, *code), "{sql}");
    }
}
