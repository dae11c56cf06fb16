// SPDX-License-Identifier: Apache-2.0
//! Settings that Postgres clients set or show and that change nothing here: what they are at the start, and what they take.

use weir_base::{Error, ErrorCode, Result, Span};

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Any text.
    Text,
    Truth,
    /// A whole number within bounds.
    Number(i64, i64),
    /// Milliseconds, or a duration.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Values are always shown like this; any other way of showing them is an error.
    Style(&'static str),
    /// Nothing but what it is.
    Fixed,
}

const ISOLATION: Takes = Takes::Word(&["read uncommitted", "read committed", "repeatable read", "serializable"]);
const LEVELS: Takes = Takes::Word(&["debug5", "debug4", "debug3", "debug2", "debug1", "debug", "log", "info", "notice", "warning", "error"]);
const COMMITS: Takes = Takes::Word(&["on", "off", "local", "remote_write", "remote_apply"]);

/// Name, value at the start, what it takes.
const ACCEPTED: [(&str, &str, Takes); 29] = [
    ("bytea_output", "hex", Takes::Style("hex")),
    ("client_encoding", "UTF8", Takes::Fixed),
    ("client_min_messages", "notice", LEVELS),
    ("datestyle", "ISO, MDY", Takes::Style("ISO")),
    ("default_transaction_deferrable", "off", Takes::Truth),
    ("default_transaction_isolation", "read committed", ISOLATION),
    ("default_transaction_read_only", "off", Takes::Truth),
    ("extra_float_digits", "1", Takes::Number(-15, 3)),
    ("idle_in_transaction_session_timeout", "0", Takes::Time),
    ("idle_session_timeout", "0", Takes::Time),
    ("in_hot_standby", "off", Takes::Fixed),
    ("integer_datetimes", "on", Takes::Fixed),
    ("intervalstyle", "postgres", Takes::Style("postgres")),
    ("is_superuser", "off", Takes::Fixed),
    ("lc_collate", "C", Takes::Fixed),
    ("lc_ctype", "C", Takes::Fixed),
    ("lock_timeout", "0", Takes::Time),
    ("max_identifier_length", "63", Takes::Fixed),
    ("max_index_keys", "32", Takes::Fixed),
    ("row_security", "on", Takes::Truth),
    ("search_path", "public", Takes::Text),
    ("server_encoding", "UTF8", Takes::Fixed),
    ("server_version", "15.0", Takes::Fixed),
    ("server_version_num", "150000", Takes::Fixed),
    ("standard_conforming_strings", "on", Takes::Fixed),
    ("synchronous_commit", "on", COMMITS),
    ("transaction_deferrable", "off", Takes::Truth),
    ("transaction_isolation", "read committed", ISOLATION),
    ("transaction_read_only", "off", Takes::Truth),
];

/// Each name with its value at the start.
pub(crate) fn initial() -> impl Iterator<Item = (&'static str, &'static str)> {
    ACCEPTED.iter().map(|(name, value, _)| (*name, *value))
}

/// The value to keep. Errors: 22023 for one that the setting does not take, 0A000 for a style that is not offered or a fixed setting.
pub(crate) fn check(name: &str, value: &str, current: &str) -> Result<String> {
    let takes = ACCEPTED.iter().find(|(known, ..)| *known == name).map_or(Takes::Text, |(_, _, takes)| *takes);
    let folded = value.to_ascii_lowercase();
    match takes {
        Takes::Text => Ok(value.to_owned()),
        Takes::Truth => truth(name, value).map(|on| if on { "on".into() } else { "off".into() }),
        Takes::Number(least, most) => match value.parse::<i64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(value.to_owned()),
            _ => Err(bad(name, &format!("a whole number from {least} to {most}"))),
        },
        Takes::Time => time(name, value).map(|_| value.to_owned()),
        Takes::Word(words) if words.contains(&folded.as_str()) => Ok(folded),
        Takes::Word(words) => Err(bad(name, &format!("one of {}", words.join(", ")))),
        Takes::Style(style) if folded == style.to_ascii_lowercase() || (name == "datestyle" && iso(&folded)) => Ok(value.to_owned()),
        Takes::Style(style) => Err(Error::new(ErrorCode::Unsupported, format!("setting {name} cannot be changed to that"))
            .with_hint(format!("values are shown as with {style}; format them in the query"))),
        Takes::Fixed if same(value, current) => Ok(current.to_owned()),
        Takes::Fixed => Err(Error::new(ErrorCode::Unsupported, format!("setting {name} cannot be changed")).with_detail(format!("it is always {current}"))),
    }
}

/// `utf-8` is UTF8.
fn same(value: &str, current: &str) -> bool {
    value.replace(['-', '_'], "").eq_ignore_ascii_case(&current.replace(['-', '_'], ""))
}

/// `ISO`, alone or with an order of day and month, which ISO dates do not need.
fn iso(value: &str) -> bool {
    let mut words = value.split(',').map(str::trim);
    let orders = ["mdy", "dmy", "ymd", "us", "noneuro", "european", "euro"];
    words.next() == Some("iso") && words.all(|word| orders.contains(&word))
}

/// Error: 22023.
pub(crate) fn truth(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" | "yes" => Ok(true),
        "off" | "false" | "0" | "no" => Ok(false),
        _ => Err(bad(name, "on or off")),
    }
}

/// As in Postgres, a bare number is milliseconds and 0 switches the limit off. Error: 22023.
pub(crate) fn time(name: &str, value: &str) -> Result<Option<Span>> {
    let span = match value.parse::<u64>() {
        Ok(ms) => Span::from_millis(ms),
        Err(_) => value.replace(' ', "").replace("min", "m").parse().map_err(|_| bad(name, "milliseconds, or a duration such as 30s"))?,
    };
    Ok(Some(span).filter(|span| span.as_millis() > 0))
}

/// 22023 with what to write instead.
pub(crate) fn bad(name: &str, expected: &str) -> Error {
    Error::new(ErrorCode::BadSetting, format!("bad value for setting {name}")).with_hint(format!("write {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_takes_what_it_can_be() {
        let taken = |name: &str, value: &str| check(name, value, "UTF8").unwrap();
        assert_eq!(taken("extra_float_digits", "3"), "3");
        assert_eq!(taken("transaction_isolation", "Repeatable Read"), "repeatable read");
        assert_eq!(taken("row_security", "TRUE"), "on");
        assert_eq!(taken("lock_timeout", "2min"), "2min");
        assert_eq!(taken("datestyle", "iso, dmy"), "iso, dmy");
        assert_eq!(taken("client_encoding", "utf-8"), "UTF8");
        let code = |name: &str, value: &str| check(name, value, "UTF8").unwrap_err().code();
        for (name, value) in [("extra_float_digits", "99"), ("lock_timeout", "soon"), ("client_min_messages", "loud"), ("transaction_read_only", "maybe")] {
            assert_eq!(code(name, value), ErrorCode::BadSetting, "{name} = {value}");
        }
        for (name, value) in [("datestyle", "German"), ("datestyle", "isometric"), ("bytea_output", "escape"), ("client_encoding", "LATIN1")] {
            assert_eq!(code(name, value), ErrorCode::Unsupported, "{name} = {value}");
        }
    }
}
