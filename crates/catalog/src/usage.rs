// SPDX-License-Identifier: Apache-2.0
//! What each user took out of each source since midnight UTC. Kept in memory, so that a forecast need not wait for the store.

use crate::QueryRecord;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use weir_base::{DAY_MICROS, SourceName, Timestamp, UserName};

/// Rows and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub rows: u64,
    pub bytes: u64,
}

/// The sums of one day.
#[derive(Debug, Default)]
pub(crate) struct DailyUsage {
    today: Mutex<Today>,
}

#[derive(Debug, Default)]
struct Today {
    day: i64,
    sums: HashMap<(UserName, SourceName), Usage>,
}

/// The first microsecond of the day.
pub(crate) fn midnight(now: Timestamp) -> Timestamp {
    Timestamp::from_micros(now.micros().div_euclid(DAY_MICROS) * DAY_MICROS)
}

impl DailyUsage {
    pub(crate) fn load(now: Timestamp, sums: HashMap<(UserName, SourceName), Usage>) -> Self {
        Self { today: Mutex::new(Today { day: day_of(now), sums }) }
    }

    /// Adds what an ended query took. One that ended on an earlier day changes nothing.
    pub(crate) fn add(&self, record: &QueryRecord) {
        let Some(ended_at) = record.ended_at else { return };
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        today.turn_to(day_of(ended_at));
        if today.day != day_of(ended_at) {
            return;
        }
        for statement in &record.statements {
            let sum = today.sums.entry((record.user.clone(), statement.source.clone())).or_default();
            sum.rows = sum.rows.saturating_add(statement.rows);
            sum.bytes = sum.bytes.saturating_add(statement.bytes);
        }
    }

    pub(crate) fn read(&self, now: Timestamp, user: &UserName, source: &SourceName) -> Usage {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        today.turn_to(day_of(now));
        today.sums.get(&(user.clone(), source.clone())).copied().unwrap_or_default()
    }
}

impl Today {
    fn turn_to(&mut self, day: i64) {
        if day > self.day {
            self.day = day;
            self.sums.clear();
        }
    }
}

fn day_of(at: Timestamp) -> i64 {
    at.micros().div_euclid(DAY_MICROS)
}
