// SPDX-License-Identifier: Apache-2.0
//! Who asks, written into each statement; and the check that a statement only reads.

use crate::Statement;
use weir_base::{Error, ErrorCode, Result, SourceName};

const USER_CHARACTERS_MAX: usize = 64;
const READING_WORDS: [&str; 4] = ["select", "with", "values", "table"];

/// The statement with a comment before it, which the server shows in its process list and logs.
pub(super) fn attributed(statement: &Statement) -> String {
    format!("/* weir user={} query={} */ {}", harmless(statement.user.as_str()), statement.query_id, statement.sql)
}

/// The clock of the server, asked together with a note of who asks: `@weir_user` and `@weir_query` are there for triggers,
/// audit plugins and whoever looks into `user_variables_by_thread`.
pub(super) fn clock_sql(statement: &Statement) -> String {
    format!("SELECT UTC_TIMESTAMP(6), @weir_user := '{}', @weir_query := '{}'", harmless(statement.user.as_str()), statement.query_id)
}

/// A user name without anything that could end a comment or a text.
fn harmless(name: &str) -> String {
    let kept = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '@' | '+');
    name.chars().take(USER_CHARACTERS_MAX).map(|character| if kept(character) { character } else { '_' }).collect()
}

/// Error 25006 for what is no query. The session is read-only anyway; this keeps anybody from saying otherwise to it (`SET …`).
pub(super) fn check_reads(sql: &str, source: &SourceName) -> Result<()> {
    let text = sql.trim_start_matches(|character: char| character.is_whitespace() || character == '(');
    let word = text.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or_default();
    if READING_WORDS.iter().any(|reading| reading.eq_ignore_ascii_case(word)) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::ReadOnlySource, format!("source {source} is read-only")).with_hint("write into the lake, or in the source itself"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_base::{QueryId, UserName};

    #[test]
    fn a_name_cannot_leave_the_comment() {
        let query_id = QueryId::fresh();
        let statement =
            Statement { sql: "SELECT 1".to_owned(), shown: None, outputs: Vec::new(), user: UserName::new("a*/ DROP'\\ß"), query_id, rows_likely: None };
        assert_eq!(attributed(&statement), format!("/* weir user=a___DROP__ß query={query_id} */ SELECT 1"));
    }

    #[test]
    fn only_reading_passes() {
        let source = SourceName::new("billing");
        for sql in ["SELECT 1", "  (select 1) UNION (SELECT 2)", "WITH a AS (SELECT 1) SELECT * FROM a"] {
            assert!(check_reads(sql, &source).is_ok(), "{sql}");
        }
        for sql in ["SET tx_read_only = 0", "insert into t values (1)", "/*!50000 SET */ 1", "", "DELETE FROM t", "CALL p()"] {
            assert_eq!(check_reads(sql, &source).unwrap_err().code(), ErrorCode::ReadOnlySource, "{sql}");
        }
    }
}
