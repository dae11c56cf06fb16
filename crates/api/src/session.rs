// SPDX-License-Identifier: Apache-2.0
//! A session: who asks, through which door, with which settings.

use crate::Settings;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_base::{Result, SessionId, UserName};

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
    /// What `pg_backend_pid()` says and cancel requests repeat: unique among the open sessions of a door.
    pub number: i32,
    pub user: UserName,
    pub door: Door,
    /// The database named at login, where a door has such a thing: names with fewer than three parts are looked up there.
    pub database: Option<String>,
    settings: Mutex<Settings>,
    block: Mutex<Option<Block>>,
}

/// A transaction block, as far as settings are concerned.
#[derive(Debug)]
struct Block {
    /// The settings as they were when it began.
    before: Settings,
    /// Settings that end with it.
    local: BTreeSet<String>,
}

impl Session {
    pub fn new(user: UserName, door: Door, database: Option<String>) -> Arc<Self> {
        let id = SessionId::fresh();
        Self::made(id, id.number(), user, door, database)
    }

    /// A session that the door has numbered itself.
    pub fn numbered(number: i32, user: UserName, door: Door, database: Option<String>) -> Arc<Self> {
        Self::made(SessionId::fresh(), number, user, door, database)
    }

    fn made(id: SessionId, number: i32, user: UserName, door: Door, database: Option<String>) -> Arc<Self> {
        Arc::new(Self { id, number, user, door, database, settings: Mutex::default(), block: Mutex::default() })
    }

    /// The settings, locked; keep the guard no longer than one statement of Rust.
    pub fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A transaction block begins, unless one is open already.
    pub fn begin_block(&self) {
        let before = self.settings().clone();
        self.block().get_or_insert(Block { before, local: BTreeSet::new() });
    }

    /// It ends: settings for the block go back, and all that it set where it is `undone`.
    pub fn end_block(&self, undone: bool) -> Result<()> {
        let Some(block) = self.block().take() else { return Ok(()) };
        if undone {
            *self.settings() = block.before;
            return Ok(());
        }
        let mut settings = self.settings();
        block.local.iter().try_for_each(|name| settings.set(name, &block.before.get(name)?))
    }

    /// Sets settings until the block ends: all or none. Without a block the values are only checked, as in Postgres.
    pub fn set_for_block(&self, assignments: &[(String, String)]) -> Result<()> {
        let mut changed = self.settings().clone();
        assignments.iter().try_for_each(|(name, value)| changed.assign(name, value))?;
        if let Some(block) = self.block().as_mut() {
            block.local.extend(assignments.iter().map(|(name, _)| name.to_ascii_lowercase()));
            *self.settings() = changed;
        }
        Ok(())
    }

    fn block(&self) -> MutexGuard<'_, Option<Block>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_its_own_settings_with_it() {
        let session = Session::new(UserName::new("ana"), Door::Postgres, None);
        let local = |value: &str| session.set_for_block(&[("TimeZone".into(), value.into())]).unwrap();
        let zone = || session.settings().timezone.clone();
        local("Asia/Tokyo");
        assert_eq!(zone(), "UTC", "there is no block");
        session.begin_block();
        local("Asia/Tokyo");
        session.settings().set("weir.receipt", "on").unwrap();
        assert_eq!(zone(), "Asia/Tokyo");
        session.end_block(false).unwrap();
        assert_eq!((zone().as_str(), session.settings().receipt), ("UTC", true));
        session.begin_block();
        session.settings().set("weir.receipt", "off").unwrap();
        session.end_block(true).unwrap();
        assert!(session.settings().receipt);
        assert!(session.set_for_block(&[("timezone".into(), "Nope/Zone".into())]).is_err());
    }
}
