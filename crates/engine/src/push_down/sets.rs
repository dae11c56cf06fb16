// SPDX-License-Identifier: Apache-2.0
//! ROLLUP, CUBE and GROUPING SETS as a source's SQL, and the number that tells which keys a row is grouped by.

use arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, GroupingSet};
use weir_source::{Dialect, Reason, Term};

/// A source tells so many keys apart in one number.
const KEYS_MAX: usize = 31;

/// The keys of a GROUP BY, each once, and the sets that they are grouped in, if there are such.
pub(super) fn keys_of(group: &[Expr]) -> (Vec<&Expr>, Option<&GroupingSet>) {
    match group {
        [Expr::GroupingSet(sets)] => (sets.distinct_expr(), Some(sets)),
        keys => (keys.iter().collect(), None),
    }
}

/// What stands behind GROUP BY. `keys` are the texts of `exprs`.
pub(super) fn written(sets: &GroupingSet, exprs: &[&Expr], keys: &[String], dialect: &dyn Dialect) -> Result<String, Reason> {
    let kept = |why: &str| Reason::new("grouping_sets", why);
    if !dialect.has_grouping_sets() {
        return Err(kept("the source has no ROLLUP, CUBE and GROUPING SETS as they are here"));
    }
    // A constant among the keys would be the place of a column there.
    if keys.len() != exprs.len() || keys.is_empty() || keys.len() > KEYS_MAX {
        return Err(kept("grouping sets of constants, or of very many keys, are made here"));
    }
    let text = |set: &[Expr]| {
        let of = |expr: &Expr| exprs.iter().position(|known| *known == expr).map(|index| keys[index].as_str());
        set.iter().map(of).collect::<Option<Vec<&str>>>().map(|keys| keys.join(", "))
    };
    let unknown = || kept("a key of the grouping sets is not known to the source");
    match sets {
        GroupingSet::Rollup(set) | GroupingSet::Cube(set) if set.len() != exprs.len() => Err(kept("a key stands twice in the grouping sets")),
        GroupingSet::Rollup(set) => Ok(format!("ROLLUP ({})", text(set).ok_or_else(unknown)?)),
        GroupingSet::Cube(set) => Ok(format!("CUBE ({})", text(set).ok_or_else(unknown)?)),
        GroupingSet::GroupingSets(sets) => {
            // The same set twice is told apart here by more than its keys.
            let twice = sets.iter().enumerate().any(|(index, set)| sets[..index].iter().any(|other| same_keys(set, other)));
            if twice {
                return Err(kept("one of the grouping sets is there twice"));
            }
            let written = sets.iter().map(|set| text(set).map(|keys| format!("({keys})"))).collect::<Option<Vec<String>>>();
            Ok(format!("GROUPING SETS ({})", written.ok_or_else(unknown)?.join(", ")))
        }
    }
}

fn same_keys(a: &[Expr], b: &[Expr]) -> bool {
    a.iter().all(|key| b.contains(key)) && b.iter().all(|key| a.contains(key))
}

/// The number whose bits are 1 for the keys that a row is not grouped by; the last key has the lowest.
pub(super) fn number(keys: &[String]) -> Term {
    Term::computed(format!("GROUPING({})", keys.join(", ")), "int4", DataType::Int32, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::col;
    use std::collections::BTreeMap;
    use weir_base::SourceName;
    use weir_guard::Limits;
    use weir_source::{SourceSpec, ValuePolicy, connect};

    /// The SQL of a source of this kind for sets of the keys `a`, `b` and `c`.
    fn sql(kind: &str, sets: GroupingSet) -> Option<String> {
        let spec = SourceSpec {
            name: SourceName::new("app"),
            kind: kind.into(),
            url: format!("{kind}://nobody@nowhere.invalid/nothing"),
            allow_primary: true,
            nan: ValuePolicy::Keep,
            infinity: ValuePolicy::Keep,
            limits: Limits::default(),
            options: BTreeMap::new(),
        };
        let exprs: Vec<Expr> = sets.distinct_expr().into_iter().cloned().collect();
        let exprs: Vec<&Expr> = exprs.iter().collect();
        let keys: Vec<String> = exprs.iter().map(|key| format!("\"{key}\"")).collect();
        written(&sets, &exprs, &keys, connect(spec).unwrap().dialect()).ok()
    }

    #[tokio::test]
    async fn sets_are_written_as_they_are() {
        let (a, b, c) = (|| col("a"), || col("b"), || col("c"));
        let postgres = |sets| sql("postgres", sets);
        assert_eq!(postgres(GroupingSet::Rollup(vec![a(), b()])).as_deref(), Some("ROLLUP (\"a\", \"b\")"));
        assert_eq!(postgres(GroupingSet::Cube(vec![b(), c()])).as_deref(), Some("CUBE (\"b\", \"c\")"));
        let several = GroupingSet::GroupingSets(vec![vec![a(), b()], vec![c()], Vec::new()]);
        assert_eq!(postgres(several.clone()).as_deref(), Some("GROUPING SETS ((\"a\", \"b\"), (\"c\"), ())"));
        assert_eq!(sql("mysql", several), None, "the server has no such sets");
    }

    #[tokio::test]
    async fn sets_that_a_source_would_tell_apart_otherwise_stay_here() {
        let (a, b) = (|| col("a"), || col("b"));
        assert_eq!(sql("postgres", GroupingSet::GroupingSets(vec![vec![a(), b()], vec![b(), a()]])), None, "a set stands twice");
        let many = (0..40).map(|key| col(format!("k{key}"))).collect();
        assert_eq!(sql("postgres", GroupingSet::Rollup(many)), None, "one number tells 31 keys apart");
    }

    #[test]
    fn keys_are_told_apart_from_sets() {
        let plain = [col("a"), col("b")];
        assert!(matches!(keys_of(&plain), (keys, None) if keys.len() == 2));
        let sets = [Expr::GroupingSet(GroupingSet::Rollup(vec![col("a"), col("b")]))];
        assert!(matches!(keys_of(&sets), (keys, Some(_)) if keys.len() == 2));
        assert_eq!(number(&["x".to_owned(), "y".to_owned()]).sql, "GROUPING(x, y)");
    }
}
