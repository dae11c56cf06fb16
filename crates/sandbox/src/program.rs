// SPDX-License-Identifier: Apache-2.0
//! Finds the programs of the servers and runs the short ones to their end.

use crate::account::Account;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use weir_base::{Error, ErrorCode, Result};

/// How much of what a failed program wrote goes into the error.
const LINES_SHOWN: usize = 12;

/// Looks for `name` in `folders`, then in PATH. The error names the Debian package.
pub(crate) fn find(name: &str, folders: &[PathBuf], package: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path);
    let found = folders.iter().cloned().chain(in_path).map(|folder| folder.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| {
        Error::new(ErrorCode::NotFound, format!("the program {name} is not installed"))
            .with_hint(format!("run `make setup`, or install the Debian package {package}"))
    })
}

/// A program that is run to its end.
pub(crate) struct Tool {
    name: String,
    command: Command,
    input: Option<String>,
}

impl Tool {
    pub(crate) fn new(program: &Path) -> Self {
        Self::as_account(Account::Own, program)
    }

    /// Runs it under another account (root only).
    pub(crate) fn as_account(account: Account, program: &Path) -> Self {
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
        let mut words = account.prefix();
        words.push(program.as_os_str().to_os_string());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("LC_ALL", "C.UTF-8").kill_on_drop(true);
        Self { name, command, input: None }
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, key: &str, value: impl Into<OsString>) -> Self {
        self.command.env(key, value.into());
        self
    }

    /// A program that needs no particular folder must not fail because ours is closed to its account.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// What the program reads on its standard input.
    pub(crate) fn input(mut self, text: impl Into<String>) -> Self {
        self.input = Some(text.into());
        self
    }

    /// Runs it and gives what it printed; a non-zero exit is an error with the last lines it wrote.
    pub(crate) async fn run(mut self) -> Result<String> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|e| self.failed(&e.to_string()))?;
        let pipe = child.stdin.take();
        let input = self.input.take().unwrap_or_default();
        let write = async move {
            let Some(mut pipe) = pipe else { return };
            // A program that ends early closes the pipe; its exit code and its words say why.
            if let Err(error) = pipe.write_all(input.as_bytes()).await {
                tracing::debug!(%error, "SandboxInputCut");
            }
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), write);
        let output = output.map_err(|e| self.failed(&e.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        Err(self.failed(&format!("{}\n{}", output.status, last_lines(&said, LINES_SHOWN))))
    }

    fn failed(&self, detail: &str) -> Error {
        Error::new(ErrorCode::SourceBroke, format!("{} failed", self.name)).with_detail(detail.trim_end())
    }
}

/// The last `count` lines of `text`.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_its_package() {
        let error = find("no-such-program-here", &[], "some-package").unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound);
        assert!(error.hint().unwrap_or_default().ends_with("install the Debian package some-package"), "{error:?}");
    }

    #[tokio::test]
    async fn input_goes_in_and_output_comes_out() -> Result<()> {
        let shell = Path::new("/bin/sh");
        assert_eq!(Tool::new(shell).args(["-c", "tr a-z A-Z"]).input("weir").run().await?, "WEIR");
        let error = Tool::new(shell).args(["-c", "echo oh >&2; exit 3"]).run().await.unwrap_err();
        assert_eq!(error.message(), "sh failed");
        assert_eq!(error.detail(), Some("exit status: 3\noh"));
        Ok(())
    }

    #[test]
    fn shows_the_end_of_a_long_text() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a", 5), "a");
    }
}
