// SPDX-License-Identifier: Apache-2.0
//! Logs go to standard error. A server tells what it does; a command only what went wrong.

use crate::cli::{Cli, Command};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;
use weir_base::{Error, ErrorCode, Result};

/// Starts logging. Error: rules that make no sense.
pub fn start(cli: &Cli) -> Result<()> {
    let serving = matches!(cli.command, Command::Serve(_));
    let default = if serving { "info,datafusion=warn,sqlx=warn,opendal=warn,iceberg=warn" } else { "error" };
    let rules = cli.global.log.as_deref().filter(|rules| !rules.trim().is_empty()).unwrap_or(default);
    let filter = EnvFilter::try_new(rules).map_err(|error| {
        Error::new(ErrorCode::Config, "log rules make no sense")
            .with_detail(error.to_string())
            .with_hint("write error, warn, info, debug, trace, or rules such as info,weir_engine=debug")
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(serving);
    let started = builder.with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()).try_init();
    started.map_err(|error| Error::internal("logging cannot be started").with_detail(error.to_string()))
}
