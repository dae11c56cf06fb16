// SPDX-License-Identifier: Apache-2.0
//! Waiting for a condition, never for a length of time.

use std::time::{Duration, Instant};

/// By then everything that is waited for must have happened, on a busy machine too.
const DEADLINE: Duration = Duration::from_secs(20);

/// Returns as soon as the condition holds, and tells how long that took.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    began.elapsed()
}
