// SPDX-License-Identifier: Apache-2.0
//! The health of a server: version, role, clock, lag, and what the account may do beyond reading.

use super::calendar::micros_from_text;
use super::failure::Failure;
use super::role::{Lag, Role, lag, role, writing_rights};
use super::session::Session;
use crate::{Health, ServerRole};
use std::time::Instant;
use weir_base::{Clock, SystemClock, Timestamp};

/// Most rights that a note lists.
const RIGHTS_NOTED_MAX: usize = 5;

/// Asks the server about itself. Does not mind a primary: it is asked to find that out.
pub(super) async fn probe(session: &mut Session) -> Result<Health, Failure> {
    let asked_at = SystemClock.now();
    let asked = Instant::now();
    let clock = session.query("SELECT UTC_TIMESTAMP(6)").await?;
    let round_trip = asked.elapsed();
    let there = clock.text(0, 0).and_then(micros_from_text).map(Timestamp::from_micros);
    let there = there.ok_or(Failure::Protocol("the server does not tell its time"))?;
    let here = Timestamp::from_micros(asked_at.micros() + round_trip.as_micros() as i64 / 2);

    let role = role(session).await?;
    let replica_lag_ms = match role.lag_query {
        Some(query) => match lag(&session.query(query).await?) {
            Some(Lag::Seconds(seconds)) => Some(seconds as i64 * 1_000),
            Some(Lag::Unknown) | None => None,
        },
        None => None,
    };
    let (account_writes, account_note) = account(session, role).await?;
    Ok(Health {
        version: version(session),
        role: role.role,
        account_writes,
        account_note,
        clock_skew_ms: here.ms_until(there),
        replica_lag_ms,
        latency_ms: round_trip.as_secs_f64() * 1_000.0,
    })
}

/// `MariaDB 10.11.14`, without what the packager has hung on.
fn version(session: &Session) -> String {
    let number = session.version.split('-').next().unwrap_or(&session.version);
    format!("{} {number}", session.product.word())
}

async fn account(session: &mut Session, role: Role) -> Result<(Option<bool>, Option<String>), Failure> {
    let unknown_lag = (role.role == ServerRole::Replica && role.lag_query.is_none()).then(|| "may not see how far the replica is behind".to_owned());
    let grants = match session.query("SHOW GRANTS").await {
        Ok(grants) => grants,
        Err(Failure::Server(_)) => return Ok((None, Some("may not see its own grants".to_owned()))),
        Err(failure) => return Err(failure),
    };
    let rights: Vec<String> = grants.rows.iter().filter_map(|row| writing_rights(row.first()?.as_deref()?)).collect();
    let mut notes: Vec<String> = rights.iter().take(RIGHTS_NOTED_MAX).cloned().collect();
    if rights.len() > RIGHTS_NOTED_MAX {
        notes.push(format!("and on {} more", rights.len() - RIGHTS_NOTED_MAX));
    }
    notes.extend(unknown_lag);
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok((Some(!rights.is_empty()), note))
}
