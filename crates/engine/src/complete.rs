// SPDX-License-Identifier: Apache-2.0
//! Completion for shells: sources, schemas, tables, system tables and the words of SQL.

use crate::bind::names::SYSTEM;
use crate::shared::Shared;
use crate::system;
use weir_base::{TableName, quote_ident};
use weir_policy::Principal;

const KEYWORDS: [&str; 34] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "LEFT JOIN",
    "INNER JOIN",
    "ON",
    "USING",
    "UNION ALL",
    "WITH",
    "AS",
    "DISTINCT",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "EXPLAIN",
    "CREATE TABLE",
    "CREATE SCHEMA",
    "INSERT INTO",
    "DROP TABLE",
    "SET",
    "SHOW",
];
const ANSWERS_MAX: usize = 200;

/// Words and names that begin with the last word of `prefix`, as they would be typed.
pub(crate) async fn complete(shared: &Shared, principal: &Principal, prefix: &str) -> Vec<String> {
    let word = prefix.rsplit(|c: char| c.is_whitespace() || "(),;=<>".contains(c)).next().unwrap_or_default().to_lowercase();
    let mut found: Vec<String> = names(shared, principal).await.into_iter().filter(|name| name.to_lowercase().starts_with(&word)).collect();
    if !word.contains('.') {
        found.extend(KEYWORDS.iter().filter(|keyword| keyword.to_lowercase().starts_with(&word)).map(|keyword| keyword.to_string()));
    }
    found.truncate(ANSWERS_MAX);
    found
}

async fn names(shared: &Shared, principal: &Principal) -> Vec<String> {
    let mut names: Vec<String> = system::NAMES.iter().map(|name| format!("{SYSTEM}.{name}")).collect();
    for handle in shared.parts.places.sources() {
        // A source that does not answer has nothing to offer here; its error shows when it is asked.
        let Ok(catalog) = handle.catalog().await else { continue };
        let named = catalog.tables().iter().map(|table| TableName { source: handle.name().clone(), schema: table.schema.clone(), table: table.name.clone() });
        names.extend(named.filter(|name| principal.may_see(name)).map(|name| name.to_string()));
    }
    if let Some(place) = &shared.parts.places.lake {
        for schema in place.lake.schemas().await.unwrap_or_default() {
            let tables = place.lake.tables(&schema).await.unwrap_or_default();
            let named = tables.iter().map(|table| TableName::new(place.name.as_str(), &schema, table));
            names.extend(named.filter(|name| principal.may_see(name)).map(|name| name.to_string()));
        }
    }
    let reached = shared.parts.places.names().into_iter().filter(|name| principal.may_reach(name.as_str()));
    let prefixes: Vec<String> = reached.map(|name| format!("{}.", quote_ident(name.as_str()))).collect();
    prefixes.into_iter().chain(names).collect()
}
