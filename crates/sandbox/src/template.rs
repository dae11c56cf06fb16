// SPDX-License-Identifier: Apache-2.0
//! Ready-made data folders, kept in the user's cache by server version: a server starts from a copy in well under a second.

use crate::folder::{random_word, trouble};
use crate::program::Tool;
use crate::venv::cache_dir;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use weir_base::Result;

/// One kind of ready-made folder.
pub(crate) struct Template {
    path: PathBuf,
}

impl Template {
    /// The template called `key`; the key holds everything that decides its content (program, version, account).
    pub(crate) fn named(key: &str) -> Result<Self> {
        let safe: String = key.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
        Ok(Self { path: cache_dir()?.join("templates").join(safe) })
    }

    /// Copies the template's content into the folder `into`. False when there is no template yet.
    pub(crate) async fn copy_into(&self, into: &Path) -> Result<bool> {
        if !self.path.is_dir() {
            return Ok(false);
        }
        copy(&self.path, into).await?;
        Ok(true)
    }

    /// Keeps `names` of the folder `from` as the template. Whoever comes first wins; a half copy is never seen.
    pub(crate) async fn keep(&self, from: &Path, names: &[&str]) -> Result<()> {
        let draft = self.path.with_extension(format!("draft-{}", random_word(8)));
        std::fs::create_dir_all(&draft).map_err(|e| trouble("cannot create a cache folder", &draft, &e))?;
        for name in names {
            Tool::new(Path::new("cp")).args(["-a", "--sparse=always", "--"]).args([from.join(name), draft.join(name)]).run().await?;
        }
        let moved = std::fs::rename(&draft, &self.path);
        match moved {
            Ok(()) => Ok(()),
            Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                std::fs::remove_dir_all(&draft).map_err(|e| trouble("cannot remove a cache folder", &draft, &e))
            }
            Err(e) => Err(trouble("cannot keep a cache folder", &self.path, &e)),
        }
    }
}

/// Copies everything in `from` into the existing folder `into`, with owners, modes and holes.
async fn copy(from: &Path, into: &Path) -> Result<()> {
    let content = from.join(".");
    Tool::new(Path::new("cp"))
        .args(["-a", "--no-preserve=timestamps", "--sparse=always", "--reflink=auto", "--"])
        .args([content.as_path(), into])
        .run()
        .await?;
    Ok(())
}
