// SPDX-License-Identifier: Apache-2.0
//! The command line: what can be typed, and the help that teaches it.

use crate::output::Format;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  weir demo                                    see it work on private databases
  weir check --connect                         is weir.yaml right, does every source answer?
  weir sql \"SELECT count(*) FROM app_pg.public.customers\"
  weir plan \"SELECT …\"                         what would be sent to which source, before anything is
  weir sql                                     a shell; \\? lists its commands
  weir serve                                   Postgres wire and HTTP for everyone else

Results go to standard output, receipts and progress to standard error.
Exit codes: 0 ok, 1 the query or check failed, 2 usage or configuration, 3 refused by a budget or policy.";

/// One governed door to data that lives in many places.
#[derive(Debug, Parser)]
#[command(name = "weir", version, after_help = EXAMPLES, disable_help_subcommand = false, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Configuration file [default: the nearest weir.yaml, from here upwards]
    #[arg(long, short = 'c', global = true, value_name = "FILE", env = "WEIR_CONFIG")]
    pub config: Option<PathBuf>,

    /// Setting for the session, such as weir.pushdown=off (may be given several times)
    #[arg(long = "set", global = true, value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,

    /// Who asks, where weir.yaml has users; WEIR_PASSWORD holds the password for a running server
    #[arg(long, short = 'U', global = true, value_name = "NAME", env = "WEIR_USER")]
    pub user: Option<String>,

    /// What to log: error, warn, info, debug, trace, or rules such as weir_engine=debug
    #[arg(long, global = true, value_name = "RULES", env = "WEIR_LOG")]
    pub log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start private databases, fill them, and answer three questions over all of them
    Demo(DemoArgs),
    /// Serve Postgres wire and HTTP until stopped
    Serve(ServeArgs),
    /// Run SQL, or open a shell
    Sql(SqlArgs),
    /// Show what a query would do, without running it
    Plan(PlanArgs),
    /// Check weir.yaml, and with --connect the sources too
    Check(CheckArgs),
    /// Show the sources as they are now: reachable, load, lag
    Sources(SourcesArgs),
    /// Make a `password_scram` for weir.yaml from a password (asked for, or one line of standard input)
    #[command(after_help = "\
Examples:
  weir password                            asks, without showing what is typed
  head -c 18 /dev/urandom | base64 | tee ana.password | weir password     a password that nobody has typed")]
    Password,
    /// Show the version of Weir and of what it is built on
    Version(VersionArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir demo                     stays up until Ctrl-C, which ends every process it started; a second Ctrl-C ends at once
  weir demo --once              ends after the answers
  weir demo --scale 10          100,000 customers and 10 million clicks
  weir demo --dir ./shop        keeps the project and the data; the next run on the same day is quick")]
pub struct DemoArgs {
    /// End after the answers instead of staying up
    #[arg(long)]
    pub once: bool,
    /// Size of the marketplace, 0.01 to 100; 1 is 10,000 customers and a million clicks
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub scale: f64,
    /// Keep project and data in this folder [default: a temporary one that goes at the end]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Start no servers: the systems' tables are in SQLite files, everything else is the same
    #[arg(long)]
    pub no_servers: bool,
    /// Show every table without a review; this version knows no reviews yet, so it changes nothing
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir serve
  weir serve --postgres 127.0.0.1:0 --http 127.0.0.1:0      free ports; the addresses are printed
  psql -h 127.0.0.1 -p 5439 -U local weir

SIGTERM or Ctrl-C lets running queries finish for a while, then ends them. A second one ends at once.")]
pub struct ServeArgs {
    /// Postgres address instead of the one in weir.yaml
    #[arg(long, value_name = "ADDRESS")]
    pub postgres: Option<std::net::SocketAddr>,
    /// HTTP address instead of the one in weir.yaml
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<std::net::SocketAddr>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir sql \"SELECT plan, count(*) FROM app_pg.public.customers GROUP BY plan\"
  weir sql -f report.sql --format csv > report.csv
  weir sql --format parquet -o clicks.parquet \"SELECT * FROM lake.web.clickstream\"
  echo 'SELECT 1' | weir sql
  weir sql --set weir.receipt=on --set timezone=Europe/Berlin \"SELECT now()\"
  weir sql                                     a shell; \\? lists its commands")]
pub struct SqlArgs {
    /// One or more statements, separated by `;`; `-` reads standard input
    #[arg(value_name = "SQL")]
    pub sql: Option<String>,
    /// Read the statements from a file
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with = "sql")]
    pub file: Option<PathBuf>,
    /// How to print rows
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    pub format: Format,
    /// Write rows to a file, which appears only when it is whole
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What stands for NULL in tables and CSV
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub null: String,
    /// One block per row instead of columns
    #[arg(long, short = 'x')]
    pub expanded: bool,
    /// Neither receipt nor progress
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  weir plan \"SELECT c.email FROM app_pg.public.customers c JOIN billing_mysql.billing.payments p ON p.customer_email = c.email\"

Exit code 3 when the query would be refused.")]
pub struct PlanArgs {
    /// The query; `-` reads standard input
    #[arg(value_name = "SQL", required_unless_present = "file")]
    pub sql: Option<String>,
    /// Read the query from a file
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with = "sql")]
    pub file: Option<PathBuf>,
    /// The plan as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir check                    every mistake in weir.yaml, each with line and key
  weir check --connect          asks every source for its version, role, rights, clock and tables
  weir check --schema > weir.schema.json")]
pub struct CheckArgs {
    /// Ask every source too
    #[arg(long, conflicts_with = "schema")]
    pub connect: bool,
    /// Print the JSON Schema of weir.yaml and do nothing else
    #[arg(long)]
    pub schema: bool,
    /// The findings as JSON
    #[arg(long, requires = "connect")]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir sources                  type, version, role, lag, and how many of the allowed sessions are in use
  weir sources --json | jq '.[] | select(.state != \"reachable\")'

Where a server runs on this data_dir, it answers; the sessions shown are its own.")]
pub struct SourcesArgs {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir version
  weir version --json")]
pub struct VersionArgs {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write NAME=VALUE, such as weir.pushdown=off".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_are_pairs() {
        assert_eq!(parse_setting("weir.read = live"), Ok(("weir.read".into(), "live".into())));
        assert!(parse_setting("weir.read").is_err());
    }
}
