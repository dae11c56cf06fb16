// SPDX-License-Identifier: Apache-2.0
//! The `weir` binary: allocator, TLS provider, and then the command line.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    weir::start(std::env::args_os())
}
