// SPDX-License-Identifier: Apache-2.0
//! The shell of `weir sql`: SQL until `;`, and backslash commands as in psql.

mod editor;
mod meta;

pub use meta::MetaCommand;
pub(crate) use meta::parts_of;

use crate::ask::{Show, ask};
use crate::client::Client;
use crate::output::{Destination, Format};
use crate::start::report;
use crate::statements::cut;
use editor::{Editor, Line};
use std::time::Instant;
use tokio::runtime::Runtime;
use weir_api::Query;
use weir_base::{Error, Result};
use weir_server::values::Zone;

/// Everything that lasts from one line to the next.
pub(crate) struct Shell<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) client: &'a Client,
    pub(crate) show: Show,
    pub(crate) timing: bool,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Line,
    Quit,
}

/// Reads and answers until `\q` or Ctrl-D. A failed statement is told and the shell goes on.
pub fn run(runtime: &Runtime, client: &Client, show: Show) -> Result<()> {
    let mut shell = Shell { runtime, client, show, timing: false };
    let mut editor = Editor::open(runtime.handle().clone(), client)?;
    shell.greet();
    loop {
        let next = match editor.read()? {
            Line::Text(text) => shell.line(&text),
            Line::Abandoned => Ok(Next::Line),
            Line::End => Ok(Next::Quit),
        };
        match next {
            Ok(Next::Line) => {}
            Ok(Next::Quit) => return Ok(()),
            Err(error) => report(&error),
        }
    }
}

impl Shell<'_> {
    fn greet(&self) {
        let place = match &self.client.server {
            Some(url) => format!("talking to the server at {url}"),
            None => "in this process".to_owned(),
        };
        println!("weir {} as {}, {place}. \\? lists commands, \\q leaves.", crate::version::VERSION, self.client.session.user);
        for note in &self.client.config.notes {
            println!("note: {note}");
        }
    }

    fn line(&mut self, text: &str) -> Result<Next> {
        let text = text.trim();
        if matches!(text.trim_end_matches(';').trim_end(), "exit" | "quit") {
            return Ok(Next::Quit);
        }
        if let Some(command) = text.strip_prefix('\\') {
            let command: MetaCommand = command.parse()?;
            return self.obey(command);
        }
        for statement in self.client.service.split(&cut(text).complete.join(";\n"))? {
            self.ask(Query::new(statement))?;
        }
        Ok(Next::Line)
    }

    /// Runs a statement and prints its answer.
    pub(crate) fn ask(&mut self, query: Query) -> Result<()> {
        let began = Instant::now();
        // Read anew, since the last statement may have been SET timezone.
        self.show.style.zone = Zone::parse(&self.client.session.settings().timezone)?;
        let mut destination = Destination::open(None, Format::Table)?;
        self.runtime.block_on(ask(self.client, query, &self.show, &mut destination))?;
        destination.finish()?;
        if self.timing {
            println!("Time: {:.3} ms", began.elapsed().as_secs_f64() * 1000.0);
        }
        Ok(())
    }

    /// Runs a question about names, without a receipt.
    pub(crate) fn look_up(&mut self, query: Query) -> Result<u64> {
        let quiet = Show { receipt: false, format: Format::Table, ..self.show.clone() };
        let mut destination = Destination::open(None, Format::Table)?;
        let asked = self.runtime.block_on(ask(self.client, query, &quiet, &mut destination))?;
        destination.finish()?;
        Ok(asked.rows)
    }
}

pub(crate) fn editor_failed(error: impl std::fmt::Display) -> Error {
    Error::internal("terminal cannot be read").with_detail(error.to_string())
}
