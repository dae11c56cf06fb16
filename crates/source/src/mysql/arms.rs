// SPDX-License-Identifier: Apache-2.0
//! Arms of a UNION ALL in MySQL and MariaDB, whose servers find a common type of their own where the arms differ, and make a text of
//! an enum or a year even where they do not.

use super::forms::{letters_max, plain_text};
use super::native::type_word;
use crate::arms::{alike, all_like, different, unchanged, with_meaning};
use crate::{Column, Reason, Term};
use arrow::datatypes::DataType;

/// Longer ones are `text` to the servers.
const VARCHAR_LETTERS_MAX: usize = 16_000;

pub(super) fn arms(values: &[&Term]) -> Result<Vec<Term>, Reason> {
    if alike(values) && values.iter().all(|value| keeps_its_type(&value.meaning)) {
        return Ok(unchanged(values));
    }
    let Some(first) = values.first() else { return Err(different()) };
    let data_type = &first.meaning.data_type;
    if values.iter().any(|value| value.meaning.data_type != *data_type || value.meaning.read_as.is_some()) {
        return Err(different());
    }
    let computed = |native: &str| Term::computed("", native, data_type.clone(), true).meaning;
    match data_type {
        DataType::Utf8 => texts(values),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::UInt32 if values.iter().all(|value| whole(value)) => {
            Ok(values.iter().map(|value| with_meaning(value, format!("CAST({} AS SIGNED)", value.sql), &computed("bigint"))).collect())
        }
        // The servers take as many digits as any arm has.
        DataType::Decimal128(precision, scale) if values.iter().all(|value| decimal(value)) => {
            Ok(all_like(values, &computed(&format!("decimal({precision},{scale})"))))
        }
        DataType::Float64 if values.iter().all(|value| value.constant || type_word(&value.meaning.native_type) == "double") => {
            Ok(all_like(values, &computed("double")))
        }
        // Days that are none may be among those of any arm.
        DataType::Date32 if values.iter().all(|value| value.constant || type_word(&value.meaning.native_type) == "date") => {
            Ok(all_like(values, &computed("date")))
        }
        _ => Err(different()),
    }
}

fn keeps_its_type(column: &Column) -> bool {
    const KEPT: [&str; 22] = [
        "tinyint",
        "smallint",
        "mediumint",
        "int",
        "bigint",
        "decimal",
        "double",
        "date",
        "datetime",
        "timestamp",
        "char",
        "varchar",
        "tinytext",
        "text",
        "mediumtext",
        "longtext",
        "binary",
        "varbinary",
        "tinyblob",
        "blob",
        "mediumblob",
        "longblob",
    ];
    KEPT.contains(&type_word(&column.native_type))
}

/// A whole number that is no year, bit or the like, and has room among the signed ones.
fn whole(value: &Term) -> bool {
    value.constant || ["tinyint", "smallint", "mediumint", "int", "bigint"].contains(&type_word(&value.meaning.native_type))
}

fn decimal(value: &Term) -> bool {
    value.constant || type_word(&value.meaning.native_type) == "decimal"
}

/// Texts of every character set in one that holds them all. It pads with blanks, as the planner knows of it.
fn texts(values: &[&Term]) -> Result<Vec<Term>, Reason> {
    if !values.iter().all(|value| value.constant || plain_text(&value.meaning)) {
        return Err(different());
    }
    let letters = |value: &&Term| if value.constant { Some(value.sql.chars().count()) } else { letters_max(&value.meaning) };
    let longest = values.iter().map(letters).try_fold(0, |longest, letters| Some(longest.max(letters?)));
    let native = match longest {
        Some(letters) if letters <= VARCHAR_LETTERS_MAX => format!("varchar({letters})"),
        _ => "longtext".to_owned(),
    };
    let text = Column { collation: Some("utf8mb4_bin".to_owned()), bytewise_equality: false, ..Term::computed("", native, DataType::Utf8, true).meaning };
    Ok(values.iter().map(|value| with_meaning(value, format!("(CONVERT({} USING utf8mb4) COLLATE utf8mb4_bin)", value.sql), &text)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(sql: &str, native_type: &str, data_type: DataType, collation: Option<&str>) -> Term {
        let term = Term::computed(sql, native_type, data_type, true);
        Term { meaning: Column { collation: collation.map(str::to_owned), bytewise_equality: false, ..term.meaning }, ..term }
    }

    fn texts(values: &[Term]) -> Option<(Vec<String>, String)> {
        let made = arms(&values.iter().collect::<Vec<_>>()).ok()?;
        let native = made[0].meaning.native_type.clone();
        assert!(made.iter().all(|term| term.meaning.native_type == native));
        Some((made.into_iter().map(|term| term.sql).collect(), native))
    }

    #[test]
    fn texts_meet_in_utf8() {
        let (loose, latin) = (term("a", "varchar(20)", DataType::Utf8, Some("utf8mb4_general_ci")), term("b", "char(30)", DataType::Utf8, Some("latin1_bin")));
        let (made, native) = texts(&[loose.clone(), latin]).unwrap();
        assert_eq!(made, ["(CONVERT(a USING utf8mb4) COLLATE utf8mb4_bin)", "(CONVERT(b USING utf8mb4) COLLATE utf8mb4_bin)"]);
        assert_eq!(native, "varchar(30)");
        assert_eq!(texts(&[loose.clone(), loose.clone()]).unwrap().0, ["a", "a"]);
        assert_eq!(texts(&[loose, term("c", "varchar(20)", DataType::Utf8, Some("cp932_japanese_ci"))]), None);
    }

    #[test]
    fn an_enum_does_not_stay_one() {
        let mood = term("m", "enum('a','b')", DataType::Utf8, Some("utf8mb4_bin"));
        assert_eq!(texts(&[mood.clone(), mood]), None);
        let year = term("y", "year(4)", DataType::Int16, None);
        assert_eq!(texts(&[year.clone(), year]), None);
    }

    #[test]
    fn numbers() {
        let (id, count) = (term("id", "int(11)", DataType::Int64, None), term("COUNT(*)", "bigint", DataType::Int64, None));
        assert_eq!(texts(&[id, count]).unwrap(), (vec!["CAST(id AS SIGNED)".to_owned(), "CAST(COUNT(*) AS SIGNED)".to_owned()], "bigint".to_owned()));
        let big = term("b", "bigint(20) unsigned", DataType::UInt64, None);
        assert_eq!(texts(&[big.clone(), big.clone()]).unwrap().0, ["b", "b"]);
        assert_eq!(texts(&[big, Term::of_constant("1", DataType::UInt64)]), None);
    }
}
