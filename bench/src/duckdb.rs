// SPDX-License-Identifier: Apache-2.0
//! DuckDB as a peer: one Python process that answers SQL over pipes, and times it inside, without the pipes.

use crate::THREADS;
use crate::contest::{Contender, Lap};
use async_trait::async_trait;
use serde::Deserialize;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use weir_base::{Error, ErrorCode, Result};

const SCRIPT: &str = include_str!("duckdb.py");

/// A running DuckDB. Dropping it ends the process.
pub struct DuckDb(Arc<Mutex<Pipes>>);

struct Pipes {
    process: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Answer { seconds: f64, rows: Vec<String> },
    Failed { error: String },
}

impl DuckDb {
    /// `memory_limit` as DuckDB writes it (`256MB`); what does not fit goes into `temp_folder`.
    pub fn start(memory_limit: Option<&str>, temp_folder: &Path) -> Result<Self> {
        let python = weir_sandbox::peers_venv()?.join("bin/python");
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT, &THREADS.to_string(), memory_limit.unwrap_or_default()]).arg(temp_folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().map_err(|error| broke(&error.to_string()))?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(questions), Some(answers)) => {
                let answers = BufReader::new(answers).lines();
                Ok(Self(Arc::new(Mutex::new(Pipes { process, questions, answers }))))
            }
            _ => Err(broke("it has no pipes")),
        }
    }

    /// This query as a contender.
    pub fn query(&self, sql: String) -> DuckDbQuery {
        DuckDbQuery { pipes: self.0.clone(), sql }
    }

    /// Does something that is not measured: attaching a source, a setting.
    pub async fn prepare(&self, sql: &str) -> Result<()> {
        self.query(sql.to_owned()).lap().await.map(|_| ())
    }

    /// The most memory that the process ever had.
    pub async fn resident_peak_mb(&self) -> Result<f64> {
        let pid = self.0.lock().await.process.id().ok_or_else(|| broke("it has ended"))?;
        Ok(crate::machine::memory(pid)?.resident_peak_mb)
    }
}

pub struct DuckDbQuery {
    pipes: Arc<Mutex<Pipes>>,
    sql: String,
}

#[async_trait]
impl Contender for DuckDbQuery {
    fn name(&self) -> &str {
        "DuckDB"
    }

    async fn lap(&mut self) -> Result<Lap> {
        let mut pipes = self.pipes.lock().await;
        let question = format!("{}\n", serde_json::json!({ "sql": self.sql }));
        pipes.questions.write_all(question.as_bytes()).await.map_err(|error| broke(&error.to_string()))?;
        let line = pipes.answers.next_line().await.map_err(|error| broke(&error.to_string()))?;
        let line = line.ok_or_else(|| broke("it ended"))?;
        match serde_json::from_str(&line).map_err(|error| broke(&error.to_string()))? {
            Said::Answer { seconds, mut rows } => {
                rows.sort();
                Ok(Lap { seconds, answer: Some(rows) })
            }
            Said::Failed { error } => Err(broke(&error)),
        }
    }
}

fn broke(detail: &str) -> Error {
    Error::new(ErrorCode::SourceBroke, "DuckDB failed").with_detail(detail)
}
