// SPDX-License-Identifier: Apache-2.0
//! Leave to use a source now. Only this crate makes one; dropping it gives it back.

use crate::ledger::{Meter, Outcome};
use crate::{Limits, admission::Slot};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use weir_base::SourceName;

/// Leave to hold one session of one source, for one statement.
#[derive(Debug)]
pub struct Permit {
    source: SourceName,
    limits: Arc<Limits>,
    meter: Arc<Meter>,
    cancel: CancellationToken,
    _slot: Slot,
}

impl Permit {
    pub(crate) fn new(source: SourceName, limits: Arc<Limits>, meter: Arc<Meter>, cancel: CancellationToken, slot: Slot) -> Self {
        Self { source, limits, meter, cancel, _slot: slot }
    }

    pub fn source(&self) -> &SourceName {
        &self.source
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Where the connector counts rows and bytes.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Fires when the query was cancelled: the connector then ends the statement at the source.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Drop for Permit {
    /// A statement that nobody ended was dropped in the middle: by a cancel, a limit, or a client that went away.
    fn drop(&mut self) {
        self.meter.end(Outcome::Cancelled);
    }
}
