// SPDX-License-Identifier: Apache-2.0
//! One server process under a small shell supervisor, which ends it (and removes its folder) when this process is gone, and
//! which does not keep quiet about a server that crashed.

use crate::folder::{Folder, trouble};
use crate::program::last_lines;
use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;
use weir_base::{Error, ErrorCode, Result};

const SUPERVISE: &str = include_str!("supervise.sh");
const LOG_LINES_SHOWN: usize = 15;
/// Names the folder for the reports on crashed servers; without it they go where temporary files go.
const REPORTS_VARIABLE: &str = "WEIR_CRASH_REPORTS";
const READY_WITHIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(30);

/// How a server is asked to end, as `kill -s` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// PostgreSQL's fast shutdown: sessions are cut, data is written.
    Int,
    /// PostgreSQL's immediate shutdown: children end, nothing is written.
    Quit,
    /// The usual polite end.
    Term,
    /// No warning at all.
    Kill,
}

impl Signal {
    fn word(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Quit => "QUIT",
            Self::Term => "TERM",
            Self::Kill => "KILL",
        }
    }
}

/// A server's folder and, while it runs, its supervisor. Dropping it ends the server and waits until it is gone.
#[derive(Debug)]
pub(crate) struct Server {
    running: Option<Running>,
    // After `running`: fields drop in this order, and the folder must outlive the server.
    folder: Folder,
}

#[derive(Debug)]
struct Running {
    supervisor: Child,
    pipe: Option<ChildStdin>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Closing the pipe is the message.
        drop(self.pipe.take());
        if let Err(error) = self.supervisor.wait() {
            tracing::warn!(%error, "SandboxServerLost");
        }
    }
}

impl Server {
    pub(crate) fn new(folder: Folder) -> Self {
        Self { running: None, folder }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Starts `command`; when the value is dropped or this process dies it gets `signal`. Does not wait until it is ready.
    pub(crate) fn start(&mut self, command: &[OsString], signal: Signal) -> Result<()> {
        for name in ["asked", "ended", "pid"] {
            self.forget(name)?;
        }
        let after = if self.folder.kept() { "keep" } else { "remove" };
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SUPERVISE, "weir-supervise"]).arg(self.folder.path()).args([signal.word(), after]).arg(reports()?).args(command);
        shell.env("LC_ALL", "C.UTF-8").current_dir(self.folder.path());
        // A group of its own: Ctrl-C in the terminal is for us, and we end the servers in our order.
        // Its standard error is ours: a crash is told also when nobody asks this value any more.
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let mut supervisor = shell.spawn().map_err(|e| Error::internal("cannot start a supervisor").with_detail(e.to_string()))?;
        let pipe = supervisor.stdin.take();
        self.running = Some(Running { supervisor, pipe });
        Ok(())
    }

    /// Ends the server and keeps its folder. Waits until it is gone. Nothing happens when it does not run.
    pub(crate) fn end(&mut self, signal: Signal) -> Result<()> {
        self.end_with(signal, &[])
    }

    /// Kills the server and its children at once (SIGKILL), so that no child sends another byte. Keeps the folder.
    pub(crate) fn kill(&mut self) -> Result<()> {
        let children = match self.pid() {
            Some(pid) => children_of(pid)?,
            None => Vec::new(),
        };
        self.end_with(Signal::Kill, &children)
    }

    fn end_with(&mut self, signal: Signal, others: &[u32]) -> Result<()> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        let others: String = others.iter().map(|pid| format!(" {pid}")).collect();
        if let Some(pipe) = running.pipe.as_mut() {
            let line = format!("{} keep{others}\n", signal.word());
            pipe.write_all(line.as_bytes()).map_err(|e| Error::internal("cannot reach a supervisor").with_detail(e.to_string()))?;
        }
        drop(running);
        Ok(())
    }

    /// The server's process id, while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.running.as_ref()?;
        fs::read_to_string(self.folder.join("pid")).ok()?.trim().parse().ok()
    }

    /// The exit code, once the server ended by itself.
    pub(crate) fn ended(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder.join("ended")).ok()?;
        Some(text.trim().to_owned())
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The last lines the server wrote to its log.
    pub(crate) fn log_tail(&self) -> String {
        match fs::read(self.log_path()) {
            Ok(bytes) => last_lines(&String::from_utf8_lossy(&bytes), LOG_LINES_SHOWN),
            Err(error) => format!("no log: {error}"),
        }
    }

    /// Whether the server gave up because somebody else took its port.
    pub(crate) fn lost_its_port(&self) -> bool {
        let tail = self.log_tail().to_lowercase();
        self.ended().is_some() && (tail.contains("address already in use") || tail.contains("port is already in use"))
    }

    /// Calls `ask` until it answers; gives up when the server ends or the deadline passes, with the end of its log.
    pub(crate) async fn ready(&self, what: &str, ask: impl AsyncFn() -> Result<bool>) -> Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(code) = self.ended() {
                return Err(self.not_started(what, &format!("it ended with exit code {code}")));
            }
            let last_answer = match ask().await {
                Ok(true) => return Ok(()),
                Ok(false) => "somebody else answers on its port".into(),
                Err(error) => error.to_string(),
            };
            if Instant::now() > deadline {
                return Err(self.not_started(what, &format!("no answer within {READY_WITHIN:?}: {last_answer}")));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn not_started(&self, what: &str, why: &str) -> Error {
        let detail = format!("{why}; the end of {}:\n{}", self.log_path().display(), self.log_tail());
        Error::new(ErrorCode::SourceUnreachable, format!("{what} did not start")).with_detail(detail)
    }

    fn forget(&self, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            Err(e) => Err(trouble("cannot remove a file", &path, &e)),
        }
    }
}

/// Where the reports on crashed servers go. They outlive the servers and their folders.
fn reports() -> Result<PathBuf> {
    let named = std::env::var_os(REPORTS_VARIABLE).filter(|value| !value.is_empty());
    let folder = named.map_or_else(std::env::temp_dir, PathBuf::from);
    // The supervisor stands in the server's folder.
    std::path::absolute(&folder).map_err(|e| trouble("cannot resolve the folder for crash reports", &folder, &e))
}

/// The direct children of a process, from /proc.
fn children_of(pid: u32) -> Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").map_err(|e| Error::internal("cannot read /proc").with_detail(e.to_string()))?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    Ok(pids.filter(|child| parent_of(*child) == Some(pid)).collect())
}

/// The parent of a process; none when it is gone.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state parent …`; the name may hold anything, so the fields are counted from its last parenthesis.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> [OsString; 2] {
        ["sleep".into(), "1000".into()]
    }

    async fn started(kept: bool) -> Result<(Server, u32, Folder)> {
        let outer = Folder::open("test", None)?;
        let given = outer.join("server");
        let folder = Folder::open("test", kept.then_some(given.as_path()))?;
        let mut server = Server::new(folder);
        server.start(&sleeper(), Signal::Term)?;
        server.ready("sleep", async || Ok(server.pid().is_some())).await?;
        let pid = server.pid().ok_or_else(|| Error::internal("no pid"))?;
        Ok((server, pid, outer))
    }

    #[tokio::test]
    async fn dropping_ends_the_process_and_removes_the_folder() -> Result<()> {
        let (server, pid, _outer) = started(false).await?;
        let path = server.folder().path().to_path_buf();
        assert!(parent_of(pid).is_some());
        drop(server);
        assert_eq!(parent_of(pid), None);
        assert!(!path.exists());
        Ok(())
    }

    #[tokio::test]
    async fn a_given_folder_and_a_killed_servers_folder_stay() -> Result<()> {
        let (mut server, pid, _outer) = started(true).await?;
        let path = server.folder().path().to_path_buf();
        server.kill()?;
        assert_eq!(parent_of(pid), None);
        assert_eq!(server.ended().as_deref(), Some("137"));
        server.start(&sleeper(), Signal::Term)?;
        drop(server);
        assert!(path.join("log").exists());
        Ok(())
    }

    #[tokio::test]
    async fn a_server_that_ends_at_once_is_an_error_with_its_log() -> Result<()> {
        let mut server = Server::new(Folder::open("test", None)?);
        server.start(&["sh".into(), "-c".into(), "echo no such luck; exit 7".into()], Signal::Term)?;
        let error = server.ready("luck", async || Ok(false)).await.unwrap_err();
        assert_eq!(error.message(), "luck did not start");
        let detail = error.detail().unwrap_or_default();
        assert!(detail.contains("exit code 7") && detail.ends_with("no such luck"), "{detail}");
        Ok(())
    }
}
