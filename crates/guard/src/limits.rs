// SPDX-License-Identifier: Apache-2.0
//! What a source allows: sessions, time, rows and bytes (CONTRACT, 2, `limits`).

use crate::UnknownForecast;
use std::time::Duration;

/// Resolved limits of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Hard cap on sessions in the source, metadata and health checks included. At least 1.
    pub connections: usize,
    /// How many of them one user may hold at once; `None` is all.
    pub connections_per_user: Option<usize>,
    /// Longest time one statement may run in the source.
    pub statement_timeout: Duration,
    /// Rows that one query may take out of the source; `None` is no limit.
    pub rows_per_query: Option<u64>,
    /// Bytes that one query may take out of the source; `None` is no limit.
    pub bytes_per_query: Option<u64>,
    /// Rows and bytes that one user may take out of the source on one day (UTC), over all queries; `None` is no limit.
    pub rows_per_day: Option<u64>,
    pub bytes_per_day: Option<u64>,
    /// Longest time that the statements of one query may take in the source, all together; `None` is no limit.
    pub time_per_query: Option<Duration>,
    /// What is done with a query of which nobody knows what it takes.
    pub unknown_forecast: UnknownForecast,
    /// Longest wait for a permit.
    pub queue_wait_max: Duration,
    /// Most requests that may wait at once; one more is refused.
    pub queue_waiting_max: usize,
    /// A replica further behind than this is warned about.
    pub replica_lag_max: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4,
            connections_per_user: None,
            statement_timeout: Duration::from_secs(30),
            rows_per_query: None,
            bytes_per_query: None,
            rows_per_day: None,
            bytes_per_day: None,
            time_per_query: None,
            unknown_forecast: UnknownForecast::Run,
            queue_wait_max: Duration::from_secs(20),
            queue_waiting_max: 200,
            replica_lag_max: None,
        }
    }
}
