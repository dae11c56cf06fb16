// SPDX-License-Identifier: Apache-2.0
//! The open sessions: how many there are, and which running statement a cancel request means.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;
use weir_base::limits::SESSIONS_MAX;

/// What BackendKeyData tells a client, and what its cancel requests repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CancelKey {
    pub process: i32,
    pub secret: i32,
}

type Running = Arc<Mutex<Option<CancellationToken>>>;

/// All sessions of a door.
#[derive(Default)]
pub struct Registry(Mutex<HashMap<CancelKey, Running>>);

impl Registry {
    /// Takes a seat. `None` when all are taken.
    pub fn enter(self: &Arc<Self>) -> Option<Seat> {
        let mut seats = self.seats();
        if seats.len() >= SESSIONS_MAX {
            return None;
        }
        let mut key = fresh_key();
        while seats.keys().any(|known| known.process == key.process) {
            key = fresh_key();
        }
        let running = Running::default();
        seats.insert(key, running.clone());
        Some(Seat { key, running, registry: self.clone() })
    }

    /// Cancels what the session with this key is running, if anything.
    pub fn cancel(&self, key: CancelKey) {
        let running = self.seats().get(&key).cloned();
        let token = running.and_then(|running| locked(&running).clone());
        tracing::debug!(found = token.is_some(), "CancelRequested");
        if let Some(token) = token {
            token.cancel();
        }
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<CancelKey, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(running: &Running) -> MutexGuard<'_, Option<CancellationToken>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fresh_key() -> CancelKey {
    CancelKey { process: rand::random_range(1..i32::MAX), secret: rand::random() }
}

/// A session's place in the registry, given back when dropped.
pub struct Seat {
    pub key: CancelKey,
    running: Running,
    registry: Arc<Registry>,
}

impl Seat {
    /// A statement begins: from now on a cancel request means it.
    pub fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *locked(&self.running) = Some(token.clone());
        token
    }

    /// Nothing runs: cancel requests come too late.
    pub fn end(&self) {
        *locked(&self.running) = None;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.registry.seats().remove(&self.key);
    }
}
