// SPDX-License-Identifier: Apache-2.0
//! One configured server: its sessions, what is known about its role, and the errors that name it.

use super::dialect::SMALLEST_PACKET_BYTES;
use super::failure::Failure;
use super::pool::Pool;
use super::role::{Role, role};
use super::session::Session;
use crate::{ServerRole, SourceSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use weir_base::{Error, ErrorCode, Result, SourceName, Span};

/// How long a server's role is believed: a replica can be promoted.
const ROLE_BELIEVED: Duration = Duration::from_secs(60);
const NEVER: i64 = i64::MIN;

#[derive(Debug)]
pub(super) struct Server {
    name: SourceName,
    allow_primary: bool,
    statement_timeout: Duration,
    pool: Arc<Pool>,
    /// The longest packet that the server takes, once it was asked.
    packet_bytes: AtomicUsize,
    /// The latest instant (microseconds since 1970) that the replica was seen to have replayed.
    replayed: AtomicI64,
}

impl Server {
    pub(super) fn new(spec: &SourceSpec, pool: Arc<Pool>) -> Arc<Self> {
        Arc::new(Self {
            name: spec.name.clone(),
            allow_primary: spec.allow_primary,
            statement_timeout: spec.limits.statement_timeout,
            pool,
            packet_bytes: AtomicUsize::new(SMALLEST_PACKET_BYTES),
            replayed: AtomicI64::new(NEVER),
        })
    }

    pub(super) fn name(&self) -> &SourceName {
        &self.name
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    pub(super) fn statement_timeout(&self) -> Duration {
        self.statement_timeout
    }

    /// The server's role, asked once per session and again after a while. Error 42501 for a primary that was not allowed.
    pub(super) async fn admit(&self, session: &mut Session) -> Result<Role, Failure> {
        let known = session.role.filter(|(asked, _)| asked.elapsed() < ROLE_BELIEVED);
        let role = match known {
            Some((_, role)) => role,
            None => role(session).await?,
        };
        if known.is_none() {
            session.role = Some((Instant::now(), role));
        }
        if role.role == ServerRole::Primary && !self.allow_primary {
            return Err(Failure::Ours(self.primary_refused(role)));
        }
        Ok(role)
    }

    /// Asks how long a statement may be.
    pub(super) async fn measure(&self, session: &mut Session) -> Result<(), Failure> {
        let answer = session.query("SELECT @@max_allowed_packet").await?;
        if let Some(bytes) = answer.text(0, 0).and_then(|bytes| bytes.parse().ok()) {
            self.packet_bytes.store(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(super) fn packet_bytes(&self) -> usize {
        self.packet_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn note_replayed(&self, micros: i64) {
        self.replayed.fetch_max(micros, Ordering::Relaxed);
    }

    pub(super) fn replayed(&self) -> Option<i64> {
        Some(self.replayed.load(Ordering::Relaxed)).filter(|micros| *micros != NEVER)
    }

    fn primary_refused(&self, role: Role) -> Error {
        Error::new(ErrorCode::Forbidden, format!("source {} is a primary, not a replica", self.name))
            .with_detail(format!("{}: {}", self.pool.address().place(), role.known_by))
            .with_hint("point the source at a replica, or set `allow_primary: true` for it")
    }

    pub(super) fn cancelled(&self) -> Error {
        Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail(format!("while a statement ran at source {}", self.name))
    }

    pub(super) fn age_unknown(&self) -> Error {
        Error::new(ErrorCode::NotFreshEnough, format!("cannot tell how old the data of source {} is", self.name))
            .with_detail("it is a replica whose replication does not run")
            .with_hint("start replication there again")
    }

    pub(super) fn silent(&self, silence: Duration) -> Failure {
        let error = Error::new(ErrorCode::SourceBroke, format!("source {} does not answer any more", self.name))
            .with_detail(format!("nothing came for {} in the middle of a statement", Span(silence)))
            .with_hint("check the server and the network between");
        Failure::Ours(error)
    }

    pub(super) fn in_statement(&self, failure: Failure) -> Error {
        failure.in_statement(&self.name, Span(self.statement_timeout))
    }
}
