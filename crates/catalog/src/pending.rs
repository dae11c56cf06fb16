// SPDX-License-Identifier: Apache-2.0
//! Records on their way to the writer: a bounded queue that never makes a query wait. When it is full the oldest goes, and is counted.

use crate::QueryRecord;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::{Notify, watch};

#[derive(Debug)]
pub(crate) struct Pending {
    records_max: usize,
    queue: Mutex<VecDeque<QueryRecord>>,
    arrived: Notify,
    /// Records taken in so far; each is later written, dropped or failed.
    accepted: AtomicU64,
    dropped: AtomicU64,
    settled: watch::Sender<u64>,
}

impl Pending {
    pub(crate) fn new(records_max: usize) -> Self {
        Self {
            records_max,
            queue: Mutex::default(),
            arrived: Notify::new(),
            accepted: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            settled: watch::Sender::new(0),
        }
    }

    pub(crate) fn push(&self, record: QueryRecord) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        self.accepted.fetch_add(1, Ordering::SeqCst);
        queue.push_back(record);
        let overflow = queue.len() > self.records_max;
        if overflow {
            queue.pop_front();
        }
        drop(queue);
        if overflow {
            self.count_dropped();
        }
        self.arrived.notify_one();
    }

    /// Said on the first and then on each thousandth, so that a flood does not fill the log too.
    fn count_dropped(&self) {
        let dropped = self.dropped.fetch_add(1, Ordering::SeqCst) + 1;
        self.settle(1);
        if dropped % 1000 == 1 {
            tracing::warn!(dropped, "query log cannot keep up; the oldest unwritten records are dropped");
        }
    }

    /// Up to `count` records, oldest first; empty when none waits.
    pub(crate) fn take(&self, count: usize) -> Vec<QueryRecord> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let count = count.min(queue.len());
        queue.drain(..count).collect()
    }

    /// Returns when something may have arrived.
    pub(crate) async fn arrival(&self) {
        self.arrived.notified().await;
    }

    /// So many records have found their end.
    pub(crate) fn settle(&self, count: u64) {
        self.settled.send_modify(|settled| *settled += count);
    }

    /// Waits until everything taken in before this call is written, dropped or failed. False when the writer is gone.
    pub(crate) async fn drained(&self) -> bool {
        let target = self.accepted.load(Ordering::SeqCst);
        self.settled.subscribe().wait_for(|settled| *settled >= target).await.is_ok()
    }

    pub(crate) fn dropped_count(&self) -> u64 {
        self.dropped.load(Ordering::SeqCst)
    }

    pub(crate) fn waiting_count(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst).saturating_sub(*self.settled.borrow())
    }
}
