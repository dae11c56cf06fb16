// SPDX-License-Identifier: Apache-2.0
//! Which operations MySQL and MariaDB do with our meaning, in the forms in which the dialect writes them. Each line of the table has
//! its reason; nothing is exact because it merely prints.

use super::calendar::{time_text, timestamp_text};
use super::forms::{ambiguous, plain_text, sorted_whole};
use super::native::{TextOrder, holds, text_order, type_word};
use crate::exact_text::date_text;
use crate::{Column, Operand, Operation, Pattern, Reason, Support};
use arrow::datatypes::DataType;

/// The table.
pub(super) fn support(operation: &Operation<'_>, column: &Column) -> Support {
    if column.degraded.is_some() {
        return Support::Never(Reason::new("degraded", "the column cannot be read"));
    }
    let (equality, operand) = match *operation {
        Operation::IsNull | Operation::IsNotNull => return Support::Exact,
        Operation::IsTrue => return Support::Never(no_boolean()),
        Operation::Like(pattern) => return like(pattern, column),
        Operation::Distinguish | Operation::Order => return told_apart(column),
        Operation::Equal(operand) => (true, operand),
        Operation::NotEqual(operand)
        | Operation::Less(operand)
        | Operation::LessOrEqual(operand)
        | Operation::Greater(operand)
        | Operation::GreaterOrEqual(operand) => (false, operand),
    };
    match (type_word(&column.native_type), operand) {
        ("year", Operand::Int(year)) => year_comparison(year),
        (_, Operand::Int(_)) if column.data_type.is_integer() => Support::Exact,
        (_, Operand::Decimal(_)) if matches!(column.data_type, DataType::Decimal128(..) | DataType::Decimal256(..)) => Support::Exact,
        ("double" | "real", Operand::Float(value)) => double_comparison(value),
        ("float", Operand::Float(_)) => Support::Never(single(column)),
        ("binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob", Operand::Bytes(_)) => Support::Exact,
        ("date", Operand::Date(days)) => day_comparison(date_text(days).is_some()),
        (word @ ("datetime" | "timestamp"), Operand::Timestamp(micros)) if finer(micros, &column.native_type) => Support::Never(finer_reason(word)),
        ("time", Operand::Time(micros)) if finer(micros, &column.native_type) => Support::Never(finer_reason("time")),
        ("datetime" | "timestamp", Operand::Timestamp(micros)) => day_comparison(timestamp_text(micros).is_some()),
        ("time", Operand::Time(micros)) => time_comparison(time_text(micros).is_some()),
        (word, Operand::Text(text)) => text_comparison(word, equality, text, column),
        _ => Support::Never(Reason::new("type", "comparing this type with such a value means something else there")),
    }
}

fn no_boolean() -> Reason {
    Reason::new("boolean", "these servers have no boolean type")
}

fn single(column: &Column) -> Reason {
    let sign = if column.native_type.contains("unsigned") { " unsigned" } else { "" };
    Reason::new("float", "a single-precision number is compared there with the decimal digits that are printed for it")
        .with_remedy(format!("ALTER TABLE {{table}} MODIFY {{column}} double{sign} {{null}}{{again}}"))
}

/// Letter by letter under a binary collation, in which a blank is one too.
fn like(pattern: Pattern<'_>, column: &Column) -> Support {
    if !plain_text(column) {
        return match column.data_type {
            DataType::Utf8 if ambiguous(column) => Support::Never(charset(column)),
            _ => Support::Never(Reason::new("type", "only a text is matched with a pattern")),
        };
    }
    let escapes = pattern.text.chars().rev().take_while(|letter| *letter == pattern.escape).count();
    if escapes % 2 == 1 {
        return Support::Never(Reason::new("pattern", "a pattern that ends with its escape character is an error here and none there"));
    }
    Support::Exact
}

/// Groups, DISTINCT, keys of joins and orders, by the form in which the dialect writes the column.
fn told_apart(column: &Column) -> Support {
    match type_word(&column.native_type) {
        "float" => Support::Never(single(column)),
        "time" => Support::Never(time_range()),
        "json" => Support::Never(json()),
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set" if ambiguous(column) => Support::Never(charset(column)),
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set" | "uuid" | "inet4" | "inet6" | "binary" | "varbinary"
        | "tinyblob" | "blob" | "mediumblob" | "longblob" => match sorted_whole(column) {
            true => Support::Exact,
            false => Support::Never(
                Reason::new("sort_length", "the servers sort and group by the first 1024 bytes of a value, and this column can hold longer ones")
                    .with_remedy("ALTER TABLE {table} MODIFY {column} varchar(255) COLLATE {collation} {null}{again}"),
            ),
        },
        "date" | "datetime" | "timestamp" | "year" | "bit" | "double" | "real" => Support::Exact,
        _ if column.data_type.is_integer() || matches!(column.data_type, DataType::Decimal128(..) | DataType::Decimal256(..)) => Support::Exact,
        _ => Support::Never(Reason::new("type", "values of this type are told apart here")),
    }
}

fn charset(column: &Column) -> Reason {
    let collation = column.collation.as_deref().unwrap_or("an unknown collation");
    Reason::new("charset", format!("in the character set of {collation} one letter may have several codes"))
        .with_remedy("ALTER TABLE {table} MODIFY {column} {type} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin {null}{again}")
}

fn json() -> Reason {
    Reason::new("json", "json is compared by value there, not as text")
}

fn time_range() -> Reason {
    Reason::new("time_range", "a time can be longer than a day or negative there")
}

/// The servers read the years 1 to 99 in a comparison as 1970 to 2069.
fn year_comparison(year: i128) -> Support {
    if (1901..=2155).contains(&year) { Support::Exact } else { Support::Never(Reason::new("year", "a year outside 1901 to 2155 is read as another one there")) }
}

/// Doubles travel and compare as they are, and zero has no sign there or here. NaN and infinities cannot be written there.
fn double_comparison(value: f64) -> Support {
    match value.is_finite() {
        true => Support::Exact,
        false => Support::Never(Reason::new("float", "NaN and infinities are not known there")),
    }
}

/// `2026-05-00` reads as NULL, but stands between real days there: the dialect leaves such days out.
fn day_comparison(writable: bool) -> Support {
    if writable { Support::Exact } else { Support::Never(out_of_years()) }
}

/// Whether a literal has more digits after the second than the column. MariaDB cuts them off when it looks into an index, and
/// then `=` finds rows that it should not and `<` loses some.
fn finer(micros: i64, native_type: &str) -> bool {
    let digits = native_type.split_once('(').and_then(|(_, rest)| rest.split_once(')')).and_then(|(digits, _)| digits.parse::<u32>().ok());
    micros % 10_i64.pow(6_u32.saturating_sub(digits.unwrap_or(0))) != 0
}

fn finer_reason(word: &str) -> Reason {
    Reason::new("precision", format!("the literal is finer than the {word} column, and would be cut to it there"))
        .with_remedy("compare with a time of the column's own precision")
}

fn out_of_years() -> Reason {
    Reason::new("range", "a time outside the years 1 to 9999 cannot be written there")
}

fn time_comparison(writable: bool) -> Support {
    if writable { Support::Superset(time_range()) } else { Support::Never(time_range()) }
}

/// Whatever the collation holds equal, the dialect compares the bytes too.
fn text_comparison(word: &str, equality: bool, text: &str, column: &Column) -> Support {
    match word {
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set" => collated_comparison(text, column),
        "uuid" if equality && canonical_uuid(text) => Support::Exact,
        "uuid" => Support::Never(Reason::new("uuid", "a uuid is compared there with a uuid, not with a text")),
        "json" => Support::Never(json()),
        _ => Support::Never(Reason::new("type", "this type is read as text here and compared otherwise there")),
    }
}

fn collated_comparison(text: &str, column: &Column) -> Support {
    let collation = column.collation.as_deref().unwrap_or("an unknown collation");
    if !text.chars().all(|character| holds(collation, character)) {
        return Support::Never(Reason::new("charset", format!("a column of {collation} cannot hold the text, and the server may refuse to compare them")));
    }
    if text_order(collation) == TextOrder::Ambiguous { Support::Never(charset(column)) } else { Support::Exact }
}

fn canonical_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    fn column(native_type: &str, data_type: DataType, collation: Option<&str>) -> Column {
        Column {
            name: "c".to_owned(),
            native_type: native_type.to_owned(),
            data_type,
            nullable: true,
            collation: collation.map(str::to_owned),
            bytewise_equality: false,
            read_as: None,
            labels: None,
            degraded: None,
            altering: crate::Altering::default(),
        }
    }

    fn code(support: Support) -> &'static str {
        match support {
            Support::Exact => "exact",
            Support::Superset(reason) | Support::Never(reason) => reason.code,
        }
    }

    #[test]
    fn texts_by_collation() {
        let loose = column("varchar(20)", DataType::Utf8, Some("utf8mb4_general_ci"));
        let bytes = column("varchar(20)", DataType::Utf8, Some("utf8mb4_nopad_bin"));
        let text = Operand::Text("a");
        assert_eq!(support(&Operation::Equal(text), &loose), Support::Exact);
        assert_eq!(support(&Operation::Distinguish, &loose), Support::Exact);
        let long = column("text", DataType::Utf8, Some("utf8mb4_general_ci"));
        assert!(matches!(support(&Operation::Order, &long), Support::Never(reason) if reason.code == "sort_length" && reason.remedy.is_some()));
        let shift_jis = column("varchar(20)", DataType::Utf8, Some("cp932_japanese_ci"));
        assert_eq!(code(support(&Operation::Equal(text), &shift_jis)), "charset");
        let trailing = Pattern { text: "50!%!", escape: '!' };
        assert_eq!(code(support(&Operation::Like(trailing), &loose)), "pattern");
        assert_eq!(support(&Operation::Less(text), &bytes), Support::Exact);
        assert_eq!(support(&Operation::NotEqual(text), &bytes), Support::Exact);
    }

    #[test]
    fn zero_days_are_left_out_by_the_dialect() {
        let date = column("date", DataType::Date32, None);
        let stamp = column("timestamp(6)", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), None);
        assert_eq!(support(&Operation::Greater(Operand::Date(0)), &date), Support::Exact);
        assert_eq!(support(&Operation::IsNull, &date), Support::Exact);
        assert_eq!(support(&Operation::Less(Operand::Timestamp(0)), &stamp), Support::Exact);
        assert_eq!(code(support(&Operation::Less(Operand::Timestamp(i64::MAX)), &stamp)), "range");
        assert_eq!(code(support(&Operation::Less(Operand::Date(i32::MAX)), &date)), "range");
    }

    #[test]
    fn numbers() {
        let year = column("year(4)", DataType::Int16, None);
        assert_eq!(support(&Operation::Equal(Operand::Int(2024)), &year), Support::Exact);
        assert_eq!(code(support(&Operation::Less(Operand::Int(5)), &year)), "year");
        let double = column("double", DataType::Float64, None);
        assert_eq!(support(&Operation::Less(Operand::Float(1.5)), &double), Support::Exact);
        assert_eq!(support(&Operation::Less(Operand::Float(-0.0)), &double), Support::Exact);
        assert!(matches!(support(&Operation::Less(Operand::Float(f64::NAN)), &double), Support::Never(_)));
        let float = column("float", DataType::Float32, None);
        assert!(matches!(support(&Operation::Equal(Operand::Float(1.5)), &float), Support::Never(_)));
        let big = column("bigint(20) unsigned", DataType::UInt64, None);
        assert_eq!(support(&Operation::Equal(Operand::Int(u64::MAX.into())), &big), Support::Exact);
    }
}
