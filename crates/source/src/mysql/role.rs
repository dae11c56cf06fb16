// SPDX-License-Identifier: Apache-2.0
//! Whether a server is a replica, how far it is behind, and what the account may do there.

use super::failure::Failure;
use super::session::{Product, Session, TextResult};
use crate::ServerRole;

/// What could be found out about a server's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) role: ServerRole,
    /// The query that tells the lag, when the account may ask.
    pub(super) lag_query: Option<&'static str>,
    /// How the role is known, in words.
    pub(super) known_by: &'static str,
}

/// How far a replica is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lag {
    Seconds(u64),
    /// Replication is stopped or broken: the data stands still.
    Unknown,
}

const STATUS_MARIADB: &str = "SHOW ALL SLAVES STATUS";
const STATUS_MYSQL: &str = "SHOW REPLICA STATUS";
const STATUS_OLD: &str = "SHOW SLAVE STATUS";

/// Asks the server. A right that the account lacks is no error: then less is known.
pub(super) async fn role(session: &mut Session) -> Result<Role, Failure> {
    let queries: &[&'static str] = match session.product {
        Product::MariaDb => &[STATUS_MARIADB],
        Product::MySql => &[STATUS_MYSQL, STATUS_OLD],
    };
    for query in queries {
        match session.query(query).await {
            Ok(status) if status.rows.is_empty() => {
                return by_read_only(session, "it replicates from no other server and takes writes").await;
            }
            Ok(_) => return Ok(Role { role: ServerRole::Replica, lag_query: Some(query), known_by: "its replication status" }),
            Err(Failure::Server(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    let running = session.query("SHOW GLOBAL STATUS LIKE 'Slaves_running'").await?;
    if running.number(0, 1).is_some_and(|count| count > 0) {
        return Ok(Role { role: ServerRole::Replica, lag_query: None, known_by: "running replication, whose lag the account may not see" });
    }
    by_read_only(session, "it takes writes, and the account may not see its replication status").await
}

/// A server that takes no writes is not the one to protect, whatever keeps it up to date.
async fn by_read_only(session: &mut Session, primary_because: &'static str) -> Result<Role, Failure> {
    let variables = session.query("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'innodb_read_only')").await?;
    let read_only = variables.rows.iter().any(|row| matches!(row.get(1), Some(Some(value)) if matches!(value.as_str(), "ON" | "1")));
    let (role, known_by) = if read_only { (ServerRole::Replica, "it is set to take no writes (read_only)") } else { (ServerRole::Primary, primary_because) };
    Ok(Role { role, lag_query: None, known_by })
}

/// The largest lag of all channels of a replication status.
pub(super) fn lag(status: &TextResult) -> Option<Lag> {
    let column = status.names.iter().position(|name| matches!(name.as_str(), "Seconds_Behind_Master" | "Seconds_Behind_Source"))?;
    let lags = status.rows.iter().map(|row| row.get(column)?.as_deref()?.parse::<u64>().ok());
    Some(lags.collect::<Option<Vec<u64>>>().and_then(|lags| lags.into_iter().max()).map_or(Lag::Unknown, Lag::Seconds))
}

impl TextResult {
    pub(super) fn text(&self, row: usize, column: usize) -> Option<&str> {
        self.rows.get(row)?.get(column)?.as_deref()
    }

    pub(super) fn number(&self, row: usize, column: usize) -> Option<u64> {
        self.text(row, column)?.parse().ok()
    }
}

/// What changes data or the server; `USAGE`, `SELECT`, `SHOW …`, `PROCESS` and the replication monitors do not.
const WRITING: [&str; 21] = [
    "ALL PRIVILEGES",
    "ALL",
    "INSERT",
    "UPDATE",
    "DELETE",
    "DELETE HISTORY",
    "CREATE",
    "DROP",
    "ALTER",
    "INDEX",
    "TRIGGER",
    "EVENT",
    "CREATE VIEW",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "CREATE USER",
    "CREATE TABLESPACE",
    "SUPER",
    "FILE",
    "RELOAD",
    "SHUTDOWN",
];

/// The writing rights in one line of `SHOW GRANTS`: `INSERT, UPDATE on billing.*`. Reads no further than the object, since a
/// password hash may follow.
pub(super) fn writing_rights(grant: &str) -> Option<String> {
    let rest = grant.strip_prefix("GRANT ")?;
    let (rights, object) = split_outside(rest, " ON ")?;
    let object = split_outside(object, " TO ").map_or(object, |(object, _)| object).replace('`', "");
    let mut writing: Vec<&str> = Vec::new();
    for right in split_commas(rights) {
        let word = right.split('(').next().unwrap_or(right).trim();
        if WRITING.contains(&word) && !writing.contains(&word) {
            writing.push(word);
        }
    }
    (!writing.is_empty()).then(|| format!("{} on {object}", writing.join(", ")))
}

/// Splits at `word` where it stands outside of quotes and parentheses.
fn split_outside<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let at = outside(text).find(|at| text[*at..].starts_with(word))?;
    Some((&text[..at], &text[at + word.len()..]))
}

fn split_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for at in outside(text).filter(|at| text[*at..].starts_with(',')) {
        parts.push(text[from..at].trim());
        from = at + 1;
    }
    parts.push(text[from..].trim());
    parts
}

/// Byte positions of the characters that stand outside of quotes and parentheses.
fn outside(text: &str) -> impl Iterator<Item = usize> + '_ {
    let (mut quote, mut depth) = (None, 0_u32);
    text.char_indices().filter_map(move |(at, character)| {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '`' | '\'' | '"') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_read_without_the_password_hash() {
        let all = "GRANT ALL PRIVILEGES ON *.* TO `root`@`%` IDENTIFIED BY PASSWORD '*81F5' WITH GRANT OPTION";
        assert_eq!(writing_rights(all).as_deref(), Some("ALL PRIVILEGES on *.*"));
        assert_eq!(writing_rights("GRANT SELECT, SHOW VIEW ON `billing`.* TO `weir_ro`@`%`"), None);
        let columns = "GRANT SELECT (`a`, `insert, delete`), UPDATE (`a`) ON `b`.` ON odd` TO `u`@`%`";
        assert_eq!(writing_rights(columns).as_deref(), Some("UPDATE on b. ON odd"));
        assert_eq!(writing_rights("GRANT `reporting` TO `weir_ro`@`%`"), None);
    }

    #[test]
    fn the_slowest_channel_counts() {
        let status = |lags: &[Option<&str>]| TextResult {
            names: vec!["Slave_IO_Running".to_owned(), "Seconds_Behind_Master".to_owned()],
            rows: lags.iter().map(|lag| vec![Some("Yes".to_owned()), lag.map(str::to_owned)]).collect(),
        };
        assert_eq!(lag(&status(&[Some("3"), Some("12")])), Some(Lag::Seconds(12)));
        assert_eq!(lag(&status(&[Some("3"), None])), Some(Lag::Unknown));
    }
}
