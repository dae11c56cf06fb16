// SPDX-License-Identifier: Apache-2.0
//! The queries that run now and the last ones that ran, by id.

use crate::run::QueryRun;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_base::QueryId;
use weir_base::limits::RECEIPTS_KEPT_MAX;

/// Running queries, and the last `RECEIPTS_KEPT_MAX` that ended.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    running: HashMap<QueryId, Arc<QueryRun>>,
    ended: VecDeque<Arc<QueryRun>>,
}

impl Registry {
    pub fn begin(&self, run: Arc<QueryRun>) {
        self.lock().running.insert(run.id, run);
    }

    pub fn end(&self, run: &Arc<QueryRun>) {
        let mut inner = self.lock();
        inner.running.remove(&run.id);
        inner.ended.push_back(run.clone());
        if inner.ended.len() > RECEIPTS_KEPT_MAX {
            inner.ended.pop_front();
        }
    }

    pub fn find(&self, id: QueryId) -> Option<Arc<QueryRun>> {
        let inner = self.lock();
        inner.running.get(&id).or_else(|| inner.ended.iter().rev().find(|run| run.id == id)).cloned()
    }

    pub fn running(&self) -> Vec<Arc<QueryRun>> {
        let mut running: Vec<Arc<QueryRun>> = self.lock().running.values().cloned().collect();
        running.sort_by_key(|run| run.id);
        running
    }

    /// Newest first.
    pub fn ended(&self) -> Vec<Arc<QueryRun>> {
        self.lock().ended.iter().rev().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
