// SPDX-License-Identifier: Apache-2.0
//! What went wrong on a connection, and the error that users see for it.

use super::address::Address;
use super::wire::Reader;
use std::io;
use weir_base::{Error, ErrorCode, SourceName, Span};

/// What ended an exchange with the server.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server answered with an error.
    Server(ServerError),
    /// The connection broke.
    Broke(io::Error),
    /// The server broke the rules of the protocol, or wants something that is not spoken here.
    Protocol(&'static str),
    /// Our own word: a budget, a value that does not fit, a refusal.
    Ours(Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Broke(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

/// An error packet. The message may quote values, so it never leaves this module whole.
#[derive(Debug)]
pub(super) struct ServerError {
    pub(super) code: u16,
    message: String,
}

impl ServerError {
    /// `payload` is the packet, its 0xFF included.
    pub(super) fn parse(payload: &[u8]) -> Self {
        let mut rest = Reader(payload.get(1..).unwrap_or_default());
        let code = rest.u16().unwrap_or_default();
        let message = rest.0.strip_prefix(b"#").and_then(|text| text.get(5..)).unwrap_or(rest.0);
        Self { code, message: String::from_utf8_lossy(message).into_owned() }
    }
}

impl Failure {
    /// While connecting and logging in.
    pub(super) fn at_connect(self, source: &SourceName, address: &Address) -> Error {
        let unreachable = |message: String| Error::new(ErrorCode::SourceUnreachable, message);
        let refused = |message: String| Error::new(ErrorCode::LoginRefused, message);
        let place = address.place();
        match self {
            Self::Ours(error) => error,
            Self::Protocol(what) => unreachable(format!("cannot connect to source {source}")).with_detail(format!("{place}: {what}")),
            Self::Broke(error) => unreachable(format!("cannot reach source {source}"))
                .with_detail(format!("{place}: {error}"))
                .with_hint("check that the server runs, and host, port and ssl-mode in the url of the source"),
            Self::Server(error) => match error.code {
                1044 | 1045 | 1698 | 1862 | 3118 => refused(format!("source {source} refused the login of user {}", address.user))
                    .with_detail(format!("{place}: {} (server error {})", login_refused(error.code), error.code))
                    .with_hint("check user, password and database in the url of the source, and the account's grants"),
                1040 | 1203 | 1226 => too_many_connections(source, error.code),
                1049 => refused(format!("cannot connect to source {source}"))
                    .with_detail(format!("{place}: there is no database {}", address.database.as_deref().unwrap_or_default())),
                code => unreachable(format!("cannot connect to source {source}")).with_detail(format!("{place}: server error {code}")),
            },
        }
    }

    /// While a statement runs.
    pub(super) fn in_statement(self, source: &SourceName, statement_timeout: Span) -> Error {
        match self {
            Self::Ours(error) => error,
            Self::Protocol(what) => Error::new(ErrorCode::SourceBroke, format!("source {source} broke off")).with_detail(what),
            Self::Broke(error) => Error::new(ErrorCode::SourceBroke, format!("source {source} broke off"))
                .with_detail(format!("the connection ended in the middle of a statement: {error}"))
                .with_hint("try again; rows that came before are not an answer"),
            Self::Server(error) => server_error(&error, source, statement_timeout),
        }
    }
}

/// Why a login failed, as far as the server tells strangers.
fn login_refused(code: u16) -> &'static str {
    match code {
        1044 => "the account may not use the database",
        1862 => "the password has expired",
        3118 => "the account is locked",
        _ => "wrong password, or no such account for this host",
    }
}

fn too_many_connections(source: &SourceName, code: u16) -> Error {
    Error::new(ErrorCode::NoPermit, format!("source {source} takes no more connections"))
        .with_detail(format!("server error {code}"))
        .with_hint("lower `limits.connections` of the source, or raise the server's max_connections")
}

fn server_error(error: &ServerError, source: &SourceName, statement_timeout: Span) -> Error {
    let new = |code: ErrorCode, message: String| Error::new(code, message).with_detail(format!("server error {}", error.code));
    match error.code {
        1969 | 3024 => Error::new(ErrorCode::Cancelled, format!("statement was cancelled by source {source}"))
            .with_detail(format!("statement timeout of {statement_timeout} at the source"))
            .with_hint("make the statement cheaper, or raise `limits.statement_timeout` of the source"),
        1317 => Error::new(ErrorCode::Cancelled, format!("statement was cancelled at source {source}")).with_detail("killed there by somebody"),
        1053 | 1077 | 1079 | 1927 | 3169 => new(ErrorCode::SourceBroke, format!("source {source} broke off")).with_hint("try again"),
        1040 | 1203 | 1226 => too_many_connections(source, error.code),
        1205 | 1213 => new(ErrorCode::SourceBroke, format!("source {source} gave up a statement that waited for a lock")).with_hint("try again"),
        1290 | 1792 | 1836 => new(ErrorCode::ReadOnlySource, format!("source {source} is read-only")),
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 => new(ErrorCode::Forbidden, format!("account of source {source} lacks a right there"))
            .with_detail(error.message.clone())
            .with_hint("ask for the grant in that server, or leave the table or column out"),
        1046 | 1049 => new(ErrorCode::UnknownSchema, format!("source {source} does not know the schema")),
        1051 | 1109 | 1146 | 1356 => new(ErrorCode::UnknownTable, format!("source {source} does not know the table")).with_detail(error.message.clone()),
        1054 => new(ErrorCode::UnknownColumn, format!("source {source} does not know the column")).with_detail(error.message.clone()),
        1305 | 1630 => new(ErrorCode::UnknownFunction, format!("source {source} does not know the function")),
        1064 | 1149 => new(ErrorCode::Syntax, format!("source {source} does not understand the statement")),
        1264 | 1690 | 1916 => new(ErrorCode::ValueOutOfRange, format!("a value at source {source} is out of range")),
        1365 => new(ErrorCode::DivisionByZero, format!("division by zero at source {source}")),
        1021 | 1037 | 1041 | 1114 => new(ErrorCode::SourceBroke, format!("source {source} has run out of memory or disk")),
        _ => new(ErrorCode::SourceBroke, format!("source {source} failed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: u16) -> Error {
        let mut packet = vec![0xFF];
        packet.extend_from_slice(&code.to_le_bytes());
        packet.extend_from_slice(b"#HY000Duplicate entry 's3cret'");
        Failure::Server(ServerError::parse(&packet)).in_statement(&SourceName::new("billing"), Span::from_millis(30_000))
    }

    #[test]
    fn codes_become_ours() {
        assert_eq!(shown(1969).code(), ErrorCode::Cancelled);
        assert_eq!(shown(1969).detail(), Some("statement timeout of 30s at the source"));
        assert_eq!(shown(1317).detail(), Some("killed there by somebody"));
        assert_eq!(shown(1792).code(), ErrorCode::ReadOnlySource);
        assert_eq!(shown(1040).code(), ErrorCode::NoPermit);
    }

    #[test]
    fn values_in_messages_stay_here() {
        assert!(!format!("{:?}", shown(1062)).contains("s3cret"));
    }
}
