// SPDX-License-Identifier: Apache-2.0
//! The warehouse gives the same rows with push-down on, off and at random, for random filters. Its stand-in is too slow for whole queries.

use super::chance::Chance;
use super::predicates::{Tricky, predicate, text, values};
use crate::kit::{World, snowflake};
use std::sync::Arc;
use weir_api::Session;

/// Printed with every failure, so that it can be run again.
const SEED: u64 = 20_261_130;

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
        let mut chance = Chance::new(SEED);
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
