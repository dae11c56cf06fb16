// SPDX-License-Identifier: Apache-2.0
//! A join that does not fit: two large lake tables under a small memory limit, in a real server, watched from outside.

use super::events::{self, EVENTS, PAYMENTS, SCHEMA};
use crate::Size;
use crate::contest::{Contender, Lap};
use crate::duckdb::DuckDb;
use crate::figure::{Figure, Measured, Target};
use crate::machine::folder_bytes;
use crate::server::{WeirServer, failed};
use crate::weir_here::{WeirHere, catalog_url, warehouse_url};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_postgres::SimpleQueryMessage;
use weir_base::{Error, Result};

const MEMORY_LIMIT: &str = "256MiB";
const MEMORY_LIMIT_MB: f64 = 268.4;
/// How often the spill folder is looked at.
const WATCH_EVERY: Duration = Duration::from_millis(50);
const QUESTION: &str = "SELECT e.kind, count(*), sum(e.amount), sum(p.fee) FROM {events} e JOIN {payments} p ON p.event_id = e.event_id GROUP BY e.kind";

pub async fn measure(size: &Size, workshop: &Path) -> Result<Vec<Figure>> {
    let weir = WeirHere::open(workshop).await?;
    let left = events::table(&weir, EVENTS, size.lake_rows).await?;
    let right = events::table(&weir, PAYMENTS, size.lake_rows).await?;
    weir.close().await;
    let lake = format!(
        "memory_limit: {MEMORY_LIMIT}\nlake: {{ name: lake, catalog: {{ type: sql, url: \"{}\" }}, warehouse: \"{}\" }}\n",
        catalog_url(weir.folder()),
        warehouse_url(weir.folder())
    );
    let server = WeirServer::start(&workshop.join("join"), &lake, &[]).await?;
    let ours = join(&server).await?;
    let duckdb = DuckDb::start(Some(MEMORY_LIMIT), &workshop.join("duckdb"))?;
    let there = |table| Ok::<_, Error>(format!("iceberg_scan('{}')", events::metadata_file(table)?.display()));
    let sql = QUESTION.replace("{events}", &there(&left)?).replace("{payments}", &there(&right)?);
    let theirs = duckdb.query(sql).lap().await?;
    figures(&ours, theirs, &duckdb).await
}

/// A join that was watched.
struct Watched {
    seconds: f64,
    rows: Vec<String>,
    spilled_peak_bytes: u64,
    resident_idle_mb: f64,
    resident_peak_mb: f64,
}

async fn join(server: &WeirServer) -> Result<Watched> {
    let client = server.connect().await?;
    let resident_idle_mb = server.memory()?.resident_mb;
    let sql = QUESTION.replace("{events}", &format!("lake.{SCHEMA}.{EVENTS}")).replace("{payments}", &format!("lake.{SCHEMA}.{PAYMENTS}"));
    let mut spilled_peak_bytes = 0;
    let mut looks = tokio::time::interval(WATCH_EVERY);
    let began = Instant::now();
    let query = client.simple_query(&sql);
    tokio::pin!(query);
    let answered = loop {
        tokio::select! {
            answered = &mut query => break answered,
            _ = looks.tick() => spilled_peak_bytes = spilled_peak_bytes.max(folder_bytes(&server.spill_folder())),
        }
    };
    let seconds = began.elapsed().as_secs_f64();
    let mut rows: Vec<String> = answered.map_err(|error| failed(&error))?.iter().filter_map(text).collect();
    rows.sort();
    Ok(Watched { seconds, rows, spilled_peak_bytes, resident_idle_mb, resident_peak_mb: server.memory()?.resident_peak_mb })
}

fn text(message: &SimpleQueryMessage) -> Option<String> {
    let SimpleQueryMessage::Row(row) = message else { return None };
    let values: Vec<&str> = (0..row.len()).map(|column| row.get(column).unwrap_or("NULL")).collect();
    Some(values.join("|"))
}

async fn figures(ours: &Watched, theirs: Lap, duckdb: &DuckDb) -> Result<Vec<Figure>> {
    if theirs.answer.as_ref() != Some(&ours.rows) {
        return Err(Error::internal("Weir and DuckDB do not agree on the answer of the join"));
    }
    let what = format!("join under {MEMORY_LIMIT}");
    let time = Measured::once(ours.seconds);
    let grown = Measured::once(ours.resident_peak_mb - ours.resident_idle_mb);
    let whole = ("DuckDB 1.5.5", Measured::once(duckdb.resident_peak_mb().await?));
    let spilled = Measured::once(ours.spilled_peak_bytes as f64 / 1e6);
    Ok(vec![
        Figure::beside(format!("{what}: time"), time, "s", ("DuckDB 1.5.5", Measured::once(theirs.seconds)), None),
        Figure::alone(format!("{what}: memory beyond the idle server"), grown, "MB", Some(Target::ValueAtMost(MEMORY_LIMIT_MB))),
        Figure::beside(format!("{what}: peak of the whole process"), Measured::once(ours.resident_peak_mb), "MB", whole, None),
        Figure::alone(format!("{what}: most on disk at once"), spilled, "MB", Some(Target::ValueAtLeast(1.0))),
    ])
}
