// SPDX-License-Identifier: Apache-2.0
//! SQLite's result codes in our words. Its messages name columns and quote text, so only the codes are passed on.

use weir_base::{Error, ErrorCode, SourceName};

const ERROR: i32 = 1;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READONLY: i32 = 8;
const INTERRUPT: i32 = 9;
const CANTOPEN: i32 = 14;
const AUTH: i32 = 23;
const NOTADB: i32 = 26;

/// Opening the file failed, or its first page is no database: 08001.
pub(super) fn unreachable(source: &SourceName, error: &sqlx::Error) -> Error {
    let reason = match code(error) {
        Some(NOTADB) => "the file is not an SQLite database".to_owned(),
        Some(CANTOPEN) => "the file is missing or cannot be read".to_owned(),
        Some(code) => format!("sqlite result code {code}"),
        None => "the file cannot be opened".to_owned(),
    };
    Error::new(ErrorCode::SourceUnreachable, format!("source {source} is unreachable"))
        .with_detail(reason)
        .with_hint("check the path in the source's url and the file's permissions")
}

/// A statement failed.
pub(super) fn statement(source: &SourceName, error: &sqlx::Error) -> Error {
    let Some(code) = code(error) else {
        return Error::new(ErrorCode::SourceBroke, format!("source {source} broke mid-query")).with_detail("its worker ended");
    };
    let (kind, message) = match code {
        ERROR => wrong_text(source, error),
        BUSY | LOCKED => (ErrorCode::SourceBroke, format!("source {source} is locked by a writer")),
        READONLY | AUTH => (ErrorCode::ReadOnlySource, format!("source {source} is read-only")),
        INTERRUPT => (ErrorCode::Cancelled, "query was cancelled".to_owned()),
        CANTOPEN | NOTADB => return unreachable(source, error),
        _ => (ErrorCode::SourceBroke, format!("source {source} broke mid-query")),
    };
    Error::new(kind, message).with_detail(format!("sqlite result code {code}"))
}

/// Whether the session can be used again: the statement was at fault, not the file.
pub(super) fn harmless(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(ERROR | INTERRUPT | READONLY))
}

/// One result code stands for every mistake in a text; its beginning tells them apart.
fn wrong_text(source: &SourceName, error: &sqlx::Error) -> (ErrorCode, String) {
    let message = error.as_database_error().map_or("", |error| error.message());
    if message.starts_with("no such table") {
        (ErrorCode::UnknownTable, format!("source {source} does not know a table of the statement"))
    } else if message.starts_with("no such column") {
        (ErrorCode::UnknownColumn, format!("source {source} does not know a column of the statement"))
    } else if message.starts_with("no such function") {
        (ErrorCode::UnknownFunction, format!("source {source} does not know a function of the statement"))
    } else if message.starts_with("no such collation") {
        (ErrorCode::Unsupported, format!("source {source} needs a collation that only its own application has"))
    } else if message.contains("integer overflow") {
        (ErrorCode::ValueOutOfRange, format!("integer overflow at source {source}"))
    } else {
        (ErrorCode::Syntax, format!("source {source} does not understand the statement"))
    }
}

/// The primary result code.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
