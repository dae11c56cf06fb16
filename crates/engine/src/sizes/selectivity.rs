// SPDX-License-Identifier: Apache-2.0
//! The share of rows for which a condition is taken to be true.

use super::{Facts, Size, column};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use std::collections::BTreeMap;
use weir_source::{ColumnStatistics, Value};

/// The share of rows that a filter is taken to keep of which nothing is known.
pub(crate) const FILTER_KEEPS: f64 = 0.2;
/// One value out of values of which nothing is known.
const EQUAL_KEEPS: f64 = 0.1;
/// All that is above or below some value, of values of which nothing is known.
const HALF_KEEPS: f64 = 1.0 / 3.0;
/// A pattern.
const LIKE_KEEPS: f64 = 0.1;

/// Both ends of what is asked of one column.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    fn has(self, place: f64) -> bool {
        self.low <= place && place <= self.high
    }
}

/// The size of what passes all conditions. Ranges of one column are put together; all else is taken to be independent.
pub(super) fn filtered(size: Size, conditions: Vec<&Expr>, schema: &DFSchema) -> Size {
    let context = Context { size: &size, schema };
    let mut share = 1.0;
    let mut ranges: BTreeMap<usize, Range> = BTreeMap::new();
    let mut values: BTreeMap<usize, f64> = BTreeMap::new();
    for condition in conditions {
        match context.range(condition) {
            Some((column, range)) => {
                let known = ranges.entry(column).or_insert(Range::ALL);
                *known = known.and(range);
            }
            None => {
                share *= context.share(condition);
                if let Some((column, count)) = context.listed(condition) {
                    values.insert(column, count);
                }
            }
        }
    }
    for (column, range) in ranges {
        let facts = &size.columns[column];
        let part = share_of_range(facts, range);
        share *= part;
        if let Some(distinct) = facts.distinct {
            values.insert(column, (distinct * part / (1.0 - facts.nulls).max(f64::EPSILON)).max(1.0));
        }
    }
    let mut kept = size.scaled(share.clamp(0.0, 1.0));
    for (column, count) in values {
        let rows = kept.rows;
        kept.columns[column] = Facts { distinct: Some(count.min(rows).max(1.0)), nulls: 0.0, spread: None };
    }
    kept
}

struct Context<'a> {
    size: &'a Size,
    schema: &'a DFSchema,
}

impl Context<'_> {
    fn facts(&self, expr: &Expr) -> Option<&Facts> {
        self.size.columns.get(column(expr, self.schema)?)
    }

    /// A comparison of a column with a value that stands on a line.
    fn range(&self, condition: &Expr) -> Option<(usize, Range)> {
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let (index, op, value) = match (column(left, self.schema), place(right)) {
                    (Some(index), Some(value)) => (index, *op, value),
                    _ => (column(right, self.schema)?, op.swap()?, place(left)?),
                };
                let range = match op {
                    Operator::Lt | Operator::LtEq => Range { high: value, ..Range::ALL },
                    Operator::Gt | Operator::GtEq => Range { low: value, ..Range::ALL },
                    _ => return None,
                };
                (index < self.size.columns.len()).then_some((index, range))
            }
            Expr::Between(Between { expr, negated: false, low, high }) => {
                let index = column(expr, self.schema)?;
                (index < self.size.columns.len()).then_some((index, Range { low: place(low)?, high: place(high)? }))
            }
            _ => None,
        }
    }

    /// How many values a condition leaves of its column.
    fn listed(&self, condition: &Expr) -> Option<(usize, f64)> {
        let (expr, count) = match condition {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (literal(left), literal(right)) {
                (None, Some(_)) => (left.as_ref(), 1),
                (Some(_), None) => (right.as_ref(), 1),
                _ => return None,
            },
            Expr::InList(InList { expr, list, negated: false }) if list.iter().all(|item| literal(item).is_some()) => (expr.as_ref(), list.len()),
            _ => return None,
        };
        let index = column(expr, self.schema).filter(|index| *index < self.size.columns.len())?;
        Some((index, count as f64))
    }

    fn share(&self, condition: &Expr) -> f64 {
        let share = match condition {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => self.share(left) * self.share(right),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
                let (left, right) = (self.share(left), self.share(right));
                left + right - left * right
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => self.compared(left, *op, right, condition),
            Expr::Between(between) => {
                let share = self.range(&Expr::Between(Between { negated: false, ..between.clone() }));
                let share = share.map_or(FILTER_KEEPS, |(column, range)| share_of_range(&self.size.columns[column], range));
                if between.negated { 1.0 - share } else { share }
            }
            Expr::InList(list) => self.among(list),
            Expr::Not(inner) | Expr::IsFalse(inner) | Expr::IsNotTrue(inner) => 1.0 - self.share(inner),
            Expr::IsTrue(inner) | Expr::IsNotFalse(inner) => self.share(inner),
            Expr::IsNull(inner) => self.facts(inner).map_or(FILTER_KEEPS, |facts| facts.nulls),
            Expr::IsNotNull(inner) => 1.0 - self.facts(inner).map_or(0.0, |facts| facts.nulls),
            Expr::Like(like) if like.negated => 1.0 - LIKE_KEEPS,
            Expr::Like(_) => LIKE_KEEPS,
            Expr::Literal(ScalarValue::Boolean(Some(true)), _) => 1.0,
            Expr::Literal(..) => 0.0,
            Expr::Column(_) => self.facts(condition).map_or(0.5, |facts| equal(facts, &Value::Place(1.0))),
            _ => FILTER_KEEPS,
        };
        share.clamp(0.0, 1.0)
    }

    fn compared(&self, left: &Expr, op: Operator, right: &Expr, whole: &Expr) -> f64 {
        if let Some((column, range)) = self.range(whole) {
            return share_of_range(&self.size.columns[column], range);
        }
        let value = literal(right).or_else(|| literal(left));
        let facts = self.facts(left).or_else(|| self.facts(right));
        match (op, facts, value) {
            (Operator::Eq, Some(facts), Some(value)) => value.as_ref().map_or(0.0, |value| equal(facts, value)),
            (Operator::NotEq, Some(facts), Some(value)) => value.as_ref().map_or(0.0, |value| 1.0 - facts.nulls - equal(facts, value)),
            (Operator::Eq, Some(left), None) => {
                let right = self.facts(right).and_then(|facts| facts.distinct);
                let distinct = left.distinct.into_iter().chain(right).max_by(f64::total_cmp);
                distinct.map_or(EQUAL_KEEPS, |distinct| 1.0 / distinct.max(1.0))
            }
            (Operator::NotEq, ..) => 1.0 - EQUAL_KEEPS,
            (Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq, ..) => HALF_KEEPS,
            _ => FILTER_KEEPS,
        }
    }

    fn among(&self, list: &InList) -> f64 {
        let one = |item: &Expr| match (self.facts(&list.expr), literal(item)) {
            (Some(facts), Some(value)) => value.map_or(0.0, |value| equal(facts, &value)),
            _ => EQUAL_KEEPS,
        };
        let nulls = self.facts(&list.expr).map_or(0.0, |facts| facts.nulls);
        let share = list.list.iter().map(one).sum::<f64>().min(1.0 - nulls);
        if list.negated { 1.0 - nulls - share } else { share }
    }
}

/// A literal; inner `None` for NULL and for values of which nothing is known.
fn literal(expr: &Expr) -> Option<Option<Value>> {
    match expr {
        Expr::Literal(value, _) => Some(value.to_array().ok().and_then(|array| Value::of_array(&array))),
        Expr::Cast(cast) => literal(&cast.expr),
        _ => None,
    }
}

fn place(expr: &Expr) -> Option<f64> {
    literal(expr)??.place()
}

/// Rows with one value: as counted, or as many as each of the others has.
fn equal(facts: &Facts, value: &Value) -> f64 {
    let nothing = ColumnStatistics::default();
    let spread = facts.spread.as_deref().unwrap_or(&nothing);
    if let Some((_, share)) = spread.common.iter().find(|(common, _)| common == value) {
        return *share;
    }
    let outside = |place: f64| match spread.quantiles.as_slice() {
        [low, .., high] => place < *low || *high < place,
        _ => false,
    };
    if value.place().is_some_and(outside) {
        return 0.0;
    }
    let rest = (1.0 - facts.nulls - spread.common.iter().map(|(_, share)| share).sum::<f64>()).max(0.0);
    match facts.distinct {
        Some(distinct) => rest / (distinct - spread.common.len() as f64).max(1.0),
        None => rest * EQUAL_KEEPS,
    }
}

fn share_of_range(facts: &Facts, range: Range) -> f64 {
    let ends = usize::from(range.low.is_finite()) + usize::from(range.high.is_finite());
    let guess = HALF_KEEPS.powi(ends as i32);
    let Some(spread) = &facts.spread else { return guess * (1.0 - facts.nulls) };
    let counted: f64 = spread.common.iter().map(|(_, share)| share).sum();
    let common: f64 = spread.common.iter().filter(|(value, _)| value.place().is_some_and(|place| range.has(place))).map(|(_, share)| share).sum();
    let rest = (1.0 - facts.nulls - counted).max(0.0);
    let part = if spread.quantiles.len() < 2 { guess } else { (below(&spread.quantiles, range.high) - below(&spread.quantiles, range.low)).max(0.0) };
    (common + rest * part).clamp(0.0, 1.0)
}

/// The share of values below a place; between two quantiles they are taken to be spread evenly.
fn below(quantiles: &[f64], place: f64) -> f64 {
    let parts = (quantiles.len() - 1) as f64;
    let above = quantiles.partition_point(|quantile| *quantile <= place);
    if above == 0 {
        return 0.0;
    }
    if above == quantiles.len() {
        return 1.0;
    }
    let (low, high) = (quantiles[above - 1], quantiles[above]);
    ((above - 1) as f64 + (place - low) / (high - low)) / parts
}
