// SPDX-License-Identifier: Apache-2.0
//! What operators above a scan have found out while they run, as conditions that are quick to ask. A join or a top-n looks at every
//! row that it gets, so each of these may let rows through that do not belong; none may keep one back that does.

use super::key_set::KeySet;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{and, prep_null_mask_filter};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, InListExpr, Literal};
use datafusion::physical_expr::utils::split_conjunction;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// After so many rows it is known what a condition is worth.
const ROWS_TRIED: u64 = 50_000;
/// Keys that let through more than this are not asked for any more, and what takes longer to ask not beyond the other.
const WORTHLESS_KEYS: f64 = 0.9;
const WORTHLESS_OTHER: f64 = 0.6;

/// One condition, with what it has brought so far.
#[derive(Debug, Clone)]
pub(super) struct Found {
    asks: Asks,
    tried: Arc<Tried>,
}

#[derive(Debug, Default)]
struct Tried {
    seen: AtomicU64,
    kept: AtomicU64,
}

#[derive(Debug, Clone)]
enum Asks {
    /// Whether a value is among keys.
    Keys(Arc<dyn PhysicalExpr>, Arc<KeySet>),
    Other(Arc<dyn PhysicalExpr>),
}

impl Found {
    fn new(asks: Asks) -> Self {
        Self { asks, tried: Arc::default() }
    }

    /// What an operator has found by now.
    pub fn all(now: &Arc<dyn PhysicalExpr>) -> Vec<Self> {
        let mut keys: Vec<(Arc<dyn PhysicalExpr>, KeySet)> = Vec::new();
        let mut others = Vec::new();
        for part in split_conjunction(now).into_iter().filter(|part| !is_true(part)) {
            match key_list(part).and_then(|list| Some((list.value.clone(), KeySet::of(list.keys.into_iter())?))) {
                Some(found) => keys.push(found),
                None => others.push(part.clone()),
            }
        }
        // The bounds of keys say nothing beside the keys.
        others.retain(|part| !bounded(part).is_some_and(|value| keys.iter().any(|(known, _)| known == value)));
        let keys = keys.into_iter().map(|(value, keys)| Asks::Keys(value, Arc::new(keys)));
        keys.chain(others.into_iter().map(Asks::Other)).map(Self::new).collect()
    }

    /// Keys of which there are few are asked first, what has no keys last.
    pub fn rank(&self) -> usize {
        match &self.asks {
            Asks::Keys(_, keys) => keys.count,
            Asks::Other(_) => usize::MAX,
        }
    }

    /// What it looks at.
    pub fn expr(&self) -> &Arc<dyn PhysicalExpr> {
        match &self.asks {
            Asks::Keys(expr, _) | Asks::Other(expr) => expr,
        }
    }

    /// The same condition over columns that stand elsewhere, `expr` being what it looks at; they are tried together.
    pub fn over(&self, expr: Arc<dyn PhysicalExpr>) -> Self {
        let asks = match &self.asks {
            Asks::Keys(_, keys) => Asks::Keys(expr, keys.clone()),
            Asks::Other(_) => Asks::Other(expr),
        };
        Self { asks, tried: self.tried.clone() }
    }

    /// Whether nearly every row has passed so far.
    pub fn is_worthless(&self) -> bool {
        let seen = self.tried.seen.load(Ordering::Relaxed);
        let worthless = if matches!(self.asks, Asks::Keys(..)) { WORTHLESS_KEYS } else { WORTHLESS_OTHER };
        seen >= ROWS_TRIED && self.tried.kept.load(Ordering::Relaxed) as f64 > seen as f64 * worthless
    }

    /// Which rows may belong; `None` when it is not worth asking.
    pub fn verdicts(&self, batch: &RecordBatch) -> Result<Option<BooleanArray>> {
        if self.is_worthless() {
            return Ok(None);
        }
        let verdicts = match &self.asks {
            Asks::Keys(value, keys) => {
                let values = value.evaluate(batch)?.into_array(batch.num_rows())?;
                let Some(held) = keys.holds(&values) else { return Ok(None) };
                held
            }
            Asks::Other(condition) => {
                let value: ArrayRef = condition.evaluate(batch)?.into_array(batch.num_rows())?;
                let Some(verdicts) = value.as_boolean_opt() else { return Ok(None) };
                if verdicts.null_count() > 0 { prep_null_mask_filter(verdicts) } else { verdicts.clone() }
            }
        };
        self.tried.seen.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        self.tried.kept.fetch_add(verdicts.true_count() as u64, Ordering::Relaxed);
        Ok(Some(verdicts))
    }
}

/// The rows that pass all that was found beside `before`, what is left of the batch so far.
pub(super) fn passing(found: &[Found], before: Option<BooleanArray>, batch: &RecordBatch) -> Result<Option<BooleanArray>> {
    let mut passing = before;
    for condition in found {
        if passing.as_ref().is_some_and(|rows| rows.true_count() == 0) {
            break;
        }
        let Some(verdicts) = condition.verdicts(batch)? else { continue };
        passing = Some(match passing {
            Some(rows) => and(&rows, &verdicts)?,
            None => verdicts,
        });
    }
    Ok(passing)
}

/// A list of keys and the value that has to be in it.
struct KeyList<'a> {
    value: &'a Arc<dyn PhysicalExpr>,
    keys: Vec<&'a ScalarValue>,
}

fn key_list(part: &Arc<dyn PhysicalExpr>) -> Option<KeyList<'_>> {
    match part.downcast_ref::<CaseExpr>() {
        Some(case) => united(case),
        None => listed(part),
    }
}

fn listed(part: &Arc<dyn PhysicalExpr>) -> Option<KeyList<'_>> {
    let list = part.downcast_ref::<InListExpr>().filter(|list| !list.negated())?;
    let keys = list.list().iter().map(literal).collect::<Option<Vec<_>>>()?;
    Some(KeyList { value: list.expr(), keys })
}

/// A join in several partitions asks of each row only the keys of its own: together they are the keys of all.
fn united(case: &CaseExpr) -> Option<KeyList<'_>> {
    let mut together: Option<KeyList<'_>> = None;
    let branches = case.when_then_expr().iter().map(|(_, then)| then).chain(case.else_expr());
    for branch in branches.filter(|branch| !is_false(branch)) {
        let list = split_conjunction(branch).into_iter().find_map(listed)?;
        match &mut together {
            None => together = Some(list),
            Some(known) if known.value == list.value => known.keys.extend(list.keys),
            Some(_) => return None,
        }
    }
    together
}

/// The value that a comparison with a literal bounds.
fn bounded(part: &Arc<dyn PhysicalExpr>) -> Option<&Arc<dyn PhysicalExpr>> {
    let binary = part.downcast_ref::<BinaryExpr>()?;
    let bounds = matches!(binary.op(), Operator::GtEq | Operator::LtEq) && literal(binary.right()).is_some();
    bounds.then(|| binary.left())
}

fn literal(expr: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    expr.downcast_ref::<Literal>().map(Literal::value)
}

fn is_true(expr: &Arc<dyn PhysicalExpr>) -> bool {
    literal(expr) == Some(&ScalarValue::Boolean(Some(true)))
}

fn is_false(expr: &Arc<dyn PhysicalExpr>) -> bool {
    literal(expr) == Some(&ScalarValue::Boolean(Some(false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringArray};
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::expressions::{binary, col, in_list, lit};

    fn schema() -> Schema {
        Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8, true)])
    }

    fn batch() -> RecordBatch {
        let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(4)]));
        let b: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "x", "x"]));
        RecordBatch::try_new(Arc::new(schema()), vec![a, b]).unwrap()
    }

    fn keys_of_a(keys: &[i64]) -> Arc<dyn PhysicalExpr> {
        in_list(col("a", &schema()).unwrap(), keys.iter().map(|key| lit(*key)).collect(), &false, &schema()).unwrap()
    }

    fn a(op: Operator, value: i64) -> Arc<dyn PhysicalExpr> {
        binary(col("a", &schema()).unwrap(), op, lit(value), &schema()).unwrap()
    }

    fn both(left: Arc<dyn PhysicalExpr>, right: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
        binary(left, Operator::And, right, &schema()).unwrap()
    }

    fn kept(found: &[Found]) -> Option<Vec<bool>> {
        passing(found, None, &batch()).unwrap().map(|rows| rows.values().iter().collect())
    }

    #[test]
    fn bounds_beside_keys_are_not_asked() {
        let found = Found::all(&both(both(a(Operator::GtEq, 1), a(Operator::LtEq, 4)), keys_of_a(&[1, 4])));
        assert!(matches!(found.as_slice(), [Found { asks: Asks::Keys(..), .. }]), "{found:?}");
        assert_eq!(kept(&found), Some(vec![true, false, false, true]));
        let alone = Found::all(&a(Operator::GtEq, 2));
        assert_eq!(kept(&alone), Some(vec![false, true, false, true]));
        assert_eq!(kept(&Found::all(&lit(true))), None);
    }

    #[test]
    fn keys_of_all_partitions_are_put_together() {
        let when = |index: i64, then: Arc<dyn PhysicalExpr>| (a(Operator::Eq, index), then);
        let case = |whens, rest| -> Arc<dyn PhysicalExpr> { Arc::new(CaseExpr::try_new(None, whens, Some(rest)).unwrap()) };
        let found = Found::all(&case(vec![when(0, both(a(Operator::GtEq, 1), keys_of_a(&[1]))), when(1, keys_of_a(&[2]))], lit(false)));
        assert_eq!(kept(&found), Some(vec![true, true, false, false]));
        // A partition that takes all: what is asked is the whole, as it stands.
        let open = Found::all(&case(vec![when(1, keys_of_a(&[7]))], lit(true)));
        assert_eq!(kept(&open), Some(vec![false, true, true, true]));
    }

    #[test]
    fn keys_that_are_texts_are_asked_as_they_stand() {
        let texts = in_list(col("b", &schema()).unwrap(), vec![lit("y")], &false, &schema()).unwrap();
        let found = Found::all(&both(keys_of_a(&[1, 2]), texts));
        assert_eq!(kept(&found), Some(vec![false, true, false, false]));
        assert_eq!(found.iter().map(Found::rank).collect::<Vec<_>>(), [2, usize::MAX]);
    }

    #[test]
    fn what_lets_nearly_all_through_is_not_asked_for_long() {
        let found = Found::all(&keys_of_a(&[1, 2, 3, 4]));
        let all: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS_TRIED as i64).map(|row| row % 4 + 1)));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..ROWS_TRIED).map(|_| "x")));
        let many = RecordBatch::try_new(Arc::new(schema()), vec![all, texts]).unwrap();
        assert!(found[0].verdicts(&many).unwrap().is_some());
        assert!(found[0].verdicts(&many).unwrap().is_none());
        let few = Found::all(&keys_of_a(&[1]));
        assert!(few[0].verdicts(&many).unwrap().is_some() && few[0].verdicts(&many).unwrap().is_some());
    }
}
