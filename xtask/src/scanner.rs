// SPDX-License-Identifier: Apache-2.0
//! Reads Rust just well enough: blanks comments and the inside of literals, and finds functions and test modules by braces.

/// Rust source with comments and the inside of literals replaced by spaces; lines stay where they are.
pub fn blank(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_or_comment(&chars, at);
        match end {
            Some(end) => {
                out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
                at = end;
            }
            None => {
                out.push(chars[at]);
                at += 1;
            }
        }
    }
    out
}

/// Where the comment or literal that starts at `at` ends; none when nothing of the kind starts there.
fn literal_or_comment(chars: &[char], at: usize) -> Option<usize> {
    match (chars[at], chars.get(at + 1)) {
        ('/', Some('/')) => Some(find(chars, at, |c| c == '\n').unwrap_or(chars.len())),
        ('/', Some('*')) => Some(block_comment(chars, at)),
        ('"', _) => Some(string(chars, at)),
        ('\'', _) => character(chars, at),
        ('r', Some('"' | '#')) if !continues_a_word(chars, at) => raw_string(chars, at + 1),
        ('b' | 'c', Some('r')) if !continues_a_word(chars, at) => raw_string(chars, at + 2),
        _ => None,
    }
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> Option<usize> {
    (from..chars.len()).find(|at| wanted(chars[*at]))
}

fn continues_a_word(chars: &[char], at: usize) -> bool {
    // `br"…"` is reached at its `b`; any other letter before makes it an identifier.
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_')
}

/// Block comments nest.
fn block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => {
                depth += 1;
                at += 2;
            }
            ('*', '/') => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    chars.len()
}

fn string(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `'x'`, `'\n'`, `'\u{1F}'`; a lifetime is none of them.
fn character(chars: &[char], start: usize) -> Option<usize> {
    if chars.get(start + 1) == Some(&'\\') {
        return find(chars, start + 3, |c| c == '\'').map(|end| end + 1);
    }
    (chars.get(start + 2) == Some(&'\'')).then_some(start + 3)
}

/// From the `#` or `"` after `r`: the string ends at a quote followed by as many hashes. `r#name` is no string.
fn raw_string(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start..].iter().take_while(|c| **c == '#').count();
    if chars.get(start + hashes) != Some(&'"') {
        return None;
    }
    let mut at = start + hashes + 1;
    while let Some(quote) = find(chars, at, |c| c == '"') {
        let closing = chars[quote + 1..].iter().take(hashes).filter(|c| **c == '#').count();
        if closing == hashes {
            return Some(quote + 1 + hashes);
        }
        at = quote + 1;
    }
    Some(chars.len())
}

/// A function with a body; lines count from 1, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub first: usize,
    pub last: usize,
}

impl Function {
    pub fn lines(&self) -> usize {
        self.last - self.first + 1
    }
}

/// The functions in blanked source, inner ones too.
pub fn functions(blanked: &str) -> Vec<Function> {
    let bytes = blanked.as_bytes();
    let mut found = Vec::new();
    for (at, _) in blanked.match_indices("fn ") {
        if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_') {
            continue;
        }
        let name: String = blanked[at + 3..].trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(open) = body_start(bytes, at) else { continue };
        if name.is_empty() {
            continue;
        }
        found.push(Function { name, first: line_of(blanked, at), last: line_of(blanked, closing_brace(bytes, open)) });
    }
    found
}

/// The `{` of a function's body; none for a declaration that ends in `;`. Braces and semicolons inside brackets are types.
fn body_start(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0;
    for (offset, byte) in bytes[from..].iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(from + offset),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The brace that closes the one at `open`; the end of the text when there is none.
fn closing_brace(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0;
    for (offset, byte) in bytes[open..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return open + offset;
        }
    }
    bytes.len().saturating_sub(1)
}

/// The lines (from 1, both ends included) of items marked `#[cfg(test)]`, `#[test]` or the like.
pub fn test_lines(blanked: &str) -> Vec<(usize, usize)> {
    let bytes = blanked.as_bytes();
    let marks = ["#[cfg(test)]", "#[test]", "#[tokio::test"].iter().flat_map(|mark| blanked.match_indices(mark)).map(|(at, _)| at);
    let span = |at: usize| {
        let after = at + blanked[at..].find(']')? + 1;
        let open = body_start(bytes, after)?;
        Some((line_of(blanked, at), line_of(blanked, closing_brace(bytes, open))))
    };
    marks.filter_map(span).collect()
}

/// The line of a byte offset, from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_blanked_and_lines_stay() {
        let source = "let a = \"x{\\\"y\"; // }\nlet b = 'c'; /* { /* { */ */ let l: &'a str = r#\"}\"}\"#; let r#fn = b'\\'';\n";
        let blanked = blank(source);
        assert_eq!(blanked.lines().count(), 2);
        assert!(!blanked.contains(['{', '}', '"']), "{blanked}");
        assert!(blanked.contains("&'a str") && blanked.contains("r#fn"), "{blanked}");
    }

    #[test]
    fn functions_are_measured_by_their_braces() {
        let source = "trait T { fn declared(&self) -> [u8; 3]; }\nfn short() {}\nimpl X {\n    pub async fn long<F: Fn() -> u8>(f: F) -> u8\n    {\n        if true { f() } else { 0 }\n    }\n}\n";
        let found = functions(&blank(source));
        let names: Vec<(&str, usize)> = found.iter().map(|f| (f.name.as_str(), f.lines())).collect();
        assert_eq!(names, [("short", 1), ("long", 4)]);
        assert_eq!((found[1].first, found[1].last), (4, 7));
    }

    #[test]
    fn test_items_are_found() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(test_lines(&blank(source)), [(2, 7), (4, 6)]);
    }
}
