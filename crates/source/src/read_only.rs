// SPDX-License-Identifier: Apache-2.0
//! Whether a text is a query, for systems whose sessions cannot be told to refuse everything else.

/// True for texts that begin with SELECT or WITH. What follows is the engine's own writing.
pub(crate) fn reads_only(sql: &str) -> bool {
    let first_word: String = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(').chars().take_while(char::is_ascii_alphabetic).collect();
    first_word.eq_ignore_ascii_case("select") || first_word.eq_ignore_ascii_case("with")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_are_sent() {
        assert!(reads_only("  SELECT 1"));
        assert!(reads_only("(select 1)"));
        assert!(reads_only("WITH x AS (SELECT 1) SELECT * FROM x"));
        assert!(!reads_only("DELETE FROM t"));
        assert!(!reads_only("selectx"));
        assert!(!reads_only("/* */ DROP TABLE t"));
    }
}
