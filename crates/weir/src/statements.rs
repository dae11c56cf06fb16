// SPDX-License-Identifier: Apache-2.0
//! Where statements end in a text: at a `;` outside of quotes and comments. No parser, so that it also knows unfinished texts.

/// The complete statements of a text without their `;`, and what stands after the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    pub complete: Vec<String>,
    pub rest: String,
}

/// Cuts a text. Parts that are empty or hold only comments are left out of `complete`.
pub fn cut(text: &str) -> Cut {
    let bytes = text.as_bytes();
    let mut complete = Vec::new();
    let (mut start, mut at, mut meaning) = (0, 0, false);
    while at < bytes.len() {
        match token(text, at) {
            Token::Comment(end) => at = end,
            Token::Quoted(end) => {
                meaning = true;
                at = end;
            }
            Token::Semicolon => {
                if meaning {
                    complete.push(text[start..at].trim().to_owned());
                }
                at += 1;
                (start, meaning) = (at, false);
            }
            Token::Other(blank) => {
                meaning |= !blank;
                at += 1;
            }
        }
    }
    let rest = if meaning { text[start..].trim().to_owned() } else { open_comment(text, start) };
    Cut { complete, rest }
}

/// A comment that was not closed is a rest too: more must come. A finished one is nothing.
fn open_comment(text: &str, start: usize) -> String {
    let rest = text[start..].trim();
    if rest.starts_with("/*") && block_comment_end(rest.as_bytes(), 0).is_none() { rest.to_owned() } else { String::new() }
}

enum Token {
    /// Ends there; the end of the text when it is not closed.
    Comment(usize),
    Quoted(usize),
    Semicolon,
    /// True for a blank.
    Other(bool),
}

fn token(text: &str, at: usize) -> Token {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    match rest[0] {
        b';' => Token::Semicolon,
        b'-' if rest.starts_with(b"--") => Token::Comment(at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())),
        b'/' if rest.starts_with(b"/*") => Token::Comment(block_comment_end(bytes, at).unwrap_or(bytes.len())),
        quote @ (b'\'' | b'"') => {
            let escapes = quote == b'\'' && at > 0 && matches!(bytes[at - 1], b'e' | b'E') && !(at > 1 && word(bytes[at - 2]));
            Token::Quoted(quote_end(bytes, at, quote, escapes))
        }
        b'$' => dollar_quote_end(text, at).map_or(Token::Other(false), Token::Quoted),
        byte => Token::Other(byte.is_ascii_whitespace()),
    }
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Comments nest, as in Postgres.
fn block_comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0, start);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

/// A doubled quote ends one and begins the next, which comes to the same here.
fn quote_end(bytes: &[u8], start: usize, quote: u8, escapes: bool) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `$$…$$` and `$tag$…$tag$`; `$1` is a parameter and no quote.
fn dollar_quote_end(text: &str, start: usize) -> Option<usize> {
    if start > 0 && word(text.as_bytes()[start - 1]) {
        return None;
    }
    let length = text[start + 1..].find('$')?;
    let tag = &text[start + 1..start + 1 + length];
    let fine = tag.bytes().all(word) && !tag.starts_with(|c: char| c.is_ascii_digit());
    let delimiter = &text[start..start + length + 2];
    let body = start + delimiter.len();
    fine.then(|| text[body..].find(delimiter).map_or(text.len(), |end| body + end + delimiter.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, complete: &[&str], rest: &str) {
        let expected = Cut { complete: complete.iter().map(|part| part.to_string()).collect(), rest: rest.into() };
        assert_eq!(cut(text), expected, "{text}");
    }

    #[test]
    fn semicolons_end_statements() {
        check("SELECT 1; SELECT 2", &["SELECT 1"], "SELECT 2");
        check(" ;; SELECT 1 ; -- the end\n", &["SELECT 1"], "");
        check("", &[], "");
        check("/* nothing */ ;", &[], "");
        check("SELECT 1 -- one; two\n, 2;", &["SELECT 1 -- one; two\n, 2"], "");
    }

    #[test]
    fn but_not_in_quotes_and_comments() {
        check("SELECT ';' , \";\";", &["SELECT ';' , \";\""], "");
        check("SELECT 'it''s;';", &["SELECT 'it''s;'"], "");
        check("SELECT E'\\';';", &["SELECT E'\\';'"], "");
        check("SELECT date'a\\';", &["SELECT date'a\\'"], "");
        check("SELECT $$;$$, $a$ $$; $a$, $1;", &["SELECT $$;$$, $a$ $$; $a$, $1"], "");
        check("SELECT /* ; /* ; */ ; */ 1;", &["SELECT /* ; /* ; */ ; */ 1"], "");
    }

    #[test]
    fn unfinished_texts_are_rests() {
        check("SELECT 'a;", &[], "SELECT 'a;");
        check("SELECT $$a;", &[], "SELECT $$a;");
        check("/* a;", &[], "/* a;");
        check("SELECT 'ü', \"ß\"", &[], "SELECT 'ü', \"ß\"");
    }
}
