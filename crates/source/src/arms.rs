// SPDX-License-Identifier: Apache-2.0
//! Arms of a UNION ALL: the values of one column, one from each arm, written so that they are of one type at the source and keep
//! the value that each has by itself.

use crate::{Column, Reason, Term};

/// Whether all of them are of the very same type and collation there.
pub(crate) fn alike(values: &[&Term]) -> bool {
    let Some((first, rest)) = values.split_first() else { return true };
    let first = &first.meaning;
    !first.native_type.is_empty() && rest.iter().all(|value| same_meaning(first, &value.meaning))
}

fn same_meaning(a: &Column, b: &Column) -> bool {
    a.native_type == b.native_type
        && a.data_type == b.data_type
        && a.collation == b.collation
        && a.read_as == b.read_as
        && a.labels == b.labels
        && a.bytewise_equality == b.bytewise_equality
}

/// The values as they are.
pub(crate) fn unchanged(values: &[&Term]) -> Vec<Term> {
    values.iter().map(|value| (*value).clone()).collect()
}

/// The values as they are, taken for what `like` is.
pub(crate) fn all_like(values: &[&Term], like: &Column) -> Vec<Term> {
    values.iter().map(|value| with_meaning(value, value.sql.clone(), like)).collect()
}

/// The value under another text, taken for what `like` is.
pub(crate) fn with_meaning(value: &Term, sql: String, like: &Column) -> Term {
    let meaning = Column { name: value.meaning.name.clone(), ..like.clone() };
    Term { sql, meaning, ..value.clone() }
}

/// What connectors say of arms that they cannot make alike.
pub(crate) fn different() -> Reason {
    Reason::new("arms", "a column of the UNION has several types or collations in the source").with_remedy("cast it to one type in each part of the UNION")
}
