// SPDX-License-Identifier: Apache-2.0
//! What is known of a column in a file, a row group or a page, and whether a condition may still hold there.

use crate::predicate::{CompareOp, Literal, Predicate};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    None,
    /// Some, or unknown.
    Some,
    All,
}

impl Nulls {
    pub(crate) fn of(null_count: Option<u64>, rows: u64) -> Self {
        match null_count {
            Some(0) => Self::None,
            Some(count) if count >= rows => Self::All,
            _ => Self::Some,
        }
    }
}

/// One piece of evidence about one column. Every value that is there lies between `lower` and `upper`, both included.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) lower: Option<Literal>,
    pub(crate) upper: Option<Literal>,
    pub(crate) nulls: Nulls,
    /// NaN stands outside the bounds; the engine sorts it above every number.
    pub(crate) nan_possible: bool,
    /// Number of buckets and the one that all values fall into.
    pub(crate) bucket: Option<(u32, i32)>,
}

impl Bounds {
    pub(crate) fn unknown() -> Self {
        Self { lower: None, upper: None, nulls: Nulls::Some, nan_possible: true, bucket: None }
    }

    pub(crate) fn all_null() -> Self {
        Self { nulls: Nulls::All, nan_possible: false, ..Self::unknown() }
    }

    /// All rows hold this value.
    pub(crate) fn constant(value: Literal) -> Self {
        let nan_possible = value.is_nan();
        let known = (!nan_possible).then_some(value);
        Self { lower: known.clone(), upper: known, nulls: Nulls::None, nan_possible, bucket: None }
    }

    /// Bounds from statistics: NaN bounds say nothing.
    pub(crate) fn between(lower: Option<Literal>, upper: Option<Literal>, nulls: Nulls, nan_possible: bool) -> Self {
        let (lower, upper) = (lower.filter(|value| !value.is_nan()), upper.filter(|value| !value.is_nan()));
        Self { lower, upper, nulls, nan_possible, bucket: None }
    }
}

/// Whoever knows something about columns.
pub(crate) trait Evidence {
    /// All that is known of a table column; empty when nothing is.
    fn of(&self, column: usize) -> Vec<Bounds>;

    /// Whether a value of a bucketed column could be in this bucket.
    fn bucket_of(&self, column: usize, buckets: u32, literal: &Literal) -> Option<i32>;
}

/// False only when no row can satisfy the (normalized) condition.
pub(crate) fn may_match(predicate: &Predicate, evidence: &dyn Evidence) -> bool {
    match predicate {
        Predicate::And(parts) => parts.iter().all(|part| may_match(part, evidence)),
        Predicate::Or(parts) => parts.iter().any(|part| may_match(part, evidence)),
        Predicate::Not(_) => true,
        Predicate::In { column, literals } => {
            let known = evidence.of(*column);
            literals.iter().any(|literal| known.iter().all(|bounds| compare_may_match(*column, CompareOp::Equal, literal, bounds, evidence)))
        }
        Predicate::Compare { column, op, literal } => evidence.of(*column).iter().all(|bounds| compare_may_match(*column, *op, literal, bounds, evidence)),
        Predicate::IsNull(column) => evidence.of(*column).iter().all(|bounds| bounds.nulls != Nulls::None),
        Predicate::IsNotNull(column) => evidence.of(*column).iter().all(|bounds| bounds.nulls != Nulls::All),
        Predicate::StartsWith { column, prefix } => evidence.of(*column).iter().all(|bounds| prefix_may_match(prefix, bounds)),
    }
}

fn compare_may_match(column: usize, op: CompareOp, literal: &Literal, bounds: &Bounds, evidence: &dyn Evidence) -> bool {
    if bounds.nulls == Nulls::All {
        return false;
    }
    if literal.is_nan() {
        return true;
    }
    let lower = bounds.lower.as_ref().and_then(|lower| lower.order(literal));
    let upper = bounds.upper.as_ref().and_then(|upper| upper.order(literal));
    match op {
        CompareOp::Equal => lower != Some(Ordering::Greater) && upper != Some(Ordering::Less) && bucket_may_match(column, literal, bounds, evidence),
        CompareOp::NotEqual => bounds.nan_possible || !(lower == Some(Ordering::Equal) && upper == Some(Ordering::Equal)),
        CompareOp::Less => bounds.nan_possible || !matches!(lower, Some(Ordering::Greater | Ordering::Equal)),
        CompareOp::LessOrEqual => bounds.nan_possible || lower != Some(Ordering::Greater),
        CompareOp::Greater => bounds.nan_possible || !matches!(upper, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::GreaterOrEqual => bounds.nan_possible || upper != Some(Ordering::Less),
    }
}

fn bucket_may_match(column: usize, literal: &Literal, bounds: &Bounds, evidence: &dyn Evidence) -> bool {
    let Some((buckets, bucket)) = bounds.bucket else { return true };
    evidence.bucket_of(column, buckets, literal).is_none_or(|of_literal| of_literal == bucket)
}

fn prefix_may_match(prefix: &str, bounds: &Bounds) -> bool {
    if bounds.nulls == Nulls::All {
        return false;
    }
    let below = matches!(&bounds.upper, Some(Literal::Text(upper)) if upper.as_bytes() < prefix.as_bytes());
    let above = matches!(&bounds.lower, Some(Literal::Text(lower)) if lower.as_bytes() > prefix.as_bytes() && !lower.starts_with(prefix));
    !below && !above
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known(Bounds);

    impl Evidence for Known {
        fn of(&self, _: usize) -> Vec<Bounds> {
            vec![self.0.clone()]
        }

        fn bucket_of(&self, _: usize, _: u32, _: &Literal) -> Option<i32> {
            Some(3)
        }
    }

    fn compare(op: CompareOp, literal: Literal) -> Predicate {
        Predicate::Compare { column: 0, op, literal }
    }

    #[test]
    fn ranges_rule_out_what_lies_beside_them() {
        let known = Known(Bounds::between(Some(Literal::Int(10)), Some(Literal::Int(20)), Nulls::None, false));
        assert!(!may_match(&compare(CompareOp::Less, Literal::Int(10)), &known));
        assert!(may_match(&compare(CompareOp::LessOrEqual, Literal::Int(10)), &known));
        assert!(!may_match(&compare(CompareOp::Greater, Literal::Int(20)), &known));
        assert!(!may_match(&compare(CompareOp::Equal, Literal::Int(21)), &known));
        assert!(may_match(&compare(CompareOp::NotEqual, Literal::Int(15)), &known));
        assert!(!may_match(&Predicate::IsNull(0), &known));
        assert!(!may_match(&Predicate::In { column: 0, literals: vec![Literal::Int(1), Literal::Int(30)] }, &known));
    }

    #[test]
    fn nan_keeps_everything_but_equality() {
        let known = Known(Bounds::between(Some(Literal::Float(1.0)), Some(Literal::Float(2.0)), Nulls::Some, true));
        assert!(may_match(&compare(CompareOp::Greater, Literal::Float(5.0)), &known));
        assert!(!may_match(&compare(CompareOp::Equal, Literal::Float(5.0)), &known));
        let zero = Known(Bounds::between(Some(Literal::Float(0.0)), Some(Literal::Float(0.0)), Nulls::None, false));
        assert!(may_match(&compare(CompareOp::Equal, Literal::Float(-0.0)), &zero), "both zeros are one number");
        assert!(!may_match(&compare(CompareOp::Less, Literal::Float(0.0)), &zero));
    }

    #[test]
    fn prefixes_and_buckets() {
        let known = Known(Bounds::between(Some(Literal::Text("ab".into())), Some(Literal::Text("b".into())), Nulls::Some, false));
        let starts = |prefix: &str| Predicate::StartsWith { column: 0, prefix: prefix.into() };
        assert!(may_match(&starts("a"), &known));
        assert!(!may_match(&starts("aa"), &known));
        assert!(!may_match(&starts("c"), &known));
        let bucketed = Known(Bounds { bucket: Some((16, 4)), ..Bounds::unknown() });
        assert!(!may_match(&compare(CompareOp::Equal, Literal::Int(1)), &bucketed));
    }
}
