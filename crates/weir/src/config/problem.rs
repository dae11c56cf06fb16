// SPDX-License-Identifier: Apache-2.0
//! Mistakes in `weir.yaml`, each with its place, all of them at once: `weir.yaml:12:5: sources.app_pg.url: …`.

use std::collections::HashMap;
use std::fmt;
use weir_base::{Error, ErrorCode};

/// A place in the file; both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// One mistake. Never shows a value that could be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub at: Position,
    /// `sources.app_pg.limits.connections`; empty for the file as a whole.
    pub key: String,
    pub message: String,
}

/// Every mistake of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    pub file: String,
    pub list: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            let Problem { at, key, message } = problem;
            let newline = if index == 0 { "" } else { "\n" };
            let separator = if key.is_empty() { "" } else { ": " };
            write!(f, "{newline}{}:{}:{}: {key}{separator}{message}", self.file, at.line, at.column)?;
        }
        Ok(())
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        let count = problems.list.len();
        let message = if count == 1 { "configuration has a mistake".into() } else { format!("configuration has {count} mistakes") };
        Error::new(ErrorCode::Config, message).with_detail(problems.to_string())
    }
}

/// Collects mistakes while the file is read, and knows where each key stands.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    positions: HashMap<String, Position>,
    problems: Vec<Problem>,
    notes: Vec<String>,
}

impl Findings {
    pub(crate) fn place(&mut self, key: &str, at: Position) {
        self.positions.insert(key.to_owned(), at);
    }

    pub(crate) fn problem_at(&mut self, at: Position, key: &str, message: impl Into<String>) {
        self.problems.push(Problem { at, key: key.to_owned(), message: message.into() });
    }

    /// Whether a mistake was found at this key or below it already.
    pub(crate) fn spoiled(&self, key: &str) -> bool {
        let below = |other: &str| other.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        self.problems.iter().any(|problem| below(&problem.key))
    }

    /// A mistake at a key: its value's place, or that of the nearest key above it that stands in the file.
    /// The first mistake at a key stands: a later one would only follow from it.
    pub(crate) fn problem(&mut self, key: &str, message: impl Into<String>) {
        if self.problems.iter().any(|problem| problem.key == key) {
            return;
        }
        let mut above = key;
        let at = loop {
            if let Some(at) = self.positions.get(above) {
                break *at;
            }
            match above.rfind(['.', '[']) {
                Some(end) => above = &above[..end],
                None => break self.positions.get("").copied().unwrap_or(Position { line: 1, column: 1 }),
            }
        };
        self.problem_at(at, key, message);
    }

    /// Something that is fine but that the user should know.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The value, or a mistake at `key` and nothing.
    pub(crate) fn accept<T>(&mut self, key: &str, result: Result<T, String>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(key, message);
                None
            }
        }
    }

    pub(crate) fn clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// The notes when there was no mistake, else all mistakes in the order of the file.
    pub(crate) fn finish(mut self, file: &str) -> Result<Vec<String>, Problems> {
        if self.problems.is_empty() {
            return Ok(self.notes);
        }
        self.problems.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| a.key.cmp(&b.key)));
        self.problems.dedup();
        Err(Problems { file: file.to_owned(), list: self.problems })
    }
}

/// `sources` and `app_pg` → `sources.app_pg`.
pub(crate) fn child(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

/// `; did you mean a or b?`, or nothing when nothing is near.
pub(crate) fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = weir_base::nearest(wrong, known);
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}
