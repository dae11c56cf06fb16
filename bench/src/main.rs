// SPDX-License-Identifier: Apache-2.0
//! `weir-bench`: measures Weir beside a ceiling or a peer, in one run, and says what holds.

mod by_hand;
mod contest;
mod duckdb;
mod figure;
mod machine;
mod plain;
mod process;
mod push_down;
mod report;
mod scan;
mod server;
mod source_cpu;
mod tap;
mod weir_here;
mod workshop;

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use weir_base::{Error, Result};

/// As in the `weir` binary, so that what is measured is what runs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Threads that Weir and its peers may use for one query.
pub const THREADS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    /// Reading sources and the lake, and what a connection costs.
    Scan,
    /// What leaves the sources, and how fast, when tables are spread over several.
    PushDown,
}

impl Group {
    fn word(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::PushDown => "push-down",
        }
    }
}

/// Measures Weir beside a ceiling or a peer in one run: interleaved rounds, medians. Build it with --release.
#[derive(Debug, Parser)]
#[command(name = "weir-bench")]
struct Arguments {
    /// What to measure.
    group: Group,
    /// Only these parts of the group.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Rows of the lake tables; the targets are meant for the default.
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// Rows of the tables in PostgreSQL and MariaDB.
    #[arg(long, default_value_t = 1_500_000)]
    source_rows: u64,
    /// Scale factor of TPC-H in group push-down; the targets are meant for the default.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Rounds that count; one more goes before them to warm up.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Folder that keeps lake and databases for the next run; a temporary one by default.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Where the results go.
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
}

/// How big and how often.
#[derive(Debug, Clone)]
pub struct Size {
    pub lake_rows: u64,
    pub source_rows: u64,
    pub scale: f64,
    pub rounds: usize,
    pub keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match start(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weir-bench: {}", error.message());
            for line in error.detail().into_iter().chain(error.hint()) {
                eprintln!("  {line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("weir-bench: this is not a release build; its figures mean nothing");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let runtime = runtime.map_err(|error| Error::internal("threads cannot be started").with_detail(error.to_string()))?;
    let size = Size {
        lake_rows: arguments.rows,
        source_rows: arguments.source_rows,
        scale: arguments.scale,
        rounds: arguments.rounds.max(1),
        keep: arguments.keep.clone(),
    };
    let figures = match arguments.group {
        Group::Scan => runtime.block_on(scan::run(&size, &arguments.only))?,
        Group::PushDown => runtime.block_on(push_down::run(&size, &arguments.only))?,
    };
    report::print(&figures);
    report::write(&arguments.results, arguments.group.word(), &figures, !arguments.only.is_empty())
}
