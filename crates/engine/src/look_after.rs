// SPDX-License-Identifier: Apache-2.0
//! Looks after the sources that are in use: asks each one every few seconds how it is, through a permit like everybody. What it says decides
//! how many sessions it gets (`weir_guard::Look`). A source that nobody asks is left alone.

use crate::meters;
use crate::shared::Shared;
use futures::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// How often a source is asked how it is.
const EVERY: Duration = Duration::from_secs(5);
/// A source that had no query for so long is not looked at.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// Runs until the engine is gone, or until it is aborted.
pub(crate) fn start(shared: &Arc<Shared>) -> JoinHandle<()> {
    let shared = Arc::downgrade(shared);
    tokio::spawn(async move {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let Some(shared) = shared.upgrade() else { return };
            look(&shared).await;
        }
    })
}

/// What is found stands in `system.sources`.
async fn look(shared: &Shared) {
    let handles = shared.parts.places.sources();
    handles.iter().for_each(|handle| meters::load(handle));
    let used = shared.parts.places.sources().into_iter().filter(|handle| handle.guard.used_within(IDLE_AFTER));
    let looks = used.map(|handle| async move {
        if let Err(error) = handle.health().await {
            tracing::debug!(source = %handle.name(), error = %error, "SourceUnwell");
        }
    });
    join_all(looks).await;
}
