// SPDX-License-Identifier: Apache-2.0
//! Just enough of SQL's lexical rules to find the ends of statements and to read the commands that the wire itself carries out.

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token<'a> {
    /// An unquoted word, as typed.
    Word(&'a str),
    /// A quoted name, without its quotes.
    Name(String),
    /// A text literal, without its quotes.
    Text(String),
    Number(&'a str),
    Symbol(char),
}

/// A token with where it begins and ends in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexeme<'a> {
    pub token: Token<'a>,
    pub start: usize,
    pub end: usize,
}

/// One statement of a longer text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    pub text: &'a str,
    pub lexemes: Vec<Lexeme<'a>>,
}

/// Cuts a text at its semicolons. Empty statements are left out. `None` when a quote or a comment never ends.
pub fn pieces(sql: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut lexemes: Vec<Lexeme<'_>> = Vec::new();
    let mut begin = 0;
    for lexeme in lex(sql)? {
        if lexeme.token != Token::Symbol(';') {
            lexemes.push(lexeme);
            continue;
        }
        if !lexemes.is_empty() {
            pieces.push(piece(sql, begin, lexeme.start, std::mem::take(&mut lexemes)));
        }
        begin = lexeme.end;
    }
    if !lexemes.is_empty() {
        pieces.push(piece(sql, begin, sql.len(), lexemes));
    }
    Some(pieces)
}

/// Offsets of lexemes stay those of the whole text; `text` is trimmed.
fn piece<'a>(sql: &'a str, begin: usize, end: usize, lexemes: Vec<Lexeme<'a>>) -> Piece<'a> {
    Piece { text: sql[begin..end].trim(), lexemes }
}

fn lex(sql: &str) -> Option<Vec<Lexeme<'_>>> {
    let mut lexemes = Vec::new();
    let mut at = 0;
    while let Some(first) = sql[at..].chars().next() {
        let rest = &sql[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += comment_length(rest)?;
        } else {
            let (token, length) = token(rest, first)?;
            lexemes.push(Lexeme { token, start: at, end: at + length });
            at += length;
        }
    }
    Some(lexemes)
}

/// Comments nest.
fn comment_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn token(text: &str, first: char) -> Option<(Token<'_>, usize)> {
    let second = text[first.len_utf8()..].chars().next();
    match first {
        '\'' => quoted(text, '\'', false).map(|(content, length)| (Token::Text(content), length)),
        'e' | 'E' if second == Some('\'') => quoted(&text[1..], '\'', true).map(|(content, length)| (Token::Text(content), length + 1)),
        '"' => quoted(text, '"', false).map(|(content, length)| (Token::Name(content), length)),
        '$' if dollar_tag(text).is_some() => dollar_quoted(text),
        _ if first.is_ascii_digit() => {
            let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(text.len());
            Some((Token::Number(&text[..length]), length))
        }
        _ if first.is_alphabetic() || first == '_' => {
            let length = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(text.len());
            Some((Token::Word(&text[..length]), length))
        }
        _ => Some((Token::Symbol(first), first.len_utf8())),
    }
}

/// Content and length of a quoted text; a doubled quote stands for one, and with `escapes` a backslash escapes.
fn quoted(text: &str, quote: char, escapes: bool) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            if chars.peek().map(|(_, next)| *next) != Some(quote) {
                return Some((content, at + 1));
            }
            chars.next();
            content.push(quote);
        } else if c == '\\' && escapes {
            content.push(escaped(chars.next()?.1));
        } else {
            content.push(c);
        }
    }
    None
}

fn escaped(letter: char) -> char {
    match letter {
        't' => '\t',
        'n' => '\n',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        other => other,
    }
}

/// `$$` or `$tag$` at the front.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 2;
    let name = &text[1..end - 1];
    let word = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    word.then_some(&text[..end])
}

fn dollar_quoted(text: &str) -> Option<(Token<'_>, usize)> {
    let tag = dollar_tag(text)?;
    let length = text[tag.len()..].find(tag)?;
    Some((Token::Text(text[tag.len()..tag.len() + length].to_owned()), tag.len() * 2 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<&str> {
        pieces(sql).unwrap().into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn cuts_at_semicolons_that_count() {
        assert_eq!(texts("select 1; select ';' ;;  "), ["select 1", "select ';'"]);
        assert_eq!(texts("select \"a;\"\"b\"; select $x$;$x$"), ["select \"a;\"\"b\"", "select $x$;$x$"]);
        assert_eq!(texts("select 1 -- ; no\n; /* ; /* ; */ */ select E'\\';' , $1"), ["select 1 -- ; no", "/* ; /* ; */ */ select E'\\';' , $1"]);
        assert!(texts(" -- nothing\n ; ").is_empty());
        assert_eq!(pieces("select 'open"), None);
    }
}
