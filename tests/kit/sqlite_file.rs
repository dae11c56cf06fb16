// SPDX-License-Identifier: Apache-2.0
//! A SQLite database in a folder of its own, and a connection that writes to it.

use sqlx::{Connection, Executor, SqliteConnection};
use tempfile::TempDir;

pub struct SqliteFile {
    folder: TempDir,
}

impl SqliteFile {
    pub async fn with(script: &str) -> Self {
        let file = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        file.run(script).await;
        file
    }

    /// Runs statements as somebody else than Weir.
    pub async fn run(&self, script: &str) {
        let mut writer = SqliteConnection::connect(&format!("{}?mode=rwc", self.url())).await.expect("a SQLite file");
        writer.execute(script).await.unwrap_or_else(|error| panic!("{script}\n{error}"));
        writer.close().await.expect("a clean end");
    }

    pub fn url(&self) -> String {
        format!("sqlite://{}", self.folder.path().join("file.db").display())
    }
}
