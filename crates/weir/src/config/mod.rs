// SPDX-License-Identifier: Apache-2.0
//! Configuration: finds `weir.yaml`, reads it, and reports every mistake at once with its place.

mod access;
mod document;
mod environment;
mod paths;
mod problem;
mod raw;
mod resolve;
mod resolved;
mod shape;
mod sources;
mod written;

pub use environment::Lookup;
pub use problem::{Position, Problem, Problems};
pub use raw::schema;
pub use resolved::{Config, LakeCatalog, LakeSettings, Listen, Login, S3Settings, Secret, TableRule, TlsFiles, User};

use problem::Findings;
use std::path::{Path, PathBuf};
use weir_base::{Error, ErrorCode, Result};

const FILE: &str = "weir.yaml";
/// More than that is not a configuration.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The file that was asked for, or the nearest `weir.yaml` from the current folder upwards.
pub fn find(asked: Option<&Path>) -> Result<PathBuf> {
    let here = std::env::current_dir().map_err(|error| unreadable(Path::new("."), &error))?;
    if let Some(asked) = asked {
        let path = here.join(asked);
        let path = if path.is_dir() { path.join(FILE) } else { path };
        return std::path::absolute(&path).map_err(|error| unreadable(&path, &error));
    }
    here.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file()).ok_or_else(|| {
        Error::new(ErrorCode::Config, "no weir.yaml in this folder or above it")
            .with_detail(here.display().to_string())
            .with_hint("name one with --config, or run `weir check --schema` to see what one may contain")
    })
}

/// Reads and checks a file with the process's environment. Errors: `Config`, with every mistake in the detail.
pub fn load(file: &Path) -> Result<Config> {
    let size = std::fs::metadata(file).map_err(|error| unreadable(file, &error))?.len();
    if size > FILE_BYTES_MAX {
        return Err(Error::new(ErrorCode::Config, "configuration is too large").with_detail(file.display().to_string()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    parse(&text, file, &|name| std::env::var(name).ok()).map_err(Error::from)
}

/// Checks a text as if it stood in `file`.
pub fn parse(text: &str, file: &Path, lookup: Lookup<'_>) -> Result<Config, Problems> {
    let mut findings = Findings::default();
    let config = read(text, file, lookup, &mut findings);
    let notes = findings.finish(&shown(file))?;
    let nothing = || Problems { file: shown(file), list: Vec::new() };
    config.map(|config| Config { notes, ..config }).ok_or_else(nothing)
}

fn read(text: &str, file: &Path, lookup: Lookup<'_>, findings: &mut Findings) -> Option<Config> {
    let mut document = document::read(text.trim_start_matches('\u{feff}'), findings)?;
    environment::substitute(&mut document, "", lookup, findings);
    let shaped = shape::check(&document, &schema(), findings);
    match serde_json::from_value(shaped) {
        Ok(raw) => resolve::resolve(raw, file, findings),
        Err(_) if !findings.clean() => None,
        Err(error) => {
            findings.problem("", format!("cannot be used: {error}"));
            None
        }
    }
}

/// The file as the user would name it: relative to the current folder where it lies below it.
fn shown(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(&here).unwrap_or(file).display().to_string()
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Config, "configuration cannot be read")
        .with_detail(format!("{}: {error}", file.display()))
        .with_hint("name a readable file with --config")
}
