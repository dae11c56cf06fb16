// SPDX-License-Identifier: Apache-2.0
//! The 22 questions of TPC-H in each placement: the published answers, the time, and the bytes that left the servers, beside DuckDB.

use super::ground::{Ground, Ports};
use super::{DUCKDB, Untold, alike};
use crate::Size;
use crate::contest::{Contender, contest};
use crate::duckdb::DuckDb;
use crate::figure::{Figure, Measured, Target};
use crate::tap::Tap;
use crate::weir_here::WeirQuery;
use weir_base::Result;
use weir_sandbox::tpch::{PLACEMENTS, Placement, QUESTIONS_COUNT};

/// What is beyond the first rounds adds little over 88 questions.
const ROUNDS_MAX: usize = 3;

/// DuckDB, once straight to the servers, once through taps.
struct Peer {
    straight: DuckDb,
    tapped: DuckDb,
    postgres: Tap,
    mariadb: Tap,
}

pub async fn measure(size: &Size, ground: &Ground) -> Result<Vec<Figure>> {
    let (postgres, mariadb) = (Tap::on(ground.postgres.port()).await?, Tap::on(ground.mariadb.port()).await?);
    let straight = ground.duckdb(ground.ports(), true).await?;
    let tapped = ground.duckdb(Ports { postgres: postgres.port, mariadb: mariadb.port }, true).await?;
    let peer = Peer { straight, tapped, postgres, mariadb };
    let mut figures = Vec::new();
    for placement in &PLACEMENTS {
        let mut right = 0;
        for number in 1..=QUESTIONS_COUNT {
            let [ours, theirs] = ground.asked(placement, number)?;
            let mut weir = ground.weir.query(ours);
            right += u64::from(is_published(ground, placement, number, &mut weir).await?);
            figures.extend(ask(size, &format!("TPC-H, {}, question {number}", placement.name), weir, &peer, theirs).await?);
        }
        let what = format!("TPC-H, {}: answers as published", placement.name);
        figures.push(Figure::alone(what, Measured::once(right as f64), "of 22", Some(Target::ValueAtLeast(QUESTIONS_COUNT as f64))));
    }
    Ok(figures)
}

/// A wrong answer is told at once and counted; the others are still asked.
async fn is_published(ground: &Ground, placement: &Placement, number: usize, weir: &mut WeirQuery) -> Result<bool> {
    let answer = match weir.lap().await {
        Ok(lap) => lap.answer.unwrap_or_default(),
        Err(error) => {
            eprintln!("  {}, question {number}: {error:?}", placement.name);
            return Ok(false);
        }
    };
    let mut published: Vec<String> = ground.data.published(number)?.iter().map(|row| row.join("|")).collect();
    published.sort();
    let same = alike(&answer, &published);
    if !same {
        eprintln!(
            "  {}, question {number}: {} rows, {} published; {:?}, {:?}",
            placement.name,
            answer.len(),
            published.len(),
            answer.first(),
            published.first()
        );
    }
    Ok(same)
}

async fn ask(size: &Size, what: &str, weir: WeirQuery, peer: &Peer, theirs: String) -> Result<Vec<Figure>> {
    let (mut weir, mut duckdb) = (Untold(weir), Untold(peer.straight.query(theirs.clone())));
    let laps = contest(size.rounds.min(ROUNDS_MAX), &mut [&mut weir, &mut duckdb]).await?;
    let time = |at: usize| Measured::time(1.0, &laps[at]);
    let mut figures = vec![Figure::beside(format!("{what}: time"), time(0), "s", (DUCKDB, time(1)), None)];
    let _ = (peer.postgres.take(), peer.mariadb.take());
    peer.tapped.prepare(&theirs).await?;
    let theirs = [peer.postgres.take().from_server, peer.mariadb.take().from_server];
    for ((source, name), theirs) in [("pg", "PostgreSQL"), ("maria", "MariaDB")].into_iter().zip(theirs) {
        let ours = weir.0.used(source).map_or(0, |used| used.bytes);
        if ours == 0 && theirs == 0 {
            continue;
        }
        let peer = (DUCKDB, Measured::once(theirs as f64));
        figures.push(Figure::beside(format!("{what}: bytes from {name}"), Measured::once(ours as f64), "bytes", peer, None));
    }
    Ok(figures)
}
