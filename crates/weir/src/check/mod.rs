// SPDX-License-Identifier: Apache-2.0
//! `weir check`: is the configuration right, and with `--connect`, is every source as Weir needs it?

mod beside;
mod finding;

use crate::cli::{CheckArgs, Global};
use crate::client::take_data_dir;
use crate::config::{self, Config, Login};
use crate::instance::source_handles;
use crate::output::{Destination, Format, Layout, Style, sink, write_failed};
use crate::start::Outcome;
use finding::{Finding, inspect, table};
use std::io::Write;
use weir_base::{Error, Result};
use weir_catalog::{DataDir, Opened};
use weir_server::values::Zone;

/// Prints the JSON Schema of `weir.yaml`.
pub fn print_schema() -> Result<Outcome> {
    let text = serde_json::to_string_pretty(&config::schema()).map_err(|error| Error::internal("schema cannot be printed").with_detail(error.to_string()))?;
    writeln!(std::io::stdout(), "{text}").map_err(write_failed)?;
    Ok(Outcome::Done)
}

pub async fn run(global: &Global, args: &CheckArgs) -> Result<Outcome> {
    let config = config::load(&config::find(global.config.as_deref())?)?;
    if !args.json {
        writeln!(std::io::stdout(), "{}", summary(&config)).map_err(write_failed)?;
    }
    for note in &config.notes {
        eprintln!("note: {note}");
    }
    if args.connect { connect(global, args, config).await } else { Ok(Outcome::Done) }
}

/// `weir.yaml is right: 3 sources (app_pg, billing_mysql, crm), lake, 2 users`
fn summary(config: &Config) -> String {
    let names: Vec<&str> = config.sources.iter().map(|source| source.name.as_str()).collect();
    let sources = match names.len() {
        0 => "no sources".to_owned(),
        1 => format!("1 source ({})", names[0]),
        count => format!("{count} sources ({})", names.join(", ")),
    };
    let lake = config.lake.as_ref().map_or_else(|| "no lake".to_owned(), |lake| format!("lake {}", lake.name));
    let users = match &config.login {
        Login::Open => "open to everyone on this machine".to_owned(),
        Login::Scram(users) => format!("{} user{}", users.len(), if users.len() == 1 { "" } else { "s" }),
    };
    format!("{} is right: {sources}, {lake}, {users}", config.file.display())
}

/// Looks at each source with one session of its own, or asks the server that holds the sessions.
async fn connect(global: &Global, args: &CheckArgs, config: Config) -> Result<Outcome> {
    let findings = match take_data_dir(&config).await? {
        Opened::Ours(data_dir) => from_here(config, data_dir).await?,
        Opened::Held(_) => beside::ask(global).await?,
    };
    print(&findings, args.json)?;
    let failed = findings.iter().any(|finding| finding.failure.is_some());
    Ok(if failed { Outcome::Failed } else { Outcome::Done })
}

/// The data directory is ours meanwhile, so that no server opens sessions beside.
async fn from_here(mut config: Config, held: DataDir) -> Result<Vec<Finding>> {
    config.sources.iter_mut().for_each(|source| source.limits.connections = 1);
    let handles = source_handles(&config)?;
    let findings = futures::future::join_all(handles.iter().map(inspect)).await;
    for handle in &handles {
        handle.source.close().await;
    }
    drop(held);
    Ok(findings)
}

fn print(findings: &[Finding], json: bool) -> Result<()> {
    let format = if json { Format::Json } else { Format::Table };
    let style = Style { layout: Layout::Aligned, null: String::new(), zone: Zone::parse("UTC")? };
    let batch = table(findings)?;
    let mut destination = Destination::open(None, format)?;
    let mut sink = sink(format, &style, &mut destination);
    sink.begin(&batch.schema())?;
    sink.batch(&batch)?;
    sink.end()?;
    drop(sink);
    if !json {
        for line in findings.iter().flat_map(Finding::remarks) {
            writeln!(destination, "{line}").map_err(write_failed)?;
        }
    }
    destination.finish()
}
