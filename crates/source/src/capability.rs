// SPDX-License-Identifier: Apache-2.0
//! Capabilities: whether a source does an operation with exactly our meaning. One table per connector feeds the planner,
//! EXPLAIN and the tests. Nothing is exact because it merely prints.

/// Something the engine would like the source to do with a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operation<'a> {
    /// `column = literal`, and IN lists of such.
    Equal(Operand<'a>),
    /// `column <> literal`.
    NotEqual(Operand<'a>),
    /// `column < literal` and its three sisters.
    Less(Operand<'a>),
    LessOrEqual(Operand<'a>),
    Greater(Operand<'a>),
    GreaterOrEqual(Operand<'a>),
    IsNull,
    IsNotNull,
    /// A bare boolean column as a condition.
    IsTrue,
    /// `column LIKE pattern`, with `%` and `_` and a character that takes away their meaning. Case counts.
    Like(Pattern<'a>),
    /// Values are equal there exactly when they are here, and NULL there when they are here: groups, DISTINCT, keys of joins.
    Distinguish,
    /// Values stand in the order that they have here (texts as the dialect's `bytewise` writes them): ORDER BY, `min`, `max`, `<` of two columns.
    Order,
}

/// The literal that the column is compared with; always of the column's own Arrow type and never NULL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand<'a> {
    Bool(bool),
    Int(i128),
    Float(f64),
    /// Unscaled digits, in the column's precision and scale.
    Decimal(i128),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Days since 1970-01-01; the extremes are the infinities.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01, with or without a zone as the column has; the extremes are the infinities.
    Timestamp(i64),
}

/// The pattern of a LIKE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern<'a> {
    pub text: &'a str,
    /// The character before which `%`, `_` and itself stand for themselves.
    pub escape: char,
}

/// The answer of the table.
#[derive(Debug, Clone, PartialEq)]
pub enum Support {
    /// Same rows as we would keep: push it and forget it.
    Exact,
    /// At least the rows that we would keep: push it and check again here.
    Superset(Reason),
    /// Keep it here.
    Never(Reason),
}

impl Support {
    /// Error: why it is not exact.
    pub fn exact(self) -> Result<(), Reason> {
        match self {
            Self::Exact => Ok(()),
            Self::Superset(reason) | Self::Never(reason) => Err(reason),
        }
    }
}

/// Why something is not pushed, or not only pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Stable and short: `collation`, `zero_date`, `float`.
    pub code: &'static str,
    /// One plain sentence without a period.
    pub text: String,
    /// What the user or the DBA could do about it.
    pub remedy: Option<String>,
}

impl Reason {
    pub fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), remedy: None }
    }

    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
