// SPDX-License-Identifier: Apache-2.0
//! Idle sessions of one source. A session belongs to a permit or stands idle here, so that idle and in use together never
//! pass `limits.connections`: a session is given back, or has ended, before its permit is.

use super::address::Address;
use super::session::Session;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use weir_base::{Result, SourceName};
use weir_guard::Permit;

/// How long a session may stand idle.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The sessions of one source.
#[derive(Debug)]
pub(super) struct Pool {
    source: SourceName,
    address: Address,
    statement_timeout: Duration,
    idle: Mutex<Vec<(Session, Instant)>>,
    reaping: AtomicBool,
    /// At most one session beside those of the permits: the short one that ends a statement.
    killing: tokio::sync::Mutex<()>,
}

impl Pool {
    pub(super) fn new(source: SourceName, address: Address, statement_timeout: Duration) -> Arc<Self> {
        Arc::new(Self { source, address, statement_timeout, idle: Mutex::default(), reaping: AtomicBool::new(false), killing: tokio::sync::Mutex::default() })
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    async fn open(&self) -> Result<Session> {
        Session::open(&self.source, &self.address, self.statement_timeout).await
    }

    /// Takes back a session whose last answer has been read to its end.
    fn give_back(self: &Arc<Self>, session: Session) {
        self.idle().push((session, Instant::now()));
        if !self.reaping.swap(true, Ordering::AcqRel) {
            tokio::spawn(reap(Arc::downgrade(self)));
        }
    }

    /// Ends the statement that runs in session `id`, over an idle session or a short-lived one of its own. That one comes
    /// on top of the cap, one at a time and for some milliseconds: without it, a source that is full could not be relieved.
    async fn kill(&self, id: u64) {
        let _turn = self.killing.lock().await;
        let opened = match self.take_idle() {
            Some(session) => Ok(session),
            None => self.open().await,
        };
        let mut session = match opened {
            Ok(session) => session,
            Err(error) => {
                tracing::warn!(source = %self.source, session = id, %error, "mysql statement could not be ended");
                return;
            }
        };
        if session.query(&format!("KILL QUERY {id}")).await.is_err() {
            tracing::debug!(source = %self.source, session = id, "mysql statement had ended already");
        }
        session.quit().await;
    }

    /// Closes every idle session.
    pub(super) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle());
        for (session, _) in idle {
            session.quit().await;
        }
    }

    fn take_idle(&self) -> Option<Session> {
        let mut idle = self.idle();
        while let Some((mut session, _)) = idle.pop() {
            if session.quiet() {
                return Some(session);
            }
        }
        None
    }

    fn take_stale(&self) -> (Vec<Session>, bool) {
        let mut idle = self.idle();
        let stale = idle.partition_point(|(_, since)| since.elapsed() >= IDLE_MAX);
        let sessions = idle.drain(..stale).map(|(session, _)| session).collect();
        (sessions, idle.is_empty())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Session, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session in the hands of one permit. Dropped before it was ended in one of the good ways, it ends its statement at the
/// source, says goodbye, and only then gives the permit back.
#[derive(Debug)]
pub(super) struct Lease {
    pool: Arc<Pool>,
    held: Option<(Session, Permit)>,
    used_before: bool,
}

impl Lease {
    /// An idle session that is still well, else a fresh one.
    pub(super) async fn take(pool: &Arc<Pool>, permit: Permit) -> Result<Self> {
        let idle = pool.take_idle();
        let used_before = idle.is_some();
        let session = match idle {
            Some(session) => session,
            None => pool.open().await?,
        };
        Ok(Self { pool: pool.clone(), held: Some((session, permit)), used_before })
    }

    pub(super) fn session(&mut self) -> &mut Session {
        &mut self.held.as_mut().expect("only the methods that consume a lease take its session").0
    }

    /// Whether the session has stood idle, so that it may have died there unnoticed.
    pub(super) fn used_before(&self) -> bool {
        self.used_before
    }

    /// A fresh session in place of one that turned out to be dead.
    pub(super) async fn renew(&mut self) -> Result<()> {
        let fresh = self.pool.open().await?;
        *self.session() = fresh;
        self.used_before = false;
        Ok(())
    }

    /// The last answer has been read to its end: the session goes back to the idle ones, then the permit to the guard.
    pub(super) fn give_back(mut self) {
        if let Some((session, permit)) = self.held.take() {
            self.pool.give_back(session);
            drop(permit);
        }
    }

    /// The server has ended the statement, or the connection: nothing is left to be ended there.
    pub(super) async fn discard(mut self) {
        if let Some((session, permit)) = self.held.take() {
            session.quit().await;
            drop(permit);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some((session, permit)) = self.held.take() else { return };
        let pool = self.pool.clone();
        // Outside of a runtime the process is ending, and its sockets with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                pool.kill(session.id).await;
                session.quit().await;
                drop(permit);
            });
        }
    }
}

/// Closes sessions that have stood idle for too long; ends when none is left.
async fn reap(pool: std::sync::Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE_MAX / 4).await;
        let Some(pool) = pool.upgrade() else { return };
        let (stale, empty) = pool.take_stale();
        for session in stale {
            session.quit().await;
        }
        if empty {
            pool.reaping.store(false, Ordering::Release);
            return;
        }
    }
}
