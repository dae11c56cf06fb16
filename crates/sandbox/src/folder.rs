// SPDX-License-Identifier: Apache-2.0
//! The folder of one server: a temporary one that goes with its value, or one the caller gave, which stays.

use crate::account::runs_as_root;
use rand::Rng;
use rand::distr::Alphanumeric;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use weir_base::{Error, Result};

/// A server's folder; a temporary one is removed on drop.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    kept: bool,
}

impl Folder {
    /// The folder the caller named, else a fresh temporary one called `weir-<kind>-<random>`.
    pub(crate) fn open(kind: &str, given: Option<&Path>) -> Result<Self> {
        let path = match given {
            Some(path) => std::path::absolute(path).map_err(|e| trouble("cannot resolve the folder of a server", path, &e))?,
            None => std::env::temp_dir().join(format!("weir-{kind}-{}", random_word(12))),
        };
        // Root's servers may run under another account, which has to pass through.
        let mode = if runs_as_root()? { 0o711 } else { 0o700 };
        let mut builder = fs::DirBuilder::new();
        builder.mode(mode).recursive(given.is_some());
        builder.create(&path).map_err(|e| trouble("cannot create the folder of a server", &path, &e))?;
        Ok(Self { path, kept: given.is_some() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn kept(&self) -> bool {
        self.kept
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file that only its owner may read.
    pub(crate) fn write_secret(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.join(name);
        write_secret(&path, text)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        match fs::remove_dir_all(&self.path) {
            Ok(()) => {}
            // The supervisor came first.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => tracing::warn!(folder = %self.path.display(), error = %e, "SandboxFolderLeft"),
        }
    }
}

/// Writes `text` to a fresh file with mode 0600; a file that was there is replaced.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(trouble("cannot replace a file", path, &e)),
    }
    let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|e| trouble("cannot write a file", path, &e))
}

/// A random word of letters and digits: a password, or a name nobody else has.
pub fn random_word(length: usize) -> String {
    rand::rng().sample_iter(Alphanumeric).take(length).map(char::from).collect()
}

/// An input/output error with the path it happened at.
pub(crate) fn trouble(message: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::internal(message).with_detail(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_temporary_folder_goes_and_a_given_one_stays() -> Result<()> {
        let outer = Folder::open("test", None)?;
        let outer_path = outer.path().to_path_buf();
        let given = outer.join("a/b");
        let inner = Folder::open("test", Some(&given))?;
        drop(inner);
        assert!(given.is_dir());
        drop(outer);
        assert!(!outer_path.exists());
        Ok(())
    }

    #[test]
    fn a_secret_is_readable_by_its_owner_only() -> Result<()> {
        let folder = Folder::open("test", None)?;
        let path = folder.write_secret("password", "one")?;
        folder.write_secret("password", "two")?;
        let mode = fs::metadata(&path).map_err(|e| trouble("stat", &path, &e))?.permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&path).map_err(|e| trouble("read", &path, &e))?, "two");
        Ok(())
    }
}
