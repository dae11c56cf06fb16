// SPDX-License-Identifier: Apache-2.0
//! Plain DataFusion as a peer: its own listing table over the same Parquet files, with its own defaults, in this process.

use crate::THREADS;
use crate::contest::{Contender, Lap};
use crate::weir_here::text_rows;
use async_trait::async_trait;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use std::path::{Path, PathBuf};
use std::time::Instant;
use weir_base::{Error, Result};

pub struct PlainQuery {
    context: SessionContext,
    sql: String,
}

impl PlainQuery {
    /// `sql` speaks of `t`, which is all Parquet files below `folder`.
    pub async fn new(folder: &Path, sql: String) -> Result<Self> {
        let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(THREADS));
        let files: Vec<String> = parquet_files(folder)?.iter().map(|path| path.display().to_string()).collect();
        let table = context.read_parquet(files, ParquetReadOptions::default()).await.map_err(failed)?;
        context.register_table("t", table.into_view()).map_err(failed)?;
        Ok(Self { context, sql })
    }
}

#[async_trait]
impl Contender for PlainQuery {
    fn name(&self) -> &str {
        "plain DataFusion"
    }

    async fn lap(&mut self) -> Result<Lap> {
        let began = Instant::now();
        let batches = self.context.sql(&self.sql).await.map_err(failed)?.collect().await.map_err(failed)?;
        let mut lap = Lap::since(began, None);
        lap.answer = Some(text_rows(&batches)?);
        Ok(lap)
    }
}

fn failed(error: datafusion::error::DataFusionError) -> Error {
    Error::internal("plain DataFusion failed").with_detail(error.to_string())
}

fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error: std::io::Error| Error::internal("a folder cannot be read").with_detail(error.to_string());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            found.extend(parquet_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
