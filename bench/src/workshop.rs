// SPDX-License-Identifier: Apache-2.0
//! Where a group works, and which of its parts it is asked for.

use crate::weir_here::unusable;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use weir_base::{Error, ErrorCode, Result};

/// Error: `only` names something that the group does not have.
pub fn known_parts(group: &str, parts: &[&str], only: &[String]) -> Result<()> {
    let Some(odd) = only.iter().find(|word| !parts.contains(&word.as_str())) else { return Ok(()) };
    Err(Error::new(ErrorCode::NotFound, format!("group {group} has no part {odd}")).with_hint(format!("its parts are {}", parts.join(", "))))
}

/// The folder in which everything happens: the caller's, which stays, or one that goes at the end.
pub enum Workshop {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Workshop {
    pub fn open(kept: Option<&Path>) -> Result<Self> {
        let Some(kept) = kept else {
            let folder = tempfile::Builder::new().prefix("weir-bench-").tempdir();
            return folder.map(Self::Temporary).map_err(|error| unusable(&std::env::temp_dir(), &error));
        };
        std::fs::create_dir_all(kept).map_err(|error| unusable(kept, &error))?;
        kept.canonicalize().map(Self::Kept).map_err(|error| unusable(kept, &error))
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
