// SPDX-License-Identifier: Apache-2.0
//! The project's own chores, run as `cargo xtask <chore>`: `tidy` checks the rules of the house, `invariance` compares the ways of push-down, `services` starts test servers.
//!
//! It stands on std and `toml` alone, so that it compiles in seconds on a fresh machine.

mod finding;
mod invariance;
mod links;
mod lockfile;
mod manifests;
mod ratchet;
mod rust_text;
mod scanner;
mod services;
mod text;
mod tidy;
mod tree;
mod worktree;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <chore>

  tidy                 check the rules of the house: who may depend on whom, sizes, headers, words, links (ARCHITECTURE.md)
  invariance           ask random queries with push-down on, off and at random, and a PostgreSQL that holds all tables; all answers
                       must be the same [--queries 10000] [--seed 20261201]; writes docs/internals/invariance.md
  services [NAME...]   start private PostgreSQL, replica, MariaDB, S3 and warehouse servers, print their addresses as
                       shell exports, and keep them until Ctrl-C
  help                 this text
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("tidy") => tidy::main(),
        Some("invariance") => invariance::main(&args[1..]),
        Some("services") => services::main(&args[1..]),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        other => {
            let what = other.map_or("no chore was named".to_owned(), |name| format!("no chore is called {name}"));
            eprintln!("xtask: {what}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}
