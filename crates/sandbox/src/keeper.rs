// SPDX-License-Identifier: Apache-2.0
//! A keeper of a temporary folder: removes it when this process is gone, however it went.

use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use weir_base::{Error, Result};

use std::os::unix::process::CommandExt;

/// Waits for the end of its input, which is our end, and then removes the folder. What still writes there gets a second chance to stop.
const KEEP: &str = r#"read -r _; rm -rf -- "$1" 2>/dev/null || { sleep 1; rm -rf -- "$1"; }"#;

/// While it lives, the folder does too. Dropping it removes the folder.
#[derive(Debug)]
pub struct Keeper {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Keeper {
    /// Error: no shell can be started.
    pub fn of(folder: &Path) -> Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", KEEP, "weir-keeper"]).arg(folder).current_dir("/");
        // A group of its own: Ctrl-C in the terminal is not for it.
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut shell = shell.spawn().map_err(|error| Error::internal("cannot start the keeper of a folder").with_detail(error.to_string()))?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.pipe.take());
        if let Err(error) = self.shell.wait() {
            tracing::warn!(%error, "SandboxKeeperLost");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_with_its_keeper() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("weir-keeper-{}", crate::random_word(12)));
        std::fs::create_dir_all(folder.join("a/b")).map_err(|error| Error::internal(error.to_string()))?;
        let keeper = Keeper::of(&folder)?;
        assert!(folder.is_dir());
        drop(keeper);
        assert!(!folder.exists());
        Ok(())
    }
}
