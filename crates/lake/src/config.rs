// SPDX-License-Identifier: Apache-2.0
//! What the lake is configured with: its name, where the catalog's pointers live, where the files live.

use std::fmt;
use weir_base::SourceName;

/// One lake, as resolved from `weir.yaml`.
#[derive(Debug, Clone)]
pub struct LakeConfig {
    /// Also the catalog's name, by which PyIceberg opens the same catalog.
    pub name: SourceName,
    pub catalog: CatalogConfig,
    /// `file:///abs/folder` or `s3://bucket/prefix`.
    pub warehouse: String,
    /// Needed when the warehouse, or a table that is read, lives on S3.
    pub s3: Option<S3Config>,
}

/// Where the pointer from a table's name to its current metadata file lives.
#[derive(Clone)]
pub enum CatalogConfig {
    /// The standard SQL catalog on SQLite: `sqlite:///abs/catalog.db`, `sqlite://./relative.db`.
    Sql { url: String },
    /// The Iceberg REST catalog.
    Rest { url: String, token: Option<String> },
}

impl fmt::Debug for CatalogConfig {
    /// Never prints a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sql { .. } => f.write_str("Sql"),
            Self::Rest { .. } => f.write_str("Rest"),
        }
    }
}

/// An S3-speaking store.
#[derive(Clone)]
pub struct S3Config {
    /// `http://host:port` of the store; `None` for AWS itself.
    pub endpoint: Option<String>,
    pub region: String,
    /// Without keys, the usual AWS chain (environment, profile, instance role) is asked.
    pub access_key: Option<String>,
    pub secret_key: Option<String>,
    /// `http://host/bucket/key` instead of `http://bucket.host/key`.
    pub path_style: bool,
}

impl fmt::Debug for S3Config {
    /// Never prints a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Config").field("endpoint", &self.endpoint).field("region", &self.region).field("path_style", &self.path_style).finish_non_exhaustive()
    }
}
