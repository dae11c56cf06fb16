// SPDX-License-Identifier: Apache-2.0
//! Arms of a UNION ALL in SQLite: a value keeps its storage class whatever stands above or below it, so only what is known of the
//! column has to be the same.

use super::declared_type::{Meaning, meaning};
use crate::arms::{alike, all_like, different, unchanged};
use crate::{Column, Reason, Term};
use arrow::datatypes::DataType;

pub(super) fn arms(values: &[&Term]) -> Result<Vec<Term>, Reason> {
    if alike(values) {
        return Ok(unchanged(values));
    }
    let Some(first) = values.first() else { return Err(different()) };
    let data_type = &first.meaning.data_type;
    if values.iter().any(|value| value.meaning.data_type != *data_type || value.meaning.read_as.is_some()) {
        return Err(different());
    }
    let whole = |value: &&Term| value.constant || meaning(&value.meaning.native_type) == Meaning::Integer && value.meaning.bytewise_equality;
    let columns: Vec<&Term> = values.iter().filter(|value| !value.constant).copied().collect();
    match data_type {
        DataType::Int64 if values.iter().all(whole) => Ok(all_like(values, &Term::computed("", "INTEGER", data_type.clone(), true).meaning)),
        DataType::Utf8 if columns.is_empty() => {
            let text = Term::computed("", "TEXT", DataType::Utf8, true).meaning;
            Ok(all_like(values, &Column { collation: Some("BINARY".to_owned()), ..text }))
        }
        DataType::Utf8 if alike(&columns) => Ok(all_like(values, &columns[0].meaning)),
        _ => Err(different()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(sql: &str, native_type: &str, data_type: DataType, strict: bool) -> Term {
        let term = Term::computed(sql, native_type, data_type, true);
        Term { meaning: Column { bytewise_equality: strict, ..term.meaning }, ..term }
    }

    #[test]
    fn a_column_that_may_have_strays_is_not_beside_one_that_has_none() {
        let strict = term("a", "INTEGER", DataType::Int64, true);
        let loose = term("b", "INTEGER", DataType::Int64, false);
        let one = Term::of_constant("1", DataType::Int64);
        assert!(arms(&[&strict, &one]).is_ok_and(|made| made.iter().all(|term| term.meaning.bytewise_equality)));
        assert!(arms(&[&loose, &loose]).is_ok());
        assert_eq!(arms(&[&strict, &loose]).unwrap_err().code, "arms");
        let (text, word) = (term("t", "TEXT", DataType::Utf8, true), Term::of_constant("'x'", DataType::Utf8));
        assert_eq!(arms(&[&word, &text]).unwrap()[0].meaning.native_type, "TEXT");
    }
}
