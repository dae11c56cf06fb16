// SPDX-License-Identifier: Apache-2.0
//! What the demo is doing, on standard error: bars on a terminal, one plain line per finished step elsewhere.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// All steps of one demo.
#[derive(Debug)]
pub struct Steps {
    bars: MultiProgress,
    terminal: bool,
}

/// One step. It has to be told when it is done.
#[derive(Debug, Clone)]
pub struct Step {
    bar: ProgressBar,
    label: String,
    started: Instant,
    terminal: bool,
}

impl Steps {
    pub fn new() -> Self {
        Self { bars: MultiProgress::new(), terminal: std::io::stderr().is_terminal() }
    }

    /// A step of unknown length.
    pub fn begin(&self, label: &str) -> Step {
        self.step(label, ProgressBar::new_spinner(), "{spinner} {prefix:16} {msg}")
    }

    /// A step over that many rows.
    pub fn begin_rows(&self, label: &str, rows: u64) -> Step {
        self.step(label, ProgressBar::new(rows), "{spinner} {prefix:16} {bar:30} {human_pos} of {human_len} rows, {eta} left")
    }

    fn step(&self, label: &str, bar: ProgressBar, template: &str) -> Step {
        let bar = if self.terminal { self.bars.add(bar) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(label.to_owned());
        if self.terminal {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Step { bar, label: label.to_owned(), started: Instant::now(), terminal: self.terminal }
    }
}

impl Step {
    /// What it does now; seen on a terminal only.
    pub fn doing(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    pub fn advance(&self, rows: u64) {
        self.bar.inc(rows);
    }

    /// Says what came of it, with the time it took.
    pub fn done(&self, what: &str) {
        let line = format!("{:16} {what} ({:.1} s)", self.label, self.started.elapsed().as_secs_f64());
        if !self.terminal {
            eprintln!("demo: {line}");
            return;
        }
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            self.bar.set_style(style);
        }
        self.bar.finish_with_message(format!("✓ {line}"));
    }
}
