// SPDX-License-Identifier: Apache-2.0
//! Runs one statement: a task reads the socket into Arrow batches and hands them over a short queue, which holds the server
//! back when nobody takes them.

use super::attribution::{attributed, check_reads, clock_sql};
use super::calendar::micros_from_text;
use super::decode::Decoder;
use super::failure::{Failure, ServerError};
use super::pool::Lease;
use super::role::{Lag, lag};
use super::server::Server;
use super::session::{TextResult, WireColumn};
use crate::{BatchStream, Fetched, ServerRole, Statement};
use arrow::array::RecordBatch;
use futures::stream;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use weir_base::limits::{BATCHES_IN_FLIGHT_MAX, CANCEL_GRACE_MS};
use weir_base::{AsOf, AsOfMethod, Error, ErrorCode, Result, Timestamp};
use weir_guard::{Meter, Outcome, Permit};

/// What the reading task hands over. Without `End` an answer is not whole.
enum Part {
    Batch(RecordBatch),
    Failed(Error),
    End,
}

/// Starts the statement and waits for its first rows, so that an early error is this call's.
pub(super) async fn fetch(server: Arc<Server>, permit: Permit, statement: Statement) -> Result<Fetched> {
    check_reads(&statement.sql, server.name())?;
    let (started, starts) = oneshot::channel();
    let (parts, mut arriving) = mpsc::channel(BATCHES_IN_FLIGHT_MAX);
    tokio::spawn(run(server, permit, statement, started, parts));
    let first = arriving.recv().await.unwrap_or_else(stopped_short);
    if let Part::Failed(error) = first {
        return Err(error);
    }
    let as_of = starts.await.map_err(|_| Error::internal("a statement returned rows before it began"))?;
    Ok(Fetched { as_of, batches: stream_of(first, arriving) })
}

fn stopped_short() -> Part {
    Part::Failed(Error::internal("the reader of a source stopped without a word"))
}

fn stream_of(first: Part, arriving: mpsc::Receiver<Part>) -> BatchStream {
    let state = (Some(first), Some(arriving));
    let parts = stream::unfold(state, |(first, arriving)| async move {
        let mut arriving = arriving?;
        let part = match first {
            Some(part) => part,
            None => arriving.recv().await.unwrap_or_else(stopped_short),
        };
        match part {
            Part::Batch(batch) => Some((Ok(batch), (None, Some(arriving)))),
            Part::Failed(error) => Some((Err(error), (None, None))),
            Part::End => None,
        }
    });
    Box::pin(parts)
}

/// The reading task, from the session to the last word. A dropped lease ends the statement at the source and keeps the
/// permit until that is done.
async fn run(server: Arc<Server>, permit: Permit, statement: Statement, started: oneshot::Sender<AsOf>, parts: mpsc::Sender<Part>) {
    let cancel = permit.cancel_token().clone();
    let meter = permit.meter().clone();
    meter.describe(statement.shown());
    let work = async {
        let mut lease = Lease::take(server.pool(), permit).await.map_err(|error| (None, Failure::Ours(error)))?;
        match read(&server, &mut lease, &statement, &meter, started, &parts).await {
            Ok(()) => Ok(lease),
            Err(failure) => Err((Some(lease), failure)),
        }
    };
    let ended = tokio::select! {
        ended = work => ended,
        () = cancel.cancelled() => Err((None, Failure::Ours(server.cancelled()))),
        // Nobody listens any more; whatever was held has been dropped with `work`.
        () = parts.closed() => return,
    };
    match ended {
        Ok(lease) => {
            meter.end(Outcome::Done);
            lease.give_back();
            send(&parts, Part::End).await;
        }
        Err((lease, failure)) => fail(&server, lease, failure, &meter, &parts).await,
    }
}

async fn fail(server: &Server, lease: Option<Lease>, failure: Failure, meter: &Meter, parts: &mpsc::Sender<Part>) {
    let ended_there = matches!(failure, Failure::Server(_) | Failure::Broke(_));
    let error = server.in_statement(failure);
    meter.end(if error.code() == ErrorCode::Cancelled { Outcome::Cancelled } else { Outcome::Failed });
    let settle = async {
        match lease {
            Some(lease) if ended_there => lease.discard().await,
            still_running => drop(still_running),
        }
    };
    tokio::join!(settle, send(parts, Part::Failed(error)));
}

/// A receiver that has gone away has no interest in the rest.
async fn send(parts: &mpsc::Sender<Part>, part: Part) {
    if parts.send(part).await.is_err() {
        tracing::debug!("the reader of a mysql statement has gone away");
    }
}

async fn read(
    server: &Server,
    lease: &mut Lease,
    statement: &Statement,
    meter: &Meter,
    started: oneshot::Sender<AsOf>,
    parts: &mpsc::Sender<Part>,
) -> Result<(), Failure> {
    let silence_max = server.statement_timeout() + Duration::from_millis(CANCEL_GRACE_MS);
    let mut begun = begin(server, lease, statement, silence_max).await;
    if lease.used_before() && matches!(begun, Err(Failure::Broke(_))) {
        lease.renew().await?;
        begun = begin(server, lease, statement, silence_max).await;
    }
    let begun = begun?;
    // An error means that `fetch` was dropped; `parts` tells so too.
    let _ = started.send(begun.as_of);
    let labels = statement.outputs.iter().map(|output| output.label.clone()).collect();
    let mut decoder = Decoder::new(server.name(), statement.schema(), labels, &begun.columns)?;
    let mut counted = begun.bytes_before;
    loop {
        let ended = take_buffered(lease, &mut decoder, meter, parts).await?;
        let bytes = lease.session().bytes_read();
        meter.count_bytes(bytes - counted)?;
        counted = bytes;
        if ended {
            break;
        }
        let more = timeout(silence_max, lease.session().wire().fill()).await;
        more.map_err(|_| server.silent(silence_max))??;
    }
    if decoder.rows() > 0 {
        hand_over(&mut decoder, meter, parts).await?;
    }
    lease.session().flush().await // lets the server forget the prepared statement
}

struct Begun {
    as_of: AsOf,
    columns: Vec<WireColumn>,
    bytes_before: u64,
}

async fn begin(server: &Server, lease: &mut Lease, statement: &Statement, silence_max: Duration) -> Result<Begun, Failure> {
    let begin = async {
        let role = server.admit(lease.session()).await?;
        let clock = clock_sql(statement);
        let lag_query = role.lag_query.filter(|_| role.role == ServerRole::Replica);
        let before: Vec<&str> = lag_query.into_iter().chain([clock.as_str()]).collect();
        let bytes_before = lease.session().bytes_read();
        let (answers, columns) = lease.session().begin(&before, &attributed(statement)).await?;
        let as_of = as_of(server, &answers, lag_query.is_some())?;
        Ok(Begun { as_of, columns, bytes_before })
    };
    timeout(silence_max, begin).await.map_err(|_| server.silent(silence_max))?
}

/// The server's own clock before the statement; on a replica, minus what it is behind.
fn as_of(server: &Server, answers: &[TextResult], lag_asked: bool) -> Result<AsOf, Failure> {
    let clock = answers.last().and_then(|answer| answer.text(0, 0)).and_then(micros_from_text);
    let clock = clock.ok_or(Failure::Protocol("the server does not tell its time"))?;
    let lag = answers.first().filter(|_| lag_asked).and_then(lag);
    match lag {
        None => Ok(AsOf::new(Timestamp::from_micros(clock), AsOfMethod::Clock)),
        Some(Lag::Seconds(seconds)) => {
            let replayed = clock - seconds as i64 * 1_000_000;
            server.note_replayed(replayed);
            let method = if seconds == 0 { AsOfMethod::Clock } else { AsOfMethod::ReplicaReplay };
            Ok(AsOf::new(Timestamp::from_micros(replayed), method))
        }
        Some(Lag::Unknown) => match server.replayed() {
            Some(replayed) => Ok(AsOf::new(Timestamp::from_micros(replayed), AsOfMethod::ReplicaReplay)),
            None => Err(Failure::Ours(server.age_unknown())),
        },
    }
}

/// Takes in the rows that have arrived; true at the end of the result.
async fn take_buffered(lease: &mut Lease, decoder: &mut Decoder, meter: &Meter, parts: &mpsc::Sender<Part>) -> Result<bool, Failure> {
    loop {
        let Some(packet) = lease.session().wire().buffered()? else { return Ok(false) };
        match packet.first() {
            Some(0x00) => decoder.row(packet)?,
            Some(0xFE) if packet.len() < 9 => return Ok(true),
            Some(0xFF) => return Err(Failure::Server(ServerError::parse(packet))),
            _ => return Err(Failure::Protocol("a row of the server's cannot be read")),
        }
        if decoder.full() {
            hand_over(decoder, meter, parts).await?;
        }
    }
}

async fn hand_over(decoder: &mut Decoder, meter: &Meter, parts: &mpsc::Sender<Part>) -> Result<(), Failure> {
    meter.count_rows(decoder.rows() as u64)?;
    send(parts, Part::Batch(decoder.finish()?)).await;
    Ok(())
}
