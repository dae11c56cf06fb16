// SPDX-License-Identifier: Apache-2.0
//! Whole client libraries: psycopg, SQLAlchemy, JDBC. Each program asserts on its side and prints what it did.

use crate::canned::reached;
use crate::harness::{Doors, client_file, python, run};
use tokio::process::Command;
use weir_api::Parameter;

#[tokio::test(flavor = "multi_thread")]
async fn psycopg_works() {
    let doors = Doors::open().await;
    let mut command = Command::new(python());
    command.arg(client_file("psycopg_client.py")).arg(doors.postgres.port().to_string());
    let finished = run(command, "").await;
    assert!(finished.success, "{}", finished.output);
    assert_eq!(finished.output, "types\nparameters\nnamed cursor\ncopy\ncancel\ntransactions\npipeline\n");
    reached(&doors.canned.dropped, *doors.canned.begun.borrow()).await;
    let seen = doors.canned.seen.lock().unwrap();
    let parameters: Vec<&Parameter> = seen.iter().filter(|(sql, _)| sql.to_lowercase() == "select echo($1)").map(|(_, parameters)| &parameters[0]).collect();
    let text = |text: &str| Parameter::Text(text.to_owned());
    let expected = [
        Parameter::Int(5),
        Parameter::Decimal("12.50".into()),
        Parameter::Bool(true),
        Parameter::Bytes(vec![0, 255]),
        Parameter::Date(20_787),
        Parameter::TimestampUtc(1_796_063_778_123_456),
        text("it's; \"x\" -- $1"),
        Parameter::Null,
    ];
    assert_eq!(parameters, expected.iter().chain(&expected).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlalchemy_works() {
    let doors = Doors::open().await;
    let mut command = Command::new(python());
    command.arg(client_file("sqlalchemy_client.py")).arg(doors.postgres.port().to_string());
    let finished = run(command, "").await;
    assert!(finished.success, "{}", finished.output);
    assert_eq!(finished.output, "(15, 0)\n[(0,), (1,), (2,)]\n1000000 rows wanted, 30 read\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn jdbc_works() {
    let doors = Doors::open().await;
    let jar = "/usr/share/java/postgresql.jar";
    assert!(std::path::Path::new(jar).exists(), "the JDBC driver is missing: run `make setup`");
    let mut command = Command::new("java");
    command.args(["-Duser.timezone=UTC", "-cp", jar]).arg(client_file("JdbcClient.java")).arg(doors.postgres.port().to_string());
    let finished = run(command, "").await;
    assert!(finished.success, "{}", finished.output);
    assert_eq!(finished.output, "PostgreSQL 15.0\ntypes\nprepared\nfetch size\ncancel\nerrors\n");
    let batches = *doors.canned.batches.borrow();
    assert!(batches < 100, "a fetch size was set, yet {batches} batches of 1,000,000 rows were made");
}
