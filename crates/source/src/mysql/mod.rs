// SPDX-License-Identifier: Apache-2.0
//! The `mysql` connector: MariaDB 10.11 and MySQL 8 over their own protocol, spoken here directly so that bytes are counted at
//! the socket and rows go from the packet into Arrow without a stop between.

mod address;
mod arms;
mod attribution;
mod calendar;
mod decode;
mod dialect;
mod discover;
mod estimate;
mod failure;
mod fetch;
mod forms;
mod functions;
mod login;
mod native;
mod pool;
mod probe;
mod role;
mod server;
mod session;
mod statistics;
mod support;
mod tls;
mod values;
mod wire;

pub use dialect::MySqlDialect;

use crate::{
    Aggregate, Argument, Column, ConnectorKind, Dialect, Discovered, Estimate, Fetched, Function, Health, KeysMax, Operation, Reason, Source, SourceSpec,
    SourceTable, Statement, Support, TableStatistics, Term, Window, Written,
};
use address::Address;
use arrow::datatypes::DataType;
use async_trait::async_trait;
use failure::Failure;
use pool::{Lease, Pool};
use server::Server;
use std::sync::Arc;
use weir_base::Result;
use weir_guard::{Outcome, Permit};

/// The line of the connector list.
pub const CONNECTOR: ConnectorKind =
    ConnectorKind { word: "mysql", about: "MariaDB 10.11 and later, MySQL 8 and later, and what speaks their protocol", options: &[], make };

fn make(spec: SourceSpec) -> Result<Arc<dyn Source>> {
    let address = Address::parse(&spec.name, &spec.url)?;
    let pool = Pool::new(spec.name.clone(), address, spec.limits.statement_timeout);
    Ok(Arc::new(MySql { server: Server::new(&spec, pool) }))
}

/// One configured MySQL or MariaDB server.
#[derive(Debug)]
struct MySql {
    server: Arc<Server>,
}

impl MySql {
    /// Ends a lease as its work ended: back to the idle sessions, or away.
    async fn conclude<T>(&self, lease: Lease, outcome: Result<T, Failure>, meter: &weir_guard::Meter) -> Result<T> {
        match outcome {
            Ok(answer) => {
                meter.end(Outcome::Done);
                lease.give_back();
                Ok(answer)
            }
            Err(failure) => {
                meter.end(Outcome::Failed);
                if matches!(failure, Failure::Server(_) | Failure::Broke(_)) {
                    lease.discard().await;
                }
                Err(self.server.in_statement(failure))
            }
        }
    }
}

#[async_trait]
impl Source for MySql {
    fn kind(&self) -> &'static str {
        CONNECTOR.word
    }

    fn dialect(&self) -> &dyn Dialect {
        &MySqlDialect
    }

    fn keys_max(&self) -> KeysMax {
        KeysMax { text_bytes: dialect::text_bytes_max(self.server.packet_bytes()), ..self.dialect().keys_max() }
    }

    fn support(&self, operation: &Operation<'_>, column: &Column) -> Support {
        support::support(operation, column)
    }

    fn function(&self, function: Function<'_>, arguments: &[Argument<'_>], result: &DataType) -> Written {
        functions::function(function, arguments, result)
    }

    fn window(&self, window: Window, argument: Option<&Term>, over: &str, result: &DataType) -> Written {
        functions::window(window, argument, over, result)
    }

    fn arms(&self, values: &[&Term]) -> std::result::Result<Vec<Term>, Reason> {
        arms::arms(values)
    }

    fn aggregate(&self, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
        functions::aggregate(aggregate, argument, distinct, result)
    }

    async fn probe(&self, permit: Permit) -> Result<Health> {
        let (cancel, meter) = (permit.cancel_token().clone(), permit.meter().clone());
        let mut lease = Lease::take(self.server.pool(), permit).await?;
        let outcome = tokio::select! {
            outcome = probe::probe(lease.session()) => outcome,
            () = cancel.cancelled() => Err(Failure::Ours(self.server.cancelled())),
        };
        self.conclude(lease, outcome, &meter).await
    }

    async fn discover(&self, permit: Permit) -> Result<Discovered> {
        let (cancel, meter) = (permit.cancel_token().clone(), permit.meter().clone());
        let mut lease = Lease::take(self.server.pool(), permit).await?;
        let work = async {
            self.server.admit(lease.session()).await?;
            let bytes_before = lease.session().bytes_read();
            let discovered = discover::discover(lease.session()).await?;
            self.server.measure(lease.session()).await?;
            meter.count_bytes(lease.session().bytes_read() - bytes_before)?;
            Ok(discovered)
        };
        let outcome = tokio::select! {
            outcome = work => outcome,
            () = cancel.cancelled() => Err(Failure::Ours(self.server.cancelled())),
        };
        self.conclude(lease, outcome, &meter).await
    }

    async fn statistics(&self, permit: Permit, tables: &[Arc<SourceTable>]) -> Result<Vec<TableStatistics>> {
        let (cancel, meter) = (permit.cancel_token().clone(), permit.meter().clone());
        let mut lease = Lease::take(self.server.pool(), permit).await?;
        let work = async {
            self.server.admit(lease.session()).await?;
            let bytes_before = lease.session().bytes_read();
            let found = statistics::statistics(lease.session(), tables).await?;
            meter.count_bytes(lease.session().bytes_read() - bytes_before)?;
            Ok(found)
        };
        let outcome = tokio::select! {
            outcome = work => outcome,
            () = cancel.cancelled() => Err(Failure::Ours(self.server.cancelled())),
        };
        self.conclude(lease, outcome, &meter).await
    }

    async fn estimate(&self, permit: Permit, statement: &Statement) -> Result<Estimate> {
        attribution::check_reads(&statement.sql, self.server.name())?;
        let (cancel, meter) = (permit.cancel_token().clone(), permit.meter().clone());
        let mut lease = Lease::take(self.server.pool(), permit).await?;
        let work = async {
            self.server.admit(lease.session()).await?;
            let product = lease.session().product;
            let explain = format!("EXPLAIN FORMAT=JSON {}", attribution::attributed(statement));
            let explained = lease.session().query(&explain).await?;
            Ok(explained.text(0, 0).and_then(|plan| estimate::estimate(plan, &statement.sql, product)).unwrap_or_default())
        };
        let outcome = tokio::select! {
            outcome = work => outcome,
            () = cancel.cancelled() => Err(Failure::Ours(self.server.cancelled())),
        };
        self.conclude(lease, outcome, &meter).await
    }

    async fn fetch(&self, permit: Permit, statement: Statement) -> Result<Fetched> {
        fetch::fetch(self.server.clone(), permit, statement).await
    }

    async fn close(&self) {
        self.server.pool().close().await;
    }
}
