// SPDX-License-Identifier: Apache-2.0
//! A session: who asks, through which door, with which settings.

use crate::Settings;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_base::{SessionId, UserName};

/// The way a query came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    Postgres,
    Http,
    Flight,
    Mcp,
    Cli,
}

impl Door {
    pub fn word(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Http => "http",
            Self::Flight => "flight",
            Self::Mcp => "mcp",
            Self::Cli => "cli",
        }
    }
}

/// One client's session. Made by a door after login; shared by the queries of that client.
#[derive(Debug)]
pub struct Session {
    pub id: SessionId,
    pub user: UserName,
    pub door: Door,
    /// The database named at login, where a door has such a thing: names with fewer than three parts are looked up there.
    pub database: Option<String>,
    settings: Mutex<Settings>,
}

impl Session {
    pub fn new(user: UserName, door: Door, database: Option<String>) -> Arc<Self> {
        Arc::new(Self { id: SessionId::fresh(), user, door, database, settings: Mutex::default() })
    }

    /// The settings, locked; keep the guard no longer than one statement of Rust.
    pub fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
