// SPDX-License-Identifier: Apache-2.0
//! Grants: a pattern over table names and the actions it allows.

use std::fmt;
use std::str::FromStr;
use weir_base::TableName;

/// What one may do with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    Drop,
}

impl Action {
    pub const ALL: [Self; 6] = [Self::Select, Self::Insert, Self::Update, Self::Delete, Self::Create, Self::Drop];

    pub fn word(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Create => "create",
            Self::Drop => "drop",
        }
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|action| action.word() == word);
        found.ok_or_else(|| format!("`{word}` is not an action; write select, insert, update, delete, create or drop"))
    }
}

/// `source.schema.table`, each part a name or with `*` for any run of characters. Case counts as it does in names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantPattern {
    parts: [String; 3],
}

impl FromStr for GrantPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split('.').collect();
        match parts.as_slice() {
            [source, schema, table] if parts.iter().all(|part| !part.is_empty()) => {
                Ok(Self { parts: [source.to_string(), schema.to_string(), table.to_string()] })
            }
            _ => Err(format!("`{text}` is not a grant target; write source.schema.table, such as app_pg.public.*")),
        }
    }
}

impl fmt::Display for GrantPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join("."))
    }
}

impl GrantPattern {
    pub fn matches(&self, name: &TableName) -> bool {
        let [source, schema, table] = &self.parts;
        fits(source, name.source.as_str()) && fits(schema, &name.schema) && fits(table, &name.table)
    }

    /// Whether some table of this source could match.
    pub fn touches_source(&self, source: &str) -> bool {
        fits(&self.parts[0], source)
    }

    /// Whether some table of this schema could match.
    pub fn touches_schema(&self, source: &str, schema: &str) -> bool {
        fits(&self.parts[0], source) && fits(&self.parts[1], schema)
    }
}

/// `*` fits any run of characters; everything else fits itself.
fn fits(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What a role may do with the tables that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub on: GrantPattern,
    pub allow: Vec<Action>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let pattern: GrantPattern = "app_pg.public.*".parse().unwrap();
        assert!(pattern.matches(&TableName::new("app_pg", "public", "customers")));
        assert!(!pattern.matches(&TableName::new("app_pg", "private", "customers")));
        assert!(!pattern.matches(&TableName::new("app_pg2", "public", "customers")));
        assert!(fits("c*s", "customers") && fits("*", "") && fits("a*b*c", "aXbYc") && !fits("a*b", "ab c"));
        assert!("app_pg.public".parse::<GrantPattern>().is_err());
    }
}
