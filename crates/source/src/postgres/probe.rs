// SPDX-License-Identifier: Apache-2.0
//! How a server is: version, role, what Weir's account may do there, clock, lag; and what it forecasts for a statement.

use super::session::{Flavour, Session, comment};
use crate::{Estimate, Health, ServerRole, Statement};
use std::time::Instant;
use tokio_postgres::SimpleQueryMessage;
use weir_base::{Clock, SystemClock};

type Failed = tokio_postgres::Error;

/// The rights of the account beyond reading: superuser, and on how many tables it may write.
const RIGHTS: &str = "SELECT r.rolsuper, count(c.oid) FILTER (WHERE has_table_privilege(c.oid, 'INSERT')), \
        count(c.oid) FILTER (WHERE has_table_privilege(c.oid, 'UPDATE')), count(c.oid) FILTER (WHERE has_table_privilege(c.oid, 'DELETE')), \
        r.rolreplication, r.rolcreatedb OR r.rolcreaterole, has_database_privilege(current_database(), 'CREATE') \
    FROM pg_catalog.pg_roles r LEFT JOIN ( \
        SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
        WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%') c ON true \
    WHERE r.rolname = current_user \
    GROUP BY r.rolsuper, r.rolreplication, r.rolcreatedb, r.rolcreaterole";

/// Probes the server over a live session.
pub async fn probe(session: &Session) -> Result<Health, Failed> {
    let sent_at = SystemClock.now();
    let began = Instant::now();
    let preamble = session.preamble("weir/health").await?;
    let round_trip = began.elapsed();
    // The source read its clock about halfway through the round trip.
    let half_ms = i64::try_from(round_trip.as_millis() / 2).unwrap_or(0);
    let role = match preamble.in_recovery {
        Some(true) => ServerRole::Replica,
        Some(false) => ServerRole::Primary,
        None => ServerRole::NotApplicable,
    };
    let lag_ms = preamble.as_of.filter(|_| role == ServerRole::Replica).map(|as_of| as_of.at.ms_until(preamble.now).max(0));
    let (account_writes, account_note) = if session.flavour == Flavour::Postgres { rights(session).await? } else { (None, None) };
    Ok(Health {
        version: short_version(&session.version),
        role,
        account_writes,
        account_note,
        clock_skew_ms: sent_at.ms_until(preamble.now) - half_ms,
        replica_lag_ms: lag_ms,
        latency_ms: round_trip.as_secs_f64() * 1000.0,
    })
}

async fn rights(session: &Session) -> Result<(Option<bool>, Option<String>), Failed> {
    let Some(row) = session.client.query_opt(RIGHTS, &[]).await? else { return Ok((None, None)) };
    let superuser: bool = row.try_get(0)?;
    if superuser {
        return Ok((Some(true), Some("superuser".to_owned())));
    }
    let mut notes = Vec::new();
    for (word, index) in [("INSERT", 1), ("UPDATE", 2), ("DELETE", 3)] {
        let tables: i64 = row.try_get(index)?;
        if tables > 0 {
            notes.push(format!("{word} on {tables} {}", if tables == 1 { "table" } else { "tables" }));
        }
    }
    for (word, index) in [("REPLICATION", 4), ("CREATEDB or CREATEROLE", 5), ("CREATE in the database", 6)] {
        if row.try_get::<_, bool>(index)? {
            notes.push(word.to_owned());
        }
    }
    Ok((Some(!notes.is_empty()), (!notes.is_empty()).then(|| notes.join(", "))))
}

/// `PostgreSQL 15.18` out of the long line that `version()` gives.
fn short_version(version: &str) -> String {
    if let Some(at) = version.find("Redshift") {
        return version[at..].to_owned();
    }
    version.split([' ', ',']).take(2).collect::<Vec<_>>().join(" ")
}

/// What the planner of the source thinks the statement returns. The statement does not run.
pub async fn estimate(session: &Session, statement: Statement) -> Result<Option<Estimate>, Failed> {
    let note = comment(&statement.user, &statement.query_id);
    let as_json = session.flavour == Flavour::Postgres;
    let form = if as_json { "EXPLAIN (FORMAT JSON)" } else { "EXPLAIN" };
    let messages = session.client.simple_query(&format!("{note}{form} {}", statement.sql)).await?;
    let text = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    Ok(text.and_then(if as_json { from_json } else { from_text }))
}

fn from_json(text: &str) -> Option<Estimate> {
    let parsed: serde_json::Value = serde_json::from_str(text).ok()?;
    let plan = parsed.get(0)?.get("Plan")?;
    let rows = plan.get("Plan Rows")?.as_f64()?;
    let width = plan.get("Plan Width")?.as_f64()?;
    Some(Estimate { rows: Some(rows as u64), bytes: Some((rows * width) as u64), cost: plan.get("Total Cost").and_then(serde_json::Value::as_f64) })
}

/// `Seq Scan on t  (cost=0.00..35.50 rows=2550 width=4)`
fn from_text(text: &str) -> Option<Estimate> {
    let number = |key: &str| {
        let rest = &text[text.find(key)? + key.len()..];
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        digits.parse::<f64>().ok()
    };
    let (rows, width) = (number("rows=")?, number("width=")?);
    Some(Estimate { rows: Some(rows as u64), bytes: Some((rows * width) as u64), cost: number("..") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_explain_are_read() {
        let json = r#"[{"Plan":{"Node Type":"Seq Scan","Total Cost":35.5,"Plan Rows":2550,"Plan Width":4}}]"#;
        let expected = Estimate { rows: Some(2550), bytes: Some(10_200), cost: Some(35.5) };
        assert_eq!(from_json(json), Some(expected));
        assert_eq!(from_text("Seq Scan on t  (cost=0.00..35.50 rows=2550 width=4)"), Some(expected));
        assert_eq!(from_text("no plan"), None);
    }

    #[test]
    fn versions_are_short() {
        assert_eq!(short_version("PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc"), "PostgreSQL 15.18");
        assert_eq!(short_version("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc, Redshift 1.0.62614"), "Redshift 1.0.62614");
    }
}
