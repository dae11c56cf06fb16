// SPDX-License-Identifier: Apache-2.0
//! The demo's project folder: `weir.yaml` (the federated example, word for word where every server was to be had), the
//! variables it names, the lake, and a note about what was loaded.

use super::market::Market;
use super::system::System;
use crate::config::{self, Config};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use weir_base::{Error, ErrorCode, Result, Timestamp};
use weir_sandbox::Keeper;

const EXAMPLE: &str = include_str!("../../../../examples/federated/weir.yaml");
const LOADED: &str = "demo.json";
/// What a demo makes in its folder, and may remove.
const OURS: [&str; 11] = ["servers", "lake", "data", "weir.yaml", "env.sh", LOADED, "app_pg.db", "support_pg.db", "billing_mysql.db", "marts.db", "crm.db"];

/// A folder; a temporary one goes with its value.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    temporary: Option<tempfile::TempDir>,
    embedded: bool,
    /// Removes a temporary folder also where we end without a word.
    _keeper: Option<Keeper>,
}

/// What a folder holds: the customers of its market, and their "now".
#[derive(Debug, Serialize, Deserialize)]
struct Loaded {
    customers: u64,
    now: Timestamp,
    /// In SQLite files instead of servers.
    embedded: bool,
    /// Written again once everything is loaded.
    complete: bool,
}

impl Project {
    /// The folder that was named, or a temporary one. Error: it holds something else.
    pub fn open(named: Option<&Path>, embedded: bool) -> Result<Self> {
        let Some(named) = named else {
            let made = tempfile::Builder::new().prefix("weir-demo-").tempdir().map_err(|error| unusable(&std::env::temp_dir(), &error))?;
            // Servers that run under accounts of their own have to pass through.
            let folder = made.path().canonicalize().map_err(|error| unusable(made.path(), &error))?;
            let keeper = Keeper::of(&folder)?;
            return Ok(Self { folder, temporary: Some(made), embedded, _keeper: Some(keeper) });
        };
        std::fs::create_dir_all(named).map_err(|error| unusable(named, &error))?;
        let folder = named.canonicalize().map_err(|error| unusable(named, &error))?;
        let empty = std::fs::read_dir(&folder).map_err(|error| unusable(&folder, &error))?.next().is_none();
        if !empty && !folder.join(LOADED).exists() {
            return Err(Error::new(ErrorCode::Config, "the folder holds something other than a demo")
                .with_detail(folder.display().to_string())
                .with_hint("name a new or an empty folder"));
        }
        Ok(Self { folder, temporary: None, embedded, _keeper: None })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn embedded(&self) -> bool {
        self.embedded
    }

    pub fn kept(&self) -> bool {
        self.temporary.is_none()
    }

    /// The "now" of the market that the folder holds already, if that has the wanted size and is of the same day.
    pub fn loaded(&self, wanted: &Market) -> Result<Option<Timestamp>> {
        let file = self.folder.join(LOADED);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&file, &error)),
        };
        // A note of another version says nothing: the data are loaded again.
        let Ok(loaded) = serde_json::from_str::<Loaded>(&text) else { return Ok(None) };
        let same_day = loaded.now.to_string().get(..10) == wanted.now().to_string().get(..10);
        let same_size = loaded.customers == wanted.customer_count() && loaded.embedded == self.embedded;
        Ok((loaded.complete && same_day && same_size).then_some(loaded.now))
    }

    /// Removes what an earlier demo left, and notes that loading begins.
    pub fn clear(&self, market: &Market) -> Result<()> {
        for name in OURS {
            let path = self.folder.join(name);
            let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unusable(&path, &error)),
                _ => {}
            }
        }
        self.note(market, false)
    }

    /// Notes whether everything is loaded.
    pub fn note(&self, market: &Market, complete: bool) -> Result<()> {
        let loaded = Loaded { customers: market.customer_count(), now: market.now(), embedded: self.embedded, complete };
        let text = serde_json::to_string(&loaded).map_err(|error| Error::internal("a note cannot be written").with_detail(error.to_string()))?;
        self.write(LOADED, &text, 0o644)
    }

    /// Writes `weir.yaml` and `env.sh`, and gives the configuration they make.
    pub fn configure(&self, systems: &[System]) -> Result<Config> {
        let mut variables = vec![("WEIR_DEMO".to_owned(), self.folder.display().to_string())];
        let mut yaml = EXAMPLE.to_owned();
        for system in systems {
            variables.extend(system.variables()?);
            if let Some(block) = system.replacement() {
                yaml = replace_source(&yaml, system.role.name, &block);
            }
        }
        let exports: String = variables.iter().map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', r"'\''"))).collect();
        self.write("env.sh", &format!("# The variables that weir.yaml names; `. ./env.sh` sets them.\n{exports}"), 0o600)?;
        self.write("weir.yaml", &yaml, 0o644)?;
        let lookup = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        config::parse(&yaml, &self.folder.join("weir.yaml"), &lookup).map_err(Error::from)
    }

    fn write(&self, name: &str, text: &str, mode: u32) -> Result<()> {
        let path = self.folder.join(name);
        let opened = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&path);
        opened.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes())).map_err(|error| unusable(&path, &error))
    }
}

/// The example with other lines below the source's name.
fn replace_source(yaml: &str, name: &str, block: &str) -> String {
    let heading = format!("  {name}:\n");
    let Some((before, after)) = yaml.split_once(&heading) else { return yaml.to_owned() };
    let inside = |line: &&str| line.starts_with("    ");
    let skipped: usize = after.split_inclusive('\n').take_while(inside).map(str::len).sum();
    format!("{before}{heading}{block}{}", &after[skipped..])
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Config, "the demo's folder cannot be used")
        .with_detail(format!("{}: {error}", path.display()))
        .with_hint("name another one with --dir")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_replaced_and_its_neighbours_stay() {
        let replaced = replace_source(EXAMPLE, "marts", "    type: sqlite\n    url: \"sqlite://./marts.db\"\n");
        assert!(replaced.contains("  marts:\n    type: sqlite\n    url: \"sqlite://./marts.db\"\n\n  # What the sales team exported"), "{replaced}");
        assert!(!replaced.contains("adbc"));
    }

    #[test]
    fn only_a_demo_of_the_same_size_and_day_is_used_again() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("demo");
        let at = |text: &str| serde_json::from_value::<Timestamp>(serde_json::Value::String(text.into())).unwrap();
        let market = Market::new(0.01, at("2026-11-30T10:00:00Z")).unwrap();
        let project = Project::open(Some(&folder), false).unwrap();
        project.clear(&market).unwrap();
        assert_eq!(project.loaded(&market).unwrap(), None);
        project.note(&market, true).unwrap();
        assert_eq!(project.loaded(&Market::new(0.01, at("2026-11-30T23:00:00Z")).unwrap()).unwrap(), Some(market.now()));
        assert_eq!(project.loaded(&Market::new(0.01, at("2026-12-01T00:00:00Z")).unwrap()).unwrap(), None);
        assert_eq!(project.loaded(&Market::new(0.02, at("2026-11-30T10:00:00Z")).unwrap()).unwrap(), None);

        let foreign = outer.path().join("foreign");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::write(foreign.join("thesis.tex"), "").unwrap();
        assert_eq!(Project::open(Some(&foreign), false).unwrap_err().code(), ErrorCode::Config);
    }
}
