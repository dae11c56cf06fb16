// SPDX-License-Identifier: Apache-2.0
//! What is done here with the rows of a source, noted while a plan is cut and told with the statement that fetches them.

use std::sync::{Arc, Mutex, PoisonError};
use weir_api::Kept;

/// Shared between a plan and its copies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    kept: Arc<Mutex<Vec<Kept>>>,
}

impl Notes {
    pub fn add(&self, kept: Kept) {
        let mut known = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(&kept) {
            known.push(kept);
        }
    }

    pub fn all(&self) -> Vec<Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
