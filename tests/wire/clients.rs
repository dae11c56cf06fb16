// SPDX-License-Identifier: Apache-2.0
//! Whole client libraries against a real Weir: psycopg, SQLAlchemy, JDBC. Each program asserts on its side and prints what it did.

use super::ground;

#[tokio::test(flavor = "multi_thread")]
async fn psycopg() {
    let (_world, doors, _file) = ground::open().await;
    let said = doors.client("psycopg_client.py", &[]).await;
    assert_eq!(said, "types\nparameters\nprepared\ncursors\ncopies\ntransactions\ncancels\nnotices\nlists\nintervals\nsessions\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlalchemy() {
    let (_world, doors, _file) = ground::open().await;
    let said = doors.client("sqlalchemy_client.py", &[]).await;
    assert_eq!(said, "inspects\nreflects\nwalks one source\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn jdbc() {
    let (_world, doors, _file) = ground::open().await;
    let said = doors.client("JdbcClient.java", &[]).await;
    assert_eq!(said, "metadata\nprepared\nlists\nintervals\nstreams\ncancels\n");
}
