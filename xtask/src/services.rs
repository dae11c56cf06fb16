// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask services`: builds `weir-services` with the selection of packages used everywhere, and becomes it.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

pub fn main(args: &[String]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Another selection than --workspace would switch features and compile the query engine again.
    let built = Command::new(cargo).args(["build", "--workspace", "--bin", "weir-services"]).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(_) => return ExitCode::FAILURE,
        Err(error) => return failed(&format!("cannot run cargo: {error}")),
    }
    // This program was built by cargo into the same folder.
    let program = std::env::current_exe().map(|own| own.with_file_name("weir-services")).unwrap_or_else(|_| PathBuf::from("weir-services"));
    let error = Command::new(&program).args(args).exec();
    failed(&format!("cannot run {}: {error}", program.display()))
}

fn failed(why: &str) -> ExitCode {
    eprintln!("xtask: {why}");
    ExitCode::FAILURE
}
