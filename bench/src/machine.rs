// SPDX-License-Identifier: Apache-2.0
//! What the machine says about itself and its processes.

use std::fs;
use std::path::Path;
use weir_base::{Error, Result};

/// Runnable processes over the last minute; not a number where that cannot be told.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
}

/// Memory of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    pub resident_mb: f64,
    /// The most it ever was.
    pub resident_peak_mb: f64,
}

/// Memory of a process. Error: it is gone.
pub fn memory(pid: u32) -> Result<Memory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(|error| Error::internal("a process is gone").with_detail(error.to_string()))?;
    match (megabytes(&status, "VmRSS:"), megabytes(&status, "VmHWM:")) {
        (Some(resident_mb), Some(resident_peak_mb)) => Ok(Memory { resident_mb, resident_peak_mb }),
        _ => Err(Error::internal("a process does not tell its memory")),
    }
}

fn megabytes(status: &str, key: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}

/// Bytes of all files below a folder; files that go away meanwhile do not count.
pub fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_lines() {
        let status = "Name:\tweir\nVmHWM:\t  200000 kB\nVmRSS:\t  100000 kB\n";
        assert_eq!(megabytes(status, "VmRSS:"), Some(102.4));
        assert_eq!(megabytes(status, "VmPeak:"), None);
        assert!(memory(std::process::id()).unwrap().resident_mb > 1.0);
    }
}
