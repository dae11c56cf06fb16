// SPDX-License-Identifier: Apache-2.0
//! One broken rule: where, what, and what to do.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub what: String,
    pub todo: String,
}

impl Finding {
    pub fn new(file: &str, line: usize, what: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into(), todo: todo.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n    {}", self.file, self.line, self.what, self.todo)
    }
}
