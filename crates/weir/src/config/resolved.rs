// SPDX-License-Identifier: Apache-2.0
//! The configuration as Weir uses it: defaults filled in, units parsed, paths absolute, every name checked.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use weir_base::{ByteSize, SourceName, UserName};
use weir_policy::Policy;
use weir_source::SourceSpec;

/// A checked configuration.
#[derive(Debug)]
pub struct Config {
    /// The file it came from.
    pub file: PathBuf,
    pub data_dir: PathBuf,
    pub listen: Listen,
    pub lake: Option<LakeSettings>,
    /// By name.
    pub sources: Vec<SourceSpec>,
    pub table_rules: Vec<TableRule>,
    pub login: Login,
    pub policy: Policy,
    pub memory_limit: ByteSize,
    pub spill_dir: PathBuf,
    /// What is fine but should be known, such as a folder that this version does not read.
    pub notes: Vec<String>,
}

/// Addresses of the doors; `None` is a closed door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    pub postgres: Option<SocketAddr>,
    pub http: Option<SocketAddr>,
    pub tls: Option<TlsFiles>,
}

/// PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// The lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeSettings {
    pub name: SourceName,
    pub catalog: LakeCatalog,
    /// `file:///abs/folder` or `s3://bucket/prefix`.
    pub warehouse: String,
    pub s3: Option<S3Settings>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum LakeCatalog {
    /// `sqlite:///abs/catalog.db`
    Sql {
        url: String,
    },
    Rest {
        url: String,
        token: Option<String>,
    },
}

#[derive(Clone, PartialEq, Eq)]
pub struct S3Settings {
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key: Option<String>,
    pub secret_key: Option<String>,
    pub path_style: bool,
}

impl fmt::Debug for LakeCatalog {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Sql { .. }) { "Sql" } else { "Rest" })
    }
}

impl fmt::Debug for S3Settings {
    /// Without the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Settings").field("endpoint", &self.endpoint).field("region", &self.region).finish_non_exhaustive()
    }
}

/// A rule for one table of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRule {
    pub source: SourceName,
    pub schema: String,
    pub table: String,
    /// A query must bound each of these with a filter that the source applies.
    pub require_filter: Vec<String>,
    /// A question is refused where a filter on the table would stay here.
    pub strict: bool,
}

/// How clients log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Everyone is user `local` with every right.
    Open,
    Scram(Vec<User>),
}

/// Somebody who may log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: UserName,
    pub secret: Secret,
}

/// What a password is checked against.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    Password(String),
    /// `SCRAM-SHA-256$4096:salt$stored:server`
    Verifier(String),
}

impl fmt::Debug for Secret {
    /// Never shows what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
