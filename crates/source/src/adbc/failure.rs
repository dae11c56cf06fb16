// SPDX-License-Identifier: Apache-2.0
//! What a driver says went wrong, in our words. Drivers' messages quote data and addresses, so only their codes and a few
//! known causes are passed on.

use adbc_core::error::{Error as DriverError, Status};
use weir_base::{Error, ErrorCode, SourceName};

/// Causes that can be told from a driver's message without quoting it.
const CAUSES: [(&str, &str); 9] = [
    ("connection refused", "connection refused"),
    ("no such host", "no such host"),
    ("name resolution", "no such host"),
    ("certificate", "the server's certificate was not accepted"),
    ("incorrect username or password", "wrong user name or password"),
    ("failed to auth", "login failed"),
    ("authentication", "login failed"),
    ("timeout", "no answer in time"),
    ("deadline exceeded", "no answer in time"),
];

/// Opening a session failed: 08001, or 08004 where the login was refused.
pub(super) fn unreachable(source: &SourceName, error: &DriverError) -> Error {
    if matches!(error.status, Status::Unauthenticated | Status::Unauthorized) {
        return Error::new(ErrorCode::LoginRefused, format!("source {source} refused the login"))
            .with_detail(codes(error))
            .with_hint("check user, password and role in the source's options");
    }
    let hint = "check the source's address and options, and that the warehouse can be reached from here";
    Error::new(ErrorCode::SourceUnreachable, format!("source {source} is unreachable")).with_detail(codes(error)).with_hint(hint)
}

/// No answer to a login within our own patience: 08001.
pub(super) fn no_answer(source: &SourceName, patience_ms: u64) -> Error {
    Error::new(ErrorCode::SourceUnreachable, format!("source {source} is unreachable"))
        .with_detail(format!("no session within {patience_ms} ms"))
        .with_hint("check the source's address and options, and that the warehouse can be reached from here")
}

pub(super) fn cannot_load(source: &SourceName, error: &DriverError) -> Error {
    Error::new(ErrorCode::Config, "adbc driver cannot be loaded")
        .with_detail(format!("source {source}, {}", codes(error)))
        .with_hint("options.driver must be an absolute path of the driver's shared library, or a name known to the ADBC driver manager")
}

pub(super) fn refused_options(source: &SourceName, error: &DriverError) -> Error {
    Error::new(ErrorCode::Config, "adbc driver refuses its options")
        .with_detail(format!("source {source}, {}", codes(error)))
        .with_hint("compare the source's options with the driver's documentation")
}

/// A statement failed.
pub(super) fn statement(source: &SourceName, error: &DriverError) -> Error {
    let state = sqlstate(error);
    let (code, message) = match (state.as_str(), error.status) {
        ("42S02" | "42P01", _) => (ErrorCode::UnknownTable, format!("source {source} does not know a table of the statement")),
        ("42703", _) => (ErrorCode::UnknownColumn, format!("source {source} does not know a column of the statement")),
        ("42000" | "42601", _) => (ErrorCode::Syntax, format!("source {source} does not understand the statement")),
        ("42501", _) | (_, Status::Unauthorized) => (ErrorCode::Forbidden, format!("source {source} does not let its account do this")),
        ("22012", _) => (ErrorCode::DivisionByZero, "division by zero".to_owned()),
        ("57014", _) | (_, Status::Cancelled | Status::Timeout) => (ErrorCode::Cancelled, "query was cancelled".to_owned()),
        (state, _) if state.starts_with("22") => (ErrorCode::BadValue, format!("source {source} could not convert a value")),
        (_, Status::NotImplemented) => (ErrorCode::Unsupported, format!("source {source} does not support the statement")),
        _ => (ErrorCode::SourceBroke, format!("source {source} broke mid-query")),
    };
    Error::new(code, message).with_detail(codes(error))
}

/// Reading the result failed after the statement had begun: 08006.
pub(super) fn stream(source: &SourceName) -> Error {
    Error::new(ErrorCode::SourceBroke, format!("source {source} broke mid-query"))
        .with_detail("the driver failed while it read the result")
        .with_hint("try again; the warehouse's own query history says more")
}

/// Whether the server was reached and just does not know what was asked.
pub(super) fn refusal(error: &DriverError) -> bool {
    !matches!(error.status, Status::IO | Status::Unauthenticated | Status::Cancelled | Status::Timeout)
}

fn codes(error: &DriverError) -> String {
    let message = error.message.to_ascii_lowercase();
    let cause = CAUSES.iter().find(|(pattern, _)| message.contains(pattern)).map(|(_, words)| format!("{words}; "));
    let state = sqlstate(error);
    let state = if state.is_empty() { String::new() } else { format!(", sqlstate {state}") };
    format!("{}driver status {:?}, vendor code {}{state}", cause.unwrap_or_default(), error.status, error.vendor_code)
}

/// The five characters, or nothing where the driver gave none.
fn sqlstate(error: &DriverError) -> String {
    let bytes = error.sqlstate.map(|byte| byte.to_ne_bytes()[0]);
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    if text.chars().all(|c| c.is_ascii_alphanumeric()) { text } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver_error(message: &str, state: &[u8; 5], status: Status) -> DriverError {
        let mut error = DriverError::with_message_and_status(message, status);
        error.sqlstate = state.map(|byte| byte as std::ffi::c_char);
        error
    }

    #[test]
    fn messages_are_not_quoted() {
        let secret = driver_error("Numeric value 'hunter2' is not recognized at 10.0.0.1", b"22018", Status::Internal);
        let error = statement(&SourceName::new("marts"), &secret);
        assert_eq!((error.code(), error.message()), (ErrorCode::BadValue, "source marts could not convert a value"));
        assert_eq!(error.detail(), Some("driver status Internal, vendor code 0, sqlstate 22018"));
    }

    #[test]
    fn known_causes_are_named() {
        let refused = driver_error("dial tcp 127.0.0.1:1: connect: connection refused", &[0; 5], Status::IO);
        let error = unreachable(&SourceName::new("marts"), &refused);
        assert_eq!(error.code(), ErrorCode::SourceUnreachable);
        assert_eq!(error.detail(), Some("connection refused; driver status IO, vendor code 0"));
    }
}
