// SPDX-License-Identifier: Apache-2.0
//! Where the project keeps things outside the repository: its cache folder and the Python environment made by `make setup`.

use std::path::PathBuf;
use weir_base::{Error, ErrorCode, Result};

/// `$XDG_CACHE_HOME/weir`, by default `~/.cache/weir`.
pub fn cache_dir() -> Result<PathBuf> {
    let named = |key: &str| std::env::var_os(key).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let base = base.ok_or_else(|| Error::new(ErrorCode::NotFound, "no cache folder").with_detail("neither XDG_CACHE_HOME nor HOME is set"))?;
    Ok(base.join("weir"))
}

/// The project's Python environment: the warehouse stand-in, drivers and foreign readers. An error says how to make it.
pub fn venv() -> Result<PathBuf> {
    environment("venv")
}

/// The second Python environment: the peers that answers and speed are compared with (DuckDB with its extensions). It is
/// apart because the stand-in is built on another DuckDB.
pub fn peers_venv() -> Result<PathBuf> {
    environment("venv-peers")
}

fn environment(name: &str) -> Result<PathBuf> {
    let venv = cache_dir()?.join(name);
    if venv.join("bin/python").exists() {
        return Ok(venv);
    }
    let error = Error::new(ErrorCode::NotFound, "a python environment of the project is missing");
    Err(error.with_detail(format!("looked for {}", venv.display())).with_hint("run `make setup`"))
}
