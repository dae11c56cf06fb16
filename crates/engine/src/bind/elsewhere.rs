// SPDX-License-Identifier: Apache-2.0
//! What users of other engines type for files and other systems, and what Weir has instead.

use datafusion::sql::sqlparser::ast::{CopySource, CopyTarget, ObjectName, Statement};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use weir_base::{Error, ErrorCode};

const SOURCES: &str = "add the system to `sources` of weir.yaml; rows that are to stay go into the lake with CREATE TABLE … AS SELECT";
const OUTPUT: &str = "COPY (query) TO STDOUT on the Postgres wire (psql: \\copy (query) TO 'file'), or weir sql --format csv|parquet|arrow";

/// How a statement begins, and what it would do.
const BEGINNINGS: [(&[&str], Attempt); 14] = [
    (&["CREATE", "EXTERNAL", "TABLE"], Attempt::Attach),
    (&["CREATE", "UNBOUNDED", "EXTERNAL", "TABLE"], Attempt::Attach),
    (&["CREATE", "OR", "REPLACE", "EXTERNAL", "TABLE"], Attempt::Attach),
    (&["CREATE", "FOREIGN", "TABLE"], Attempt::Attach),
    (&["CREATE", "FOREIGN", "DATA"], Attempt::Attach),
    (&["CREATE", "SERVER"], Attempt::Attach),
    (&["CREATE", "CATALOG"], Attempt::Attach),
    (&["IMPORT", "FOREIGN", "SCHEMA"], Attempt::Attach),
    (&["ATTACH"], Attempt::Attach),
    (&["INSTALL"], Attempt::Extend),
    (&["LOAD", "DATA"], Attempt::Read),
    (&["LOAD"], Attempt::Extend),
    (&["UNLOAD"], Attempt::Write),
    (&["EXPORT"], Attempt::Write),
];

/// Functions of other engines that read files or systems by their address.
const READERS: [&str; 28] = [
    "read_csv",
    "read_csv_auto",
    "read_parquet",
    "read_json",
    "read_json_auto",
    "read_ndjson",
    "read_text",
    "read_blob",
    "read_xlsx",
    "parquet_scan",
    "csv_scan",
    "json_scan",
    "arrow_scan",
    "iceberg_scan",
    "delta_scan",
    "postgres_scan",
    "postgres_query",
    "mysql_scan",
    "mysql_query",
    "sqlite_scan",
    "dblink",
    "openrowset",
    "glob",
    "url",
    "file",
    "pg_read_file",
    "pg_read_binary_file",
    "pg_ls_dir",
];

/// What somebody tried.
#[derive(Debug, Clone, Copy)]
enum Attempt {
    /// To name files or another system in SQL.
    Attach,
    Extend,
    Read,
    Write,
}

impl Attempt {
    fn refused(self, what: &str) -> Error {
        let (message, hint) = match self {
            Self::Attach => (format!("{what} is not in Weir: sources are not made in SQL"), SOURCES),
            Self::Extend => (format!("{what} is not in Weir: there is nothing to install or load"), SOURCES),
            Self::Read => (format!("{what} is not in Weir: files are not read by their path"), SOURCES),
            Self::Write => (format!("{what} is not in Weir: files are not written where Weir runs"), OUTPUT),
        };
        Error::new(ErrorCode::Unsupported, message).with_hint(hint)
    }
}

/// The error of a statement that the parser may not even know. `None` for all others.
pub(super) fn refused(tokens: &[TokenWithSpan]) -> Option<Error> {
    let significant = || tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
    let begins = |words: &[&str]| {
        let mut tokens = significant();
        words.iter().all(|word| matches!(tokens.next().map(|token| &token.token), Some(Token::Word(found)) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word)))
    };
    if let Some((words, attempt)) = BEGINNINGS.iter().find(|(words, _)| begins(words)) {
        return Some(attempt.refused(&words.join(" ")));
    }
    let into = significant().zip(significant().skip(1)).zip(significant().skip(2));
    let into_file = |((into, word), text): ((&TokenWithSpan, &TokenWithSpan), &TokenWithSpan)| {
        let (Token::Word(into), Token::Word(word), Token::SingleQuotedString(_)) = (&into.token, &word.token, &text.token) else { return false };
        into.keyword == Keyword::INTO && ["OUTFILE", "DUMPFILE"].iter().any(|known| word.value.eq_ignore_ascii_case(known))
    };
    into.into_iter().any(into_file).then(|| Attempt::Write.refused("SELECT INTO OUTFILE"))
}

/// The error of a function that reads files elsewhere; `None` for any other function.
pub(super) fn reader(function: &str) -> Option<Error> {
    let known = READERS.iter().any(|reader| reader.eq_ignore_ascii_case(function));
    known.then(|| Attempt::Read.refused(&format!("function {function}")))
}

/// Whether a name is that of a file rather than of a table.
pub(super) fn file(name: &str) -> bool {
    let folded = name.to_lowercase();
    // A table may well be called `csv`.
    let short = name.matches('.').count() == 1;
    name.contains('/') || short && FILE_ENDINGS.iter().any(|ending| folded.ends_with(ending))
}

const FILE_ENDINGS: [&str; 8] = [".csv", ".tsv", ".parquet", ".json", ".ndjson", ".xlsx", ".gz", ".db"];

/// What to do for a name that is that of a file.
pub(super) const FILE_HINT: &str = SOURCES;

/// A COPY that is none of the wire's: what it would write to, or the error of one that only reads.
pub(super) fn copied(source: &CopySource, to: bool, target: &CopyTarget) -> Result<ObjectName, Error> {
    if !to {
        return match source {
            CopySource::Table { table_name, .. } => Ok(table_name.clone()),
            CopySource::Query(_) => Err(Error::new(ErrorCode::Syntax, "COPY FROM needs a table")),
        };
    }
    Err(match target {
        CopyTarget::Stdout => Error::new(ErrorCode::Unsupported, "COPY TO STDOUT is for the Postgres wire")
            .with_hint("send the SELECT itself: over HTTP with Accept: text/csv, with weir sql --format csv|parquet|arrow"),
        CopyTarget::Program { .. } => Attempt::Write.refused("COPY TO PROGRAM"),
        _ => Attempt::Write.refused("COPY TO a file"),
    })
}

/// Extensions are none of Weir's; any other statement that it does not have is named by its first words.
pub(super) fn unknown(statement: &Statement) -> Error {
    match statement {
        Statement::CreateExtension { .. } => Attempt::Extend.refused("CREATE EXTENSION"),
        _ => {
            let words: Vec<String> = statement.to_string().split_whitespace().take(2).map(str::to_owned).collect();
            Error::new(ErrorCode::Unsupported, format!("{} is not in Weir", words.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{Command, classify, parse};

    fn error(sql: &str) -> Error {
        match parse(sql).and_then(classify) {
            Err(error) => error,
            Ok(command) => panic!("{sql}: {command:?}"),
        }
    }

    #[test]
    fn files_and_systems_are_named_elsewhere() {
        for (sql, what, hint) in [
            ("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/tmp/x'", "CREATE EXTERNAL TABLE is not in Weir: sources are not made in SQL", SOURCES),
            (
                "create external table x (a int) stored as parquet location 's3://b'",
                "CREATE EXTERNAL TABLE is not in Weir: sources are not made in SQL",
                SOURCES,
            ),
            ("CREATE FOREIGN TABLE t (a int) SERVER x", "CREATE FOREIGN TABLE is not in Weir: sources are not made in SQL", SOURCES),
            ("ATTACH 'x.db' AS y", "ATTACH is not in Weir: sources are not made in SQL", SOURCES),
            ("INSTALL httpfs", "INSTALL is not in Weir: there is nothing to install or load", SOURCES),
            ("CREATE EXTENSION dblink", "CREATE EXTENSION is not in Weir: there is nothing to install or load", SOURCES),
            ("LOAD DATA INFILE 'x' INTO TABLE y", "LOAD DATA is not in Weir: files are not read by their path", SOURCES),
            ("SELECT * INTO OUTFILE '/tmp/x' FROM a.b.c", "SELECT INTO OUTFILE is not in Weir: files are not written where Weir runs", OUTPUT),
            ("COPY a.b.c TO '/tmp/x'", "COPY TO a file is not in Weir: files are not written where Weir runs", OUTPUT),
            ("COPY (SELECT 1) TO PROGRAM 'cat'", "COPY TO PROGRAM is not in Weir: files are not written where Weir runs", OUTPUT),
        ] {
            let error = error(sql);
            assert_eq!((error.code(), error.message(), error.hint()), (ErrorCode::Unsupported, what, Some(hint)), "{sql}");
        }
        assert!(error("COPY a.b.c TO STDOUT").message().contains("Postgres wire"));
    }

    #[test]
    fn a_copy_into_a_table_is_a_write_to_it() {
        let Command::OtherWrite { what, target } = classify(parse("COPY a.b.c FROM STDIN").unwrap()).unwrap() else { panic!("no write") };
        assert_eq!((what.as_str(), target.unwrap().to_string().as_str()), ("COPY FROM", "a.b.c"));
    }

    #[test]
    fn names_of_files_and_of_functions_that_read_them() {
        assert!(file("/tmp/x") && file("x.CSV") && !file("app_pg.public.csv"));
        assert_eq!(reader("READ_CSV").unwrap().code(), ErrorCode::Unsupported);
        assert!(reader("upper").is_none());
    }
}
