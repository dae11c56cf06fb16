// SPDX-License-Identifier: Apache-2.0
//! Arms of a UNION ALL in PostgreSQL: numbers and moments are cast to the type that both are read as, texts compare by their bytes.

use super::functions::word;
use super::support::declared_numeric;
use crate::arms::{alike, all_like, different, unchanged, with_meaning};
use crate::{Reason, Term};
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
    let native = if *data_type == DataType::Binary { "bytea".to_owned() } else { word(data_type).map_err(|_| different())? };
    let plain = Term::computed("", &native, data_type.clone(), true).meaning;
    match data_type {
        // Without a size of its own a numeric keeps all its digits; one that never had one is another type.
        DataType::Decimal128(..) if values.iter().all(|value| value.constant || declared_numeric(&value.meaning)) => Ok(all_like(values, &plain)),
        DataType::Decimal128(..) => Err(different()),
        DataType::Utf8 => {
            let text = crate::Column { collation: Some("C".to_owned()), ..plain };
            Ok(values.iter().map(|value| with_meaning(value, format!("({}::text COLLATE \"C\")", value.sql), &text)).collect())
        }
        _ => Ok(values.iter().map(|value| with_meaning(value, format!("{}::{native}", value.sql), &plain)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    fn term(sql: &str, native_type: &str, data_type: DataType, collation: Option<&str>) -> Term {
        let term = Term::computed(sql, native_type, data_type, true);
        Term { meaning: Column { collation: collation.map(str::to_owned), ..term.meaning }, ..term }
    }

    fn texts(values: &[Term]) -> Option<Vec<String>> {
        let made = arms(&values.iter().collect::<Vec<_>>()).ok()?;
        assert!(
            made.windows(2).all(|pair| pair[0].meaning.native_type == pair[1].meaning.native_type && pair[0].meaning.collation == pair[1].meaning.collation)
        );
        Some(made.into_iter().map(|term| term.sql).collect())
    }

    #[test]
    fn what_is_alike_stays_as_it_is() {
        let name = term("a", "character varying(20)", DataType::Utf8, Some("en_US"));
        assert_eq!(texts(&[name.clone(), name]).unwrap(), ["a", "a"]);
    }

    #[test]
    fn numbers_and_texts_are_made_alike() {
        let (id, count) = (term("id", "integer", DataType::Int64, None), term("count(*)", "int8", DataType::Int64, None));
        assert_eq!(texts(&[id, count]).unwrap(), ["id::int8", "count(*)::int8"]);
        let (a, b) = (term("a", "text", DataType::Utf8, Some("en_US")), term("b", "text", DataType::Utf8, Some("C")));
        assert_eq!(texts(&[a, b]).unwrap(), ["(a::text COLLATE \"C\")", "(b::text COLLATE \"C\")"]);
        // No cast: it would round.
        let (price, sum) = (term("p", "numeric(12,2)", DataType::Decimal128(12, 2), None), Term::of_constant("0.50", DataType::Decimal128(12, 2)));
        assert_eq!(texts(&[price.clone(), sum]).unwrap(), ["p", "0.50"]);
        assert_eq!(texts(&[price, term("n", "numeric", DataType::Decimal128(12, 2), None)]), None);
    }

    #[test]
    fn what_is_only_read_as_text_is_not() {
        let uuid = term("u", "uuid", DataType::Utf8, None);
        let uuid = Term { meaning: Column { read_as: Some("{}::text"), ..uuid.meaning }, ..uuid };
        assert_eq!(texts(&[uuid.clone(), uuid.clone()]).unwrap(), ["u", "u"]);
        assert_eq!(texts(&[uuid, term("t", "text", DataType::Utf8, None)]), None);
    }
}
