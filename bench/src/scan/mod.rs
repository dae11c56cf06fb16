// SPDX-License-Identifier: Apache-2.0
//! Group `scan`: what it costs to read a source, to hold a connection, and to read the lake.

mod columns;
mod events;
mod fetch;
mod join;
mod lake;
mod mariadb;
mod postgres;
mod wire;

pub use events::{EVENTS, SCHEMA, metadata_file, table as events_table};
pub use wire::trivial;

use crate::Size;
use crate::figure::Figure;
use crate::workshop::{Workshop, known_parts};
use weir_base::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Postgres,
    MariaDb,
    Wire,
    Lake,
    Join,
}

const PARTS: [(&str, Part); 5] = [("postgres", Part::Postgres), ("mariadb", Part::MariaDb), ("wire", Part::Wire), ("lake", Part::Lake), ("join", Part::Join)];

/// Measures the parts that `only` names, or all.
pub async fn run(size: &Size, only: &[String]) -> Result<Vec<Figure>> {
    known_parts("scan", &PARTS.map(|(name, _)| name), only)?;
    let workshop = Workshop::open(size.keep.as_deref())?;
    let mut figures = Vec::new();
    for (name, part) in PARTS.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|word| word == name)) {
        eprintln!("measuring {name}");
        figures.extend(match part {
            Part::Postgres => postgres::measure(size).await?,
            Part::MariaDb => mariadb::measure(size).await?,
            Part::Wire => wire::measure(size, workshop.path()).await?,
            Part::Lake => lake::measure(size, workshop.path()).await?,
            Part::Join => join::measure(size, workshop.path()).await?,
        });
    }
    Ok(figures)
}
