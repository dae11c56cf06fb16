// SPDX-License-Identifier: Apache-2.0
//! One question from asking to the printed answer, its receipt, and Ctrl-C in between.

use crate::client::Client;
use crate::output::{Destination, Format, Style, sink};
use crate::progress::Progress;
use futures::StreamExt;
use std::io::{IsTerminal, Write};
use weir_api::{Answer, AnswerKind, Query, Receipt};
use weir_base::{Error, ErrorCode, Result};

/// How the answers of one command or shell are shown.
#[derive(Debug, Clone)]
pub struct Show {
    pub format: Format,
    pub style: Style,
    /// The two lines about age and sources.
    pub receipt: bool,
    pub progress: bool,
}

/// What came back.
#[derive(Debug)]
pub struct Asked {
    pub kind: AnswerKind,
    /// Rows that were printed.
    pub rows: u64,
}

/// Runs one statement and prints its rows to `destination`. Ctrl-C cancels it, down to the sources.
pub async fn ask(client: &Client, query: Query, show: &Show, destination: &mut Destination) -> Result<Asked> {
    let id = query.id;
    let progress = if show.progress { Progress::start(client.service.clone(), client.session.clone(), id) } else { None };
    tokio::select! {
        asked = answer(client, query, show, destination, progress) => asked,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted.map_err(|error| Error::internal("signals cannot be heard").with_detail(error.to_string()))?;
            client.service.cancel(&client.session, id).await?;
            Err(Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail("by Ctrl-C"))
        }
    }
}

async fn answer(client: &Client, query: Query, show: &Show, destination: &mut Destination, progress: Option<Progress>) -> Result<Asked> {
    let mut answer = client.service.run(&client.session, query).await?;
    let rows = print(&mut answer, show, destination, progress).await?;
    if show.receipt {
        let receipt = answer.receipt();
        // A command such as SET read nothing that could have an age.
        if *answer.kind() == AnswerKind::Rows || !receipt.sources.is_empty() || !receipt.tables.is_empty() {
            print_footer(&receipt);
        }
    }
    Ok(Asked { kind: answer.kind().clone(), rows })
}

async fn print(answer: &mut Answer, show: &Show, destination: &mut Destination, mut progress: Option<Progress>) -> Result<u64> {
    let kind = answer.kind().clone();
    if let AnswerKind::Command(tag) = kind {
        while let Some(batch) = answer.batches().next().await {
            batch?;
        }
        drop(progress);
        return print_tag(&tag, show, destination).map(|()| 0);
    }
    let schema = answer.schema().clone();
    let mut sink = sink(show.format, &show.style, destination);
    sink.begin(&schema)?;
    let mut rows = 0;
    while let Some(batch) = answer.batches().next().await {
        let batch = batch?;
        if std::io::stdout().is_terminal() {
            // Rows and a moving line cannot share a terminal.
            progress = None;
        }
        rows += batch.num_rows() as u64;
        sink.batch(&batch)?;
    }
    drop(progress);
    sink.end().map(|()| rows)
}

/// `INSERT 0 12` is a result only where people read it.
fn print_tag(tag: &str, show: &Show, destination: &mut Destination) -> Result<()> {
    if show.format != Format::Table {
        eprintln!("{tag}");
        return Ok(());
    }
    writeln!(destination, "{tag}").and_then(|()| destination.flush()).map_err(crate::output::write_failed)
}

fn print_footer(receipt: &Receipt) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (dim, plain) = if colour { ("\u{1b}[2m", "\u{1b}[0m") } else { ("", "") };
    eprintln!("{dim}{}{plain}", receipt.footer());
}
