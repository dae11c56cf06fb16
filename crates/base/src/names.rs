// SPDX-License-Identifier: Apache-2.0
//! Names of sources, tables and columns, how they are quoted, and which known names are near a wrong one.

use crate::limits::SUGGESTIONS_MAX;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A configured source, as named in `weir.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceName(String);

impl SourceName {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The one name of a table: `source.schema.table`, each part as the source spells it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableName {
    pub source: SourceName,
    pub schema: String,
    pub table: String,
}

impl TableName {
    pub fn new(source: impl Into<String>, schema: impl Into<String>, table: impl Into<String>) -> Self {
        Self { source: SourceName::new(source), schema: schema.into(), table: table.into() }
    }
}

impl fmt::Display for TableName {
    /// Quoted where a part would not survive unquoted: `app_pg.public."MyTable"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", quote_ident(self.source.as_str()), quote_ident(&self.schema), quote_ident(&self.table))
    }
}

/// A column of a table, for messages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    pub table: TableName,
    pub column: String,
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, quote_ident(&self.column))
    }
}

/// A name as it can be typed: bare when it is lower case letters, digits and `_`, else in double quotes.
pub fn quote_ident(name: &str) -> String {
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let bare = starts_well && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if bare { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The known names nearest to a wrong one, best first; empty when none is near. Case does not count.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wrong = wrong.to_lowercase();
    let mut scored: Vec<(f64, &str)> =
        known.into_iter().map(|name| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name)).filter(|(score, _)| *score >= 0.80).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.truncate(SUGGESTIONS_MAX);
    scored.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_where_needed() {
        let name = TableName::new("app_pg", "public", "My\"Table");
        assert_eq!(name.to_string(), "app_pg.public.\"My\"\"Table\"");
    }

    #[test]
    fn near_names_come_best_first() {
        assert_eq!(nearest("costumers", ["orders", "customers", "customer_links"])[0], "customers");
        assert!(nearest("zzz", ["orders", "customers"]).is_empty());
    }
}
