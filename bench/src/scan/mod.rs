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

use crate::Size;
use crate::figure::Figure;
use crate::weir_here::unusable;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use weir_base::{Error, ErrorCode, Result};

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
    if let Some(odd) = only.iter().find(|word| !PARTS.iter().any(|(name, _)| name == word)) {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(Error::new(ErrorCode::NotFound, format!("group scan has no part {odd}")).with_hint(format!("its parts are {}", known.join(", "))));
    }
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

/// The folder in which everything happens: the caller's, which stays, or one that goes at the end.
enum Workshop {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Workshop {
    fn open(kept: Option<&Path>) -> Result<Self> {
        let Some(kept) = kept else {
            let folder = tempfile::Builder::new().prefix("weir-bench-").tempdir();
            return folder.map(Self::Temporary).map_err(|error| unusable(&std::env::temp_dir(), &error));
        };
        std::fs::create_dir_all(kept).map_err(|error| unusable(kept, &error))?;
        kept.canonicalize().map(Self::Kept).map_err(|error| unusable(kept, &error))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
