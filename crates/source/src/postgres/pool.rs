// SPDX-License-Identifier: Apache-2.0
//! Idle sessions kept for the next statement. Idle ones, used ones and those still hanging up together never pass the cap.

use super::failure;
use super::session::{Opener, Session};
use super::socket::Tally;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use weir_base::limits::{IDLE_CHECK_AFTER_MS, IDLE_SESSION_MS_MAX};
use weir_base::{Error, ErrorCode, Result};
use weir_guard::Permit;

const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// The sessions of one source.
pub struct Pool {
    opener: Opener,
    primary_allowed: bool,
    idle: Mutex<Idle>,
    /// One place a session, given back when the server has hung up.
    places: Arc<Semaphore>,
}

#[derive(Default)]
struct Idle {
    sessions: Vec<Session>,
    reaper_runs: bool,
}

impl Pool {
    pub fn new(opener: Opener, primary_allowed: bool, sessions_max: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(sessions_max.max(1)));
        Arc::new(Self { opener, primary_allowed, idle: Mutex::default(), places })
    }

    pub fn opener(&self) -> &Opener {
        &self.opener
    }

    /// A session for the holder of `permit`: an idle one that still works, or a new one. `reports_primary` opens one on a
    /// primary too, for a probe that only says so. Errors: as `Opener::open`; 57014 when cancelled; 53300 without a place.
    pub async fn lease(self: &Arc<Self>, permit: Permit, reports_primary: bool) -> Result<Lease> {
        if let Some(session) = self.usable_idle(&permit, reports_primary).await {
            return Ok(Lease { pool: self.clone(), used: Some((session, permit)), fresh: false });
        }
        self.lease_fresh(permit, reports_primary).await
    }

    /// As `lease`, never an idle one.
    pub async fn lease_fresh(self: &Arc<Self>, permit: Permit, reports_primary: bool) -> Result<Lease> {
        let tally = Arc::new(Tally::default());
        tally.attach(permit.meter().clone());
        let opening = async {
            let place = tokio::time::timeout(permit.limits().queue_wait_max, self.places.clone().acquire_owned()).await;
            let place = place.map_err(|_| self.no_place())?.map_err(|_| Error::internal("places of a source are gone"))?;
            self.opener.open(place, tally, self.primary_allowed || reports_primary).await
        };
        let session = tokio::select! {
            opened = opening => opened?,
            () = permit.cancel_token().cancelled() => return Err(failure::cancelled(&self.opener.source)),
        };
        Ok(Lease { pool: self.clone(), used: Some((session, permit)), fresh: true })
    }

    /// Ends every idle session and waits for it.
    pub async fn close(&self) {
        let idle = std::mem::take(&mut self.lock().sessions);
        futures::future::join_all(idle.into_iter().map(Session::end)).await;
    }

    fn no_place(&self) -> Error {
        Error::new(ErrorCode::NoPermit, format!("source {} has no session to spare", self.opener.source))
            .with_detail("earlier sessions have not been closed by the server yet")
            .with_hint("try again later")
    }

    async fn usable_idle(&self, permit: &Permit, reports_primary: bool) -> Option<Session> {
        loop {
            let session = self.lock().sessions.pop()?;
            if session.client.is_closed() {
                continue;
            }
            let role_fits = self.primary_allowed || reports_primary || session.in_recovery != Some(false);
            if role_fits && works(&session).await {
                session.tally.attach(permit.meter().clone());
                return Some(session);
            }
            session.end().await;
        }
    }

    fn give_back(self: &Arc<Self>, mut session: Session) {
        session.tally.detach();
        if session.client.is_closed() {
            return;
        }
        session.idle_since = Instant::now();
        let mut idle = self.lock();
        idle.sessions.push(session);
        if !idle.reaper_runs {
            idle.reaper_runs = true;
            tokio::spawn(reap(Arc::downgrade(self)));
        }
    }

    /// Sessions that nobody used for long, and whether any is left.
    fn expired(&self) -> (Vec<Session>, bool) {
        let mut idle = self.lock();
        let long = Duration::from_millis(IDLE_SESSION_MS_MAX);
        let (expired, kept) = std::mem::take(&mut idle.sessions).into_iter().partition(|session| session.idle_since.elapsed() >= long);
        idle.sessions = kept;
        idle.reaper_runs = !idle.sessions.is_empty();
        (expired, idle.reaper_runs)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A round trip, only for a session that has been idle long enough for a firewall or a restart to have taken it.
async fn works(session: &Session) -> bool {
    if session.idle_since.elapsed() < Duration::from_millis(IDLE_CHECK_AFTER_MS) {
        return true;
    }
    matches!(tokio::time::timeout(HEALTH_CHECK_TIMEOUT, session.client.check_connection()).await, Ok(Ok(())))
}

async fn reap(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(Duration::from_millis(IDLE_SESSION_MS_MAX / 4)).await;
        let Some(pool) = pool.upgrade() else { return };
        let (expired, more) = pool.expired();
        futures::future::join_all(expired.into_iter().map(Session::end)).await;
        if !more {
            return;
        }
    }
}

/// A session in use under a permit. Dropped without `give_back` it is cancelled and ended, since nobody knows what it still does.
pub struct Lease {
    pool: Arc<Pool>,
    used: Option<(Session, Permit)>,
    fresh: bool,
}

impl Lease {
    /// Error: a lease that was given back, which no caller keeps.
    pub fn session(&self) -> Result<&Session> {
        self.used.as_ref().map(|(session, _)| session).ok_or_else(|| Error::internal("session was given back"))
    }

    pub fn permit(&self) -> Result<&Permit> {
        self.used.as_ref().map(|(_, permit)| permit).ok_or_else(|| Error::internal("session was given back"))
    }

    /// Whether the session was opened for this use.
    pub fn fresh(&self) -> bool {
        self.fresh
    }

    /// The session is at rest: the next one may have it. The permit goes after it.
    pub fn give_back(mut self) {
        if let Some((session, permit)) = self.used.take() {
            self.pool.give_back(session);
            drop(permit);
        }
    }

    /// Ends the broken session and gives its permit back for a fresh one.
    pub async fn take_over(&mut self) -> Result<Permit> {
        let Some((session, permit)) = self.used.take() else { return Err(Error::internal("session was given back")) };
        session.end().await;
        Ok(permit)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some((session, permit)) = self.used.take() else { return };
        let pool = self.pool.clone();
        // Outside a runtime there is nobody to wait for the server; the socket closes with the runtime that owned it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            pool.opener.cancel_session(&session).await;
            session.end().await;
            drop(permit);
        });
    }
}
