// SPDX-License-Identifier: Apache-2.0
//! What the doors count, under the names `/metrics` shows.

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::time::Instant;
use weir_api::Door;
use weir_base::{Error, Result};

const SESSIONS: &str = "weir_sessions_open";
const LOGINS: &str = "weir_logins_total";
const QUERIES: &str = "weir_queries_total";
const QUERY_SECONDS: &str = "weir_query_duration_seconds";
const ROWS: &str = "weir_rows_sent_total";

/// Bounds of the histogram of query times, in seconds.
const SECONDS_BOUNDS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];

/// Makes the process-wide registry and gives the handle that `/metrics` reads. Once per process. Errors: one is there already.
pub fn install() -> Result<PrometheusHandle> {
    let failed = |error: metrics_exporter_prometheus::BuildError| Error::internal("the metrics registry could not be made").with_detail(error.to_string());
    let handle = PrometheusBuilder::new().set_buckets(&SECONDS_BOUNDS).and_then(PrometheusBuilder::install_recorder).map_err(failed)?;
    describe_gauge!(SESSIONS, "open client sessions");
    describe_counter!(LOGINS, "logins by door and outcome");
    describe_counter!(QUERIES, "statements by door and outcome (ok or a SQLSTATE)");
    describe_histogram!(QUERY_SECONDS, "time from taking a statement in to its last row");
    describe_counter!(ROWS, "rows sent to clients");
    Ok(handle)
}

/// Counts a session while it lives.
pub struct OpenSession(Door);

impl OpenSession {
    pub fn begin(door: Door) -> Self {
        gauge!(SESSIONS, "door" => door.word()).increment(1.0);
        Self(door)
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        gauge!(SESSIONS, "door" => self.0.word()).decrement(1.0);
    }
}

pub fn login(door: Door, right: bool) {
    counter!(LOGINS, "door" => door.word(), "outcome" => if right { "ok" } else { "refused" }).increment(1);
}

/// Counts one statement when it ends; one that nobody waited for counts as cancelled.
pub struct OpenQuery {
    door: Door,
    began: Instant,
    rows: u64,
    outcome: String,
}

impl OpenQuery {
    pub fn begin(door: Door) -> Self {
        Self { door, began: Instant::now(), rows: 0, outcome: "57014".into() }
    }

    pub fn rows(&mut self, count: u64) {
        self.rows += count;
    }

    pub fn succeeded(&mut self) {
        "ok".clone_into(&mut self.outcome);
    }

    pub fn failed(&mut self, sqlstate: &str) {
        sqlstate.clone_into(&mut self.outcome);
    }
}

impl Drop for OpenQuery {
    fn drop(&mut self) {
        let door = self.door.word();
        counter!(QUERIES, "door" => door, "outcome" => std::mem::take(&mut self.outcome)).increment(1);
        counter!(ROWS, "door" => door).increment(self.rows);
        histogram!(QUERY_SECONDS, "door" => door).record(self.began.elapsed().as_secs_f64());
    }
}
