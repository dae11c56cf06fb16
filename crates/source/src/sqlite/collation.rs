// SPDX-License-Identifier: Apache-2.0
//! The collation of each column, read from the text that made the table: SQLite tells it nowhere else.

use std::collections::BTreeMap;

/// Lower-case column name to upper-case collation, for columns that name one. `None` when the text is not understood.
pub(super) fn collations(create_table: &str) -> Option<BTreeMap<String, String>> {
    let tokens = tokens(create_table)?;
    let open = tokens.iter().position(|token| token.text == "(" && !token.quoted)?;
    let mut depth = 0_usize;
    let mut found = BTreeMap::new();
    let mut column: Option<String> = None;
    let mut follows_collate = false;
    for token in &tokens[open + 1..] {
        match (token.quoted, token.text.as_str()) {
            (false, "(") => depth += 1,
            (false, ")") if depth == 0 => return Some(found),
            (false, ")") => depth -= 1,
            (false, ",") if depth == 0 => column = None,
            (quoted, text) => {
                let Some(name) = &column else {
                    column = Some(text.to_lowercase());
                    continue;
                };
                if follows_collate {
                    found.insert(name.clone(), text.to_ascii_uppercase());
                }
                follows_collate = !quoted && depth == 0 && text.eq_ignore_ascii_case("collate");
            }
        }
    }
    None
}

struct Token {
    text: String,
    quoted: bool,
}

/// Names, quoted names, texts and single signs; comments and blanks fall away.
fn tokens(sql: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            c if c.is_whitespace() => (None, c.len_utf8()),
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, rest[2..].find("*/").map_or(rest.len(), |end| end + 4)),
            '\'' | '"' | '`' => quoted(rest, first)?,
            '[' => {
                let end = rest.find(']')?;
                (Some(Token { text: rest[1..end].to_owned(), quoted: true }), end + 1)
            }
            c if word(c) => {
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                (Some(Token { text: rest[..end].to_owned(), quoted: false }), end)
            }
            c => (Some(Token { text: c.to_string(), quoted: false }), c.len_utf8()),
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
    Some(tokens)
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

/// A text in quotes, where two quotes stand for one. `None` when it does not end.
fn quoted(rest: &str, quote: char) -> Option<(Option<Token>, usize)> {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != quote {
            text.push(letter);
        } else if letters.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Some((Some(Token { text, quoted: true }), at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> Vec<(String, String)> {
        collations(sql).unwrap().into_iter().collect()
    }

    #[test]
    fn only_named_collations_are_found() {
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL, \"Odd, (name\" TEXT /* collate x */ collate \"rtrim\",
            plain TEXT DEFAULT 'collate nocase', -- collate nocase
            checked TEXT CHECK (checked COLLATE NOCASE <> 'x'), UNIQUE (plain))";
        assert_eq!(of(sql), [("name".to_owned(), "NOCASE".to_owned()), ("odd, (name".to_owned(), "RTRIM".to_owned())]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert_eq!(collations("CREATE TABLE t (a TEXT"), None);
        assert_eq!(collations("CREATE TABLE 't"), None);
    }
}
