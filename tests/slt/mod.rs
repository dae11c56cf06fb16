// SPDX-License-Identifier: Apache-2.0
//! SQL cases as text: every `.slt` file under `cases/` on an embedded engine with a SQLite source and a lake, no services.
//!
//! `WEIR_BLESS=1` writes the answers into the files; read the diff. A new file needs no recompile.

mod oracle;

use crate::kit::{SqliteFile, World};
use async_trait::async_trait;
use sqllogictest::{DBOutput, DefaultColumnType, Runner, default_column_validator};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use weir_api::{Query, Session};
use weir_base::Error;

/// One connection of a case: a session of its own.
struct Connection {
    world: Arc<World>,
    session: Arc<Session>,
}

/// An error as a case expects it: code, message, detail and hint in one line.
#[derive(Debug)]
struct Failure(Error);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code().sqlstate(), self.0.message())?;
        if let Some(detail) = self.0.detail() {
            write!(f, " ({detail})")?;
        }
        self.0.hint().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Failure {}

#[async_trait]
impl sqllogictest::AsyncDB for Connection {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let told = self.world.tell(&self.session, Query::new(sql)).await.map_err(Failure)?;
        if let Some(tag) = told.tag {
            let count = tag.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
            return Ok(DBOutput::StatementComplete(count));
        }
        let types = vec![DefaultColumnType::Any; told.rows.first().map_or(0, Vec::len)];
        let visible = |value: String| if value.is_empty() { "(empty)".to_owned() } else { masked(&value) };
        let rows = told.rows.into_iter().map(|row| row.into_iter().map(visible).collect()).collect();
        Ok(DBOutput::Rows { types, rows })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "weir"
    }

    fn error_sql_state(error: &Failure) -> Option<String> {
        Some(error.0.code().sqlstate().to_owned())
    }
}

/// Before what is another number or time in each run: snapshots, their ages, and how small a file was compressed.
const VOLATILE: [&str; 6] = ["FOR VERSION AS OF ", "snapshot=", "snapshot ", "as of 20", "rows, ", "manifest), "];

/// The value with `N` in the place of such numbers and times.
fn masked(value: &str) -> String {
    VOLATILE.iter().fold(value.to_owned(), |text, mark| mask_after(&text, mark))
}

fn mask_after(text: &str, mark: &str) -> String {
    let mut pieces = text.split(mark);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |before, after| {
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || "-:.TZ".contains(c));
        let sign = if rest.len() < after.len() { "N" } else { "" };
        format!("{before}{mark}{sign}{rest}")
    })
}

/// Values as they are, but for blanks at the end of a line.
fn as_is(value: &str) -> String {
    value.trim_end().to_owned()
}

const SEPARATOR: &str = " | ";

fn same(normalizer: fn(&String) -> String, actual: &[Vec<String>], expected: &[String]) -> bool {
    let actual: Vec<String> = actual.iter().flat_map(|row| lines(&row.join(SEPARATOR))).collect();
    let expected: Vec<String> = expected.iter().map(normalizer).collect();
    actual == expected
}

/// A value with line breaks in it stands on as many lines.
fn lines(row: &str) -> Vec<String> {
    row.split('\n').map(|line| line.trim_end().to_owned()).collect()
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("slt/cases");
    let entries = std::fs::read_dir(folder).expect("the folder of cases");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a case").path()).filter(|path| path.extension().is_some_and(|kind| kind == "slt")).collect();
    files.sort();
    files
}

async fn run_case(file: &Path, shop: &SqliteFile) -> Result<(), String> {
    let world = Arc::new(World::builder().source("shop", "sqlite", &shop.url()).start().await);
    let mut runner = Runner::new(async || {
        let world = world.clone();
        let session = world.session("local", None);
        Ok(Connection { world, session })
    });
    if std::env::var_os("WEIR_BLESS").is_some() {
        return runner.update_test_file(file, SEPARATOR, same, |value| as_is(value), default_column_validator).await.map_err(|error| error.to_string());
    }
    runner.with_validator(same);
    runner.with_normalizer(|value| as_is(value));
    runner.run_file_async(file).await.map_err(|error| error.display(false).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn all_cases() {
    let shop = SqliteFile::with(include_str!("shop.sql")).await;
    let files = cases();
    assert!(files.len() >= 10, "only {} files of cases were found", files.len());
    let mut failures = Vec::new();
    for file in &files {
        if let Err(failure) = run_case(file, &shop).await {
            failures.push(format!("{}\n{failure}", file.file_name().unwrap_or_default().to_string_lossy()));
        }
    }
    assert!(failures.is_empty(), "{} of {} files failed\n\n{}", failures.len(), files.len(), failures.join("\n\n"));
}
