// SPDX-License-Identifier: Apache-2.0
//! A peer that is a program: started afresh for each lap, what it prints is thrown away.

use crate::contest::{Contender, Lap};
use async_trait::async_trait;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;
use tokio::process::Command;
use weir_base::{Error, ErrorCode, Result};

pub struct Program {
    pub name: String,
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(&'static str, String)>,
}

#[async_trait]
impl Contender for Program {
    fn name(&self) -> &str {
        &self.name
    }

    async fn lap(&mut self) -> Result<Lap> {
        let began = Instant::now();
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).envs(self.environment.iter().map(|(key, value)| (key, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let failed = |detail: String| Error::new(ErrorCode::SourceBroke, format!("{} failed", self.name)).with_detail(detail);
        let output = command.output().await.map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()));
        }
        Ok(Lap::since(began, None))
    }
}
