// SPDX-License-Identifier: Apache-2.0
//! Writes connection URLs: every part that a caller named is percent-encoded.

use std::fmt::Write;

/// `scheme://user:password@127.0.0.1:port/database`.
pub(crate) fn url(scheme: &str, user: &str, password: &str, port: u16, database: &str) -> String {
    format!("{scheme}://{}:{}@127.0.0.1:{port}/{}", encode(user), encode(password), encode(database))
}

/// Percent-encodes everything but RFC 3986's unreserved characters.
fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail; the result carries nothing.
            let _infallible = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_encoded() {
        assert_eq!(url("postgres", "ana", "p@ss/w:é", 5433, "app db"), "postgres://ana:p%40ss%2Fw%3A%C3%A9@127.0.0.1:5433/app%20db");
    }
}
