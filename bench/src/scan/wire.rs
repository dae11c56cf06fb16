// SPDX-License-Identifier: Apache-2.0
//! The Postgres door: what Weir adds to a trivial query, and what an idle connection weighs.

use crate::Size;
use crate::contest::{Contender, Lap, contest};
use crate::figure::{Figure, Measured, Target};
use crate::server::{WeirServer, connect, failed};
use async_trait::async_trait;
use std::path::Path;
use std::time::Instant;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};
use weir_base::Result;
use weir_sandbox::Postgres;

const DATABASE: &str = "app";
const PASSWORD: &str = "WEIR_BENCH_PASSWORD";
const ONE_ROW: &str = "CREATE TABLE one (id integer PRIMARY KEY, name text, plan text, created_at timestamptz);
    INSERT INTO one SELECT i, 'name ' || i, 'pro', timestamptz '2026-01-01 00:00:00Z' + i * interval '1 minute' FROM generate_series(1, 100) i;
    ANALYZE one;";
/// Single queries are short and noisy: many of them.
const QUERIES_PER_ROUND: usize = 100;
const IDLE_CONNECTIONS: usize = 200;
const MILLISECONDS: f64 = 1000.0;

pub async fn measure(size: &Size, workshop: &Path) -> Result<Vec<Figure>> {
    let source = one_row().await?;
    let server = server(&source, &workshop.join("wire")).await?;
    let mut figures = trivial_queries(size, &server, &source).await?;
    drop(server);
    figures.push(idle_connections(&self::server(&source, &workshop.join("idle")).await?).await?);
    Ok(figures)
}

/// What Weir adds to a trivial query.
pub async fn trivial(size: &Size, workshop: &Path) -> Result<Vec<Figure>> {
    let source = one_row().await?;
    trivial_queries(size, &server(&source, &workshop.join("wire")).await?, &source).await
}

async fn one_row() -> Result<Postgres> {
    let source = Postgres::start().await?;
    source.run(DATABASE, ONE_ROW).await?;
    Ok(source)
}

async fn server(source: &Postgres, folder: &Path) -> Result<WeirServer> {
    let url = format!("postgres://{}:${{{PASSWORD}}}@127.0.0.1:{}/{DATABASE}", source.user(), source.port());
    let configuration = format!("sources:\n  app_pg: {{ type: postgres, url: \"{url}\", allow_primary: true }}\n");
    WeirServer::start(folder, &configuration, &[(PASSWORD, source.password().to_owned())]).await
}

async fn trivial_queries(size: &Size, server: &WeirServer, source: &Postgres) -> Result<Vec<Figure>> {
    let direct = format!("host=127.0.0.1 port={} user={} password={} dbname={DATABASE}", source.port(), source.user(), source.password());
    let rounds = size.rounds * QUERIES_PER_ROUND;
    let mut figures = Vec::new();
    let mut weir = Trivial::simple("Weir", server.connect().await?, "app_pg.public.one");
    let mut peer = Trivial::simple("direct", connect(&direct).await?, "public.one");
    let laps = contest(rounds, &mut [&mut weir, &mut peer]).await?;
    figures.push(beside_direct("trivial query, simple protocol", &laps));
    let mut weir = Trivial::prepared("Weir", server.connect().await?, "app_pg.public.one").await?;
    let mut peer = Trivial::prepared("direct", connect(&direct).await?, "public.one").await?;
    let laps = contest(rounds, &mut [&mut weir, &mut peer]).await?;
    figures.push(beside_direct("trivial query, prepared", &laps));
    Ok(figures)
}

fn beside_direct(what: &str, laps: &[crate::contest::Laps]) -> Figure {
    let time = |at: usize| Measured::time(MILLISECONDS, &laps[at]);
    Figure::beside(what, time(0), "ms", ("straight to PostgreSQL", time(1)), Some(Target::AboveAtMost(2.0)))
}

/// Reads one row by its key.
struct Trivial {
    name: &'static str,
    client: Client,
    sql: String,
    prepared: Option<Statement>,
}

impl Trivial {
    fn simple(name: &'static str, client: Client, table: &str) -> Self {
        Self { name, client, sql: format!("SELECT * FROM {table} WHERE id = 1"), prepared: None }
    }

    async fn prepared(name: &'static str, client: Client, table: &str) -> Result<Self> {
        let sql = format!("SELECT * FROM {table} WHERE id = $1");
        let prepared = client.prepare(&sql).await.map_err(|error| failed(&error))?;
        Ok(Self { name, client, sql, prepared: Some(prepared) })
    }

    async fn ask(&self) -> std::result::Result<Vec<String>, tokio_postgres::Error> {
        if let Some(prepared) = &self.prepared {
            let rows = self.client.query(prepared, &[&1_i32]).await?;
            return rows.iter().map(|row| Ok(format!("{}|{}", row.try_get::<_, i32>(0)?, row.try_get::<_, String>(1)?))).collect();
        }
        let messages = self.client.simple_query(&self.sql).await?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(format!("{}|{}", row.get(0).unwrap_or_default(), row.get(1).unwrap_or_default())),
            _ => None,
        });
        Ok(rows.collect())
    }
}

#[async_trait]
impl Contender for Trivial {
    fn name(&self) -> &str {
        self.name
    }

    async fn lap(&mut self) -> Result<Lap> {
        let began = Instant::now();
        let rows = self.ask().await.map_err(|error| failed(&error))?;
        Ok(Lap::since(began, Some(rows)))
    }
}

/// Growth of the server's memory from one session to `IDLE_CONNECTIONS` more, each of which has asked something before it rests.
async fn idle_connections(server: &WeirServer) -> Result<Figure> {
    let first = Trivial::simple("Weir", server.connect().await?, "app_pg.public.one");
    first.ask().await.map_err(|error| failed(&error))?;
    let before = server.memory()?.resident_mb;
    let mut idle = Vec::with_capacity(IDLE_CONNECTIONS);
    for _ in 0..IDLE_CONNECTIONS {
        let session = Trivial::simple("Weir", server.connect().await?, "app_pg.public.one");
        session.ask().await.map_err(|error| failed(&error))?;
        idle.push(session);
    }
    let grown = server.memory()?.resident_mb - before;
    Ok(Figure::alone(format!("{} idle connections", idle.len()), Measured::once(grown), "MB", Some(Target::ValueAtMost(100.0))))
}
