// SPDX-License-Identifier: Apache-2.0
//! Keys of the lake that go to a source: what moves beside the statement by hand, and that they never cost more than they spare.

use super::Untold;
use crate::Size;
use crate::by_hand::ByHand;
use crate::contest::{Contender, contest};
use crate::figure::{Figure, Measured, Target};
use crate::tap::Tap;
use crate::weir_here::{WeirHere, source};
use std::path::Path;
use weir_base::{Error, Result};
use weir_sandbox::{MariaDb, Postgres};

const DATABASE: &str = "keys";
const ROWS: u64 = 1_000_000;
/// Of the million: few, the semi-join of the target, many and scattered, as many as are still sent, more than are sent.
const COUNTS: [u64; 5] = [100, 10_000, 300_000, 450_000, 700_000];
const FEW: u64 = 10_000;
const MANY: u64 = 300_000;

struct Places {
    postgres: Postgres,
    _mariadb: MariaDb,
    tap: Tap,
    weir: WeirHere,
    /// The same over the tap.
    tapped: WeirHere,
}

pub async fn measure(size: &Size, workshop: &Path) -> Result<Vec<Figure>> {
    let places = open(&workshop.join("keys")).await?;
    let mut figures = vec![semi_join(&places).await?];
    figures.extend(many(&places).await?);
    for (name, table) in [("PostgreSQL", "pg.public.big"), ("MariaDB", "maria.keys.big")] {
        for count in COUNTS {
            figures.push(cost(size, &places, name, table, count).await?);
        }
    }
    places.weir.close().await;
    places.tapped.close().await;
    Ok(figures)
}

async fn open(folder: &Path) -> Result<Places> {
    std::fs::create_dir_all(folder).map_err(|error| crate::weir_here::unusable(folder, &error))?;
    let postgres = Postgres::options().setting("shared_buffers", "512MB").start().await?;
    let mariadb = MariaDb::options().setting("innodb-buffer-pool-size", "512M").start().await?;
    // Neighbours in `n` are far apart in `id`: 7919 shares no factor with a million.
    let columns = "id bigint PRIMARY KEY, n integer NOT NULL, amount decimal(12,2) NOT NULL, note varchar(40) NOT NULL";
    let fill = "(n * 7919) % 1000000 * 3, n, n % 100000 / 100.0, concat('note number ', n)";
    let script = format!(
        "CREATE TABLE big ({columns}); INSERT INTO big SELECT {fill} FROM generate_series(0::bigint, {ROWS} - 1) n; CREATE INDEX ON big (n); VACUUM ANALYZE big"
    );
    postgres.run(DATABASE, &script).await?;
    let script = format!("CREATE TABLE big ({columns}); INSERT INTO big SELECT {fill} FROM (SELECT seq AS n FROM seq_0_to_{}) s; ANALYZE TABLE big", ROWS - 1);
    mariadb.run(DATABASE, &script).await?;
    let tap = Tap::on(postgres.port()).await?;
    let through = postgres.url(DATABASE).replace(&format!(":{}/", postgres.port()), &format!(":{}/", tap.port));
    let sources = vec![source("pg", "postgres", postgres.url(DATABASE)), source("maria", "mysql", mariadb.url(DATABASE))];
    let weir = WeirHere::over(folder, "weir.db", sources).await?;
    weir.lake.create_schema(DATABASE, true).await?;
    for count in COUNTS {
        weir.prepare(&format!("DROP TABLE IF EXISTS lake.{DATABASE}.k{count}")).await?;
        weir.prepare(&format!("CREATE TABLE lake.{DATABASE}.k{count} AS SELECT id FROM pg.public.big WHERE n < {count}")).await?;
    }
    let tapped = WeirHere::over(folder, "tapped.db", vec![source("pg", "postgres", through)]).await?;
    Ok(Places { postgres, _mariadb: mariadb, tap, weir, tapped })
}

/// Bytes both ways, since keys travel too. The first lap logs in and lists tables, so it does not count.
async fn semi_join(places: &Places) -> Result<Figure> {
    let sql = format!("SELECT id, amount FROM pg.public.big WHERE id IN (SELECT id FROM lake.{DATABASE}.k{FEW})");
    let keys = places.weir.query(format!("SELECT id FROM lake.{DATABASE}.k{FEW}")).lap().await?.answer.unwrap_or_default();
    let by_hand = format!("SELECT id, amount FROM big WHERE id = ANY('{{{}}}'::bigint[])", keys.join(","));
    let ours = counted(&places.tap, &mut places.tapped.query(sql)).await?;
    let theirs = counted(&places.tap, &mut ByHand::on(&places.postgres, places.tap.port, DATABASE, &by_hand).await?).await?;
    let peer = ("the statement by hand", Measured::once(theirs));
    Ok(Figure::beside("semi-join of 10 k of 1 M keys: bytes both ways", Measured::once(ours), "bytes", peer, Some(Target::RatioAtMost(1.2))))
}

async fn counted(tap: &Tap, contender: &mut dyn Contender) -> Result<f64> {
    contender.lap().await?;
    tap.take();
    contender.lap().await?;
    let moved = tap.take();
    Ok((moved.to_server + moved.from_server) as f64)
}

async fn many(places: &Places) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (source, name, table) in [("pg", "PostgreSQL", "pg.public.big"), ("maria", "MariaDB", "maria.keys.big")] {
        let mut query = places.weir.query(joined(table, MANY));
        let answer = query.lap().await?.answer.unwrap_or_default();
        if !answer.first().is_some_and(|row| row.starts_with("300000|")) {
            return Err(Error::internal("a wrong answer of the join with 300 k keys").with_detail(answer.join(" ")));
        }
        let rows = query.used(source).map_or(0, |used| used.rows);
        let target = Some(Target::ValueAtMost(MANY as f64));
        figures.push(Figure::alone(format!("300 k scattered keys: rows that left {name}"), Measured::once(rows as f64), "rows", target));
    }
    Ok(figures)
}

/// Beside the same join over the table's first rows, more than it has: whose keys they are is not known before they are chosen.
async fn cost(size: &Size, places: &Places, name: &str, table: &str, count: u64) -> Result<Figure> {
    let whole = format!("(SELECT * FROM {table} LIMIT {})", ROWS + 1);
    let mut with = Untold(places.weir.query(joined(table, count)));
    let mut without = Untold(places.weir.query(joined(&whole, count)));
    let laps = contest(size.rounds, &mut [&mut with, &mut without]).await?;
    let time = |at: usize| Measured::time(1.0, &laps[at]);
    let what = format!("join of 1 M rows in {name} with {count} keys: time");
    Ok(Figure::beside(what, time(0), "s", ("without a key filter", time(1)), Some(Target::RatioAtMost(1.1))))
}

fn joined(table: &str, count: u64) -> String {
    format!("SELECT count(*), sum(b.amount), max(b.note) FROM lake.{DATABASE}.k{count} k JOIN {table} b ON b.id = k.id")
}
