// SPDX-License-Identifier: Apache-2.0
//! What is counted of sources, under the names that `/metrics` shows: what left them, who waited, what was refused, how they are. Nothing is
//! recorded where no recorder was installed.

use crate::discovery::SourceHandle;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use weir_base::SourceName;
use weir_guard::{BreakerState, MeterReading};

const STATEMENTS: &str = "weir_source_statements_total";
const ROWS: &str = "weir_source_rows_total";
const BYTES: &str = "weir_source_bytes_total";
const SECONDS: &str = "weir_source_statement_duration_seconds";
const WAIT: &str = "weir_permit_wait_seconds";
const REFUSED: &str = "weir_source_refusals_total";
const IN_USE: &str = "weir_permits_in_use";
const ALLOWED: &str = "weir_permits_allowed";
const MAX: &str = "weir_permits_max";
const WAITING: &str = "weir_permits_waiting";
const BREAKER: &str = "weir_breaker_open";
const LAG: &str = "weir_replica_lag_seconds";
const LATENCY: &str = "weir_source_latency_seconds";

/// Says what each is. Once an engine; saying it again changes nothing.
pub(crate) fn describe() {
    describe_counter!(STATEMENTS, "statements sent to a source, by outcome");
    describe_counter!(ROWS, "rows that left a source");
    describe_counter!(BYTES, Unit::Bytes, "bytes that left a source, as the ledger counts them");
    describe_histogram!(SECONDS, Unit::Seconds, "how long a statement ran in a source");
    describe_histogram!(WAIT, Unit::Seconds, "how long a statement waited for its permit");
    describe_counter!(REFUSED, "queries that were refused before they ran, by the limit or rule");
    describe_gauge!(IN_USE, "sessions of a source in use");
    describe_gauge!(ALLOWED, "sessions that a source gets at present: fewer while it suffers");
    describe_gauge!(MAX, "the hard cap on sessions of a source");
    describe_gauge!(WAITING, "requests that wait for a session of a source");
    describe_gauge!(BREAKER, "1 while a source is not asked since it did not answer");
    describe_gauge!(LAG, Unit::Seconds, "how far a replica is behind");
    describe_gauge!(LATENCY, Unit::Seconds, "how long a source took for a question that costs nothing");
}

/// One statement that has ended.
pub(crate) fn statement(reading: &MeterReading) {
    let source = reading.source.to_string();
    counter!(STATEMENTS, "source" => source.clone(), "outcome" => reading.outcome.word()).increment(1);
    counter!(ROWS, "source" => source.clone()).increment(reading.rows);
    counter!(BYTES, "source" => source.clone()).increment(reading.bytes);
    histogram!(SECONDS, "source" => source.clone()).record(reading.elapsed.as_secs_f64());
    histogram!(WAIT, "source" => source).record(reading.queued.as_secs_f64());
}

pub(crate) fn refused(source: &SourceName, limit: &'static str) {
    counter!(REFUSED, "source" => source.to_string(), "limit" => limit).increment(1);
}

/// How busy a source is.
pub(crate) fn load(handle: &SourceHandle) {
    let (source, load) = (handle.name().to_string(), handle.guard.load());
    gauge!(IN_USE, "source" => source.clone()).set(load.in_use as f64);
    gauge!(ALLOWED, "source" => source.clone()).set(load.allowed as f64);
    gauge!(MAX, "source" => source.clone()).set(load.connections_max as f64);
    gauge!(WAITING, "source" => source.clone()).set(load.waiting as f64);
    gauge!(BREAKER, "source" => source).set(if load.breaker == BreakerState::Closed { 0.0 } else { 1.0 });
}

/// How a source was found.
pub(crate) fn health(source: &SourceName, health: &weir_source::Health) {
    gauge!(LATENCY, "source" => source.to_string()).set(health.latency_ms / 1000.0);
    if let Some(lag) = health.replica_lag_ms {
        gauge!(LAG, "source" => source.to_string()).set(lag as f64 / 1000.0);
    }
}
