// SPDX-License-Identifier: Apache-2.0
//! PostgreSQL into Arrow beside psql's COPY of the same columns into nothing.

use super::columns::{self, ALL, TWO};
use super::fetch::Shop;
use crate::Size;
use crate::contest::contest;
use crate::figure::{Figure, Measured, Target};
use crate::process::Program;
use weir_base::Result;
use weir_sandbox::Postgres;

const DATABASE: &str = "shop";

pub async fn measure(size: &Size) -> Result<Vec<Figure>> {
    let server = Postgres::options().setting("shared_buffers", "512MB").start().await?;
    server.run(DATABASE, &columns::in_postgres(size.source_rows)).await?;
    let shop = Shop::open("postgres", server.url(DATABASE), size.source_rows).await?;
    let mut figures = Vec::new();
    for (what, names) in [("all columns", &ALL[..]), ("two columns", &TWO[..])] {
        let (mut weir, mut psql) = (shop.fetch(names)?, copy(&server, names));
        let laps = contest(size.rounds, &mut [&mut weir, &mut psql]).await?;
        let rate = |at: usize| Measured::rate(size.source_rows, &laps[at]);
        let peer = ("psql COPY to stdout", rate(1));
        figures.push(Figure::beside(format!("PostgreSQL to Arrow, {what}"), rate(0), "rows/s", peer, Some(Target::RatioAtLeast(0.7))));
    }
    shop.close().await;
    Ok(figures)
}

fn copy(server: &Postgres, names: &[&str]) -> Program {
    let port = server.port().to_string();
    let sql = format!("COPY (SELECT {} FROM orders) TO STDOUT", names.join(", "));
    let arguments = ["-X", "-q", "-w", "-h", "127.0.0.1", "-p", &port, "-U", server.user(), "-d", DATABASE, "-c", &sql];
    Program {
        name: "psql".into(),
        path: server.psql_program(),
        arguments: arguments.map(Into::into).to_vec(),
        environment: vec![("PGPASSWORD", server.password().to_owned())],
    }
}
