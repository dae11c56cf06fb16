// SPDX-License-Identifier: Apache-2.0
//! Conditions on table columns, used for pruning alone: what they rule out is not read, what remains may still not match.

use std::cmp::Ordering;

/// A value, in the meaning of the column it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Bool(bool),
    Int(i64),
    Float(f64),
    /// `unscaled / 10^scale`.
    Decimal {
        unscaled: i128,
        scale: i8,
    },
    Text(String),
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01, UTC where the column has a zone.
    Timestamp(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl CompareOp {
    /// The operator that holds exactly where this one does not (NULLs match neither).
    fn inverse(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }
}

/// A condition; columns are indexes into the table's schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    And(Vec<Predicate>),
    Or(Vec<Predicate>),
    Not(Box<Predicate>),
    Compare { column: usize, op: CompareOp, literal: Literal },
    In { column: usize, literals: Vec<Literal> },
    IsNull(usize),
    IsNotNull(usize),
    StartsWith { column: usize, prefix: String },
}

impl Predicate {
    /// The same condition without `Not`; what cannot be turned around becomes "anything may match" (an empty `And`).
    pub(crate) fn normalized(&self) -> Predicate {
        self.turned(false)
    }

    fn turned(&self, negated: bool) -> Predicate {
        match (self, negated) {
            (Self::Not(inner), _) => inner.turned(!negated),
            (Self::And(parts), false) | (Self::Or(parts), true) => Self::And(parts.iter().map(|part| part.turned(negated)).collect()),
            (Self::Or(parts), false) | (Self::And(parts), true) => Self::Or(parts.iter().map(|part| part.turned(negated)).collect()),
            (Self::Compare { column, op, literal }, true) => Self::Compare { column: *column, op: op.inverse(), literal: literal.clone() },
            (Self::In { column, literals }, true) => Self::And(literals.iter().map(|literal| not_equal(*column, literal)).collect()),
            (Self::IsNull(column), true) => Self::IsNotNull(*column),
            (Self::IsNotNull(column), true) => Self::IsNull(*column),
            (Self::StartsWith { .. }, true) => Self::And(Vec::new()),
            (leaf, false) => leaf.clone(),
        }
    }

    /// The conditions that must all hold.
    pub(crate) fn conjuncts(&self) -> Vec<&Predicate> {
        match self {
            Self::And(parts) => parts.iter().flat_map(Predicate::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Every column named, each once, ascending.
    pub fn columns(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn collect(&self, found: &mut Vec<usize>) {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect(found)),
            Self::Not(inner) => inner.collect(found),
            Self::Compare { column, .. } | Self::In { column, .. } | Self::StartsWith { column, .. } => found.push(*column),
            Self::IsNull(column) | Self::IsNotNull(column) => found.push(*column),
        }
    }
}

fn not_equal(column: usize, literal: &Literal) -> Predicate {
    Predicate::Compare { column, op: CompareOp::NotEqual, literal: literal.clone() }
}

impl Literal {
    /// The order of two values of one kind, as the engine orders them; `None` where they do not compare, so nothing is pruned.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Time(a), Self::Time(b)) | (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            _ => {
                let (a, a_scale) = self.as_decimal()?;
                let (b, b_scale) = other.as_decimal()?;
                let scale = a_scale.max(b_scale);
                Some(rescale(a, a_scale, scale)?.cmp(&rescale(b, b_scale, scale)?))
            }
        }
    }

    fn as_decimal(&self) -> Option<(i128, i8)> {
        match self {
            Self::Int(value) => Some((i128::from(*value), 0)),
            Self::Decimal { unscaled, scale } => Some((*unscaled, *scale)),
            _ => None,
        }
    }

    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Self::Float(value) if value.is_nan())
    }
}

fn rescale(value: i128, from: i8, to: i8) -> Option<i128> {
    let steps = u32::try_from(i32::from(to) - i32::from(from)).ok()?;
    value.checked_mul(10i128.checked_pow(steps)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_integers_compare_by_value() {
        let decimal = Literal::Decimal { unscaled: 1050, scale: 2 };
        assert_eq!(decimal.order(&Literal::Int(10)), Some(Ordering::Greater));
        assert_eq!(decimal.order(&Literal::Decimal { unscaled: 105, scale: 1 }), Some(Ordering::Equal));
        assert_eq!(Literal::Int(1).order(&Literal::Float(1.0)), None);
    }

    #[test]
    fn not_is_pushed_to_the_leaves() {
        let less = Predicate::Compare { column: 1, op: CompareOp::Less, literal: Literal::Int(5) };
        let starts = Predicate::StartsWith { column: 0, prefix: "a".into() };
        let not = Predicate::Not(Box::new(Predicate::Or(vec![less, starts])));
        let at_least = Predicate::Compare { column: 1, op: CompareOp::GreaterOrEqual, literal: Literal::Int(5) };
        assert_eq!(not.normalized(), Predicate::And(vec![at_least, Predicate::And(vec![])]));
    }
}
