// SPDX-License-Identifier: Apache-2.0
//! The servers' column types, and the Arrow type that each is read as.

use super::session::Product;
use arrow::datatypes::{DataType, TimeUnit};

/// How a column is read: its Arrow type, and what to select instead of the bare column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) data_type: DataType,
    pub(super) read_as: Option<&'static str>,
}

/// A column as `information_schema` describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NativeType<'a> {
    /// `int`, `varchar`: one lowercase word.
    pub(super) word: &'a str,
    /// `int(10) unsigned`, `decimal(12,2)`.
    pub(super) full: &'a str,
    pub(super) precision: Option<u64>,
    pub(super) scale: Option<u64>,
}

const MOST_DIGITS_128: u64 = 38;

/// How to read a column of that type. A type that is not known is readable as text.
pub(super) fn reading(native: NativeType<'_>, product: Product) -> Reading {
    let bare = |data_type| Reading { data_type, read_as: None };
    let text_through = |read_as| Reading { data_type: DataType::Utf8, read_as: Some(read_as) };
    let unsigned = native.full.contains("unsigned") || native.full.contains("zerofill");
    match native.word {
        "tinyint" => bare(if unsigned { DataType::UInt8 } else { DataType::Int8 }),
        "smallint" => bare(if unsigned { DataType::UInt16 } else { DataType::Int16 }),
        "mediumint" | "int" => bare(if unsigned { DataType::UInt32 } else { DataType::Int32 }),
        "bigint" => bare(if unsigned { DataType::UInt64 } else { DataType::Int64 }),
        "decimal" | "numeric" => bare(decimal(native)),
        "float" => bare(DataType::Float32),
        "double" | "real" => bare(DataType::Float64),
        "bit" => bare(DataType::UInt64),
        "date" => bare(DataType::Date32),
        "datetime" => bare(DataType::Timestamp(TimeUnit::Microsecond, None)),
        "timestamp" => bare(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        "time" => bare(DataType::Time64(TimeUnit::Microsecond)),
        "year" => bare(DataType::Int16),
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set" | "json" | "uuid" | "inet4" | "inet6" => bare(DataType::Utf8),
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => bare(DataType::Binary),
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon" | "geometrycollection" | "geomcollection" => {
            text_through("ST_AsText({})")
        }
        "vector" if product == Product::MariaDb => text_through("VEC_ToText({})"),
        "vector" => text_through("VECTOR_TO_STRING({})"),
        _ => text_through("CAST({} AS CHAR)"),
    }
}

fn decimal(native: NativeType<'_>) -> DataType {
    let precision = native.precision.unwrap_or(10).min(65);
    let scale = native.scale.unwrap_or(0).min(precision) as i8;
    if precision <= MOST_DIGITS_128 { DataType::Decimal128(precision as u8, scale) } else { DataType::Decimal256(precision as u8, scale) }
}

/// What a comparison of texts at the source means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextOrder {
    /// Texts are equal there exactly when their bytes are, and sort like their bytes.
    Bytes,
    /// Equal like their bytes, sorted otherwise.
    BytesEqualOnly,
    /// Case, accents or trailing blanks may not count; texts of the same bytes are still equal.
    Loose,
    /// A character set where one character has several codes: equal texts may differ there.
    Ambiguous,
}

/// What a collation means. MariaDB spells "blanks count" as `nopad`, MySQL's 0900 collations always do.
pub(super) fn text_order(collation: &str) -> TextOrder {
    let collation = collation.to_lowercase();
    let character_set = collation.split('_').next().unwrap_or_default();
    let faithful = ["utf8", "utf8mb3", "utf8mb4", "latin1", "ascii", "ucs2", "utf16", "utf16le", "utf32", "binary"];
    if !faithful.contains(&character_set) {
        return TextOrder::Ambiguous;
    }
    let bytewise = collation == "binary" || collation.ends_with("_nopad_bin") || collation.ends_with("_0900_bin");
    match (bytewise, character_set) {
        (false, _) => TextOrder::Loose,
        (true, "utf8" | "utf8mb3" | "utf8mb4" | "ascii" | "binary") => TextOrder::Bytes,
        (true, _) => TextOrder::BytesEqualOnly,
    }
}

/// Whether the character set of a collation has a character, as far as that is certain.
pub(super) fn holds(collation: &str, character: char) -> bool {
    let character_set = collation.split('_').next().unwrap_or_default().to_lowercase();
    match character_set.as_str() {
        "utf8mb4" | "utf16" | "utf16le" | "utf32" => true,
        "utf8" | "utf8mb3" | "ucs2" => character <= '\u{FFFF}',
        "latin1" => character.is_ascii() || ('\u{A0}'..='\u{FF}').contains(&character),
        _ => character.is_ascii(),
    }
}

/// The first word of a full type: `enum` of `enum('a','b')`.
pub(super) fn type_word(full: &str) -> &str {
    full.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(word: &str, full: &str, precision: Option<u64>, scale: Option<u64>) -> DataType {
        reading(NativeType { word, full, precision, scale }, Product::MariaDb).data_type
    }

    #[test]
    fn widths_and_signs() {
        assert_eq!(read("tinyint", "tinyint(1)", Some(3), Some(0)), DataType::Int8);
        assert_eq!(read("bigint", "bigint(20) unsigned", Some(20), Some(0)), DataType::UInt64);
        assert_eq!(read("mediumint", "mediumint(8) unsigned zerofill", Some(7), Some(0)), DataType::UInt32);
        assert_eq!(read("decimal", "decimal(12,2)", Some(12), Some(2)), DataType::Decimal128(12, 2));
        assert_eq!(read("decimal", "decimal(65,30)", Some(65), Some(30)), DataType::Decimal256(65, 30));
        assert_eq!(read("year", "year(4)", None, None), DataType::Int16);
    }

    #[test]
    fn collations() {
        assert_eq!(text_order("utf8mb4_general_ci"), TextOrder::Loose);
        assert_eq!(text_order("utf8mb4_bin"), TextOrder::Loose);
        assert_eq!(text_order("utf8mb4_nopad_bin"), TextOrder::Bytes);
        assert_eq!(text_order("utf8mb4_0900_bin"), TextOrder::Bytes);
        assert_eq!(text_order("latin1_nopad_bin"), TextOrder::BytesEqualOnly);
        assert_eq!(text_order("cp932_japanese_ci"), TextOrder::Ambiguous);
    }
}
