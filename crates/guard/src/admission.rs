// SPDX-License-Identifier: Apache-2.0
//! Admission to one source: a hard cap on sessions, a fair and bounded queue, and a group of permits per query so that
//! the fragments of one query never wait for those of another halfway. A source that does not answer is not asked for a while, and one
//! that suffers is asked by fewer at once.

use crate::breaker::{Breaker, BreakerState, Pass};
use crate::pressure::{Look, Pressure, Strain};
use crate::queue::{Asked, Asker, Place, Position, Seat, Seats};
use crate::{Ledger, Limits, Permit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use weir_base::{Error, ErrorCode, Result, SourceName, Span};

/// One in so many sessions is left to others by whoever takes more than it needs.
const RESERVE_SHARE: usize = 4;

/// A source is given at least so long for a statement: 0 would be for ever.
const TIME_MIN: Duration = Duration::from_millis(10);

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
    seats: Arc<Seats>,
    health: Mutex<Health>,
}

#[derive(Debug)]
struct Health {
    breaker: Breaker,
    pressure: Pressure,
    /// When a query last asked for a permit.
    used: Option<Instant>,
}

/// How busy a source is, for `weir sources` and metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardLoad {
    pub connections_max: usize,
    /// Fewer than that while the source suffers.
    pub allowed: usize,
    pub in_use: usize,
    pub waiting: usize,
    pub breaker: BreakerState,
    /// Failures to reach it since it last answered.
    pub failures: u32,
    /// Why it is asked by fewer at once.
    pub strain: Option<Strain>,
}

/// A wait for a permit, for those who look on.
#[derive(Debug, Clone)]
pub struct Waiting {
    source: SourceName,
    seats: Arc<Seats>,
    ticket: u64,
    since: Instant,
}

impl Waiting {
    pub fn position(&self) -> Position {
        self.seats.position(self.ticket)
    }
}

impl std::fmt::Display for Waiting {
    /// `for a permit of source app_pg: place 2 of 7, for 1.2s; 4 of 4 in use (ana 3, bob 1)`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Position { place, waiting, taken, allowed, holders } = self.position();
        let holders: Vec<String> = holders.iter().take(HOLDERS_SHOWN).map(|(user, seats)| format!("{user} {seats}")).collect();
        let since = Span(Duration::from_millis(self.since.elapsed().as_millis() as u64));
        write!(f, "for a permit of source {}: place {place} of {waiting}, for {since}; {taken} of {allowed} in use", self.source)?;
        if holders.is_empty() { Ok(()) } else { write!(f, " ({})", holders.join(", ")) }
    }
}

const HOLDERS_SHOWN: usize = 3;

impl Guard {
    pub fn new(source: SourceName, limits: Limits) -> Arc<Self> {
        let limits = Limits { connections: limits.connections.max(1), ..limits };
        let seats = Seats::new(limits.connections, limits.connections_per_user.unwrap_or(limits.connections));
        let health = Health { breaker: Breaker::default(), pressure: Pressure::new(limits.connections), used: None };
        Arc::new(Self { source, limits: Arc::new(limits), seats, health: Mutex::new(health) })
    }

    pub fn source(&self) -> &SourceName {
        &self.source
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn load(&self) -> GuardLoad {
        let (in_use, allowed, waiting) = self.seats.load();
        let health = self.health();
        GuardLoad {
            connections_max: self.limits.connections,
            allowed,
            in_use,
            waiting,
            breaker: health.breaker.state(),
            failures: health.breaker.failures(),
            strain: health.pressure.strain().cloned(),
        }
    }

    /// Admits a query that will run `statements` statements here, as many at once as the cap allows. `told` hears of a wait when it begins.
    /// Errors: 53300 when the queue is full or the wait was too long, 57014 when cancelled while waiting, 08001 for a source that did
    /// not answer lately.
    pub async fn admit(
        self: &Arc<Self>,
        asker: &Asker,
        statements: usize,
        ledger: &Arc<Ledger>,
        cancel: &CancellationToken,
        told: impl FnOnce(Waiting) + Send,
    ) -> Result<Admission> {
        self.pass()?;
        self.health().used = Some(Instant::now());
        let wanted = statements.clamp(1, self.limits.connections);
        let asked = Instant::now();
        let taken = self.take(asker, wanted, cancel, told).await?;
        Ok(Admission {
            guard: self.clone(),
            asker: asker.clone(),
            ledger: ledger.clone(),
            cancel: cancel.clone(),
            queued: asked.elapsed(),
            group: Arc::new(Group { free: Mutex::new(Free { slots: taken, to_come: statements }), given_back: Notify::new() }),
        })
    }

    /// A single permit outside any query: metadata and health checks count against the same cap. One for health is given though the
    /// source did not answer lately: that is what it is for.
    pub async fn permit(self: &Arc<Self>, purpose: Purpose) -> Result<Permit> {
        if purpose != Purpose::Health {
            self.pass()?;
        }
        let (ledger, cancel) = (Ledger::new(), CancellationToken::new());
        let slots = self.take(&Asker::house(), 1, &cancel, |_| ()).await?;
        let group = Arc::new(Group { free: Mutex::new(Free { slots, to_come: 1 }), given_back: Notify::new() });
        Admission { guard: self.clone(), asker: Asker::house(), ledger, cancel, queued: Duration::ZERO, group }.permit().await
    }

    /// Whether a query asked for it so lately.
    pub fn used_within(&self, span: Duration) -> bool {
        self.health().used.is_some_and(|used| used.elapsed() < span)
    }

    /// The source answered, be it with an error about the question.
    pub fn answered(&self) {
        self.health().breaker.succeeded();
    }

    /// The source could not be reached, or broke in the middle.
    pub fn failed(&self) {
        self.health().breaker.failed(Instant::now());
    }

    /// Somebody has looked whether the source is well. How many sessions it gets from now on.
    pub fn looked(&self, look: &Look) -> usize {
        let mut health = self.health();
        let allowed = health.pressure.looked(look);
        match look.answered {
            true => health.breaker.succeeded(),
            false => health.breaker.failed(Instant::now()),
        }
        drop(health);
        self.seats.allow(allowed);
        allowed
    }

    fn pass(&self) -> Result<()> {
        let mut health = self.health();
        match health.breaker.pass(Instant::now()) {
            Pass::Go | Pass::Probe => Ok(()),
            Pass::Wait(pause) => {
                let pause = Span(Duration::from_millis(pause.as_millis() as u64));
                Err(Error::new(ErrorCode::SourceUnreachable, format!("source {} is not asked at present", self.source))
                    .with_detail(format!("it did not answer {} times in a row; it is tried again in {pause}", health.breaker.failures()))
                    .with_hint("`weir sources` shows what is wrong with it"))
            }
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take(&self, asker: &Asker, wanted: usize, cancel: &CancellationToken, told: impl FnOnce(Waiting) + Send) -> Result<Vec<Seat>> {
        let mut place = match self.seats.ask(asker, wanted, self.limits.queue_waiting_max) {
            Asked::Taken(seats) => return Ok(seats),
            Asked::Full(waiting) => return Err(self.full(waiting)),
            Asked::Waits(place) => place,
        };
        told(Waiting { source: self.source.clone(), seats: self.seats.clone(), ticket: place.ticket(), since: place.since });
        tokio::select! {
            seats = &mut place.woken => seats.map_err(|_| Error::internal("the queue for permits was closed")),
            () = cancel.cancelled() => Err(cancelled(&self.source)),
            () = tokio::time::sleep(self.limits.queue_wait_max) => Err(self.waited_too_long(&place)),
        }
    }

    fn full(&self, waiting: usize) -> Error {
        Error::new(ErrorCode::NoPermit, format!("queue for source {} is full", self.source))
            .with_detail(format!("{waiting} requests wait already, queue.max_waiting allows {}", self.limits.queue_waiting_max))
            .with_hint("try again later")
    }

    fn waited_too_long(&self, place: &Place) -> Error {
        let wait = Span(self.limits.queue_wait_max);
        let Position { place, waiting, taken, allowed, holders } = place.position();
        let who: Vec<String> = holders.iter().take(HOLDERS_SHOWN).map(|(user, seats)| format!("{user} {seats}")).collect();
        let fewer = if allowed < self.limits.connections { format!(", {} when the source is well", self.limits.connections) } else { String::new() };
        Error::new(ErrorCode::NoPermit, format!("waited too long for a permit of source {}", self.source))
            .with_detail(format!(
                "{taken} of {allowed} connections were in use ({}{fewer}) for {wait} (queue.max_wait); it was at place {place} of {waiting}",
                who.join(", ")
            ))
            .with_hint("nothing was sent to the source; try again later, or ask for `limits.connections` of that source to be raised")
    }
}

fn cancelled(source: &SourceName) -> Error {
    Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail(format!("while it waited for a permit of source {source}"))
}

/// A query's leave to use one source: a group of sessions that its statements share.
#[derive(Debug, Clone)]
pub struct Admission {
    guard: Arc<Guard>,
    asker: Asker,
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
    slots: Vec<Seat>,
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
        Ok(Permit::new(self.guard.source.clone(), self.limits_now(), meter, self.cancel.child_token(), slot))
    }

    /// Permits for more sessions than the query has, at most so many, without waiting: none while somebody waits for the source, and a
    /// quarter of its sessions (at least one) stays free for others.
    pub fn spare(&self, most: usize) -> Vec<Permit> {
        let guard = &self.guard;
        let reserve = (guard.limits.connections / RESERVE_SHARE).max(1);
        let mut permits = Vec::new();
        while permits.len() < most {
            let Some(slot) = guard.seats.spare(&self.asker, reserve) else { break };
            let meter = self.ledger.open(&guard.source, &guard.limits, Duration::ZERO);
            let slot = Slot { held: Some(slot), group: self.group.clone() };
            permits.push(Permit::new(guard.source.clone(), guard.limits.clone(), meter, self.cancel.child_token(), slot));
        }
        permits
    }

    /// The limits for one more statement: the source ends it when the time of the query is over, be it silent till then.
    fn limits_now(&self) -> Arc<Limits> {
        let limits = &self.guard.limits;
        let Some(most) = limits.time_per_query else { return limits.clone() };
        let left = most.saturating_sub(self.ledger.elapsed(&self.guard.source)).max(TIME_MIN);
        Arc::new(Limits { statement_timeout: limits.statement_timeout.min(left), ..limits.as_ref().clone() })
    }

    fn needs_more_at_once(&self) -> Error {
        Error::new(ErrorCode::NoPermit, format!("query needs more connections to source {} at once than it allows", self.guard.source))
            .with_detail(format!("limits.connections allows {}", self.guard.limits.connections))
            .with_hint("read fewer tables of that source in one query, or ask for its limit to be raised")
    }
}

impl Group {
    fn take(&self) -> Option<Seat> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = free.slots.pop()?;
        free.to_come = free.to_come.saturating_sub(1);
        // Sessions that no statement to come can use go back to the source at once.
        let keep = free.to_come.min(free.slots.len());
        free.slots.truncate(keep);
        Some(slot)
    }

    fn give_back(&self, slot: Seat) {
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
    held: Option<Seat>,
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
    use weir_base::{Priority, UserName};

    fn guard(connections: usize, waiting: usize) -> Arc<Guard> {
        let limits = Limits { connections, queue_waiting_max: waiting, queue_wait_max: Duration::from_millis(20), ..Limits::default() };
        Guard::new(SourceName::new("app_pg"), limits)
    }

    async fn admitted(guard: &Arc<Guard>, statements: usize) -> Result<Admission> {
        let ana = Asker::new(UserName::new("ana"), Priority::Normal);
        guard.admit(&ana, statements, &Ledger::new(), &CancellationToken::new(), |_| ()).await
    }

    #[tokio::test]
    async fn never_more_permits_than_connections() {
        let guard = guard(2, 10);
        let first = guard.permit(Purpose::Health).await.unwrap();
        let _second = guard.permit(Purpose::Metadata).await.unwrap();
        assert_eq!(guard.permit(Purpose::Health).await.unwrap_err().code(), ErrorCode::NoPermit);
        drop(first);
        guard.permit(Purpose::Health).await.unwrap();
        let load = guard.load();
        assert_eq!((load.connections_max, load.allowed, load.in_use, load.waiting), (2, 2, 1, 0));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let guard = guard(1, 0);
        let _held = guard.permit(Purpose::Health).await.unwrap();
        assert_eq!(guard.permit(Purpose::Health).await.unwrap_err().message(), "queue for source app_pg is full");
    }

    #[tokio::test]
    async fn who_waited_too_long_hears_for_whom() {
        let guard = guard(1, 5);
        let _held = admitted(&guard, 1).await.unwrap();
        let bob = Asker::new(UserName::new("bob"), Priority::Normal);
        let mut told = String::new();
        let waited = guard.admit(&bob, 1, &Ledger::new(), &CancellationToken::new(), |waiting| told = waiting.to_string()).await;
        assert!(told.starts_with("for a permit of source app_pg: place 1 of 1, for ") && told.ends_with("; 1 of 1 in use (ana 1)"), "{told}");
        let error = waited.unwrap_err();
        assert_eq!(error.detail(), Some("1 of 1 connections were in use (ana 1) for 20ms (queue.max_wait); it was at place 1 of 1"));
        assert_eq!(guard.load().waiting, 0);
    }

    #[tokio::test]
    async fn fragments_of_one_query_share_its_sessions() {
        let guard = guard(2, 10);
        let admission = admitted(&guard, 3).await.unwrap();
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
        let admission = admitted(&guard, 1).await.unwrap();
        let first = admission.permit().await.unwrap();
        let more = admission.spare(9);
        assert_eq!((more.len(), guard.load().in_use), (2, 3));
        assert_eq!(admission.spare(1).len(), 0);
        let _other = guard.permit(Purpose::Health).await.unwrap();
        drop((first, more));
        assert_eq!(guard.load().in_use, 1);
        let alone = super::tests::guard(1, 10);
        assert_eq!(admitted(&alone, 1).await.unwrap().spare(3).len(), 0);
    }

    #[tokio::test]
    async fn cancel_ends_the_wait() {
        let guard = guard(1, 10);
        let _held = guard.permit(Purpose::Health).await.unwrap();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let error = guard.admit(&Asker::house(), 1, &Ledger::new(), &cancel, |_| ()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled);
    }

    #[tokio::test]
    async fn a_source_that_does_not_answer_is_not_asked_but_looked_after() {
        let guard = guard(4, 10);
        let silent = Look { latency: Duration::from_secs(1), lag: None, lag_max: None, answered: false };
        (0..crate::breaker::FAILURES_MAX).for_each(|_| _ = guard.looked(&silent));
        let error = admitted(&guard, 1).await.unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::SourceUnreachable, "source app_pg is not asked at present"));
        assert_eq!((guard.load().allowed, guard.load().breaker.word(), guard.load().strain), (1, "open", Some(Strain::Silent)));
        drop(guard.permit(Purpose::Health).await.unwrap());
        assert_eq!(guard.looked(&Look { latency: Duration::from_millis(1), answered: true, ..silent }), 2);
        admitted(&guard, 1).await.unwrap();
    }
}
