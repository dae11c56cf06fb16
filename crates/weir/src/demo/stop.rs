// SPDX-License-Identifier: Apache-2.0
//! The signals that end a demo: Ctrl-C, a polite kill, a closed terminal. The first one ends it in order, a second one at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use weir_base::{Error, Result};

/// What a shell reports of a command that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Whether the demo was asked to end.
#[derive(Debug, Clone)]
pub struct Stop {
    asked: CancellationToken,
}

impl Stop {
    /// Listens from now on, so that a signal during the start is not lost.
    pub fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).map_err(|error| Error::internal("signals cannot be heard").with_detail(error.to_string()));
        let signals =
            Signals { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())?, hangup: listen(SignalKind::hangup())? };
        let asked = CancellationToken::new();
        tokio::spawn(signals.heed(asked.clone()));
        Ok(Self { asked })
    }

    pub async fn asked(&self) {
        self.asked.cancelled().await;
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    async fn heed(mut self, asked: CancellationToken) {
        self.next().await;
        asked.cancel();
        self.next().await;
        // Servers and folders have keepers of their own, which see that we are gone.
        eprintln!("demo: ended at once by a second signal");
        std::process::exit(INTERRUPTED);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
