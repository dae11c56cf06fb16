// SPDX-License-Identifier: Apache-2.0
//! The line editor: history, completion with Tab, and a statement over several lines until its `;`.

use crate::client::Client;
use crate::shell::{editor_failed, ended};
use crate::statements::cut;
use reedline::{
    ColumnarMenu, Completer, CompletionResult, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    Reedline, ReedlineEvent, ReedlineMenu, Signal, Span, Suggestion, ValidationResult, Validator, default_emacs_keybindings,
};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::runtime::Handle;
use weir_api::{QueryService, Session};
use weir_base::Result;

const HISTORY_LINES_MAX: usize = 10_000;
const HISTORY_FILE: &str = "shell_history";
const MENU: &str = "completions";

/// What came from the keyboard.
pub(super) enum Line {
    Text(String),
    /// Ctrl-C: what was typed is gone.
    Abandoned,
    /// Ctrl-D.
    End,
}

pub(super) struct Editor {
    reedline: Reedline,
}

impl Editor {
    /// The history lies in the data directory, which only its owner can read.
    pub(super) fn open(handle: Handle, client: &Client) -> Result<Self> {
        let completer = Names { handle, service: client.service.clone(), session: client.session.clone() };
        let mut keys = default_emacs_keybindings();
        let next = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext]);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, next);
        let menu = ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU).with_columns(2)));
        let mut reedline = Reedline::create()
            .with_completer(Box::new(completer))
            .with_menu(menu)
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_partial_completions(true)
            .with_quick_completions(true)
            .with_validator(Box::new(Finished));
        match FileBackedHistory::with_file(HISTORY_LINES_MAX, client.config.data_dir.join(HISTORY_FILE)) {
            Ok(history) => reedline = reedline.with_history(Box::new(history)),
            Err(error) => eprintln!("note: this shell keeps no history: {error}"),
        }
        Ok(Self { reedline })
    }

    pub(super) fn read(&mut self) -> Result<Line> {
        match self.reedline.read_line(&Words).map_err(editor_failed)? {
            Signal::Success(text) => Ok(Line::Text(text)),
            Signal::CtrlD => Ok(Line::End),
            _ => Ok(Line::Abandoned),
        }
    }
}

struct Words;

impl Prompt for Words {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "weir".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "=> ".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "weir-> ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("(search: {}) ", search.term).into()
    }
}

/// Enter ends a line when everything typed so far is complete.
struct Finished;

impl Validator for Finished {
    fn validate(&self, line: &str) -> ValidationResult {
        if finished(line) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

fn finished(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('\\') || matches!(line, "exit" | "quit") || cut(line).rest.is_empty() || ended(line).is_some()
}

/// Completes from what the service knows. Asked on the shell's own thread, which no other work waits for.
struct Names {
    handle: Handle,
    service: Arc<dyn QueryService>,
    session: Arc<Session>,
}

impl Completer for Names {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let before = line.get(..position).unwrap_or(line);
        let start = word_start(before);
        let names = self.handle.block_on(self.service.complete(&self.session, before));
        let suggestion =
            |value: String| Suggestion { append_whitespace: !value.ends_with('.'), value, span: Span::new(start, before.len()), ..Suggestion::default() };
        CompletionResult::fresh(names.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// Where the word under the cursor begins, in bytes: names keep their dots and quotes.
fn word_start(before: &str) -> usize {
    before.rfind(|c: char| c.is_whitespace() || "(),;=<>".contains(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_ends_what_is_complete() {
        assert!(finished("SELECT 1;") && finished("SELECT 1 \\g") && finished("\\dt") && finished("quit") && finished(""));
        assert!(!finished("SELECT 1") && !finished("SELECT ';") && !finished("SELECT 1; SELECT"));
    }

    #[test]
    fn words_keep_their_dots() {
        assert_eq!(word_start("SELECT * FROM app_pg.pub"), 14);
        assert_eq!(word_start("count("), 6);
        assert_eq!(word_start("sel"), 0);
    }
}
