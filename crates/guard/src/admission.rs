// SPDX-License-Identifier: Apache-2.0
//! Admission to one source: a hard cap on sessions, a fair and bounded queue, and a group of permits per query so that
//! the fragments of one query never wait for those of another halfway.

use crate::{Ledger, Limits, Permit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use weir_base::{Error, ErrorCode, Result, SourceName};

/// One in so many sessions is left to others by whoever takes more than it needs.
const RESERVE_SHARE: usize = 4;

/// What a permit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Query,
    Metadata,
    Health,
}

/// The guard of one source.
#[derive(Debug)]
pub struct Guard {
    source: SourceName,
    limits: Arc<Limits>,
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// How busy a source is, for `weir sources` and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLoad {
    pub connections_max: usize,
    pub in_use: usize,
    pub waiting: usize,
}

impl Guard {
    pub fn new(source: SourceName, limits: Limits) -> Arc<Self> {
        let limits = Limits { connections: limits.connections.max(1), ..limits };
        let slots = Arc::new(Semaphore::new(limits.connections));
        Arc::new(Self { source, limits: Arc::new(limits), slots, waiting: AtomicUsize::new(0) })
    }

    pub fn source(&self) -> &SourceName {
        &self.source
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn load(&self) -> GuardLoad {
        GuardLoad {
            connections_max: self.limits.connections,
            in_use: self.limits.connections - self.slots.available_permits().min(self.limits.connections),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    /// Admits a query that will run `statements` statements here, as many at once as the cap allows.
    /// Errors: 53300 when the queue is full or the wait was too long, 57014 when cancelled while waiting.
    pub async fn admit(self: &Arc<Self>, statements: usize, ledger: &Arc<Ledger>, cancel: &CancellationToken) -> Result<Admission> {
        let wanted = statements.clamp(1, self.limits.connections);
        let asked = Instant::now();
        let taken = self.take(wanted, cancel).await?;
        Ok(Admission {
            guard: self.clone(),
            ledger: ledger.clone(),
            cancel: cancel.clone(),
            queued: asked.elapsed(),
            group: Arc::new(Group { free: Mutex::new(Free { slots: split(taken), to_come: statements }), given_back: Notify::new() }),
        })
    }

    /// A single permit outside any query: metadata and health checks count against the same cap.
    pub async fn permit(self: &Arc<Self>, _purpose: Purpose) -> Result<Permit> {
        let admission = self.admit(1, &Ledger::new(), &CancellationToken::new()).await?;
        admission.permit().await
    }

    async fn take(&self, wanted: usize, cancel: &CancellationToken) -> Result<OwnedSemaphorePermit> {
        let wanted = wanted as u32;
        if let Ok(taken) = self.slots.clone().try_acquire_many_owned(wanted) {
            return Ok(taken);
        }
        let _place = self.queue_up()?;
        tokio::select! {
            taken = self.slots.clone().acquire_many_owned(wanted) => taken.map_err(|_| Error::internal("permit pool closed")),
            () = cancel.cancelled() => Err(cancelled(&self.source)),
            () = tokio::time::sleep(self.limits.queue_wait_max) => Err(self.waited_too_long()),
        }
    }

    fn queue_up(&self) -> Result<Place<'_>> {
        let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Place(&self.waiting);
        if ahead < self.limits.queue_waiting_max {
            return Ok(place);
        }
        Err(Error::new(ErrorCode::NoPermit, format!("queue for source {} is full", self.source))
            .with_detail(format!("{ahead} requests wait already, queue.max_waiting allows {}", self.limits.queue_waiting_max))
            .with_hint("try again later"))
    }

    fn waited_too_long(&self) -> Error {
        let wait = weir_base::Span(self.limits.queue_wait_max);
        Error::new(ErrorCode::NoPermit, format!("waited too long for a permit of source {}", self.source))
            .with_detail(format!("all {} connections were in use for {wait} (queue.max_wait)", self.limits.connections))
            .with_hint("try again later, or ask for `limits.connections` of that source to be raised")
    }
}

/// A place in the queue, given up on drop.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn cancelled(source: &SourceName) -> Error {
    Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail(format!("while it waited for a permit of source {source}"))
}

fn split(mut taken: OwnedSemaphorePermit) -> Vec<OwnedSemaphorePermit> {
    let mut slots = Vec::with_capacity(taken.num_permits());
    while taken.num_permits() > 1 {
        match taken.split(1) {
            Some(one) => slots.push(one),
            None => break,
        }
    }
    slots.push(taken);
    slots
}

/// A query's leave to use one source: a group of sessions that its statements share.
#[derive(Debug, Clone)]
pub struct Admission {
    guard: Arc<Guard>,
    ledger: Arc<Ledger>,
    cancel: CancellationToken,
    queued: Duration,
    group: Arc<Group>,
}

#[derive(Debug)]
struct Group {
    free: Mutex<Free>,
    given_back: Notify,
}

#[derive(Debug)]
struct Free {
    slots: Vec<OwnedSemaphorePermit>,
    /// Statements of the query that have not begun. Sessions beyond that number go back to the source.
    to_come: usize,
}

impl Admission {
    /// A permit for the next statement of this query. Errors as for `Guard::admit`.
    pub async fn permit(&self) -> Result<Permit> {
        let asked = Instant::now();
        let deadline = tokio::time::sleep(self.guard.limits.queue_wait_max);
        tokio::pin!(deadline);
        let slot = loop {
            let given_back = self.group.given_back.notified();
            if let Some(slot) = self.group.take() {
                break slot;
            }
            tokio::select! {
                () = given_back => {}
                () = self.cancel.cancelled() => return Err(cancelled(&self.guard.source)),
                () = &mut deadline => return Err(self.needs_more_at_once()),
            }
        };
        let meter = self.ledger.open(&self.guard.source, &self.guard.limits, self.queued + asked.elapsed());
        let slot = Slot { held: Some(slot), group: self.group.clone() };
        Ok(Permit::new(self.guard.source.clone(), self.guard.limits.clone(), meter, self.cancel.child_token(), slot))
    }

    /// Permits for more sessions than the query has, at most so many, without waiting: none while somebody waits for the source, and a
    /// quarter of its sessions (at least one) stays free for others.
    pub fn spare(&self, most: usize) -> Vec<Permit> {
        let guard = &self.guard;
        let reserve = (guard.limits.connections / RESERVE_SHARE).max(1);
        let mut permits = Vec::new();
        while permits.len() < most && guard.waiting.load(Ordering::Relaxed) == 0 && guard.slots.available_permits() > reserve {
            let Ok(slot) = guard.slots.clone().try_acquire_owned() else { break };
            let meter = self.ledger.open(&guard.source, &guard.limits, Duration::ZERO);
            let slot = Slot { held: Some(slot), group: self.group.clone() };
            permits.push(Permit::new(guard.source.clone(), guard.limits.clone(), meter, self.cancel.child_token(), slot));
        }
        permits
    }

    fn needs_more_at_once(&self) -> Error {
        Error::new(ErrorCode::NoPermit, format!("query needs more connections to source {} at once than it allows", self.guard.source))
            .with_detail(format!("limits.connections allows {}", self.guard.limits.connections))
            .with_hint("read fewer tables of that source in one query, or ask for its limit to be raised")
    }
}

impl Group {
    fn take(&self) -> Option<OwnedSemaphorePermit> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = free.slots.pop()?;
        free.to_come = free.to_come.saturating_sub(1);
        // Sessions that no statement to come can use go back to the source at once.
        let keep = free.to_come.min(free.slots.len());
        free.slots.truncate(keep);
        Some(slot)
    }

    fn give_back(&self, slot: OwnedSemaphorePermit) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.slots.len() < free.to_come {
            free.slots.push(slot);
            self.given_back.notify_one();
        }
    }
}

/// One session of a group; goes back to it on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    held: Option<OwnedSemaphorePermit>,
    group: Arc<Group>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(slot) = self.held.take() {
            self.group.give_back(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(connections: usize, waiting: usize) -> Arc<Guard> {
        let limits = Limits { connections, queue_waiting_max: waiting, queue_wait_max: Duration::from_millis(20), ..Limits::default() };
        Guard::new(SourceName::new("app_pg"), limits)
    }

    #[tokio::test]
    async fn never_more_permits_than_connections() {
        let guard = guard(2, 10);
        let first = guard.permit(Purpose::Health).await.unwrap();
        let _second = guard.permit(Purpose::Metadata).await.unwrap();
        assert_eq!(guard.permit(Purpose::Health).await.unwrap_err().code(), ErrorCode::NoPermit);
        drop(first);
        guard.permit(Purpose::Health).await.unwrap();
        assert_eq!(guard.load(), GuardLoad { connections_max: 2, in_use: 1, waiting: 0 });
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let guard = guard(1, 0);
        let _held = guard.permit(Purpose::Health).await.unwrap();
        assert_eq!(guard.permit(Purpose::Health).await.unwrap_err().message(), "queue for source app_pg is full");
    }

    #[tokio::test]
    async fn fragments_of_one_query_share_its_sessions() {
        let guard = guard(2, 10);
        let admission = guard.admit(3, &Ledger::new(), &CancellationToken::new()).await.unwrap();
        let first = admission.permit().await.unwrap();
        let second = admission.permit().await.unwrap();
        assert_eq!(admission.permit().await.unwrap_err().code(), ErrorCode::NoPermit);
        drop(first);
        let third = admission.permit().await.unwrap();
        drop(second);
        assert_eq!(guard.load().in_use, 1);
        drop(third);
        assert_eq!(guard.load().in_use, 0);
    }

    #[tokio::test]
    async fn spare_permits_leave_some_for_others_and_never_wait() {
        let guard = guard(4, 10);
        let admission = guard.admit(1, &Ledger::new(), &CancellationToken::new()).await.unwrap();
        let first = admission.permit().await.unwrap();
        let more = admission.spare(9);
        assert_eq!((more.len(), guard.load().in_use), (2, 3));
        assert_eq!(admission.spare(1).len(), 0);
        let _other = guard.permit(Purpose::Health).await.unwrap();
        drop((first, more));
        assert_eq!(guard.load().in_use, 1);
        let alone = super::tests::guard(1, 10).admit(1, &Ledger::new(), &CancellationToken::new()).await.unwrap();
        assert_eq!(alone.spare(3).len(), 0);
    }

    #[tokio::test]
    async fn cancel_ends_the_wait() {
        let guard = guard(1, 10);
        let _held = guard.permit(Purpose::Health).await.unwrap();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let error = guard.admit(1, &Ledger::new(), &cancel).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled);
    }
}
