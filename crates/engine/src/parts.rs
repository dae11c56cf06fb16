// SPDX-License-Identifier: Apache-2.0
//! What an engine is made of: the places it reads, the rules, and the settings of the machine it runs on.

use crate::discovery::SourceHandle;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use weir_base::{Clock, SourceName};
use weir_catalog::ControlStore;
use weir_lake::Lake;
use weir_policy::Policy;

/// How much of the machine queries may use.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Memory for joins, sorts and aggregates of all queries together; beyond it they spill.
    pub memory_bytes_max: usize,
    /// Where they spill.
    pub spill_dir: PathBuf,
    /// Parallel partitions of one query; 0 takes the number of cores.
    pub partitions: usize,
}

/// Everything an engine needs.
#[derive(Debug)]
pub struct EngineParts {
    pub config: EngineConfig,
    pub places: Places,
    pub policy: Policy,
    /// Where the query log goes.
    pub store: Arc<ControlStore>,
    pub clock: Arc<dyn Clock>,
}

/// The lake under its configured name.
#[derive(Debug)]
pub struct LakePlace {
    pub name: SourceName,
    pub lake: Arc<Lake>,
}

/// Everywhere a table can be.
#[derive(Debug, Default)]
pub struct Places {
    sources: BTreeMap<String, Arc<SourceHandle>>,
    pub lake: Option<LakePlace>,
}

impl Places {
    pub fn new(sources: impl IntoIterator<Item = SourceHandle>, lake: Option<LakePlace>) -> Self {
        let sources = sources.into_iter().map(|handle| (handle.name().to_string(), Arc::new(handle))).collect();
        Self { sources, lake }
    }

    pub fn source(&self, name: &str) -> Option<&Arc<SourceHandle>> {
        self.sources.get(name)
    }

    pub fn sources(&self) -> Vec<Arc<SourceHandle>> {
        self.sources.values().cloned().collect()
    }

    /// Names of the sources and of the lake.
    pub fn names(&self) -> Vec<SourceName> {
        let lake = self.lake.iter().map(|lake| lake.name.clone());
        self.sources.values().map(|handle| handle.name().clone()).chain(lake).collect()
    }
}
