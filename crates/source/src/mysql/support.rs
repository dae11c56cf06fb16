// SPDX-License-Identifier: Apache-2.0
//! Which comparisons MySQL and MariaDB do with our meaning. Each line of the table has its reason; nothing is exact because
//! it merely prints.

use super::calendar::{time_text, timestamp_text};
use super::native::{TextOrder, holds, text_order, type_word};
use crate::exact_text::date_text;
use crate::{Column, Operand, Operation, Reason, Support};
use arrow::datatypes::DataType;

/// A comparison without its literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    /// `<` and `<=`.
    Below,
    /// `>` and `>=`.
    Above,
}

/// The table.
pub(super) fn support(operation: &Operation<'_>, column: &Column) -> Support {
    if column.degraded.is_some() {
        return Support::Never(Reason::new("degraded", "the column cannot be read"));
    }
    let (comparison, operand) = match *operation {
        Operation::IsNull => return null_test(column, true),
        Operation::IsNotNull => return null_test(column, false),
        Operation::IsTrue => return Support::Never(no_boolean()),
        Operation::Equal(operand) => (Comparison::Equal, operand),
        Operation::NotEqual(operand) => (Comparison::NotEqual, operand),
        Operation::Less(operand) | Operation::LessOrEqual(operand) => (Comparison::Below, operand),
        Operation::Greater(operand) | Operation::GreaterOrEqual(operand) => (Comparison::Above, operand),
    };
    match (type_word(&column.native_type), operand) {
        ("year", Operand::Int(year)) => year_comparison(year),
        (_, Operand::Int(_)) if column.data_type.is_integer() => Support::Exact,
        (_, Operand::Decimal(_)) if matches!(column.data_type, DataType::Decimal128(..) | DataType::Decimal256(..)) => Support::Exact,
        ("double" | "real", Operand::Float(value)) => double_comparison(value),
        ("float", Operand::Float(_)) => Support::Never(
            Reason::new("float", "a single-precision number is compared there with the decimal digits that are printed for it")
                .with_remedy("make the column double or decimal"),
        ),
        ("binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob", Operand::Bytes(_)) => Support::Exact,
        ("date", Operand::Date(days)) => date_comparison(comparison, date_text(days).is_some()),
        (word @ ("datetime" | "timestamp"), Operand::Timestamp(micros)) if finer(micros, &column.native_type) => Support::Never(finer_reason(word)),
        ("time", Operand::Time(micros)) if finer(micros, &column.native_type) => Support::Never(finer_reason("time")),
        ("datetime", Operand::Timestamp(micros)) => date_comparison(comparison, timestamp_text(micros).is_some()),
        ("timestamp", Operand::Timestamp(micros)) => timestamp_comparison(comparison, timestamp_text(micros).is_some()),
        ("time", Operand::Time(micros)) => time_comparison(time_text(micros).is_some()),
        (word, Operand::Text(text)) => text_comparison(word, comparison, text, column),
        _ => Support::Never(Reason::new("type", "comparing this type with such a value means something else there")),
    }
}

fn null_test(column: &Column, wants_null: bool) -> Support {
    let zero_dates = matches!(type_word(&column.native_type), "date" | "datetime" | "timestamp");
    match (zero_dates, wants_null) {
        (false, _) => Support::Exact,
        (true, true) => Support::Never(zero_date("zero dates read as NULL and are not NULL there")),
        (true, false) => Support::Superset(zero_date("zero dates read as NULL and are not NULL there")),
    }
}

fn no_boolean() -> Reason {
    Reason::new("boolean", "these servers have no boolean type")
}

fn zero_date(text: &str) -> Reason {
    Reason::new("zero_date", text).with_remedy("replace zero dates by NULL and set NO_ZERO_DATE, NO_ZERO_IN_DATE")
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

/// `2026-05-00` reads as NULL, but stands between real days there.
fn date_comparison(comparison: Comparison, writable: bool) -> Support {
    match comparison {
        _ if !writable => Support::Never(out_of_years()),
        Comparison::Equal => Support::Exact,
        _ => Support::Superset(zero_date("zero and partly zero dates read as NULL and are compared as days there")),
    }
}

/// A `timestamp` can only be zero as a whole, which is less than every time that can be written.
fn timestamp_comparison(comparison: Comparison, writable: bool) -> Support {
    match comparison {
        _ if !writable => Support::Never(out_of_years()),
        Comparison::Equal | Comparison::Above => Support::Exact,
        _ => Support::Superset(zero_date("zero dates read as NULL and are compared as the earliest day there")),
    }
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
    let reason = Reason::new("time_range", "a time can be longer than a day or negative there");
    if writable { Support::Superset(reason) } else { Support::Never(reason) }
}

fn text_comparison(word: &str, comparison: Comparison, text: &str, column: &Column) -> Support {
    match word {
        // Stored padded, read without the padding, and compared now this way and now that.
        "char" if comparison == Comparison::Equal => match collated_comparison(comparison, text, column) {
            Support::Exact => Support::Superset(padding()),
            otherwise => otherwise,
        },
        "char" => Support::Never(padding()),
        "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => collated_comparison(comparison, text, column),
        // A member is found by its collation and may stand for its number: more rows come, never fewer.
        "enum" if comparison == Comparison::Equal => collated_comparison(comparison, text, column),
        "enum" | "set" => Support::Never(Reason::new("enum", "values of an enum or set sort by their position there, not as texts")),
        "uuid" if comparison == Comparison::Equal && canonical_uuid(text) => {
            Support::Superset(Reason::new("uuid", "a uuid can be written in several ways there"))
        }
        "uuid" => Support::Never(Reason::new("uuid", "a uuid does not sort as its text there")),
        "json" => Support::Never(Reason::new("json", "json is compared by value there, not as text")),
        _ => Support::Never(Reason::new("type", "this type is read as text here and compared otherwise there")),
    }
}

fn collated_comparison(comparison: Comparison, text: &str, column: &Column) -> Support {
    let collation = column.collation.as_deref().unwrap_or("an unknown collation");
    if !text.chars().all(|character| holds(collation, character)) {
        return Support::Never(Reason::new("charset", format!("a column of {collation} cannot hold the text, and the server may refuse to compare them")));
    }
    let reason = || {
        Reason::new("collation", format!("{collation} may ignore case, accents or trailing blanks, which count here"))
            .with_remedy("give the column a binary collation without padding, such as utf8mb4_nopad_bin or utf8mb4_0900_bin")
    };
    match (text_order(collation), comparison) {
        (TextOrder::Bytes, _) => Support::Exact,
        (TextOrder::BytesEqualOnly, Comparison::Equal | Comparison::NotEqual) => Support::Exact,
        (TextOrder::Loose, Comparison::Equal) => Support::Superset(reason()),
        _ => Support::Never(reason()),
    }
}

fn padding() -> Reason {
    Reason::new("padding", "a char column is padded with blanks there and read without them").with_remedy("make the column varchar")
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
        assert!(matches!(support(&Operation::Equal(text), &loose), Support::Superset(reason) if reason.code == "collation"));
        assert!(matches!(support(&Operation::NotEqual(text), &loose), Support::Never(reason) if reason.remedy.is_some()));
        assert!(matches!(support(&Operation::Less(text), &loose), Support::Never(_)));
        assert_eq!(support(&Operation::Less(text), &bytes), Support::Exact);
        assert_eq!(support(&Operation::NotEqual(text), &bytes), Support::Exact);
    }

    #[test]
    fn zero_dates_are_never_lost_nor_gained() {
        let date = column("date", DataType::Date32, None);
        let stamp = column("timestamp(6)", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), None);
        assert_eq!(support(&Operation::Equal(Operand::Date(0)), &date), Support::Exact);
        assert!(matches!(support(&Operation::Greater(Operand::Date(0)), &date), Support::Superset(_)));
        assert!(matches!(support(&Operation::IsNull, &date), Support::Never(_)));
        assert!(matches!(support(&Operation::IsNotNull, &date), Support::Superset(_)));
        assert_eq!(support(&Operation::Greater(Operand::Timestamp(0)), &stamp), Support::Exact);
        assert!(matches!(support(&Operation::Less(Operand::Timestamp(0)), &stamp), Support::Superset(_)));
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
