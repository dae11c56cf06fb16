// SPDX-License-Identifier: Apache-2.0
//! Expressions that a source computes: values with their SQL and their meaning, and the functions and aggregates over them that a
//! connector may know how to write with exactly our result.

use crate::{Altering, Column, Operand, Reason};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType};

/// A value in a statement under construction: a column of a table, a literal, or something computed from such.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Complete by itself: it can stand beside any operator.
    pub sql: String,
    /// What the value means: its type here and there, its collation, and what it is called in words.
    pub meaning: Column,
    /// Whether computing it can never fail. What may fail is not put into a condition, where a source may evaluate it for
    /// rows that another condition would have spared.
    pub total: bool,
    /// A constant: behind GROUP BY and ORDER BY it would be the place of a column, or an error.
    pub constant: bool,
}

impl Term {
    /// A computed value: no name of a column, no collation of its own.
    pub fn computed(sql: impl Into<String>, native_type: impl Into<String>, data_type: DataType, total: bool) -> Self {
        let meaning = Column {
            name: String::new(),
            native_type: native_type.into(),
            data_type,
            nullable: true,
            collation: None,
            bytewise_equality: true,
            read_as: None,
            labels: None,
            degraded: None,
            altering: Altering::default(),
        };
        Self { sql: sql.into(), meaning, total, constant: false }
    }

    /// A constant as a source's text.
    pub fn of_constant(sql: impl Into<String>, data_type: DataType) -> Self {
        Self { constant: true, ..Self::computed(sql, "", data_type, true) }
    }

    /// The same value under another text.
    pub fn written(&self, sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), ..self.clone() }
    }
}

/// A scalar function or operator, by what it means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function<'a> {
    /// `a + b`, fails beyond the result's type.
    Add,
    Subtract,
    Multiply,
    /// Whole numbers are divided towards zero; division by zero fails.
    Divide,
    /// The remainder has the sign of the dividend.
    Modulo,
    Negate,
    Absolute,
    /// To the type of the result, which holds every value of the argument.
    Widen,
    /// Letters (Unicode code points) of a text.
    CharLength,
    /// `substring(text from position for length)`, in letters; position and length are literals, at least 1 and 0.
    Substring,
    /// Texts one after the other; NULL when one is.
    Concat,
    /// A field of a date or of a timestamp without a zone: `year`, `month`, `day`, `hour`, `minute`, `quarter`, `dow`, `doy`.
    Extract(&'a str),
    /// The nearest whole number that is not above, and that is not below, as a decimal.
    Floor,
    Ceil,
    /// A decimal to so many places, a literal: halves away from zero, or the rest cut off.
    Round,
    Cut,
    /// A text without blanks (and nothing else) at its begin, its end, or both.
    TrimStart,
    TrimEnd,
    TrimBoth,
    /// Where a text, a literal that is not empty, begins in another one, in letters from 1 on; 0 for nowhere.
    Position,
    /// What a JSON object has under a key, or a list at a place (from 0 on, from its end below), both literals: `json -> key`.
    Member,
    /// The same as a text: `json ->> key`.
    MemberText,
    /// A timestamp without a zone cut to its `year`, `quarter`, `month`, `week`, `day`, `hour`, `minute` or `second`.
    Truncate(&'a str),
}

/// An aggregate over the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Rows, when there is no argument; else values that are not NULL.
    Count,
    Sum,
    Min,
    Max,
    BoolAnd,
    BoolOr,
}

impl Aggregate {
    pub fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::BoolAnd => "bool_and",
            Self::BoolOr => "bool_or",
        }
    }
}

/// A function over the rows around each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    RowNumber,
    Rank,
    DenseRank,
    /// The value of the row before, or behind; NULL where there is none.
    Lag,
    Lead,
    First,
    Last,
    Aggregate(Aggregate),
}

/// One argument of a function.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    pub term: &'a Term,
    /// Its value, where it is a literal.
    pub literal: Option<Operand<'a>>,
}

/// Whether a decimal of this precision holds every result of an operator over two decimals. Error: code `digits`.
pub(crate) fn holds_digits(sign: &str, a: &Term, b: &Term, precision: u8) -> Result<(), Reason> {
    let digits = match (&a.meaning.data_type, &b.meaning.data_type) {
        (DataType::Decimal128(p, _), DataType::Decimal128(q, _)) if sign == "*" => i16::from(*p) + i16::from(*q),
        (DataType::Decimal128(p, s), DataType::Decimal128(q, t)) => {
            let whole = (i16::from(*p) - i16::from(*s)).max(i16::from(*q) - i16::from(*t));
            whole + i16::from(*s.max(t)) + 1
        }
        _ => i16::MAX,
    };
    if precision < DECIMAL128_MAX_PRECISION || digits <= i16::from(DECIMAL128_MAX_PRECISION) {
        return Ok(());
    }
    Err(Reason::new("digits", "the result may have more digits than a decimal has here").with_remedy("cast to fewer digits first"))
}

/// A written expression, or why the source cannot compute it as we would.
pub type Written = Result<Term, Reason>;

/// What connectors say of what they do not know.
pub fn unknown_function() -> Reason {
    Reason::new("function", "this function is not known to mean the same in the source")
}
