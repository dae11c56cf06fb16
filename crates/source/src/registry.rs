// SPDX-License-Identifier: Apache-2.0
//! The ordered list of connectors. Adding one is a folder, a line here, a dependency line and a line in the test kit.

use crate::Source;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result, SourceName, nearest};
use weir_guard::Limits;

/// What becomes of numbers that our types cannot hold (`values:` of a source).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValuePolicy {
    /// Keep it where the type can hold it, else error.
    #[default]
    Keep,
    Error,
    Null,
    /// To the nearest value that the type can hold (infinities only).
    Clamp,
}

/// A source as resolved from `weir.yaml`.
#[derive(Clone)]
pub struct SourceSpec {
    pub name: SourceName,
    pub kind: String,
    /// Where and as whom; holds the password, so it is never printed.
    pub url: String,
    pub allow_primary: bool,
    pub nan: ValuePolicy,
    pub infinity: ValuePolicy,
    pub limits: Limits,
    /// Connector's own options, such as `driver` and `options` of `adbc`.
    pub options: BTreeMap<String, String>,
}

impl std::fmt::Debug for SourceSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceSpec").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// One kind of source: its word, one sentence, the options it knows beyond the common ones, and how to make one.
pub struct ConnectorKind {
    pub word: &'static str,
    pub about: &'static str,
    /// Name and meaning of each own option.
    pub options: &'static [(&'static str, &'static str)],
    /// Checks the spec and makes the source; opens no connection.
    pub make: fn(SourceSpec) -> Result<Arc<dyn Source>>,
}

/// Every connector that this build has.
pub const CONNECTORS: &[ConnectorKind] = &[crate::adbc::CONNECTOR, crate::mysql::CONNECTOR, crate::postgres::CONNECTOR, crate::sqlite::CONNECTOR];

/// Makes the source that a spec describes. Opens no connection. Errors: an unknown kind, a bad URL, a missing option.
pub fn connect(spec: SourceSpec) -> Result<Arc<dyn Source>> {
    let Some(kind) = CONNECTORS.iter().find(|kind| kind.word == spec.kind) else {
        let near = nearest(&spec.kind, CONNECTORS.iter().map(|kind| kind.word));
        let known: Vec<&str> = CONNECTORS.iter().map(|kind| kind.word).collect();
        let hint = near.first().map_or_else(|| format!("known types: {}", known.join(", ")), |near| format!("did you mean {near}?"));
        return Err(Error::new(ErrorCode::Config, format!("unknown source type {}", spec.kind)).with_detail(format!("source {}", spec.name)).with_hint(hint));
    };
    (kind.make)(spec)
}
