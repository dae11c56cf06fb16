// SPDX-License-Identifier: Apache-2.0
//! Route: picks the placement of each table. So far a table of a source is read live, and a table of the lake is its own place.

use crate::bind::Resolved;
use weir_api::{PlacementReport, ReadMode, Settings};
use weir_base::{Error, ErrorCode, Result, Timestamp};

/// A table and the place it is read from.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    pub table: String,
    pub placement: &'static str,
    /// Known before reading only for snapshots.
    pub as_of: Option<Timestamp>,
    pub why: String,
}

impl Placement {
    pub fn report(&self) -> PlacementReport {
        PlacementReport { table: self.table.clone(), placement: self.placement.to_owned(), as_of: self.as_of, why: self.why.clone() }
    }
}

/// Errors: 55000 when the session asks for something that no placement can give.
pub(crate) fn route(tables: &[Resolved], settings: &Settings, now: Timestamp) -> Result<Vec<Placement>> {
    if settings.as_of.is_some() {
        return Err(Error::new(ErrorCode::NotFreshEnough, "cannot read the past yet").with_detail("weir.as_of is set").with_hint("RESET weir.as_of"));
    }
    let tables = tables.iter().filter(|table| !matches!(table, Resolved::System(_) | Resolved::Catalog(_)));
    tables.map(|table| place(table, settings, now)).collect()
}

fn place(table: &Resolved, settings: &Settings, now: Timestamp) -> Result<Placement> {
    let name = table.name().to_string();
    let Resolved::Lake { table, .. } = table else { return live(name, settings) };
    let as_of = table.as_of().at;
    let age_ms = as_of.ms_until(now);
    match settings.max_staleness {
        Some(max) if age_ms > max.as_millis() as i64 => Err(Error::new(ErrorCode::NotFreshEnough, format!("{name} is older than weir.max_staleness allows"))
            .with_detail(format!("its snapshot is of {as_of}, {} s old; {max} is allowed", age_ms / 1000))
            .with_hint("load newer data, or raise weir.max_staleness")),
        _ => Ok(Placement { table: name, placement: "live", as_of: Some(as_of), why: "a table of the lake, at its current snapshot".into() }),
    }
}

fn live(name: String, settings: &Settings) -> Result<Placement> {
    if settings.read == ReadMode::Copy {
        return Err(Error::new(ErrorCode::NotFreshEnough, format!("{name} has no copy in the lake"))
            .with_detail("weir.read is copy")
            .with_hint("SET weir.read = auto"));
    }
    let why = if settings.read == ReadMode::Live { "asked for live" } else { "it has no other placement" };
    Ok(Placement { table: name, placement: "live", as_of: None, why: why.into() })
}
