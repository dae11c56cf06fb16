// SPDX-License-Identifier: Apache-2.0
//! The `postgres` connector: PostgreSQL 15 and later, and what speaks its protocol.

mod address;
mod arms;
mod catalog;
mod compatible;
mod dialect;
mod failure;
mod fetch;
mod framing;
mod functions;
mod mapping;
mod numeric;
mod pool;
mod probe;
mod session;
mod socket;
mod statistics;
mod support;
mod tls;
mod together;
mod value;

use crate::{
    Aggregate, Argument, Column, ConnectorKind, Dialect, Discovered, Estimate, Fetched, Function, Health, Operation, Reason, Source, SourceSpec, SourceTable,
    Statement, Support, TableStatistics, Term, Window, Written,
};
use address::Address;
use arrow::datatypes::DataType;
use async_trait::async_trait;
use dialect::PostgresDialect;
use fetch::Fetcher;
use futures::future::BoxFuture;
use pool::{Lease, Pool};
use session::{Flavour, Opener, Session, application_name};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use value::Policies;
use weir_base::{Error, ErrorCode, Result, nearest};
use weir_guard::{Outcome, Permit};

/// Metadata work on a session, under way.
type Work<'a, T> = BoxFuture<'a, Result<T, tokio_postgres::Error>>;

/// What metadata work is called, in the ledger and at the source, and whether it may be done on a primary that is not allowed.
#[derive(Clone, Copy)]
struct Task<'a> {
    what: &'a str,
    name: &'a str,
    reports_primary: bool,
}

/// The connector's entry in the list.
pub const CONNECTOR: ConnectorKind = ConnectorKind {
    word: "postgres",
    about: "PostgreSQL 15 and later, and warehouses that speak its protocol, such as Redshift",
    options: &[
        ("server", "auto (by its version), postgres, or compatible: only the protocol and information_schema are relied on, results come without COPY"),
        ("parallel_reads", "how many sessions may read one large table together, 1 to 16; only sessions that are free are used"),
    ],
    make,
};

const SERVERS: [(&str, Option<Flavour>); 3] = [("auto", None), ("postgres", Some(Flavour::Postgres)), ("compatible", Some(Flavour::Compatible))];

/// One PostgreSQL database.
pub struct Postgres {
    spec: SourceSpec,
    pool: Arc<Pool>,
    fetcher: Arc<Fetcher>,
    policies: Policies,
    /// Cleared when the server's encoding does not order texts as UTF-8 does.
    orders_by_bytes: AtomicBool,
    /// Set once a session has found the server to be PostgreSQL itself: what others compute is not known.
    genuine: AtomicBool,
    /// Set once a session has found that the server reads ranges of pages.
    reads_ranges: AtomicBool,
    parallel_reads: usize,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

fn make(spec: SourceSpec) -> Result<Arc<dyn Source>> {
    let address = Address::parse(&spec.name, &spec.url)?;
    let tls = tls::connector(&spec.name, &address)?;
    let opener = Opener { source: spec.name.clone(), address, tls, statement_timeout: spec.limits.statement_timeout, flavour: flavour(&spec)? };
    let pool = Pool::new(opener, spec.allow_primary, spec.limits.connections);
    let policies = Policies { nan: spec.nan, infinity: spec.infinity };
    let fetcher = Arc::new(Fetcher { pool: pool.clone(), policies, primary_allowed: spec.allow_primary });
    let parallel_reads = parallel_reads(&spec)?;
    let (genuine, reads_ranges) = (AtomicBool::new(false), AtomicBool::new(false));
    Ok(Arc::new(Postgres { spec, pool, fetcher, policies, orders_by_bytes: AtomicBool::new(true), genuine, reads_ranges, parallel_reads }))
}

/// A second session brings little where server and Weir share two cores; see docs/internals/performance.md.
const PARALLEL_READS: usize = 1;
const PARALLEL_READS_MAX: usize = 16;

fn parallel_reads(spec: &SourceSpec) -> Result<usize> {
    let Some(word) = spec.options.get("parallel_reads") else { return Ok(PARALLEL_READS) };
    word.parse().ok().filter(|count| (1..=PARALLEL_READS_MAX).contains(count)).ok_or_else(|| {
        Error::new(ErrorCode::Config, "parallel_reads is a number from 1 to 16")
            .with_detail(format!("option `parallel_reads` of source {}", spec.name))
            .with_hint("leave it out for one session per table")
    })
}

fn flavour(spec: &SourceSpec) -> Result<Option<Flavour>> {
    let Some(word) = spec.options.get("server") else { return Ok(None) };
    if let Some((_, flavour)) = SERVERS.iter().find(|(known, _)| known == word) {
        return Ok(*flavour);
    }
    let near = nearest(word, SERVERS.iter().map(|(known, _)| *known));
    let hint = near.first().map_or_else(|| "one of auto, postgres, compatible".to_owned(), |near| format!("did you mean {near}?"));
    Err(Error::new(ErrorCode::Config, format!("unknown server `{word}`")).with_detail(format!("option `server` of source {}", spec.name)).with_hint(hint))
}

impl Postgres {
    /// Runs metadata work on a session, ends the meter with its outcome, and keeps the session when it is at rest. A session from
    /// the pool that turns out to be dead is replaced once.
    async fn with_session<T>(&self, permit: Permit, task: Task<'_>, work: impl for<'a> Fn(&'a Session) -> Work<'a, T>) -> Result<T> {
        let meter = permit.meter().clone();
        let cancel = permit.cancel_token().clone();
        meter.describe(task.what);
        let worked = tokio::select! {
            worked = self.work(permit, task, work) => worked,
            () = cancel.cancelled() => Err(failure::cancelled(&self.spec.name)),
        };
        meter.end(if worked.is_ok() { Outcome::Done } else { Outcome::Failed });
        worked
    }

    async fn work<T>(&self, permit: Permit, task: Task<'_>, work: impl for<'a> Fn(&'a Session) -> Work<'a, T>) -> Result<T> {
        let mut lease: Lease = self.pool.lease(permit, task.reports_primary).await?;
        let mut began = Instant::now();
        let mut worked = introduced(lease.session()?, task.name, &work).await;
        if matches!(&worked, Err(error) if failure::connection_lost(error)) && !lease.fresh() {
            let permit = lease.take_over().await?;
            lease = self.pool.lease_fresh(permit, task.reports_primary).await?;
            began = Instant::now();
            worked = introduced(lease.session()?, task.name, &work).await;
        }
        self.orders_by_bytes.store(lease.session()?.utf8, Ordering::Relaxed);
        self.reads_ranges.store(lease.session()?.reads_ranges, Ordering::Relaxed);
        self.genuine.store(lease.session()?.flavour == Flavour::Postgres, Ordering::Relaxed);
        match worked {
            Ok(found) => {
                lease.give_back();
                Ok(found)
            }
            Err(error) => {
                let failed = failure::of_statement(&self.spec.name, &error, began.elapsed(), self.spec.limits.statement_timeout);
                if !failure::connection_lost(&error) {
                    lease.give_back();
                }
                Err(failed)
            }
        }
    }
}

fn not_genuine() -> Reason {
    Reason::new("server", "the server is not PostgreSQL itself, so more than comparisons is not known to mean the same there")
}

/// Names the session after its new use, then works on it.
async fn introduced<T>(session: &Session, name: &str, work: &impl for<'a> Fn(&'a Session) -> Work<'a, T>) -> Result<T, tokio_postgres::Error> {
    session.preamble(name).await?;
    work(session).await
}

#[async_trait]
impl Source for Postgres {
    fn kind(&self) -> &'static str {
        CONNECTOR.word
    }

    fn dialect(&self) -> &dyn Dialect {
        &PostgresDialect
    }

    fn support(&self, operation: &Operation<'_>, column: &Column) -> Support {
        let beyond_comparisons = matches!(operation, Operation::Like(_) | Operation::Distinguish | Operation::Order);
        if beyond_comparisons && !self.genuine.load(Ordering::Relaxed) {
            return Support::Never(not_genuine());
        }
        let ordering =
            matches!(operation, Operation::Less(_) | Operation::LessOrEqual(_) | Operation::Greater(_) | Operation::GreaterOrEqual(_) | Operation::Order);
        if ordering && column.data_type == DataType::Utf8 && !self.orders_by_bytes.load(Ordering::Relaxed) {
            return Support::Never(Reason::new("encoding", "the encoding of the database orders texts differently"));
        }
        support::support(operation, column, self.policies)
    }

    fn function(&self, function: Function<'_>, arguments: &[Argument<'_>], result: &DataType) -> Written {
        if !self.genuine.load(Ordering::Relaxed) {
            return Err(not_genuine());
        }
        functions::function(function, arguments, result, self.policies)
    }

    fn window(&self, window: Window, argument: Option<&Term>, over: &str, result: &DataType) -> Written {
        if !self.genuine.load(Ordering::Relaxed) {
            return Err(not_genuine());
        }
        if let (Window::Aggregate(aggregate), Some(argument)) = (window, argument) {
            // What it says of the aggregate by itself holds of one over a window.
            self.aggregate(aggregate, Some(argument), false, result)?;
        }
        functions::window(window, argument, over, result, self.policies)
    }

    fn arms(&self, values: &[&Term]) -> std::result::Result<Vec<Term>, Reason> {
        if !self.genuine.load(Ordering::Relaxed) {
            return Err(not_genuine());
        }
        arms::arms(values)
    }

    fn aggregate(&self, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
        if !self.genuine.load(Ordering::Relaxed) {
            return Err(not_genuine());
        }
        let sorts = matches!(aggregate, Aggregate::Min | Aggregate::Max);
        if let (true, Some(argument)) = (sorts, argument)
            && let Support::Superset(reason) | Support::Never(reason) = self.support(&Operation::Order, &argument.meaning)
        {
            return Err(reason);
        }
        functions::aggregate(aggregate, argument, distinct, result, self.policies)
    }

    async fn probe(&self, permit: Permit) -> Result<Health> {
        let task = Task { what: "health of the server", name: "weir/health", reports_primary: true };
        self.with_session(permit, task, |session| Box::pin(probe::probe(session))).await
    }

    async fn discover(&self, permit: Permit) -> Result<Discovered> {
        let task = Task { what: "catalog of the database", name: "weir/discovery", reports_primary: false };
        self.with_session(permit, task, |session| match session.flavour {
            Flavour::Postgres => Box::pin(catalog::discover(&session.client)),
            Flavour::Compatible => Box::pin(compatible::discover(&session.client)),
        })
        .await
    }

    async fn statistics(&self, permit: Permit, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>> {
        let task = Task { what: "statistics of tables", name: "weir/statistics", reports_primary: false };
        let asked: Arc<[Arc<SourceTable>]> = tables.into();
        self.with_session(permit, task, move |session| {
            let asked = asked.clone();
            match session.flavour {
                Flavour::Postgres => Box::pin(async move { statistics::statistics(&session.client, &asked).await }),
                Flavour::Compatible => Box::pin(async move { Ok(asked.iter().map(|table| TableStatistics::unknown(table.columns.len())).collect()) }),
            }
        })
        .await
    }

    async fn estimate(&self, permit: Permit, statement: &Statement) -> Result<Estimate> {
        let asked = statement.clone();
        let what = format!("EXPLAIN {}", statement.sql);
        let name = application_name(&statement.user, &statement.query_id);
        let task = Task { what: &what, name: &name, reports_primary: false };
        let found = self.with_session(permit, task, |session| Box::pin(probe::estimate(session, asked.clone()))).await?;
        found.ok_or_else(|| Error::internal(format!("source {} explains statements in an unknown form", self.spec.name)))
    }

    async fn fetch(&self, permit: Permit, statement: Statement) -> Result<Fetched> {
        self.fetcher.fetch(permit, statement).await
    }

    fn parallel_reads(&self) -> usize {
        self.parallel_reads
    }

    fn parts(&self, table: &SourceTable, count: usize) -> std::result::Result<Vec<String>, Reason> {
        if self.parallel_reads < 2 {
            return Err(together::single("one session reads a table of this source").with_remedy("set parallel_reads of the source"));
        }
        if !self.reads_ranges.load(Ordering::Relaxed) {
            return Err(together::single("the server would read the whole table for each part of it"));
        }
        together::parts(table, count)
    }

    async fn fetch_parts(&self, permits: Vec<Permit>, whole: Statement, parts: Vec<Statement>) -> Result<Vec<Fetched>> {
        self.fetcher.fetch_parts(permits, whole, parts).await
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
