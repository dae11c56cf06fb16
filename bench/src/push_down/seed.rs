// SPDX-License-Identifier: Apache-2.0
//! The question that Weir is there for: events in the lake, revenue in a warehouse, customers in the product's database. The warehouse is a
//! second PostgreSQL, so that DuckDB reaches it too.

use super::{DUCKDB, Untold, alike};
use crate::Size;
use crate::contest::{Contender, contest};
use crate::duckdb::DuckDb;
use crate::figure::{Figure, Measured, Target};
use crate::scan::{EVENTS, SCHEMA, events_table, metadata_file};
use crate::weir_here::{WeirHere, WeirQuery, source};
use std::path::Path;
use weir_base::{Error, Result};
use weir_sandbox::Postgres;

const ROWS: u64 = 1_000_000;
const APP: &str = "app";
const MARTS: &str = "marts";
const QUESTION: &str = "WITH engagement AS (
        SELECT customer_id, count(*) AS events FROM {events} WHERE occurred_at >= TIMESTAMP '2026-01-01 00:00:00' GROUP BY customer_id
    ), earned AS (
        SELECT m.customer_id AS customer_id, sum(m.net) AS revenue FROM {revenue} m WHERE m.revenue_month >= DATE '2026-01-01' GROUP BY m.customer_id
    )
    SELECT c.good_standing, count(*) AS customers, sum(coalesce(e.events, 0)) AS events, sum(coalesce(r.revenue, 0)) AS revenue,
        round(corr(coalesce(e.events, 0), coalesce(r.revenue, 0)), 3) AS correlation
    FROM {customers} c LEFT JOIN engagement e ON e.customer_id = c.customer_id LEFT JOIN earned r ON r.customer_id = c.customer_id
    WHERE c.signed_up_at >= TIMESTAMP '2026-01-01 00:00:00' GROUP BY c.good_standing";

/// Twenty years of customers; the last of their eighty quarters is this one.
fn app_script() -> String {
    format!(
        "CREATE TABLE customers (customer_id bigint PRIMARY KEY, email varchar(60) NOT NULL, signed_up_at timestamp NOT NULL, good_standing boolean NOT NULL);
         INSERT INTO customers SELECT n, 'customer' || n || '@example.com', timestamp '2026-04-01' - ((n * 7919) % 7305 + 1) * interval '1 day', n % 11 <> 0
         FROM generate_series(0::bigint, {ROWS} - 1) n;
         CREATE INDEX ON customers (signed_up_at);
         VACUUM ANALYZE customers"
    )
}

/// A year of months.
fn marts_script() -> String {
    format!(
        "CREATE TABLE revenue (customer_id bigint NOT NULL, revenue_month date NOT NULL, net numeric(12,2) NOT NULL, PRIMARY KEY (customer_id, revenue_month));
         INSERT INTO revenue SELECT (n * 104729) % {ROWS}, date '2025-04-01' + (n % 12)::int * interval '1 month', ((n * 31) % 100000) / 100.0
         FROM generate_series(0::bigint, {ROWS} - 1) n;
         VACUUM ANALYZE revenue"
    )
}

pub async fn measure(size: &Size, workshop: &Path) -> Result<Vec<Figure>> {
    let (app, marts) = (Postgres::start().await?, Postgres::start().await?);
    app.run(APP, &app_script()).await?;
    marts.run(MARTS, &marts_script()).await?;
    let weir = WeirHere::over(workshop, "seed.db", vec![source("app", "postgres", app.url(APP)), source("marts", "postgres", marts.url(MARTS))]).await?;
    let events = events_table(&weir, EVENTS, size.lake_rows).await?;
    let named = |events: &str| {
        let sql = QUESTION.replace("{events}", events).replace("{customers}", "app.public.customers");
        sql.replace("{revenue}", "marts.public.revenue")
    };
    let ours = named(&format!("lake.{SCHEMA}.{EVENTS}"));
    let duckdb = DuckDb::start(None, &workshop.join("duckdb"))?;
    for (server, name) in [(&app, APP), (&marts, MARTS)] {
        let address = format!("host=127.0.0.1 port={} user={} password={} dbname={name}", server.port(), server.user(), server.password());
        duckdb.prepare(&format!("ATTACH '{address}' AS {name} (TYPE postgres, READ_ONLY)")).await?;
    }
    let mut on = Untold(weir.query(ours.clone()));
    let mut off = Untold(weir.query_without_push_down(ours)?);
    let mut theirs = Untold(duckdb.query(named(&format!("iceberg_scan('{}')", metadata_file(&events)?.display()))));
    same_answers(&mut on.0, &mut off.0, &mut theirs.0).await?;
    let laps = contest(size.rounds, &mut [&mut on, &mut off, &mut theirs]).await?;
    let time = |at: usize| Measured::time(1.0, &laps[at]);
    let (moved, all) = (bytes(&on.0), bytes(&off.0));
    weir.close().await;
    let off = "Weir with push-down off";
    Ok(vec![
        Figure::beside("seed question: bytes from the sources", Measured::once(moved), "bytes", (off, Measured::once(all)), Some(Target::RatioAtMost(0.01))),
        Figure::beside("seed question: time", time(0), "s", (off, time(1)), Some(Target::RatioAtMost(0.05))),
        Figure::beside("seed question: time", time(0), "s", (DUCKDB, time(2)), Some(Target::RatioAtMost(1.0))),
    ])
}

fn bytes(query: &WeirQuery) -> f64 {
    let of = |source: &str| query.used(source).map_or(0, |used| used.bytes);
    (of(APP) + of(MARTS)) as f64
}

async fn same_answers(on: &mut dyn Contender, off: &mut dyn Contender, theirs: &mut dyn Contender) -> Result<()> {
    let answers = [on.lap().await?, off.lap().await?, theirs.lap().await?].map(|lap| lap.answer.unwrap_or_default());
    if alike(&answers[0], &answers[1]) && alike(&answers[0], &answers[2]) {
        return Ok(());
    }
    Err(Error::internal("the answers to the seed question differ").with_detail(format!("{answers:?}")))
}
