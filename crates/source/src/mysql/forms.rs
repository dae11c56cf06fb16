// SPDX-License-Identifier: Apache-2.0
//! The forms in which a value stands in a statement where its bare text would mean something else than here: days that are none as
//! NULL, texts by their bytes, years and bits as numbers.

use super::native::{TextOrder, text_order, type_word};
use crate::{Column, Term};
use arrow::datatypes::DataType;

/// Ends the type of a computed day, which is never a zero one.
pub(super) const NEVER_ZERO: &str = " never zero";
/// The servers sort and group by no more bytes than `max_sort_length`, which sessions set to 1,024; a value takes some for its length.
const SORTED_BYTES_MAX: usize = 1_020;

/// Whether a column can hold days that are none (`0000-00-00`, `2026-05-00`), which read as NULL here.
pub(super) fn zero_days(column: &Column) -> bool {
    matches!(type_word(&column.native_type), "date" | "datetime" | "timestamp") && !column.native_type.ends_with(NEVER_ZERO)
}

/// True for a day that is one. A `timestamp` can only be zero as a whole.
pub(super) fn real_day(term: &Term) -> String {
    let sql = &term.sql;
    match type_word(&term.meaning.native_type) {
        "timestamp" => format!("DAYOFMONTH({sql}) > 0"),
        _ => format!("MONTH({sql}) > 0 AND DAYOFMONTH({sql}) > 0"),
    }
}

/// The value as it is read here.
pub(super) fn value(term: &Term) -> String {
    let sql = &term.sql;
    match type_word(&term.meaning.native_type) {
        _ if zero_days(&term.meaning) => format!("CASE WHEN {} THEN {sql} END", real_day(term)),
        "year" | "bit" => format!("({sql} + 0)"),
        _ => sql.clone(),
    }
}

/// The value by which others are told apart, and which sorts, as here. Even a text that compares by its bytes is sorted by them alone:
/// the servers put blanks or zeros behind the shorter one.
pub(super) fn key(term: &Term) -> String {
    if term.meaning.data_type == DataType::Utf8 { bytes(term) } else { value(term) }
}

/// A text as its bytes in UTF-8.
pub(super) fn bytes(term: &Term) -> String {
    let sql = &term.sql;
    match text_key(&term.meaning) {
        TextKey::Itself | TextKey::Bytes => format!("CAST({sql} AS BINARY)"),
        TextKey::Converted => format!("CAST(CONVERT({sql} USING utf8mb4) AS BINARY)"),
        TextKey::Printed => format!("CAST(CAST({sql} AS CHAR) AS BINARY)"),
    }
}

/// How a text becomes its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKey {
    /// It is compared by its bytes already.
    Itself,
    Bytes,
    Converted,
    /// It is no text there.
    Printed,
}

pub(super) fn text_key(column: &Column) -> TextKey {
    let collation = column.collation.as_deref().unwrap_or_default();
    let utf8 = ["utf8_", "utf8mb3_", "utf8mb4_", "ascii_"].iter().any(|charset| collation.starts_with(charset));
    match type_word(&column.native_type) {
        "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" if text_order(collation) == TextOrder::Bytes => TextKey::Itself,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" if utf8 => TextKey::Bytes,
        "uuid" | "inet4" | "inet6" => TextKey::Printed,
        _ => TextKey::Converted,
    }
}

/// A text that is one there too, of a character set in which equal texts have equal bytes.
pub(super) fn plain_text(column: &Column) -> bool {
    let word = type_word(&column.native_type);
    let text = matches!(word, "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext");
    text && column.data_type == DataType::Utf8 && column.read_as.is_none() && !ambiguous(column)
}

pub(super) fn ambiguous(column: &Column) -> bool {
    column.collation.as_deref().is_none_or(|collation| text_order(collation) == TextOrder::Ambiguous)
}

/// How many letters a text has at most, where that is known and not much.
pub(super) fn letters_max(column: &Column) -> Option<usize> {
    let declared = || column.native_type.split_once('(')?.1.split(')').next()?.parse().ok();
    match type_word(&column.native_type) {
        "char" | "varchar" | "binary" | "varbinary" => declared(),
        "tinytext" | "tinyblob" => Some(255),
        // The labels together, with their quotes and commas.
        "enum" | "set" => Some(column.native_type.len()),
        "uuid" | "inet4" | "inet6" => Some(46),
        _ => None,
    }
}

/// Whether the servers look at all of a text or of bytes when they sort or group them.
pub(super) fn sorted_whole(column: &Column) -> bool {
    let width = if column.data_type == DataType::Utf8 { 4 } else { 1 };
    letters_max(column).is_some_and(|letters| letters * width <= SORTED_BYTES_MAX)
}
