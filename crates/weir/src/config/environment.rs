// SPDX-License-Identifier: Apache-2.0
//! `${NAME}` in values: replaced by environment variables after the YAML was read, so that a value can never become structure.

use crate::config::document::{Node, NodeValue};
use crate::config::problem::{Findings, child};

/// Where variables come from; an argument, so that tests need not touch the process.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Replaces in every value of the tree. `$${` stands for a literal `${`.
pub(crate) fn substitute(node: &mut Node, key: &str, lookup: Lookup<'_>, findings: &mut Findings) {
    let at = node.at;
    match &mut node.value {
        NodeValue::Scalar { text, plain } if text.contains("${") => match expand(text, lookup) {
            Ok(expanded) => {
                *text = expanded;
                *plain = false;
            }
            Err(messages) => messages.into_iter().for_each(|message| findings.problem_at(at, key, message)),
        },
        NodeValue::Scalar { .. } => {}
        NodeValue::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                substitute(item, &format!("{key}[{index}]"), lookup, findings);
            }
        }
        NodeValue::Map(entries) => {
            for entry in entries {
                let path = child(key, &entry.key);
                substitute(&mut entry.value, &path, lookup, findings);
            }
        }
    }
}

/// The text with its variables, or a message for each that is missing or malformed.
fn expand(text: &str, lookup: Lookup<'_>) -> Result<String, Vec<String>> {
    let mut out = String::with_capacity(text.len());
    let mut messages = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, after) = (&rest[..start], &rest[start + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let Some(end) = after.find('}') else {
            messages.push("`${` without `}`; write $${ for the two characters themselves".to_owned());
            return Err(messages);
        };
        let name = &after[..end];
        rest = &after[end + 1..];
        match value_of(name, lookup) {
            Ok(value) if in_credentials(&out, rest) => out.push_str(&percent_encoded(&value)),
            Ok(value) => out.push_str(&value),
            Err(message) => messages.push(message),
        }
    }
    out.push_str(rest);
    if messages.is_empty() { Ok(out) } else { Err(messages) }
}

fn value_of(name: &str, lookup: Lookup<'_>) -> Result<String, String> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("`${{{name}}}` is not the name of an environment variable; write $${{ for the two characters themselves"));
    }
    lookup(name).ok_or_else(|| format!("environment variable {name} is not set"))
}

/// Whether the place between `before` and `after` is the user or password of a URL: there a password may hold any character.
fn in_credentials(before: &str, after: &str) -> bool {
    let Some((_, authority)) = before.split_once("://") else { return false };
    !authority.contains(['/', '@', '?']) && after.split(['/', '?']).next().is_some_and(|rest| rest.contains('@'))
}

/// Everything but unreserved characters as `%XX`. A `%XX` that is there already stays, since some encode by hand.
fn percent_encoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut out = String::with_capacity(value.len());
    for (index, byte) in bytes.iter().enumerate() {
        let encoded_already = *byte == b'%' && bytes.get(index + 1..index + 3).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit));
        if encoded_already || byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(*byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> Result<String, Vec<String>> {
        expand(text, &|name| match name {
            "PW" => Some("p@ss/w:rd%".into()),
            "HOST" => Some("db:5432".into()),
            "DONE" => Some("a%40b".into()),
            _ => None,
        })
    }

    #[test]
    fn replaces_and_escapes() {
        assert_eq!(with("a${HOST}b$${HOST}").unwrap(), "adb:5432b${HOST}");
        assert_eq!(with("postgres://ro:${PW}@${HOST}/app").unwrap(), "postgres://ro:p%40ss%2Fw%3Ard%25@db:5432/app");
        assert_eq!(with("postgres://ro:${DONE}@h/app").unwrap(), "postgres://ro:a%40b@h/app");
        assert_eq!(with("${PW}").unwrap(), "p@ss/w:rd%");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(with("${A}-${B}").unwrap_err(), ["environment variable A is not set", "environment variable B is not set"]);
        assert!(with("${A").unwrap_err()[0].starts_with("`${` without `}`"));
        assert!(with("${A-b}").unwrap_err()[0].starts_with("`${A-b}` is not the name"));
    }
}
