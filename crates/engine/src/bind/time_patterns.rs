// SPDX-License-Identifier: Apache-2.0
//! Patterns of `to_date` and `to_timestamp` as PostgreSQL writes them (`YYYY-MM-DD HH24:MI:SS`), for a reader that takes `%Y-%m-%d %H:%M:%S`.
//! Only words that both read alike are known; a text that strays from the pattern is an error, where PostgreSQL is at times more forgiving.

use weir_base::{Error, ErrorCode, Result};

/// A longer word goes before what it begins with.
const WORDS: [(&str, &str); 14] = [
    ("MONTH", "%B"),
    ("YYYY", "%Y"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("DDD", "%j"),
    ("MON", "%b"),
    ("DD", "%d"),
    ("MM", "%m"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("AM", "%p"),
];

/// The same pattern in `%` words. Error: 0A000 for a word that is not known.
pub(super) fn in_percent_words(pattern: &str) -> Result<String> {
    let mut written = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let upper = rest.to_ascii_uppercase();
        if let Some((word, percent)) = WORDS.iter().find(|(word, _)| upper.starts_with(word)) {
            written.push_str(percent);
            rest = &rest[word.len()..];
            continue;
        }
        if upper.starts_with("PM") {
            written.push_str("%p");
            rest = &rest[2..];
            continue;
        }
        if let Some((quoted, after)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            written.push_str(&quoted.replace('%', "%%"));
            rest = after;
            continue;
        }
        if first.is_alphanumeric() || first == '"' {
            return Err(unknown(rest));
        }
        written.push(first);
        rest = &rest[first.len_utf8()..];
    }
    Ok(written)
}

fn unknown(rest: &str) -> Error {
    let word: String = rest.chars().take_while(|letter| letter.is_alphanumeric()).collect();
    Error::new(ErrorCode::Unsupported, format!("pattern {word} is not read"))
        .with_hint("known are YYYY MM Mon Month DD DDD HH24 HH12 MI SS MS US AM PM and text in double quotes; or a pattern in % words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_stands_between_them() {
        assert_eq!(in_percent_words("YYYY-MM-DD HH24:MI:SS.US").unwrap(), "%Y-%m-%d %H:%M:%S.%6f");
        assert_eq!(in_percent_words("dd Mon yyyy, hh12:mi am").unwrap(), "%d %b %Y, %I:%M %p");
        assert_eq!(in_percent_words("YYYYMMDD\"T\"HH24MISS").unwrap(), "%Y%m%dT%H%M%S");
        assert_eq!(in_percent_words("DD Month YYYY").unwrap(), "%d %B %Y");
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for pattern in ["YY-MM-DD", "IYYY-IW", "J", "FMDD", "YYYY\"open"] {
            assert_eq!(in_percent_words(pattern).unwrap_err().code(), ErrorCode::Unsupported, "{pattern}");
        }
    }
}
