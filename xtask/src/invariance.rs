// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask invariance`: many random queries in all ways of push-down, and their figures as `docs/internals/invariance.md`.

use std::process::{Command, ExitCode};

const TEST: &str = "invariance::push_down_never_changes_an_answer";
const PAGE: &str = "docs/internals/invariance.md";
/// Shown before the run stops.
const FAILURES_MAX: &str = "20";

pub fn main(args: &[String]) -> ExitCode {
    let (mut queries, mut seed) = ("10000".to_owned(), "20261201".to_owned());
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        let value = match rest.next().map(|value| value.parse::<u64>()) {
            Some(Ok(value)) => value.to_string(),
            _ => return refused(&format!("{option} needs a number")),
        };
        match option.as_str() {
            "--queries" => queries = value,
            "--seed" => seed = value,
            other => return refused(&format!("no option is called {other}")),
        }
    }
    let root = crate::worktree::root();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Another selection than --workspace would switch features and compile the query engine again.
    let mut command = Command::new(cargo);
    // What cargo tells this process of itself would make other people's build scripts run again, and all that stands on them.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_CRATE_", "CARGO_BIN_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let ended = command
        .args(["test", "--workspace", "--test", "system", "--", "--exact", TEST, "--nocapture"])
        .env("WEIR_INVARIANCE_QUERIES", queries)
        .env("WEIR_INVARIANCE_SEED", seed)
        .env("WEIR_INVARIANCE_FAILURES", FAILURES_MAX)
        .env("WEIR_INVARIANCE_PAGE", root.join(PAGE))
        .current_dir(&root)
        .status();
    match ended {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => refused(&format!("cannot run cargo: {error}")),
    }
}

fn refused(why: &str) -> ExitCode {
    eprintln!("xtask: {why}\n\ncargo xtask invariance [--queries N] [--seed S]");
    ExitCode::from(2)
}
