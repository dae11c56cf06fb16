// SPDX-License-Identifier: Apache-2.0
//! Cases in files: what once differed. A failure of the random queries is written as such a file, and is a regression test when it is
//! put into `cases/`.
//!
//! | line | what follows |
//! |---|---|
//! | `-- in app`, `icu`, `billing`, `files` | the script of that place; the table `a` is written `{a}` |
//! | `-- in lake` | names of tables that the lake gets from the truth |
//! | `-- in truth` | the script of the PostgreSQL that holds every table |
//! | `-- in query` | queries, one a line; the table `a` is written `@a` |
//!
//! Other lines that begin with `--` say what it is about.

use super::ground::{Ground, Loaded};
use super::setup::{PLACES, Place, Setup};
use super::trial::{Difference, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct Case {
    scripts: BTreeMap<String, String>,
    pub queries: Vec<String>,
}

impl Case {
    pub fn parse(text: &str) -> Self {
        let mut case = Self::default();
        let mut section = String::new();
        for line in text.lines() {
            match (line.strip_prefix("-- in "), section.as_str()) {
                (Some(place), _) => section = place.trim().to_owned(),
                _ if line.starts_with("--") || line.trim().is_empty() => {}
                (None, "query") => case.queries.push(line.to_owned()),
                (None, place) => {
                    let script = case.scripts.entry(place.to_owned()).or_default();
                    script.push_str(line);
                    script.push('\n');
                }
            }
        }
        case
    }

    /// Makes the tables under names of their own.
    pub async fn load(&self, ground: &Ground) -> Loaded {
        let number = Ground::next_number();
        let mut names = BTreeMap::new();
        for place in PLACES {
            for name in self.tables(place) {
                names.insert(name.clone(), (place, format!("{name}_{number}")));
            }
        }
        let script = |place: &str| {
            let text = self.scripts.get(place).cloned().unwrap_or_default();
            names.iter().fold(text, |text, (name, (_, physical))| text.replace(&format!("{{{name}}}"), physical))
        };
        ground.run(&names, [script("app"), script("icu"), script("billing"), script("files"), script("truth")]).await;
        let loaded = Loaded { names };
        ground.seen_all(&loaded).await;
        loaded
    }

    fn tables(&self, place: Place) -> Vec<String> {
        let script = self.scripts.get(place.word()).map(String::as_str).unwrap_or_default();
        if place == Place::Lake {
            return script.split_whitespace().map(str::to_owned).collect();
        }
        let behind = script.split("CREATE TABLE ").skip(1);
        behind.filter_map(|rest| Some(rest.split_once('{')?.1.split_once('}')?.0.to_owned())).collect()
    }
}

/// A failure as a file.
pub fn written(setup: &Setup, sql: &str, about: &str) -> String {
    let name = |table: &super::setup::Table| format!("{{{}}}", table.name);
    let mut text = format!("-- {about}\n");
    for place in PLACES {
        let tables: Vec<&super::setup::Table> = setup.tables.iter().filter(|table| table.place == place).collect();
        if tables.is_empty() {
            continue;
        }
        let body: Vec<String> = match place {
            Place::Lake => tables.iter().map(|table| table.name.clone()).collect(),
            _ => tables.iter().map(|table| table.script(&name(table))).collect(),
        };
        text.push_str(&format!("-- in {}\n{}\n", place.word(), body.join("\n")));
    }
    let truth: Vec<String> = setup.tables.iter().map(|table| table.truth(&name(table))).collect();
    text.push_str(&format!("-- in truth\n{}\n-- in query\n{sql}\n", truth.join("\n")));
    text
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("invariance/cases");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder of cases").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// Random subsets of each query.
const ROUNDS: u64 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn what_once_differed_is_the_same() {
    let ground = Ground::new().await;
    let mut trial = Trial::of(&ground).await;
    let mut failures: Vec<String> = Vec::new();
    for file in files() {
        let case = Case::parse(&std::fs::read_to_string(&file).expect("a case"));
        assert!(!case.queries.is_empty(), "{} asks nothing", file.display());
        let loaded = case.load(&ground).await;
        for sql in &case.queries {
            for round in 0..ROUNDS {
                if let Some(Difference { kind, expected, actual }) = trial.run(&loaded, sql, round, &mut Default::default()).await {
                    failures.push(format!("{}: {kind}\n  {sql}\n  expected: {expected:?}\n  actual:   {actual:?}", file.display()));
                    break;
                }
            }
        }
        ground.unload(&loaded).await;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
