// SPDX-License-Identifier: Apache-2.0
//! A line on standard error while a query runs, on a terminal only: what it waits for, what it has read so far.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use weir_api::{QueryService, QueryState, QueryStatus, Session, thousands};
use weir_base::{ByteSize, QueryId};

/// Short queries show nothing.
const QUIET: Duration = Duration::from_millis(400);
const PERIOD: Duration = Duration::from_millis(150);

/// The line; gone when dropped.
pub struct Progress {
    line: ProgressBar,
    task: JoinHandle<()>,
}

impl Progress {
    /// `None` where nobody would see it.
    pub fn start(service: Arc<dyn QueryService>, session: Arc<Session>, id: QueryId) -> Option<Self> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            line.set_style(style);
        }
        let shown = line.clone();
        let task = tokio::spawn(async move {
            tokio::time::sleep(QUIET).await;
            loop {
                // A query that is not known yet, or not any more, has nothing to tell.
                if let Ok(status) = service.status(&session, id).await {
                    shown.set_message(words(&status));
                    shown.tick();
                }
                tokio::time::sleep(PERIOD).await;
            }
        });
        Some(Self { line, task })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.task.abort();
        self.line.finish_and_clear();
    }
}

fn words(status: &QueryStatus) -> String {
    let seconds = status.elapsed_ms / 1000.0;
    let state = match (&status.state, &status.note) {
        (QueryState::Waiting, Some(note)) => format!("waiting {note}"),
        (state, _) => state.word().to_owned(),
    };
    let read = match (status.rows_read, status.bytes_read) {
        (0, 0) => String::new(),
        (rows, bytes) => format!(" · {} rows, {} read from sources", thousands(rows), ByteSize(bytes)),
    };
    format!("{state}{read} · {seconds:.1} s · Ctrl-C cancels")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_base::{Timestamp, UserName};

    #[test]
    fn says_what_it_waits_for_or_has_read() {
        let mut status = QueryStatus {
            query_id: QueryId::fresh(),
            user: UserName::new("ana"),
            sql: "SELECT 1".into(),
            state: QueryState::Waiting,
            started_at: Timestamp::from_millis(0),
            ended_at: None,
            elapsed_ms: 1234.0,
            rows_returned: 0,
            rows_read: 0,
            bytes_read: 0,
            note: Some("for a permit of source app_pg".into()),
        };
        assert_eq!(words(&status), "waiting for a permit of source app_pg · 1.2 s · Ctrl-C cancels");
        status = QueryStatus { state: QueryState::Running, rows_read: 12_034, bytes_read: 4096, note: None, ..status };
        assert_eq!(words(&status), "running · 12,034 rows, 4 KiB read from sources · 1.2 s · Ctrl-C cancels");
    }
}
