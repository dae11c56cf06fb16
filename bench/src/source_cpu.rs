// SPDX-License-Identifier: Apache-2.0
//! Processor time that a contender costs a source: what its PostgreSQL server worked, lap by lap.

use crate::contest::{Contender, Lap};
use async_trait::async_trait;
use std::fs;
use std::path::PathBuf;
use weir_base::{Error, Result};
use weir_sandbox::Postgres;

/// The kernel counts the time of ended processes in hundredths of a second.
const MS_PER_TICK: f64 = 10.0;
const NS_PER_MS: f64 = 1e6;

/// The processes of one server.
#[derive(Debug, Clone)]
pub struct SourceCpu {
    postmaster: u32,
}

impl SourceCpu {
    pub fn of(server: &Postgres) -> Result<Self> {
        let path = server.folder().join("data/postmaster.pid");
        let text = fs::read_to_string(&path).map_err(|error| gone(&path, &error.to_string()))?;
        let postmaster = text.lines().next().and_then(|line| line.trim().parse().ok()).ok_or_else(|| gone(&path, "no process id"))?;
        Ok(Self { postmaster })
    }

    /// All that the server has worked so far: the processes that run, to the nanosecond, and those that have ended.
    pub fn ms(&self) -> Result<f64> {
        let running: f64 = processes()?.filter(|process| process.parent == self.postmaster).map(|process| ran_ms(process.id)).sum();
        let postmaster = stat(self.postmaster).ok_or_else(|| gone(&PathBuf::from("/proc"), "the server is gone"))?;
        Ok(running + ran_ms(self.postmaster) + postmaster.ended_ticks as f64 * MS_PER_TICK)
    }
}

struct Process {
    id: u32,
    parent: u32,
    /// Time of children that have ended.
    ended_ticks: u64,
}

fn processes() -> Result<impl Iterator<Item = Process>> {
    let entries = fs::read_dir("/proc").map_err(|error| gone(&PathBuf::from("/proc"), &error.to_string()))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(stat))
}

/// None for a process that has ended meanwhile.
fn stat(id: u32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in parentheses and may hold anything; the state follows, then the parent.
    let (_, after) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Process { id, parent: u32::try_from(number(1)?).ok()?, ended_ticks: number(13)? + number(14)? })
}

fn ran_ms(id: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{id}/schedstat")).unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / NS_PER_MS
}

fn gone(path: &std::path::Path, detail: &str) -> Error {
    Error::internal("the processor time of a source cannot be told").with_detail(format!("{}: {detail}", path.display()))
}

/// A contender whose cost at the source is noted.
pub struct Watched<C> {
    pub inner: C,
    name: String,
    source: SourceCpu,
    ms: Vec<f64>,
}

impl<C: Contender> Watched<C> {
    pub fn new(name: &str, inner: C, source: &SourceCpu) -> Self {
        Self { inner, name: name.to_owned(), source: source.clone(), ms: Vec::new() }
    }

    /// The mean of the laps that count: the first does not. A mean, because the ticks of ended processes average out.
    pub fn mean_ms(&self) -> f64 {
        let counted = self.ms.get(1..).unwrap_or_default();
        counted.iter().sum::<f64>() / counted.len().max(1) as f64
    }
}

#[async_trait]
impl<C: Contender> Contender for Watched<C> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn lap(&mut self) -> Result<Lap> {
        let before = self.source.ms()?;
        let lap = self.inner.lap().await?;
        self.ms.push((self.source.ms()? - before).max(0.0));
        Ok(lap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_its_parent_and_its_time() {
        let own = stat(std::process::id()).unwrap();
        assert_eq!(own.parent, std::os::unix::process::parent_id());
        assert!(ran_ms(own.id) > 0.0);
        assert!(processes().unwrap().any(|process| process.id == own.id));
        assert!(stat(u32::MAX).is_none());
    }
}
