// SPDX-License-Identifier: Apache-2.0
//! A real `weir serve`: the binary beside this one, in a process of its own, spoken to over the Postgres wire.

use crate::machine::{Memory, memory};
use crate::weir_here::unusable;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_postgres::{Client, NoTls};
use weir_base::{Error, ErrorCode, Result};

const READY_WITHIN: Duration = Duration::from_secs(30);

/// A running server. Dropping it ends the process.
pub struct WeirServer {
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl WeirServer {
    /// Starts it in `folder`. `configuration` is the part of `weir.yaml` that speaks of sources, lake and memory.
    pub async fn start(folder: &Path, configuration: &str, environment: &[(&str, String)]) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
        let file = folder.join("weir.yaml");
        let doors = "data_dir: ./data\nlisten: { postgres: \"127.0.0.1:0\", http: \"127.0.0.1:0\" }\nauth: { mode: open }\n";
        std::fs::write(&file, format!("{doors}{configuration}")).map_err(|error| unusable(&file, &error))?;
        let mut command = Command::new(binary()?);
        command.arg("serve").arg("--config").arg(&file).envs(environment.iter().map(|(key, value)| (*key, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().map_err(|error| broke(&error.to_string()))?;
        let stdout = process.stdout.take().ok_or_else(|| broke("it has no output"))?;
        let mut lines = BufReader::new(stdout).lines();
        let line = tokio::time::timeout(READY_WITHIN, lines.next_line()).await.map_err(|_| broke("it did not say its addresses in time"))?;
        let line = line.map_err(|error| broke(&error.to_string()))?.ok_or_else(|| broke("it ended at once"))?;
        let port = postgres_port(&line).ok_or_else(|| broke("it does not say its Postgres address"))?;
        Ok(Self { process, port, folder: folder.to_path_buf() })
    }

    /// A session over the Postgres wire.
    pub async fn connect(&self) -> Result<Client> {
        connect(&format!("host=127.0.0.1 port={} user=local dbname=weir", self.port)).await
    }

    pub fn memory(&self) -> Result<Memory> {
        memory(self.process.id().ok_or_else(|| broke("it has ended"))?)
    }

    /// Where it spills.
    pub fn spill_folder(&self) -> PathBuf {
        self.folder.join("data/spill")
    }
}

/// A session of a Postgres server, Weir or not.
pub async fn connect(configuration: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(configuration, NoTls).await.map_err(|error| failed(&error))?;
    // It ends with the client; what goes wrong before is the client's error.
    tokio::spawn(connection);
    Ok(client)
}

pub fn failed(error: &tokio_postgres::Error) -> Error {
    let detail = error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
    Error::new(ErrorCode::SourceBroke, "a statement failed").with_detail(detail)
}

fn binary() -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|error| broke(&error.to_string()))?;
    let beside = own.with_file_name("weir");
    if beside.exists() {
        return Ok(beside);
    }
    Err(Error::new(ErrorCode::NotFound, "there is no weir binary beside this one").with_hint("run `make bench`, which builds both"))
}

fn postgres_port(line: &str) -> Option<u16> {
    let address = line.split_whitespace().find_map(|word| word.strip_prefix("postgres://"))?;
    address.rsplit(':').next()?.parse().ok()
}

fn broke(detail: &str) -> Error {
    Error::new(ErrorCode::SourceBroke, "weir serve failed").with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_port_in_the_line() {
        assert_eq!(postgres_port("postgres://127.0.0.1:5439  http://127.0.0.1:8642"), Some(5439));
        assert_eq!(postgres_port("no door is open"), None);
    }
}
