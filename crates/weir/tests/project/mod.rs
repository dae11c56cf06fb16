// SPDX-License-Identifier: Apache-2.0
//! A project folder of its own for each test, and the built binary run in it.

use sqlx::{ConnectOptions, Executor};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Project {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// What a run of the binary came to.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Project {
    pub fn new(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("weir.yaml"), configuration).unwrap();
        Self { folder, variables: Vec::new() }
    }

    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.into()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        // The binary sees its folder without symbolic links.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub async fn sqlite(&self, name: &str, statements: &[&str]) {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.path(name)).create_if_missing(true);
        let mut connection = options.connect().await.unwrap();
        for statement in statements {
            connection.execute(*statement).await.unwrap();
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(arguments).current_dir(self.path("")).env_clear().envs(self.variables.iter().cloned());
        command
    }

    pub fn weir(&self, arguments: &[&str]) -> Ran {
        self.weir_with_input(arguments, "")
    }

    pub fn weir_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut running = self.spawn(arguments);
        // A command that never reads its input may have ended before all of it was written.
        running.0.stdin.take().unwrap().write_all(input.as_bytes()).unwrap_or_default();
        running.finish()
    }

    /// Starts a command and does not wait for it.
    pub fn spawn(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Starts a server and returns once it has printed its addresses.
    pub fn serve(&self) -> Serving {
        let mut child = self.command(&["serve"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("postgres://127.0.0.1:"), "the server printed {line:?}");
        Serving { child, out, line }
    }
}

/// A command that was started.
pub struct Running(Child);

impl Running {
    /// What Ctrl-C sends.
    pub fn interrupt(&self) {
        signal("-INT", self.0.id());
    }

    pub fn finish(self) -> Ran {
        let output = self.0.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn signal(signal: &str, process: u32) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status().unwrap();
    assert!(status.success());
}

/// Asks again until it is so; fails after half a minute.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(30), "waited too long until {what}");
    }
}

/// A running server; killed when the test fails before it has ended.
pub struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    line: String,
}

impl Serving {
    pub fn http(&self) -> String {
        self.line.trim().split("  ").nth(1).unwrap().to_owned()
    }

    pub fn stdout(&mut self) -> &mut BufReader<ChildStdout> {
        &mut self.out
    }

    pub fn terminate(&self) {
        signal("-TERM", self.child.id());
    }

    pub fn interrupt(&self) {
        signal("-INT", self.child.id());
    }

    pub fn wait(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

/// Status and text of a page.
pub async fn get(url: &str) -> (u16, String) {
    let response = reqwest::get(url).await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}
