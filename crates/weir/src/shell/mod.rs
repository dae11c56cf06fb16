// SPDX-License-Identifier: Apache-2.0
//! The shell of `weir sql`: SQL until `;`, and backslash commands as in psql.

mod editor;
mod meta;

pub use meta::MetaCommand;
pub(crate) use meta::parts_of;

use crate::ask::{Show, ask};
use crate::client::Client;
use crate::output::{Destination, Format, Layout};
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
    pub(crate) last_error: Option<Error>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Line,
    Quit,
}

/// Reads and answers until `\q` or Ctrl-D. A failed statement is told and the shell goes on.
pub fn run(runtime: &Runtime, client: &Client, show: Show) -> Result<()> {
    let mut shell = Shell { runtime, client, show, timing: false, last_error: None };
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
            Err(error) => {
                report(&error);
                shell.last_error = Some(error);
            }
        }
    }
}

impl Shell<'_> {
    fn greet(&self) {
        println!("weir {} {}. \\? lists commands, \\q leaves.", crate::version::VERSION, self.connection());
        for note in &self.client.config.notes {
            println!("note: {note}");
        }
    }

    /// `as ana, talking to the server at http://127.0.0.1:8642`
    pub(crate) fn connection(&self) -> String {
        let place = match &self.client.server {
            Some(url) => format!("talking to the server at {url}"),
            None => "in this process".to_owned(),
        };
        format!("as {}, {place}", self.client.session.user)
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
        match ended(text) {
            Some((statements, expanded)) => self.run_ended(statements, expanded)?,
            None => self.run_all(&cut(text).complete.join(";\n"))?,
        }
        Ok(Next::Line)
    }

    fn run_all(&mut self, statements: &str) -> Result<()> {
        self.client.service.split(statements)?.into_iter().try_for_each(|statement| self.ask(Query::new(statement)))
    }

    /// A text that `\g` or `\gx` ends.
    fn run_ended(&mut self, statements: &str, expanded: bool) -> Result<()> {
        let before = self.show.style.layout;
        if expanded {
            self.show.style.layout = Layout::Expanded;
        }
        let outcome = self.run_all(statements);
        self.show.style.layout = before;
        outcome
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

/// What stands before `\g` or `\gx`, and whether it is to be shown in blocks; `None` without either.
pub(crate) fn ended(text: &str) -> Option<(&str, bool)> {
    let text = text.trim_end();
    let (statements, expanded) = text.strip_suffix("\\gx").map(|before| (before, true)).or_else(|| text.strip_suffix("\\g").map(|before| (before, false)))?;
    // Within quotes or a comment it is text.
    let whole = cut(&format!("{statements};")).rest.is_empty();
    whole.then_some((statements, expanded))
}

pub(crate) fn editor_failed(error: impl std::fmt::Display) -> Error {
    Error::internal("terminal cannot be read").with_detail(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_g_outside_of_quotes() {
        assert_eq!(ended("SELECT 1 \\g"), Some(("SELECT 1 ", false)));
        assert_eq!(ended("SELECT 1\\gx "), Some(("SELECT 1", true)));
        assert_eq!((ended("SELECT '\\g"), ended("SELECT 1;"), ended("SELECT 1 -- \\gx")), (None, None, None));
    }
}
