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
