// SPDX-License-Identifier: Apache-2.0
//! The one error type: a short message, a detail, a hint, a stable code, and who is to blame.
//!
//! Style: the message is short, lowercase and has no period; the detail says what and where; the hint says what to do.
//! Nothing row-valued and nothing secret goes into any of the three.

use std::fmt;

/// What went wrong, as a stable word. Each has one SQLSTATE, one exit code and one HTTP status (CONTRACT, "Errors").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// A forecast or the ledger went over a budget of a source.
    OverBudget,
    /// The queue for a source is full, or the wait for a permit was too long.
    NoPermit,
    /// A source cannot be reached.
    SourceUnreachable,
    /// A source answers, and refuses the login that the configuration has for it.
    LoginRefused,
    /// A source broke in the middle of a statement.
    SourceBroke,
    /// Cancelled by somebody, or a statement timeout at the source (the detail says which).
    Cancelled,
    /// A replica cancelled the statement because of a recovery conflict.
    RecoveryConflict,
    /// No right to a table, a column or an action.
    Forbidden,
    /// A wrong user name or password.
    BadPassword,
    /// A write to a source.
    ReadOnlySource,
    /// The answer cannot be as fresh or as exact as asked.
    NotFreshEnough,
    /// A value that cannot be represented exactly; the column is named.
    ValueOutOfRange,
    /// Text that is not SQL.
    Syntax,
    /// An unknown table.
    UnknownTable,
    /// An unknown column.
    UnknownColumn,
    /// An unknown schema, source or catalog.
    UnknownSchema,
    /// An unknown database, named at login.
    UnknownDatabase,
    /// An unknown function.
    UnknownFunction,
    /// A name that fits several things.
    AmbiguousName,
    /// A parameter or a literal that does not fit its type.
    BadValue,
    /// A setting that is not known.
    UnknownSetting,
    /// A value that a setting does not take.
    BadSetting,
    /// A text that is no date or time.
    BadMoment,
    /// A date or time that is not in the calendar, or too far away.
    MomentOutOfRange,
    /// Types that do not go together.
    TypeMismatch,
    /// A column that is neither grouped nor aggregated.
    NotGrouped,
    /// A window function or a frame where there can be none.
    MisplacedWindow,
    /// Something of another kind than is needed: a window function without OVER, a value in the place of a list.
    WrongKind,
    /// A position, or a number of columns, that does not fit what is selected.
    BadPosition,
    /// An escape of a pattern that is no single character.
    BadEscape,
    /// A LIMIT or OFFSET below zero.
    BadLimit,
    /// A cast between types that have none.
    NoCast,
    /// A name that is given twice in one query.
    DuplicateName,
    /// A subquery that stands for one value gives several.
    SeveralRows,
    /// Division by zero.
    DivisionByZero,
    /// Something with that name is there already.
    AlreadyExists,
    /// Something cannot be dropped, since others are in it or need it.
    StillUsed,
    /// Legal, but not in this version of Weir.
    Unsupported,
    /// A limit of Weir itself (text too long, too many columns).
    LimitExceeded,
    /// Memory or disk of Weir itself is used up.
    OutOfResources,
    /// Another writer committed first.
    CommitConflict,
    /// A mistake in a configuration file.
    Config,
    /// Another Weir holds the data directory.
    DataDirHeld,
    /// Something is unknown: a query id, a portal, a user.
    NotFound,
    /// A broken rule of a protocol.
    Protocol,
    /// A bug in Weir.
    Internal,
}

/// Who has to act for the error to go away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The one who asked.
    User,
    /// The source, or the way to it.
    Source,
    /// Weir, or the machine it runs on.
    Us,
}

impl ErrorCode {
    pub const ALL: [Self; 45] = [
        Self::OverBudget,
        Self::NoPermit,
        Self::SourceUnreachable,
        Self::LoginRefused,
        Self::SourceBroke,
        Self::Cancelled,
        Self::RecoveryConflict,
        Self::Forbidden,
        Self::BadPassword,
        Self::ReadOnlySource,
        Self::NotFreshEnough,
        Self::ValueOutOfRange,
        Self::Syntax,
        Self::UnknownTable,
        Self::UnknownColumn,
        Self::UnknownSchema,
        Self::UnknownDatabase,
        Self::UnknownFunction,
        Self::AmbiguousName,
        Self::BadValue,
        Self::UnknownSetting,
        Self::BadSetting,
        Self::BadMoment,
        Self::MomentOutOfRange,
        Self::TypeMismatch,
        Self::NotGrouped,
        Self::MisplacedWindow,
        Self::WrongKind,
        Self::BadPosition,
        Self::BadEscape,
        Self::BadLimit,
        Self::NoCast,
        Self::DuplicateName,
        Self::SeveralRows,
        Self::DivisionByZero,
        Self::AlreadyExists,
        Self::StillUsed,
        Self::Unsupported,
        Self::LimitExceeded,
        Self::OutOfResources,
        Self::CommitConflict,
        Self::Config,
        Self::DataDirHeld,
        Self::NotFound,
        Self::Protocol,
    ];

    /// The code that another Weir meant by this SQLSTATE; `Internal` for one that none has.
    pub fn from_sqlstate(sqlstate: &str) -> Self {
        Self::ALL.into_iter().find(|code| code.sqlstate() == sqlstate).unwrap_or(Self::Internal)
    }

    /// The five-character SQLSTATE that clients branch on.
    pub fn sqlstate(self) -> &'static str {
        match self {
            Self::OverBudget => "53400",
            Self::NoPermit => "53300",
            Self::SourceUnreachable => "08001",
            Self::LoginRefused => "08004",
            Self::SourceBroke => "08006",
            Self::Cancelled => "57014",
            Self::RecoveryConflict => "40001",
            Self::Forbidden => "42501",
            Self::BadPassword => "28P01",
            Self::ReadOnlySource => "25006",
            Self::NotFreshEnough => "55000",
            Self::ValueOutOfRange => "22003",
            Self::Syntax => "42601",
            Self::UnknownTable => "42P01",
            Self::UnknownColumn => "42703",
            Self::UnknownSchema => "3F000",
            Self::UnknownDatabase => "3D000",
            Self::UnknownFunction => "42883",
            Self::AmbiguousName => "42702",
            Self::BadValue => "22P02",
            Self::UnknownSetting => "42704",
            Self::BadSetting => "22023",
            Self::BadMoment => "22007",
            Self::MomentOutOfRange => "22008",
            Self::TypeMismatch => "42804",
            Self::NotGrouped => "42803",
            Self::MisplacedWindow => "42P20",
            Self::WrongKind => "42809",
            Self::BadPosition => "42P10",
            Self::BadEscape => "22025",
            Self::BadLimit => "2201W",
            Self::NoCast => "42846",
            Self::DuplicateName => "42712",
            Self::SeveralRows => "21000",
            Self::DivisionByZero => "22012",
            Self::AlreadyExists => "42P07",
            Self::StillUsed => "2BP01",
            Self::Unsupported => "0A000",
            Self::LimitExceeded => "54000",
            Self::OutOfResources => "53200",
            Self::CommitConflict => "40001",
            Self::Config => "F0000",
            Self::DataDirHeld => "55006",
            Self::NotFound => "02000",
            Self::Protocol => "08P01",
            Self::Internal => "XX000",
        }
    }

    /// Exit code of the CLI: 1 the query or check failed, 2 usage or configuration, 3 refused by a budget or policy.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::OverBudget | Self::NoPermit | Self::Forbidden | Self::NotFreshEnough => 3,
            Self::Config | Self::DataDirHeld => 2,
            _ => 1,
        }
    }

    /// HTTP status that goes with the code.
    pub fn http_status(self) -> u16 {
        match self {
            Self::OverBudget | Self::NotFreshEnough => 422,
            Self::NoPermit => 429,
            Self::SourceUnreachable | Self::LoginRefused | Self::SourceBroke => 502,
            Self::Cancelled => 499,
            Self::RecoveryConflict | Self::OutOfResources => 503,
            Self::BadPassword => 401,
            Self::Forbidden | Self::ReadOnlySource => 403,
            Self::NotFound | Self::UnknownTable => 404,
            Self::CommitConflict | Self::AlreadyExists | Self::StillUsed | Self::DataDirHeld => 409,
            Self::LimitExceeded => 413,
            Self::Unsupported => 501,
            Self::Internal | Self::Config => 500,
            _ => 400,
        }
    }

    /// Who has to act.
    pub fn blame(self) -> Blame {
        match self {
            Self::SourceUnreachable | Self::SourceBroke | Self::RecoveryConflict => Blame::Source,
            Self::Internal | Self::OutOfResources | Self::DataDirHeld => Blame::Us,
            _ => Blame::User,
        }
    }
}

/// An error as users see it. Boxed inside, so that `Result<T>` stays small.
#[derive(Clone)]
pub struct Error(Box<Parts>);

#[derive(Clone)]
struct Parts {
    code: ErrorCode,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Parts { code, message: message.into(), detail: None, hint: None }))
    }

    /// A bug in Weir: what should not have happened.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    pub fn blame(&self) -> Blame {
        self.0.code.blame()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if let Some(detail) = &self.0.detail {
            write!(f, " ({detail})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} [{}]: {}", self.0.code, self.0.code.sqlstate(), self.0.message)?;
        if let Some(detail) = &self.0.detail {
            write!(f, "\ndetail: {detail}")?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_contract() {
        assert_eq!((ErrorCode::OverBudget.sqlstate(), ErrorCode::OverBudget.exit_code()), ("53400", 3));
        assert_eq!((ErrorCode::NoPermit.sqlstate(), ErrorCode::NoPermit.exit_code()), ("53300", 3));
        assert_eq!((ErrorCode::ReadOnlySource.sqlstate(), ErrorCode::ReadOnlySource.exit_code()), ("25006", 1));
        assert_eq!((ErrorCode::Forbidden.sqlstate(), ErrorCode::Forbidden.exit_code()), ("42501", 3));
        assert_eq!(ErrorCode::Config.exit_code(), 2);
    }

    #[test]
    fn codes_are_found_again_by_their_sqlstate() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_sqlstate(code.sqlstate()).sqlstate(), code.sqlstate());
        }
        assert_eq!(ErrorCode::from_sqlstate("53400"), ErrorCode::OverBudget);
        assert_eq!(ErrorCode::from_sqlstate("XX000"), ErrorCode::Internal);
    }

    #[test]
    fn an_error_stays_one_pointer_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
