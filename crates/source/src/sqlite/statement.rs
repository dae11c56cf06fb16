// SPDX-License-Identifier: Apache-2.0
//! One running statement: a task that turns rows into batches as they come, and a watch that interrupts it.

use super::decode::BatchBuilder;
use super::session::{Session, Sessions};
use super::{SqliteConfig, failure};
use crate::handover::{self, Outlet, Stop, StopReason, Watch};
use crate::{Fetched, Statement};
use futures::StreamExt;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use weir_base::{AsOf, AsOfMethod, Clock, Error, Result, SystemClock};
use weir_guard::{Outcome, Permit};

/// Sends the statement and waits for its first batch.
pub(super) async fn fetch(config: Arc<SqliteConfig>, sessions: Arc<Sessions>, permit: Permit, statement: Statement) -> Result<Fetched> {
    let stop = Stop::default();
    let name = config.name.clone();
    let (outlet, batches) = handover::channel(name.clone(), stop.clone());
    let (started, first) = oneshot::channel();
    let done = CancellationToken::new();
    tokio::spawn(Watch::new(&stop, &outlet, &permit).until(done.clone()));
    let job = Job { config, sessions, permit, statement, stop: stop.clone(), outlet };
    let ends = done.drop_guard();
    tokio::spawn(async move {
        let _ends = ends;
        job.run(started).await;
    });
    let as_of = tokio::select! {
        biased;
        first = first => first.map_err(|_| Error::internal("sqlite statement ended without a word"))??,
        reason = stop.raised() => return Err(reason.error(&name)),
    };
    Ok(Fetched { as_of, batches })
}

struct Job {
    config: Arc<SqliteConfig>,
    sessions: Arc<Sessions>,
    permit: Permit,
    statement: Statement,
    stop: Stop,
    outlet: Outlet,
}

/// How the reading of rows went.
struct Reading {
    end: Result<()>,
    /// Whether the connection can be used again.
    reusable: bool,
}

impl Job {
    async fn run(self, started: oneshot::Sender<Result<AsOf>>) {
        let mut starting = Some(started);
        let end = self.read(&mut starting).await;
        let outcome = match (&end, self.stop.reason()) {
            (_, Some(_)) => Outcome::Cancelled,
            (Ok(()), None) => Outcome::Done,
            (Err(_), None) => Outcome::Failed,
        };
        self.permit.meter().end(outcome);
        let end = self.stop.reason().map_or(end, |reason| Err(reason.error(&self.config.name)));
        // Whoever sees the end may count on the permit being free.
        drop(self.permit);
        let heard = match (starting, end) {
            (Some(started), Err(error)) => started.send(Err(error)).is_ok(),
            (_, end) => self.outlet.end(end).await,
        };
        if !heard {
            tracing::debug!(source = %self.config.name, "ReaderGone");
        }
    }

    async fn read(&self, starting: &mut Option<oneshot::Sender<Result<AsOf>>>) -> Result<()> {
        let mut session = self.sessions.take().await?;
        session.obey(self.stop.clone());
        let reading = self.read_rows(&mut session, starting).await;
        let settled = session.settle().await;
        if reading.reusable && settled {
            self.sessions.give_back(session);
        }
        reading.end
    }

    /// A single SELECT is its own read transaction: it sees what was committed when its first step ran, which is not
    /// before the clock is read here.
    async fn read_rows(&self, session: &mut Session, starting: &mut Option<oneshot::Sender<Result<AsOf>>>) -> Reading {
        let mut builder = match BatchBuilder::new(&self.statement, self.config.infinity) {
            Ok(builder) => builder,
            Err(error) => return Reading { end: Err(error), reusable: true },
        };
        let asker = format!("weir user={} query={}", comment_safe(self.statement.user.as_str()), self.statement.query_id);
        let sql = format!("/* {asker} */ {}", self.statement.sql);
        self.permit.meter().describe(self.statement.shown());
        let as_of = AsOf::new(SystemClock.now(), AsOfMethod::Clock);
        let mut rows = sqlx::query(&sql).persistent(false).fetch(&mut session.connection);
        loop {
            let taken = match rows.next().await {
                Some(Ok(row)) => builder.push(&row),
                Some(Err(error)) => return Reading { reusable: failure::harmless(&error), end: Err(failure::statement(&self.config.name, &error)) },
                None => break,
            };
            let full = match taken {
                Ok(()) => builder.full(),
                Err(error) => return Reading { end: Err(error), reusable: true },
            };
            if full && let Err(error) = self.hand_over(&mut builder, as_of, starting).await {
                return Reading { end: Err(error), reusable: true };
            }
        }
        Reading { end: self.hand_over(&mut builder, as_of, starting).await, reusable: true }
    }

    async fn hand_over(&self, builder: &mut BatchBuilder, as_of: AsOf, starting: &mut Option<oneshot::Sender<Result<AsOf>>>) -> Result<()> {
        self.permit.meter().count_bytes(builder.bytes())?;
        self.permit.meter().count_rows(builder.rows() as u64)?;
        let batch = builder.finish()?;
        let abandoned = match starting.take() {
            Some(started) => started.send(Ok(as_of)).is_err(),
            None => false,
        };
        if abandoned || batch.num_rows() > 0 && !self.outlet.batch(batch).await {
            self.stop.raise(StopReason::Abandoned);
            return Err(StopReason::Abandoned.error(&self.config.name));
        }
        Ok(())
    }
}

/// A user name that cannot end the comment.
fn comment_safe(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@') { c } else { '_' }).take(64).collect()
}
