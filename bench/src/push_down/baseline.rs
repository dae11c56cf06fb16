// SPDX-License-Identifier: Apache-2.0
//! Eight questions whose best possible answer is known: orders and customers in PostgreSQL, parts in MariaDB, lines in the lake.

use super::DUCKDB;
use super::ground::Ground;
use crate::Size;
use crate::by_hand::ByHand;
use crate::contest::{Contender, contest};
use crate::figure::{Figure, Measured, Target};
use crate::source_cpu::{SourceCpu, Watched};
use weir_base::{Error, Result};
use weir_sandbox::tpch::{PLACEMENTS, Place};

struct Question {
    name: &'static str,
    sql: &'static str,
    /// What somebody who knows the source would ask it; `{keys}` are those that the lake finds.
    by_hand: &'static str,
    /// The rows of that statement at scale factor 1.
    rows_best: u64,
}

/// The keys of `qg`.
const KEYS: &str = "SELECT DISTINCT l_orderkey FROM {lineitem} WHERE l_shipdate = DATE '1995-02-25' AND l_quantity = 48";

const QUESTIONS: [Question; 8] = [
    Question {
        name: "qa: a week of orders with their lines",
        sql: "SELECT o_orderpriority, count(*), sum(l_extendedprice * (1 - l_discount)) FROM {orders} o JOIN {lineitem} l ON l_orderkey = o_orderkey
              WHERE o_orderdate >= DATE '1995-05-01' AND o_orderdate < DATE '1995-05-08' GROUP BY o_orderpriority",
        by_hand: "SELECT o_orderkey, o_orderpriority FROM orders WHERE o_orderdate >= '1995-05-01' AND o_orderdate < '1995-05-08'",
        rows_best: 4_357,
    },
    Question {
        name: "qb: all orders with their lines",
        sql: "SELECT o_orderpriority, count(*), sum(l_extendedprice * (1 - l_discount)) FROM {orders} o JOIN {lineitem} l ON l_orderkey = o_orderkey
              GROUP BY o_orderpriority",
        by_hand: "SELECT o_orderkey, o_orderpriority FROM orders",
        rows_best: 1_500_000,
    },
    Question {
        name: "qc: three sources, filtered",
        sql: "SELECT p_brand, count(*), sum(l_extendedprice * (1 - l_discount)) FROM {orders} o JOIN {lineitem} l ON l_orderkey = o_orderkey
              JOIN {part} p ON p_partkey = l_partkey
              WHERE o_orderdate >= DATE '1998-01-01' AND o_orderpriority = '1-URGENT' AND p_container = 'MED BOX' GROUP BY p_brand",
        by_hand: "SELECT o_orderkey FROM orders WHERE o_orderdate >= '1998-01-01' AND o_orderpriority = '1-URGENT'",
        rows_best: 26_652,
    },
    Question {
        name: "qd: an aggregate that fits into PostgreSQL",
        sql: "SELECT o_orderpriority, count(*), sum(o_totalprice) FROM {orders} o WHERE o_orderdate >= DATE '1995-01-01' GROUP BY o_orderpriority",
        by_hand: "SELECT o_orderpriority, count(*), sum(o_totalprice) FROM orders WHERE o_orderdate >= '1995-01-01' GROUP BY o_orderpriority",
        rows_best: 5,
    },
    Question {
        name: "qe: 24 keys by a filter of the other side",
        sql: "SELECT o_orderkey, o_totalprice, l_linenumber, l_extendedprice FROM {orders} o JOIN {lineitem} l ON l_orderkey = o_orderkey WHERE l_orderkey < 97",
        by_hand: "SELECT o_orderkey, o_totalprice FROM orders WHERE o_orderkey < 97",
        rows_best: 24,
    },
    Question {
        name: "qf: the ten largest orders",
        sql: "SELECT o_orderkey, o_custkey, o_totalprice, o_orderdate FROM {orders} o ORDER BY o_totalprice DESC, o_orderkey LIMIT 10",
        by_hand: "SELECT o_orderkey, o_custkey, o_totalprice, o_orderdate FROM orders ORDER BY o_totalprice DESC, o_orderkey LIMIT 10",
        rows_best: 10,
    },
    Question {
        name: "qg: 34 keys from the lake",
        sql: "SELECT o_orderkey, o_totalprice, o_orderdate, l_extendedprice FROM {lineitem} l JOIN {orders} o ON o_orderkey = l_orderkey
              WHERE l_shipdate = DATE '1995-02-25' AND l_quantity = 48",
        by_hand: "SELECT o_orderkey, o_totalprice, o_orderdate FROM orders WHERE o_orderkey = ANY('{keys}'::bigint[])",
        rows_best: 34,
    },
    Question {
        name: "qh: orders of a quarter by their customers' segment",
        sql: "SELECT c_mktsegment, count(*), sum(o_totalprice) FROM {orders} o JOIN {customer} c ON c_custkey = o_custkey
              WHERE o_orderdate >= DATE '1998-07-01' GROUP BY c_mktsegment",
        by_hand: "SELECT c_mktsegment, count(*), sum(o_totalprice) FROM orders JOIN customer ON c_custkey = o_custkey
              WHERE o_orderdate >= '1998-07-01' GROUP BY c_mktsegment",
        rows_best: 5,
    },
];

/// Times the same eight questions at Weir, at DuckDB with and without its split of tables, and by hand at PostgreSQL.
pub async fn measure(size: &Size, ground: &Ground) -> Result<Vec<Figure>> {
    let keys = keys(ground).await?;
    let (split, plain) = (ground.duckdb(ground.ports(), true).await?, ground.duckdb(ground.ports(), false).await?);
    let cpu = SourceCpu::of(&ground.postgres)?;
    let mut figures = Vec::new();
    for question in &QUESTIONS {
        let (ours, theirs) = (named(question.sql, Ground::in_weir), named(question.sql, |place, table| ground.in_duckdb(place, table)));
        let by_hand = ByHand::on(&ground.postgres, ground.postgres.port(), super::ground::DATABASE, &question.by_hand.replace("{keys}", &keys)).await?;
        let mut weir = Watched::new("Weir", ground.weir.query(ours), &cpu);
        let mut hand = Watched::new("by hand", by_hand, &cpu);
        let mut split = Watched::new("DuckDB", split.query(theirs.clone()), &cpu);
        let mut plain = Watched::new("DuckDB without its split", plain.query(theirs), &cpu);
        let laps = contest(size.rounds, &mut [&mut weir, &mut hand, &mut split, &mut plain]).await?;
        let time = |at: usize| Measured::time(1.0, &laps[at]);
        let (faster, name) = if laps[2].median() <= laps[3].median() { (2, DUCKDB) } else { (3, "DuckDB 1.5.5 without its split") };
        let rows = weir.inner.used("pg").map_or(0, |used| used.rows);
        let (ours, by_hand, theirs) = (weir.mean_ms(), hand.mean_ms(), split.mean_ms().min(plain.mean_ms()));
        let what = question.name;
        let best = (size.scale == 1.0).then_some(Target::ValueAtMost(question.rows_best as f64));
        figures.push(Figure::alone(format!("{what}: rows that left PostgreSQL"), Measured::once(rows as f64), "rows", best));
        let peer = ("the statement by hand", Measured::once(by_hand));
        figures.push(Figure::beside(format!("{what}: PostgreSQL's processor time"), Measured::once(ours), "ms", peer, Some(Target::RatioAtMost(1.2))));
        let peer = (DUCKDB, Measured::once(theirs));
        figures.push(Figure::beside(format!("{what}: PostgreSQL's processor time"), Measured::once(ours), "ms", peer, None));
        figures.push(Figure::beside(format!("{what}: time"), time(0), "s", (name, time(faster)), Some(Target::RatioAtMost(1.0))));
        let peer = ("the statement by hand", time(1));
        figures.push(Figure::beside(format!("{what}: time"), time(0), "s", peer, None));
    }
    Ok(figures)
}

/// By department, with the small tables of no use here.
fn named(sql: &str, name: impl Fn(Place, &str) -> String) -> String {
    let tables = ["orders", "customer", "lineitem", "part"];
    tables.iter().fold(sql.to_owned(), |sql, table| sql.replace(&format!("{{{table}}}"), &name(PLACEMENTS[2].place(table), table)))
}

async fn keys(ground: &Ground) -> Result<String> {
    let lap = ground.weir.query(named(KEYS, Ground::in_weir)).lap().await?;
    let keys = lap.answer.ok_or_else(|| Error::internal("no keys for the statement by hand"))?;
    Ok(format!("{{{}}}", keys.join(",")))
}
