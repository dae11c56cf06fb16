// SPDX-License-Identifier: Apache-2.0
//! Push-down on, off and at random give the same rows, for random filters over tricky rows of each kind of source.

use super::predicates::{Chance, Tricky, predicate, text, values};
use crate::kit::{SqliteFile, World, mariadb, postgres, snowflake};
use std::sync::Arc;
use weir_api::Session;

/// Printed with every failure, so that it can be run again.
const SEED: u64 = 20_261_130;
const FILTERS: usize = 110;

/// A world asked in three ways.
struct Trial {
    world: World,
    off: Arc<Session>,
    on: Arc<Session>,
    random: Arc<Session>,
}

impl Trial {
    async fn of(world: World) -> Self {
        let off = set(&world, "off").await;
        let on = set(&world, "on").await;
        let random = set(&world, "random:7").await;
        Self { world, off, on, random }
    }

    /// Runs `count` filters over a table, and returns how many conditions were really sent.
    async fn run(&self, table: &str, id: &str, columns: &[Tricky], count: usize) -> usize {
        let mut chance = Chance(SEED);
        let mut sent = 0;
        for round in 0..count {
            let condition = predicate(&mut chance, columns, 2);
            self.world.ask_as(&self.random, &format!("SET weir.pushdown = 'random:{round}'")).await.expect("a setting");
            let sql = format!("SELECT {id} FROM {table} WHERE {condition} ORDER BY {id}");
            let truth = self.rows(&self.off, &sql).await;
            for session in [&self.on, &self.random] {
                let told = self.rows(session, &sql).await;
                assert_eq!(told, truth, "seed {SEED}, round {round}, {}: {sql}", self.mode(session));
            }
            sent += usize::from(self.world.explain(&sql).await.contains(" WHERE "));
        }
        sent
    }

    async fn rows(&self, session: &Arc<Session>, sql: &str) -> Vec<Vec<String>> {
        self.world.ask_as(session, sql).await.unwrap_or_else(|error| panic!("{}: {sql}\n{error:?}", self.mode(session))).0
    }

    fn mode(&self, session: &Session) -> String {
        session.settings().get("weir.pushdown").expect("a setting")
    }
}

async fn set(world: &World, mode: &str) -> Arc<Session> {
    let session = world.session("local", None);
    world.ask_as(&session, &format!("SET weir.pushdown = '{mode}'")).await.expect("a setting");
    session
}

const TEXTS: &[&str] = &["'a'", "'A'", "'a '", "''", "'é'", "'e'", "'Z'", "'z'", "'ß'", "'it''s'", "'\\'", "'%'", "'aa'", "'😀'"];

#[tokio::test(flavor = "multi_thread")]
async fn postgres_agrees_with_itself() {
    let server = postgres().await;
    server
        .run(
            "invariance",
            r"CREATE TYPE mood AS ENUM ('sad', 'ok', 'Happy');
            CREATE TABLE tricky (id int PRIMARY KEY, i int, big bigint, n numeric(10,2), u numeric, f double precision, r real, t text, v varchar(20), c char(4), de text COLLATE pg_catalog.default,
                d date, ts timestamp, tz timestamptz, ti time, b boolean, raw bytea, uu uuid, m mood);
            INSERT INTO tricky (id) VALUES (0);
            INSERT INTO tricky SELECT x, x % 7 - 3, CASE x % 5 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 ELSE x END, (x % 11) * 1.01 - 3, (x % 13) * 0.001,
                (ARRAY[0.0, '-0'::float8, 1.5, 'NaN', 'Infinity', '-Infinity', 0.1])[1 + x % 7], (ARRAY[0.0, '-0'::float4, 1.5, 'NaN', 0.1])[1 + x % 5],
                (ARRAY['a', 'A', 'a ', '', 'é', 'e', 'Z', 'z', 'ß', 'it''s', '\', '%', '😀', NULL])[1 + x % 14], (ARRAY['a', 'A', 'a ', '', 'é', NULL, 'z'])[1 + x % 7],
                (ARRAY['a', 'A', 'a ', '', 'é', NULL])[1 + x % 6], (ARRAY['a', 'B', 'b', NULL])[1 + x % 4],
                (ARRAY['2026-11-30', '0001-01-01', '9999-12-31', NULL, '1969-12-31'])[1 + x % 5]::date, (ARRAY['2026-11-30 12:00:00.000001', '1969-12-31 23:59:59.999999', NULL])[1 + x % 3]::timestamp,
                (ARRAY['2026-11-30 12:00:00+02', '2026-11-30 10:00:00+00', NULL])[1 + x % 3]::timestamptz, (ARRAY['00:00', '23:59:59.999999', NULL])[1 + x % 3]::time,
                (ARRAY[true, false, NULL])[1 + x % 3], (ARRAY['\x00ff', '\x', NULL])[1 + x % 3]::bytea,
                (ARRAY['00000000-0000-0000-0000-00000000000a', 'ffffffff-0000-0000-0000-000000000000', NULL])[1 + x % 3]::uuid, (ARRAY['sad', 'ok', 'Happy', NULL])[1 + x % 4]::mood
            FROM generate_series(1, 180) x;",
        )
        .await
        .unwrap();
    let columns = [
        values("i", &["0", "-3", "3", "2147483647", "1.5", "100"]),
        values("big", &["9223372036854775807", "-9223372036854775808", "7", "0"]),
        values("n", &["0.05", "-3.00", "7.1", "7.10", "2", "1e3"]),
        values("u", &["0.001", "0.0010", "0", "0.012"]),
        values("f", &["0.0", "1.5", "0.1", "1e300"]),
        values("r", &["0.1", "1.5", "0"]),
        text("t", TEXTS),
        text("v", TEXTS),
        text("c", &["'a'", "'a   '", "'A'", "''"]),
        text("de", &["'a'", "'B'", "'b'"]),
        values("d", &["DATE '2026-11-30'", "DATE '0001-01-01'", "DATE '1970-01-01'", "'2026-11-30'"]),
        values("ts", &["TIMESTAMP '2026-11-30 12:00:00.000001'", "TIMESTAMP '1970-01-01 00:00:00'", "'2026-11-30'"]),
        values("tz", &["TIMESTAMP '2026-11-30 10:00:00Z'", "'2026-11-30 12:00:00+02:00'"]),
        values("ti", &["TIME '00:00:00'", "TIME '23:59:59.999999'"]),
        values("b", &["true", "false"]),
        values("raw", &["x'00ff'", "x''"]),
        text("uu", &["'00000000-0000-0000-0000-00000000000a'", "'FFFFFFFF-0000-0000-0000-000000000000'", "'{00000000000000000000000000000000}'"]),
        text("m", &["'ok'", "'Happy'", "'sad'"]),
    ];
    let world = World::builder().source("app", "postgres", &server.url("invariance")).start().await;
    let sent = Trial::of(world).await.run("app.public.tricky", "id", &columns, FILTERS).await;
    assert!(sent > FILTERS / 4, "only {sent} of {FILTERS} filters were sent at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_agrees_with_itself() {
    let server = mariadb().await;
    server
        .run(
            "invariance",
            r"SET sql_mode = 'NO_BACKSLASH_ESCAPES';
            CREATE TABLE tricky (id int PRIMARY KEY, i int, tiny tinyint(1), big bigint, ub bigint unsigned, n decimal(10,2), f double, r float, t varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
                bin varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c char(4) CHARACTER SET utf8mb4, d date, dt datetime(6), ts timestamp NULL, ti time, y year, e enum('b', 'a', 'C'), raw varbinary(10), bt bit(4));
            INSERT INTO tricky (id, ts) VALUES (0, NULL);
            INSERT INTO tricky SELECT seq, seq % 7 - 3, seq % 3, IF(seq % 5 = 0, 9223372036854775807, -seq), IF(seq % 4 = 0, 18446744073709551615, seq), (seq % 11) * 1.01 - 3, ELT(1 + seq % 5, 0, -0.0, 1.5, 0.1, 1e300),
                ELT(1 + seq % 4, 0, 1.5, 0.1, -2), ELT(1 + seq % 13, 'a', 'A', 'a ', '', 'é', 'e', 'Z', 'z', 'ß', 'it''s', '\', '%', '😀'), ELT(1 + seq % 6, 'a', 'A', 'a ', '', 'é', '😀'), ELT(1 + seq % 5, 'a', 'A', 'a ', '', 'é'),
                ELT(1 + seq % 4, '2026-11-30', '0000-00-00', '9999-12-31', '1000-01-01'), ELT(1 + seq % 4, '2026-11-30 12:00:00.000001', '0000-00-00', '1969-12-31 23:59:59.999999', NULL),
                ELT(1 + seq % 2, '2026-11-30 12:00:00', NULL), ELT(1 + seq % 3, '00:00:00', '23:59:59', NULL), ELT(1 + seq % 3, 2026, 1901, NULL), ELT(1 + seq % 4, 'b', 'a', 'C', NULL), ELT(1 + seq % 3, x'00ff', '', NULL), seq % 16
            FROM (SELECT CAST(seq AS signed) AS seq FROM seq_1_to_180) s;",
        )
        .await
        .unwrap();
    let columns = [
        values("i", &["0", "-3", "3", "1.5"]),
        values("tiny", &["0", "1", "2"]),
        values("big", &["9223372036854775807", "-7", "0"]),
        values("ub", &["18446744073709551615", "9223372036854775807", "7"]),
        values("n", &["0.05", "-3.00", "7.1", "2"]),
        values("f", &["0.0", "1.5", "0.1", "1e300"]),
        values("r", &["0.1", "1.5", "0"]),
        text("t", TEXTS),
        text("bin", TEXTS),
        text("c", &["'a'", "'a   '", "'A'", "''", "'é'"]),
        values("d", &["DATE '2026-11-30'", "DATE '0001-01-01'", "DATE '1000-01-01'", "'2026-11-30'"]),
        values("dt", &["TIMESTAMP '2026-11-30 12:00:00.000001'", "TIMESTAMP '1970-01-01 00:00:00'"]),
        values("ts", &["TIMESTAMP '2026-11-30 12:00:00Z'", "'2026-11-30 14:00:00+02:00'"]),
        values("ti", &["TIME '00:00:00'", "TIME '23:59:59'"]),
        values("y", &["2026", "1901", "0"]),
        text("e", &["'a'", "'b'", "'C'", "'c'", "'nothing'"]),
        values("raw", &["x'00ff'", "x''"]),
    ];
    let world = World::builder().source("billing", "mysql", &server.url("invariance")).start().await;
    let sent = Trial::of(world).await.run("billing.invariance.tricky", "id", &columns, FILTERS).await;
    assert!(sent > FILTERS / 4, "only {sent} of {FILTERS} filters were sent at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_agrees_with_itself() {
    let file = SqliteFile::with(
        r"CREATE TABLE tricky (id INTEGER PRIMARY KEY, i INTEGER, big BIGINT, n DECIMAL(10,2), f REAL, t TEXT, ci TEXT COLLATE NOCASE, tr TEXT COLLATE RTRIM, d DATE, ts TIMESTAMP, b BOOLEAN, raw BLOB);
        INSERT INTO tricky (id) VALUES (0);
        WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 180)
        INSERT INTO tricky SELECT x, x % 7 - 3, CASE x % 5 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775807 ELSE x END, CASE x % 4 WHEN 0 THEN 0.05 WHEN 1 THEN -3 WHEN 2 THEN 7.1 END,
            CASE x % 5 WHEN 0 THEN 0.0 WHEN 1 THEN -0.0 WHEN 2 THEN 1.5 WHEN 3 THEN 0.1 END,
            CASE x % 12 WHEN 0 THEN 'a' WHEN 1 THEN 'A' WHEN 2 THEN 'a ' WHEN 3 THEN '' WHEN 4 THEN 'é' WHEN 5 THEN 'e' WHEN 6 THEN 'Z' WHEN 7 THEN 'z' WHEN 8 THEN 'it''s' WHEN 9 THEN '\' WHEN 10 THEN '😀' END,
            CASE x % 6 WHEN 0 THEN 'a' WHEN 1 THEN 'A' WHEN 2 THEN 'a ' WHEN 3 THEN '' WHEN 4 THEN 'é' END, CASE x % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'a ' WHEN 2 THEN 'A' END,
            CASE x % 4 WHEN 0 THEN '2026-11-30' WHEN 1 THEN '0001-01-01' WHEN 2 THEN '1969-12-31' END, CASE x % 3 WHEN 0 THEN '2026-11-30 12:00:00.000001' WHEN 1 THEN '1969-12-31 23:59:59' END,
            CASE x % 3 WHEN 0 THEN 1 WHEN 1 THEN 0 END, CASE x % 3 WHEN 0 THEN x'00ff' WHEN 1 THEN x'' END
        FROM s;",
    )
    .await;
    let columns = [
        values("i", &["0", "-3", "3", "1.5"]),
        values("big", &["9223372036854775807", "-9223372036854775807", "7"]),
        values("n", &["0.05", "-3.00", "7.1", "2"]),
        values("f", &["0.0", "1.5", "0.1"]),
        text("t", TEXTS),
        text("ci", TEXTS),
        text("tr", &["'a'", "'a '", "'A'"]),
        values("d", &["DATE '2026-11-30'", "DATE '0001-01-01'", "'2026-11-30'"]),
        values("ts", &["TIMESTAMP '2026-11-30 12:00:00.000001'", "TIMESTAMP '1970-01-01 00:00:00'"]),
        values("b", &["true", "false"]),
        values("raw", &["x'00ff'", "x''"]),
    ];
    let world = World::builder().source("crm", "sqlite", &file.url()).start().await;
    let sent = Trial::of(world).await.run("crm.main.tricky", "id", &columns, FILTERS).await;
    assert!(sent > FILTERS / 4, "only {sent} of {FILTERS} filters were sent at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_warehouse_agrees_with_itself() {
    let server = snowflake().await;
    server
        .run(
            r"create database if not exists invariance; use database invariance; create schema if not exists public; use schema public;
            create table tricky (id number(10,0), i number(10,0), n number(12,2), big number(38,0), f float, t varchar, d date, ts timestamp_ntz, b boolean);
            insert into tricky values (0, null, null, null, null, null, null, null, null), (1, -3, 0.05, 999999999999999999, 0.0, 'a', '2026-11-30', '2026-11-30 12:00:00.000001', true),
                (2, 0, -3, 7, 1.5, 'A', '0001-01-01', '1969-12-31 23:59:59', false), (3, 3, 7.1, -7, 0.1, 'a ', '1969-12-31', null, null), (4, 100, 2, 0, 1e300, '', null, '9999-12-31 00:00:00', true),
                (5, 7, 0.05, 1, -1.5, 'é', '2026-12-01', '2026-11-30 12:00:00', false), (6, 8, 1, 2, 2.5, 'it''s', '2026-11-29', '2026-11-30', true);",
        )
        .await
        .unwrap();
    let columns = [
        values("I", &["0", "-3", "3", "1.5"]),
        values("N", &["0.05", "-3.00", "7.1", "2"]),
        values("BIG", &["999999999999999999", "7", "0"]),
        values("F", &["0.0", "1.5", "0.1"]),
        text("T", &["'a'", "'A'", "'a '", "''", "'é'", "'it''s'"]),
        values("D", &["DATE '2026-11-30'", "DATE '0001-01-01'"]),
        values("TS", &["TIMESTAMP '2026-11-30 12:00:00.000001'", "TIMESTAMP '1970-01-01 00:00:00'"]),
        values("B", &["true", "false"]),
    ];
    let world = World::builder().warehouse("marts", server, "INVARIANCE").start().await;
    let sent = Trial::of(world).await.run("marts.public.tricky", "ID", &columns, 40).await;
    assert!(sent > 5, "only {sent} of 40 filters were sent at all");
}
