// SPDX-License-Identifier: Apache-2.0
//! The project's text files as git sees them: tracked, and new ones that are not ignored.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate that only warms the build folder of a shared machine; it is never committed.
const NOT_OURS: &str = "crates/warm/";

/// One text file, its path relative to the root with `/`.
#[derive(Debug, Clone)]
pub struct TextFile {
    pub path: String,
    pub text: String,
}

impl TextFile {
    #[cfg(test)]
    pub fn sample(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|own| own == extension)
    }
}

/// The folder of the workspace: the one above this crate's.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Reads every text file; files that are not UTF-8 are binary and left out.
pub fn read(root: &Path) -> Result<Vec<TextFile>, String> {
    let listed = Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("cannot run git: {error}"))?;
    if !listed.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut files = Vec::new();
    for path in names.split('\0').filter(|path| !path.is_empty() && !path.starts_with(NOT_OURS)) {
        let full = root.join(path);
        // Deleted but not yet committed, or a link that leads nowhere.
        if !full.is_file() {
            continue;
        }
        let bytes = std::fs::read(&full).map_err(|error| format!("cannot read {path}: {error}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}
