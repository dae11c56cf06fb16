// SPDX-License-Identifier: Apache-2.0
//! `SET` and `RESET`, kept on this side of the connection.

use weir_api::{Session, Settings};
use weir_base::Result;

/// A statement that changes a setting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    Set(String, String),
    Reset(String),
    ResetAll,
}

impl Assignment {
    /// `SET [SESSION] name {=|TO} value`, `SET TIME ZONE value`, `RESET {name|ALL}`; `None` for every other statement.
    pub(super) fn read(sql: &str) -> Option<Self> {
        let sql = sql.trim().trim_end_matches(';').trim_end();
        let (verb, rest) = sql.split_once(char::is_whitespace)?;
        let rest = rest.trim_start();
        if verb.eq_ignore_ascii_case("reset") {
            let name = rest.trim_matches('"');
            return Some(if name.eq_ignore_ascii_case("all") { Self::ResetAll } else { Self::Reset(name.to_owned()) });
        }
        if !verb.eq_ignore_ascii_case("set") {
            return None;
        }
        let rest = after_word(rest, "session").unwrap_or(rest);
        if let Some(zone) = after_word(rest, "time").and_then(|rest| after_word(rest, "zone")) {
            return Some(Self::Set("timezone".into(), value_of(zone)));
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '=')?;
        let (name, rest) = rest.split_at(end);
        let rest = rest.trim_start();
        let value = rest.strip_prefix('=').or_else(|| after_word(rest, "to"))?;
        Some(Self::Set(name.trim_matches('"').to_owned(), value_of(value)))
    }

    /// Gives the command tag. Errors: an unknown setting, a value it does not take.
    pub(super) fn apply(self, session: &Session) -> Result<&'static str> {
        match self {
            Self::Set(name, value) if value.eq_ignore_ascii_case("default") => session.settings().reset(&name).map(|()| "SET"),
            Self::Set(name, value) => session.settings().set(&name, &value).map(|()| "SET"),
            Self::Reset(name) => session.settings().reset(&name).map(|()| "RESET"),
            Self::ResetAll => {
                *session.settings() = Settings::default();
                Ok("RESET")
            }
        }
    }
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_once(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

fn value_of(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("''", "'"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_postgres() {
        let set = |name: &str, value: &str| Some(Assignment::Set(name.into(), value.into()));
        assert_eq!(Assignment::read("SET weir.read = 'live';"), set("weir.read", "live"));
        assert_eq!(Assignment::read("set session statement_timeout to 5"), set("statement_timeout", "5"));
        assert_eq!(Assignment::read("SET weir.read=live"), set("weir.read", "live"));
        assert_eq!(Assignment::read("SET TIME ZONE 'Europe/Berlin'"), set("timezone", "Europe/Berlin"));
        assert_eq!(Assignment::read("RESET ALL"), Some(Assignment::ResetAll));
        assert_eq!(Assignment::read("reset weir.read"), Some(Assignment::Reset("weir.read".into())));
        assert_eq!(Assignment::read("SELECT 1"), None);
        assert_eq!(Assignment::read("SETTING x = 1"), None);
    }
}
