// SPDX-License-Identifier: Apache-2.0
//! The one place where all rooms meet: a configuration becomes a running Weir in this process.

use crate::config::{Config, LakeCatalog, LakeSettings};
use std::sync::Arc;
use weir_base::{Clock, Error, ErrorCode, Result, SourceName, SystemClock};
use weir_catalog::{ControlStore, DataDir};
use weir_engine::{Engine, EngineConfig, EngineParts, LakePlace, Places, SourceHandle, TableRule};
use weir_guard::Guard;
use weir_lake::{CatalogConfig, Lake, LakeConfig, S3Config};

/// A Weir in this process. The data directory stays ours while it lives.
#[derive(Debug)]
pub struct Weir {
    pub engine: Arc<Engine>,
    pub data_dir: DataDir,
}

impl Weir {
    /// Opens the control store and the lake; no source is connected to yet.
    pub async fn open(config: &Config, data_dir: DataDir) -> Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store = ControlStore::open(&data_dir.store_path(), clock.clone()).await?;
        let places = Places::new(source_handles(config)?, open_lake(config.lake.as_ref()).await?);
        clear_spill(config)?;
        let engine_config =
            EngineConfig { memory_bytes_max: usize::try_from(config.memory_limit.0).unwrap_or(usize::MAX), spill_dir: config.spill_dir.clone(), partitions: 0 };
        let engine = Engine::new(EngineParts { config: engine_config, places, policy: config.policy.clone(), store, clock })?;
        Ok(Self { engine: Arc::new(engine), data_dir })
    }

    /// Cancels what runs, writes the log, closes the sources and gives the data directory back.
    pub async fn close(self) {
        self.engine.close().await;
    }
}

/// Every configured source behind its guard. Opens no connection.
pub fn source_handles(config: &Config) -> Result<Vec<SourceHandle>> {
    let handle = |spec: &weir_source::SourceSpec| {
        let guard = Guard::new(spec.name.clone(), spec.limits.clone());
        Ok(SourceHandle::new(weir_source::connect(spec.clone())?, guard).with_rules(rules(config, &spec.name)))
    };
    config.sources.iter().map(handle).collect()
}

/// The rules of one source's tables.
fn rules(config: &Config, source: &SourceName) -> Vec<TableRule> {
    let own = config.table_rules.iter().filter(|rule| rule.source == *source);
    own.map(|rule| TableRule { schema: rule.schema.clone(), table: rule.table.clone(), require_filter: rule.require_filter.clone(), strict: rule.strict })
        .collect()
}

async fn open_lake(settings: Option<&LakeSettings>) -> Result<Option<LakePlace>> {
    let Some(settings) = settings else { return Ok(None) };
    let catalog = match settings.catalog.clone() {
        LakeCatalog::Sql { url } => CatalogConfig::Sql { url },
        LakeCatalog::Rest { url, token } => CatalogConfig::Rest { url, token },
    };
    let s3 = settings.s3.clone().map(|s3| S3Config {
        endpoint: s3.endpoint,
        region: s3.region,
        access_key: s3.access_key,
        secret_key: s3.secret_key,
        path_style: s3.path_style,
    });
    let config = LakeConfig { name: settings.name.clone(), catalog, warehouse: settings.warehouse.clone(), s3 };
    Ok(Some(LakePlace { name: settings.name.clone(), lake: Lake::open(config).await? }))
}

/// What a Weir that was killed left in the spill folder is of no use to anyone. Only folders that the query engine made go.
fn clear_spill(config: &Config) -> Result<()> {
    let unusable =
        |error: std::io::Error| Error::new(ErrorCode::Config, "spill folder cannot be used").with_detail(format!("{}: {error}", config.spill_dir.display()));
    std::fs::create_dir_all(&config.spill_dir).map_err(unusable)?;
    for entry in std::fs::read_dir(&config.spill_dir).map_err(unusable)? {
        let path = entry.map_err(unusable)?.path();
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("datafusion-"));
        if ours && path.is_dir() {
            std::fs::remove_dir_all(&path).map_err(unusable)?;
        }
    }
    Ok(())
}
