// SPDX-License-Identifier: Apache-2.0
//! The signals that end a demo: Ctrl-C, a polite kill, a closed terminal.

use tokio::signal::unix::{Signal, SignalKind, signal};
use weir_base::{Error, Result};

pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on, so that a signal during the start is not lost.
    pub fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).map_err(|error| Error::internal("signals cannot be heard").with_detail(error.to_string()));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())?, hangup: listen(SignalKind::hangup())? })
    }

    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
