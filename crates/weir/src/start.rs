// SPDX-License-Identifier: Apache-2.0
//! From arguments to an exit code: reads the command line, runs the command, says what went wrong.

use crate::cli::{Cli, Command};
use crate::{check, demo, logging, output, password, plan, serve, sources, sql, version};
use clap::Parser;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;
use tokio::runtime::Runtime;
use weir_base::{Error, ErrorCode, Result};

/// A question that computes holds a thread per partition for as long as it does. The others then still answer.
const THREADS_PER_CORE: usize = 4;
/// Deep statements are walked by recursion, as deep as `limits` allow; what is not used of a stack costs nothing.
const STACK_BYTES: usize = 64 << 20;
/// Threads for file reads and drivers that block. Each keeps what it has freed for itself, so that many of them cost memory.
const BLOCKING_THREADS: usize = 16;

/// What a command came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// It ran, and what it found is a failure (`weir check --connect`).
    Failed,
    /// A plan that would be refused.
    Refused,
}

/// Runs one command line.
pub fn start(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // Two TLS providers end up linked; whoever asks first must find the one we mean. It fails only when one is there already.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was installed before ours");
    }
    let outcome = logging::start(&cli).and_then(|()| run(cli));
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Refused) => ExitCode::from(3),
        Err(error) if output::closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(u8::try_from(error.code().exit_code()).unwrap_or(1))
        }
    }
}

/// Help and version are answers; everything else is a mistake of usage.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing can be said when even this cannot be printed.
    let printed = error.print();
    if error.use_stderr() || printed.is_err() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

fn run(cli: Cli) -> Result<Outcome> {
    let global = cli.global;
    match cli.command {
        Command::Password => password::run().map(|()| Outcome::Done),
        Command::Version(args) => version::run(&args),
        Command::Check(args) if args.schema => check::print_schema(),
        Command::Check(args) => with_runtime(|runtime| runtime.block_on(check::run(&global, &args))),
        Command::Sources(args) => with_runtime(|runtime| runtime.block_on(sources::run(&global, &args))),
        Command::Plan(args) => with_runtime(|runtime| runtime.block_on(plan::run(&global, &args))),
        Command::Sql(args) => with_runtime(|runtime| sql::run(runtime, &global, &args)),
        Command::Demo(args) => with_runtime(|runtime| runtime.block_on(demo::run(&args))),
        Command::Serve(args) => with_runtime(|runtime| runtime.block_on(serve::run(&global, &args))),
    }
}

/// Runs a command on threads of its own. Once it has closed what it opened, nothing that still computes is waited for.
fn with_runtime(command: impl FnOnce(&Runtime) -> Result<Outcome>) -> Result<Outcome> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_name("weir").worker_threads(cores * THREADS_PER_CORE).thread_stack_size(STACK_BYTES).max_blocking_threads(BLOCKING_THREADS);
    let built = builder.build();
    let runtime = built.map_err(|error| Error::internal("threads cannot be started").with_detail(error.to_string()))?;
    let outcome = command(&runtime);
    runtime.shutdown_background();
    outcome
}

/// An error as people read it: its SQLSTATE, the message, then the detail and the hint on lines of their own.
pub fn report(error: &Error) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (red, plain) = if colour { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
    // A mistake on the command line or in weir.yaml has an exit code of its own and no SQLSTATE that helps.
    let code = match error.code() {
        ErrorCode::Config | ErrorCode::DataDirHeld => String::new(),
        code => format!(" {}", code.sqlstate()),
    };
    eprintln!("{red}error{code}:{plain} {}", error.message());
    for line in error.detail().into_iter().flat_map(str::lines) {
        eprintln!("  {line}");
    }
    if let Some(hint) = error.hint() {
        eprintln!("hint: {hint}");
    }
}
