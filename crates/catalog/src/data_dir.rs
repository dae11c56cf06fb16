// SPDX-License-Identifier: Apache-2.0
//! The data directory and its lock: one Weir at a time, and a way to find the one that holds it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use weir_base::{Error, ErrorCode, Result};

const LOCK_FILE: &str = "weir.lock";
const STORE_FILE: &str = "weir.db";
/// More than that is no lock file of ours.
const LOCK_BYTES_MAX: u64 = 4096;

/// An open data directory. The operating system gives the lock back when the process ends, however it ends.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    lock: File,
}

/// The process that holds a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holder {
    pub pid: Option<u32>,
    /// Base URL of its HTTP door, once it serves: `http://127.0.0.1:8642`.
    pub http: Option<String>,
}

/// What came of trying to open one.
#[derive(Debug)]
pub enum Opened {
    Ours(DataDir),
    Held(Holder),
}

impl DataDir {
    /// Makes the directory where it is absent (readable by its owner only) and takes its lock.
    /// Errors: `DataDirHeld` when another Weir has it, `Config` when it cannot be made or written.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::open_or_holder(path)? {
            Opened::Ours(dir) => Ok(dir),
            Opened::Held(holder) => Err(held(path, &holder)),
        }
    }

    /// As `open`, but another holder is an answer and not an error.
    pub fn open_or_holder(path: &Path) -> Result<Opened> {
        let unusable = |error: std::io::Error| unusable(path, &error);
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut lock = options.open(path.join(LOCK_FILE)).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Opened::Held(read_holder(&mut lock).map_err(unusable)?)),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        let mut dir = Self { path: path.to_owned(), lock };
        dir.write_holder(None)?;
        Ok(Opened::Ours(dir))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the control store lies.
    pub fn store_path(&self) -> PathBuf {
        self.path.join(STORE_FILE)
    }

    /// Tells other commands where this process serves HTTP: a base URL.
    pub fn announce(&mut self, http: &str) -> Result<()> {
        self.write_holder(Some(http))
    }

    /// One write, pid first, so that a reader never sees half a line before the pid.
    fn write_holder(&mut self, http: Option<&str>) -> Result<()> {
        let http = http.map(|http| format!("http {http}\n")).unwrap_or_default();
        let text = format!("pid {}\n{http}", std::process::id());
        let written = self.lock.seek(SeekFrom::Start(0)).and_then(|_| self.lock.write_all(text.as_bytes()));
        written.and_then(|()| self.lock.set_len(text.len() as u64)).map_err(|error| unusable(&self.path, &error))
    }
}

impl Drop for DataDir {
    /// Leaves no stale address behind; a lock file that says nothing is harmless, so a failure to empty it is only logged.
    fn drop(&mut self) {
        if let Err(error) = self.lock.set_len(0) {
            tracing::debug!(%error, "lock file could not be emptied");
        }
    }
}

fn read_holder(lock: &mut File) -> std::io::Result<Holder> {
    let mut text = String::new();
    lock.take(LOCK_BYTES_MAX).read_to_string(&mut text)?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Ok(Holder { pid: field("pid ").and_then(|pid| pid.parse().ok()), http: field("http ").map(str::to_owned) })
}

fn held(path: &Path, holder: &Holder) -> Error {
    let pid = holder.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
    let error = Error::new(ErrorCode::DataDirHeld, "data directory is in use by another weir");
    match &holder.http {
        Some(http) => error.with_detail(format!("{}{pid} serves at {http}", path.display())).with_hint("stop it first, or give this one another data_dir"),
        None => {
            error.with_detail(format!("{}{pid}", path.display())).with_hint("wait until it has ended, or run `weir serve` once: other commands then talk to it")
        }
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Config, "data directory cannot be used")
        .with_detail(format!("{}: {error}", path.display()))
        .with_hint("data_dir must be a folder that this user may write to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_second_one_learns_who_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let mut first = DataDir::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let error = DataDir::open(&path).unwrap_err();
        assert_eq!(error.code(), ErrorCode::DataDirHeld);
        first.announce("http://127.0.0.1:8642").unwrap();
        let Opened::Held(holder) = DataDir::open_or_holder(&path).unwrap() else { panic!("lock was given twice") };
        assert_eq!(holder, Holder { pid: Some(std::process::id()), http: Some("http://127.0.0.1:8642".into()) });
        let detail = format!("{} (process {}) serves at http://127.0.0.1:8642", path.display(), std::process::id());
        assert_eq!(DataDir::open(&path).unwrap_err().detail(), Some(detail.as_str()));
    }

    #[test]
    fn dropping_gives_it_back() {
        let folder = tempfile::tempdir().unwrap();
        drop(DataDir::open(folder.path()).unwrap());
        assert_eq!(std::fs::read_to_string(folder.path().join(LOCK_FILE)).unwrap(), "");
        DataDir::open(folder.path()).unwrap();
    }

    #[test]
    fn a_file_in_the_way_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, "not a folder").unwrap();
        let error = DataDir::open(&path).unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::Config, "data directory cannot be used"));
    }
}
