// SPDX-License-Identifier: Apache-2.0
//! SIMILAR TO: a pattern of SQL as a regular expression that means the same.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value};
use weir_base::{Error, ErrorCode, Result};

/// `text SIMILAR TO pattern` as a match of the whole text. Error: 0A000 for a pattern that is not a literal.
pub(super) fn as_regex(negated: bool, text: &Expr, pattern: Option<&str>, escape: Option<&str>) -> Result<Expr> {
    let Some(pattern) = pattern else {
        return Err(Error::new(ErrorCode::Unsupported, "SIMILAR TO needs a pattern that is a literal").with_hint("use ~ with a regular expression"));
    };
    let escape = match escape {
        None => Some('\\'),
        Some(escape) => escape.chars().next(),
    };
    let op = if negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
    let regex = Expr::value(Value::SingleQuotedString(regex(pattern, escape)));
    Ok(Expr::BinaryOp { left: Box::new(text.clone()), op, right: Box::new(regex) })
}

/// `%` and `_` are any text and any character; `|*+?{}()[]` mean what they mean in a regular expression; all else is itself.
fn regex(pattern: &str, escape: Option<char>) -> String {
    let mut written = String::from("^(?:");
    let mut in_brackets = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            written.push_str(&chars.next().map(itself).unwrap_or_default());
            continue;
        }
        match c {
            '[' if !in_brackets => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
        match c {
            '%' if !in_brackets => written.push_str("(?s:.*)"),
            '_' if !in_brackets => written.push_str("(?s:.)"),
            '.' | '^' | '$' | '\\' if !in_brackets => written.push_str(&itself(c)),
            '\\' => written.push_str("\\\\"),
            _ => written.push(c),
        }
    }
    written.push_str(")$");
    written
}

fn itself(c: char) -> String {
    if c.is_alphanumeric() || c == '_' || c.is_whitespace() || !c.is_ascii() { c.to_string() } else { format!("\\{c}") }
}

#[cfg(test)]
mod tests {
    use super::regex;

    #[test]
    fn patterns_of_sql() {
        assert_eq!(regex("(a|b)%", Some('\\')), "^(?:(a|b)(?s:.*))$");
        assert_eq!(regex("a.c_", Some('\\')), "^(?:a\\.c(?s:.))$");
        assert_eq!(regex("50\\%", Some('\\')), "^(?:50\\%)$");
        assert_eq!(regex("[%_]x+", Some('\\')), "^(?:[%_]x+)$");
    }
}
