// SPDX-License-Identifier: Apache-2.0
//! Lake tables written by Weir: filter and aggregate beside DuckDB on the same table and plain DataFusion on the same files.

use super::events::{self, EVENTS, EVENTS_BY_DAY, SCHEMA};
use crate::Size;
use crate::contest::{Laps, contest};
use crate::duckdb::DuckDb;
use crate::figure::{Figure, Measured, Target};
use crate::plain::PlainQuery;
use crate::weir_here::WeirHere;
use std::path::{Path, PathBuf};
use weir_base::Result;
use weir_lake::LakeTable;

/// Questions over `{t}`, in words of SQL that all three understand alike.
const QUESTIONS: [(&str, &str); 6] = [
    ("filter and aggregate", "SELECT kind, count(*), sum(amount), max(duration_ms) FROM {t} WHERE country = 'DE' AND duration_ms > 500 GROUP BY kind"),
    (
        "one week",
        "SELECT country, count(*), sum(amount) FROM {t} WHERE occurred_at >= TIMESTAMP '2026-02-10 00:00:00' AND occurred_at < TIMESTAMP '2026-02-17 00:00:00' GROUP BY country",
    ),
    ("many groups", "SELECT customer_id, sum(amount) AS spent FROM {t} WHERE kind = 'purchase' GROUP BY customer_id ORDER BY spent DESC, customer_id LIMIT 10"),
    ("text search", "SELECT kind, count(*) FROM {t} WHERE url LIKE '%ref=mail' GROUP BY kind"),
    ("one customer", "SELECT kind, url, amount FROM {t} WHERE customer_id = 4711"),
    ("no filter", "SELECT country, kind, count(*), sum(amount), min(duration_ms) FROM {t} GROUP BY country, kind"),
];

pub async fn measure(size: &Size, workshop: &Path) -> Result<Vec<Figure>> {
    let weir = WeirHere::open(workshop).await?;
    let duckdb = DuckDb::start(None, &workshop.join("duckdb"))?;
    let mut figures = Vec::new();
    for (name, what) in [(EVENTS, "lake"), (EVENTS_BY_DAY, "lake by day")] {
        let table = events::table(&weir, name, size.lake_rows).await?;
        for (question, sql) in QUESTIONS {
            let laps = ask(size, &weir, &duckdb, &table, name, sql).await?;
            figures.extend(compared(&format!("{what}: {question}"), &laps));
        }
    }
    weir.close().await;
    Ok(figures)
}

/// Weir, DuckDB, plain DataFusion.
async fn ask(size: &Size, weir: &WeirHere, duckdb: &DuckDb, table: &LakeTable, name: &str, sql: &str) -> Result<Vec<Laps>> {
    let metadata = events::metadata_file(table)?;
    let mut here = weir.query(sql.replace("{t}", &format!("lake.{SCHEMA}.{name}")));
    let mut there = duckdb.query(sql.replace("{t}", &format!("iceberg_scan('{}')", metadata.display())));
    let data = PathBuf::from(table.location().trim_start_matches("file://")).join("data");
    let mut plain = PlainQuery::new(&data, sql.replace("{t}", "t")).await?;
    contest(size.rounds, &mut [&mut here, &mut there, &mut plain]).await
}

fn compared(what: &str, laps: &[Laps]) -> [Figure; 2] {
    let time = |at: usize| Measured::time(1.0, &laps[at]);
    [
        Figure::beside(what, time(0), "s", ("DuckDB 1.5.5", time(1)), Some(Target::RatioAtMost(1.3))),
        Figure::beside(what, time(0), "s", ("plain DataFusion", time(2)), Some(Target::RatioAtMost(1.0))),
    ]
}
