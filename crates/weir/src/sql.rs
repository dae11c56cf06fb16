// SPDX-License-Identifier: Apache-2.0
//! `weir sql`: statements from the command line, a file or standard input; without any, a shell.

use crate::ask::{Show, ask};
use crate::cli::{Global, SqlArgs};
use crate::client::Client;
use crate::output::{Destination, Format, Layout, Style};
use crate::shell;
use crate::start::Outcome;
use std::io::{IsTerminal, Read};
use std::path::Path;
use tokio::runtime::Runtime;
use weir_api::{AnswerKind, Query};
use weir_base::limits::SQL_TEXT_BYTES_MAX;
use weir_base::{Error, ErrorCode, Result};
use weir_server::values::Zone;

pub fn run(runtime: &Runtime, global: &Global, args: &SqlArgs) -> Result<Outcome> {
    let text = text_of(args.sql.as_deref(), args.file.as_deref())?;
    let client = runtime.block_on(Client::open(global))?;
    let result = match text {
        Some(text) => runtime.block_on(run_text(&client, &text, args)),
        None => show_of(&client, args, true).and_then(|show| shell::run(runtime, &client, show)),
    };
    runtime.block_on(client.close());
    result.map(|()| Outcome::Done)
}

/// The statements to run; `None` for a shell.
pub fn text_of(sql: Option<&str>, file: Option<&Path>) -> Result<Option<String>> {
    match (sql, file) {
        (Some("-"), _) => read(std::io::stdin(), "standard input").map(Some),
        (Some(sql), _) => Ok(Some(sql.to_owned())),
        (None, Some(file)) => {
            let opened = std::fs::File::open(file).map_err(|error| unreadable(&file.display().to_string(), &error))?;
            read(opened, &file.display().to_string()).map(Some)
        }
        (None, None) if std::io::stdin().is_terminal() => Ok(None),
        (None, None) => read(std::io::stdin(), "standard input").map(Some),
    }
}

fn read(from: impl Read, name: &str) -> Result<String> {
    let mut text = String::new();
    let longest = SQL_TEXT_BYTES_MAX as u64 + 1;
    from.take(longest).read_to_string(&mut text).map_err(|error| unreadable(name, &error))?;
    if text.len() as u64 >= longest {
        return Err(Error::new(ErrorCode::LimitExceeded, "SQL text is too long").with_detail(format!("{name} holds more than {SQL_TEXT_BYTES_MAX} bytes")));
    }
    Ok(text)
}

fn unreadable(name: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Config, "SQL cannot be read").with_detail(format!("{name}: {error}"))
}

fn show_of(client: &Client, args: &SqlArgs, shell: bool) -> Result<Show> {
    let zone = Zone::parse(&client.session.settings().timezone)?;
    let layout = if args.expanded { Layout::Expanded } else { Layout::Aligned };
    let format = if shell && args.format.binary() { Format::Table } else { args.format };
    Ok(Show { format, style: Style { layout, null: args.null.clone(), zone }, receipt: !args.quiet, progress: !args.quiet })
}

async fn run_text(client: &Client, text: &str, args: &SqlArgs) -> Result<()> {
    let statements = client.service.split(text)?;
    if statements.is_empty() {
        return Err(Error::new(ErrorCode::Syntax, "there is no statement in that text"));
    }
    let mut destination = Destination::open(args.output.as_deref(), args.format)?;
    let mut answered = false;
    for statement in &statements {
        if answered && args.format != Format::Table && args.format != Format::Csv {
            return Err(Error::new(ErrorCode::Unsupported, "several answers do not fit into one output of this format")
                .with_hint("run one query at a time, or use --format table"));
        }
        // Read anew for each, since a statement may be SET timezone.
        let show = show_of(client, args, false)?;
        answered |= ask(client, Query::new(statement), &show, &mut destination).await?.kind == AnswerKind::Rows;
    }
    destination.finish()
}
