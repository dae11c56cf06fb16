// SPDX-License-Identifier: Apache-2.0
//! What a PostgreSQL server or the way to it answers when something fails, as an error of ours.
//!
//! A server's message is repeated only for classes of errors that never carry data values.

use super::address::Endpoint;
use std::time::Duration;
use tokio_postgres::error::DbError;
use weir_base::{Error, ErrorCode, SourceName, Span};

/// SQLSTATE classes whose messages name objects, never values.
const QUOTABLE_CLASSES: [&str; 9] = ["08", "0A", "25", "28", "3D", "42", "53", "55", "57"];

/// A statement failed. `elapsed` and `statement_timeout` tell a timeout from a cancel when the server speaks another language.
pub fn of_statement(source: &SourceName, error: &tokio_postgres::Error, elapsed: Duration, statement_timeout: Duration) -> Error {
    let Some(db) = error.as_db_error() else { return broke(source) };
    match db.code().code() {
        "57014" => ended_at_source(source, db, elapsed, statement_timeout),
        "40001" | "40P01" => Error::new(ErrorCode::RecoveryConflict, format!("replica {source} cancelled the statement because of a recovery conflict"))
            .with_detail("rows that the statement still read were removed on the primary")
            .with_hint("run it again, read a smaller range, or raise max_standby_streaming_delay or hot_standby_feedback on the replica"),
        "25006" => Error::new(ErrorCode::ReadOnlySource, format!("source {source} is read-only")).with_detail(quote(db)),
        "22012" => Error::new(ErrorCode::DivisionByZero, "division by zero").with_detail(format!("at source {source}")),
        "22003" | "22008" => {
            Error::new(ErrorCode::ValueOutOfRange, "value out of range").with_detail(format!("in an expression that source {source} computed"))
        }
        "53300" => full(source, db),
        "42501" => Error::new(ErrorCode::Forbidden, format!("source {source} refused its account"))
            .with_detail(quote(db))
            .with_hint("grant SELECT on it to the account that Weir uses there"),
        "42P01" => Error::new(ErrorCode::UnknownTable, format!("table is gone from source {source}")).with_detail(quote(db)),
        "42703" => Error::new(ErrorCode::UnknownColumn, format!("column is gone from source {source}")).with_detail(quote(db)),
        "55000" | "0A000" => Error::new(ErrorCode::Unsupported, format!("source {source} cannot run the statement now")).with_detail(quote(db)),
        code if code.starts_with("22") => Error::new(ErrorCode::BadValue, format!("source {source} cannot use a value")).with_detail(quote(db)),
        code if code.starts_with("42") => Error::internal(format!("source {source} does not understand the statement")).with_detail(quote(db)),
        "57P01" | "57P02" | "57P03" | "57P05" => broke(source).with_detail(quote(db)),
        code if code.starts_with("08") || code.starts_with("XX") || code.starts_with("58") => broke(source).with_detail(quote(db)),
        _ => Error::new(ErrorCode::SourceBroke, format!("source {source} failed to run the statement")).with_detail(quote(db)),
    }
}

/// Whether the connection itself is gone, so that a pooled one may be replaced by a fresh one.
pub fn connection_lost(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(db) => db.code().code().starts_with("57P"),
        None => true,
    }
}

/// The connection ended before the result did.
pub fn broke(source: &SourceName) -> Error {
    Error::new(ErrorCode::SourceBroke, format!("source {source} broke in the middle of a statement"))
        .with_detail("the connection ended before the result was complete")
        .with_hint("look at the log of that server; the statement can be run again")
}

/// Nothing came for longer than the statement may run: the server or the network hangs.
pub fn silent(source: &SourceName, waited: Duration) -> Error {
    broke(source).with_detail(format!("nothing came for {}, longer than statement_timeout", Span(waited)))
}

/// The query was cancelled from our side.
pub fn cancelled(source: &SourceName) -> Error {
    Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail(format!("while it read source {source}"))
}

fn ended_at_source(source: &SourceName, db: &DbError, elapsed: Duration, statement_timeout: Duration) -> Error {
    let timed_out = db.message().contains("statement timeout") || elapsed >= statement_timeout;
    if !timed_out {
        return Error::new(ErrorCode::Cancelled, "query was cancelled").with_detail(format!("at source {source}, by somebody there"));
    }
    Error::new(ErrorCode::Cancelled, format!("statement ran too long at source {source}"))
        .with_detail(format!("statement timeout: limits.statement_timeout is {}", Span(statement_timeout)))
        .with_hint("add a filter that the source can apply, or ask for the limit to be raised")
}

fn full(source: &SourceName, db: &DbError) -> Error {
    Error::new(ErrorCode::NoPermit, format!("source {source} has no connection to spare"))
        .with_detail(quote(db))
        .with_hint("try again later, or lower limits.connections of that source")
}

/// A connection could not be made. Names the source and the user, never the password.
pub fn of_connecting(source: &SourceName, endpoint: &Endpoint, user: &str, error: &tokio_postgres::Error) -> Error {
    let Some(db) = error.as_db_error() else {
        return unreachable(source, endpoint, &plain_cause(error));
    };
    match db.code().code() {
        "28P01" | "28000" => Error::new(ErrorCode::LoginRefused, format!("source {source} refused the login of user {user}"))
            .with_detail(format!("{}, at {endpoint}", quote(db)))
            .with_hint(format!("check user and password in the url of source {source}")),
        "3D000" => Error::new(ErrorCode::LoginRefused, format!("source {source} has no such database"))
            .with_detail(format!("{}, at {endpoint}", quote(db)))
            .with_hint(format!("check the database in the url of source {source}")),
        "53300" => full(source, db),
        _ => unreachable(source, endpoint, &quote(db)),
    }
}

pub fn unreachable(source: &SourceName, endpoint: &Endpoint, cause: &str) -> Error {
    Error::new(ErrorCode::SourceUnreachable, format!("source {source} cannot be reached"))
        .with_detail(format!("{endpoint}: {cause}"))
        .with_hint("check that the server runs there and that the way to it is open")
}

fn plain_cause(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let text = deeper.to_string();
        if !words.ends_with(&text) {
            words = format!("{words}: {text}");
        }
        cause = deeper.source();
    }
    words
}

fn quote(db: &DbError) -> String {
    let code = db.code().code();
    let quotable = QUOTABLE_CLASSES.iter().any(|class| code.starts_with(class));
    if quotable { format!("{} (SQLSTATE {code})", db.message()) } else { format!("SQLSTATE {code}") }
}
