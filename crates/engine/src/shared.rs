// SPDX-License-Identifier: Apache-2.0
//! What all queries of an engine share, and how each of them ends: once, with one record in the query log.

use crate::pg_catalog::Catalogs;
use crate::registry::Registry;
use crate::run::QueryRun;
use crate::{EngineParts, meters};
use datafusion::execution::SessionState;
use std::sync::Arc;
use weir_api::millis;
use weir_base::Error;
use weir_catalog::{QueryRecord, StatementRecord};

/// What all queries of an engine share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub parts: EngineParts,
    pub registry: Registry,
    pub catalogs: Catalogs,
    /// Functions, rules, memory and spill folder of the query engine; each statement plans in a copy.
    pub template: SessionState,
}

impl Shared {
    /// Ends a query once: registry, query log, metrics.
    pub fn finish(&self, run: &Arc<QueryRun>, error: Option<&Error>, abandoned: bool) {
        if !run.end(error, abandoned, self.parts.clock.as_ref()) {
            return;
        }
        self.registry.end(run);
        run.ledger.read().iter().for_each(meters::statement);
        self.parts.store.record(self.record(run, error));
    }

    fn record(&self, run: &QueryRun, error: Option<&Error>) -> QueryRecord {
        let receipt = run.receipt(self.parts.clock.as_ref());
        let statements = run.ledger.read().into_iter().map(|reading| StatementRecord {
            source: reading.source,
            sql: reading.sql,
            forecast_rows: reading.forecast_rows,
            forecast_bytes: None,
            rows: reading.rows,
            bytes: reading.bytes,
            ms: millis(reading.elapsed),
            queued_ms: millis(reading.queued),
            outcome: reading.outcome.word().to_owned(),
        });
        QueryRecord {
            id: run.id,
            session: run.session,
            user: run.user.clone(),
            door: run.door.to_owned(),
            sql: run.sql.clone(),
            started_at: run.started_at,
            ended_at: run.ended_at(),
            state: run.state().word().to_owned(),
            rows_returned: run.rows_returned(),
            error_code: error.map(|error| error.code().sqlstate().to_owned()),
            error: error.map(|error| error.message().to_owned()),
            as_of: Some(receipt.as_of),
            elapsed_ms: run.elapsed_ms(),
            statements: statements.collect(),
            receipt: serde_json::to_string(&receipt).ok(),
        }
    }
}
