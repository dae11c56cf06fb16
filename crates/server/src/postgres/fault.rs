// SPDX-License-Identifier: Apache-2.0
//! What goes wrong on the Postgres wire: every error of the service, and the codes that only this protocol knows.

use weir_base::Error;

/// How grave a message to the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Notice,
    Warning,
    Error,
    /// The connection ends after it.
    Fatal,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Notice => "NOTICE",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
        }
    }
}

/// An ErrorResponse or NoticeResponse in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub severity: Severity,
    pub code: &'static str,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

impl Fault {
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), detail: None, hint: None }
    }

    pub fn fatal(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Fatal, ..Self::error(code, message) }
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    pub fn notice(message: impl Into<String>) -> Self {
        Self { severity: Severity::Notice, ..Self::error("00000", message) }
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn cancelled() -> Self {
        Self::error("57014", "query cancelled").with_detail("the client asked for it")
    }

    pub fn shutting_down() -> Self {
        Self::fatal("57P01", "weir is shutting down").with_hint("connect again in a moment")
    }

    pub fn syntax(message: impl Into<String>) -> Self {
        Self::error("42601", message)
    }

    pub fn protocol(message: impl Into<String>) -> Self {
        Self::error("08P01", message)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self {
            severity: Severity::Error,
            code: error.code().sqlstate(),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
        }
    }
}

/// Why work on a message stopped.
#[derive(Debug)]
pub enum Trouble {
    /// The client is told.
    Fault(Fault),
    /// There is nobody left to tell.
    Gone,
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Fault(error.into())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(_: std::io::Error) -> Self {
        Self::Gone
    }
}
