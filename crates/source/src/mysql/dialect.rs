// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for MySQL and MariaDB: names in backticks, literals that are typed and safe in every `sql_mode`.

use super::calendar::{time_text, timestamp_text};
use super::forms::{self, TextKey};
use super::native::{TextOrder, text_order, type_word};
use crate::exact_text::date_text;
use crate::hex::hex;
use crate::{Column, Comparison, Dialect, KeysMax, Operand, Pattern, Term};
use arrow::datatypes::DataType;
use weir_base::{Error, ErrorCode, Result};

/// The writing rules of both products.
#[derive(Debug, Clone, Copy)]
pub struct MySqlDialect;

/// What every server takes as one packet.
pub(super) const SMALLEST_PACKET_BYTES: usize = 1024 * 1024;

/// How long the keys in a statement may be, of a server that takes packets of this size: the rest of the statement needs room too.
pub(super) fn text_bytes_max(packet_bytes: usize) -> usize {
    const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
    (packet_bytes - packet_bytes / 8).min(TEXT_BYTES_MAX)
}

impl Dialect for MySqlDialect {
    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn literal(&self, value: Operand<'_>, data_type: &DataType) -> Result<String> {
        let unwritable = |what: &str| Error::new(ErrorCode::BadValue, format!("{what} cannot be written as a literal")).with_detail("mysql");
        match value {
            Operand::Bool(value) => Ok(if value { "TRUE" } else { "FALSE" }.to_owned()),
            Operand::Int(value) => Ok(value.to_string()),
            // The exponent keeps it a double: `1.5` alone would be a decimal.
            Operand::Float(value) if value.is_finite() => Ok(format!("{value:e}")),
            Operand::Float(_) => Err(unwritable("a number that is not finite")),
            Operand::Decimal(unscaled) => Ok(decimal(unscaled, data_type)),
            Operand::Text(text) => Ok(text_literal(text)),
            Operand::Bytes(bytes) => Ok(format!("X'{}'", hex(bytes))),
            Operand::Date(days) => date_text(days).map(|text| format!("DATE'{text}'")).ok_or_else(|| unwritable("a date outside the years 1 to 9999")),
            Operand::Time(micros) => time_text(micros).map(|text| format!("TIME'{text}'")).ok_or_else(|| unwritable("a time outside the day")),
            Operand::Timestamp(micros) => {
                timestamp_text(micros).map(|text| format!("TIMESTAMP'{text}'")).ok_or_else(|| unwritable("a time outside the years 1 to 9999"))
            }
        }
    }

    /// Beside a NULL, an unsigned number becomes a decimal; those of 32 bits are signed ones of 64 here.
    /// Years and bits are no numbers beside others.
    fn branch(&self, term: &Term) -> String {
        match type_word(&term.meaning.native_type) {
            "year" | "bit" => forms::value(term),
            _ => term.sql.clone(),
        }
    }

    /// Branches of different whole types can make a decimal.
    fn chosen(&self, case: String, data_type: &DataType) -> String {
        match data_type {
            unsigned if unsigned.is_unsigned_integer() => format!("CAST({case} AS UNSIGNED)"),
            whole if whole.is_integer() => format!("CAST({case} AS SIGNED)"),
            _ => case,
        }
    }

    /// The smallest `max_allowed_packet` that servers come with is a megabyte; long lists are joined as a table by the server.
    fn keys_max(&self) -> KeysMax {
        KeysMax { list: 50_000, text_bytes: text_bytes_max(SMALLEST_PACKET_BYTES), rows_a_key: 2.0, rows_a_bit: 1.25 }
    }

    /// Unsigned numbers cannot go below zero, and a CASE is computed in its order.
    fn in_bits(&self, term: &Term, low: i64, high: i64, set: &[u8]) -> Option<String> {
        if !matches!(type_word(&term.meaning.native_type), "tinyint" | "smallint" | "mediumint" | "int" | "bigint") {
            return None;
        }
        let place = format!("({} - {low})", term.sql);
        let bit = format!("ORD(SUBSTR(X'{}', ({place} >> 3) + 1, 1)) >> ({place} & 7) & 1", hex(set));
        Some(format!("CASE WHEN {} BETWEEN {low} AND {high} THEN {bit} ELSE 0 END = 1", term.sql))
    }

    fn as_text(&self, quoted: &str) -> String {
        format!("CAST({quoted} AS CHAR)")
    }

    /// It knows columns and aggregates, but no expression that stands behind GROUP BY.
    fn has_having(&self) -> bool {
        false
    }

    /// Without a word for NULLs: they stand first, and last in the other direction.
    fn order(&self, term: &Term, descending: bool, nulls_first: bool) -> String {
        let key = forms::key(term);
        let direction = if descending { " DESC" } else { "" };
        match term.meaning.nullable && nulls_first == descending {
            true => format!("{key} IS NULL{}, {key}{direction}", if nulls_first { " DESC" } else { "" }),
            false => format!("{key}{direction}"),
        }
    }

    fn ordered(&self, term: &Term) -> String {
        forms::key(term)
    }

    fn grouped(&self, term: &Term) -> String {
        match term.meaning.data_type {
            // There are two zeros, and a hash may tell them apart.
            DataType::Float64 => format!("({} + 0e0)", term.sql),
            _ => forms::key(term),
        }
    }

    /// An equality is written bare, so that an index finds it, and then again so that it means what it means here.
    fn compare(&self, term: &Term, sign: &str, literal: &str) -> Comparison {
        let bare = format!("{} {sign} {literal}", term.sql);
        if forms::zero_days(&term.meaning) {
            return Comparison::only_true(if sign == "=" { bare } else { format!("({bare} AND {})", forms::real_day(term)) });
        }
        match bytewise_text(&term.meaning, sign) {
            None => Comparison::whole(bare),
            Some(bytes) => {
                let exact = format!("{} {sign} CAST({literal} AS BINARY)", bytes(term));
                Comparison::whole(if sign == "=" { format!("({bare} AND {exact})") } else { exact })
            }
        }
    }

    fn compare_list(&self, term: &Term, negated: bool, literals: &[String]) -> Comparison {
        let word = if negated { "NOT IN" } else { "IN" };
        let bare = format!("{} {word} ({})", term.sql, literals.join(", "));
        if forms::zero_days(&term.meaning) {
            return Comparison::only_true(if negated { format!("({bare} AND {})", forms::real_day(term)) } else { bare });
        }
        let Some(bytes) = bytewise_text(&term.meaning, "=") else { return Comparison::whole(bare) };
        let literals: Vec<String> = literals.iter().map(|literal| format!("CAST({literal} AS BINARY)")).collect();
        let exact = format!("{} {word} ({})", bytes(term), literals.join(", "));
        Comparison::whole(if negated { exact } else { format!("({bare} AND {exact})") })
    }

    fn null_test(&self, term: &Term, wants_null: bool) -> String {
        let sql = &term.sql;
        match (forms::zero_days(&term.meaning), wants_null) {
            (false, true) => format!("{sql} IS NULL"),
            (false, false) => format!("{sql} IS NOT NULL"),
            (true, true) => format!("({sql} IS NULL OR NOT ({}))", forms::real_day(term)),
            (true, false) => format!("({sql} IS NOT NULL AND {})", forms::real_day(term)),
        }
    }

    fn same(&self, left: &Term, right: &Term) -> Option<Comparison> {
        let texts = left.meaning.data_type == DataType::Utf8;
        if texts && (left.meaning.collation != right.meaning.collation || type_word(&left.meaning.native_type) == "enum") {
            return None;
        }
        let side = |term: &Term| if texts || forms::zero_days(&term.meaning) { term.sql.clone() } else { forms::value(term) };
        let bare = format!("{} = {}", side(left), side(right));
        Some(match () {
            () if forms::zero_days(&left.meaning) || forms::zero_days(&right.meaning) => {
                let real = if forms::zero_days(&left.meaning) { forms::real_day(left) } else { forms::real_day(right) };
                Comparison::only_true(format!("({bare} AND {real})"))
            }
            () if texts && bytewise_text(&left.meaning, "=").is_some() => {
                Comparison::whole(format!("({bare} AND {} = {})", forms::bytes(left), forms::bytes(right)))
            }
            () => Comparison::whole(bare),
        })
    }

    fn same_or_missing(&self, left: &Term, right: &Term) -> Option<Comparison> {
        let texts = left.meaning.data_type == DataType::Utf8;
        if texts && (left.meaning.collation != right.meaning.collation || type_word(&left.meaning.native_type) == "enum") {
            return None;
        }
        let bytewise = texts && bytewise_text(&left.meaning, "=").is_some();
        let sql = match bytewise {
            true => format!("({} <=> {} AND {} <=> {})", left.sql, right.sql, forms::bytes(left), forms::bytes(right)),
            false if texts => format!("{} <=> {}", left.sql, right.sql),
            false => format!("{} <=> {}", forms::value(left), forms::value(right)),
        };
        Some(Comparison::whole(sql))
    }

    fn missing(&self, data_type: &DataType) -> Option<String> {
        let word = match data_type {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => "SIGNED".to_owned(),
            DataType::Decimal128(precision, scale) => format!("DECIMAL({precision},{scale})"),
            DataType::Utf8 => "CHAR".to_owned(),
            DataType::Date32 => "DATE".to_owned(),
            _ => return None,
        };
        Some(format!("CAST(NULL AS {word})"))
    }

    /// Letter by letter under a binary collation, and before that as an index may know it.
    fn like(&self, term: &Term, pattern: Pattern<'_>) -> Result<String> {
        let text = text_literal(pattern.text);
        let escape = text_literal(pattern.escape.encode_utf8(&mut [0; 4]));
        let sql = match forms::text_key(&term.meaning) {
            TextKey::Itself | TextKey::Bytes if term.meaning.collation.as_deref().is_some_and(|collation| collation.starts_with("utf8mb4_")) => {
                term.sql.clone()
            }
            _ => format!("CONVERT({} USING utf8mb4)", term.sql),
        };
        let exact = format!("{sql} COLLATE utf8mb4_bin LIKE {text} ESCAPE {escape}");
        let indexed = sql == term.sql && !pattern.text.starts_with(['%', '_']);
        Ok(if indexed { format!("({sql} LIKE {text} ESCAPE {escape} AND {exact})") } else { exact })
    }

    /// None: see `ordered`.
    fn bytewise(&self, _quoted: &str) -> Option<String> {
        None
    }
}

/// How a text is written as bytes, where it is not compared as such by itself.
fn bytewise_text(column: &Column, sign: &str) -> Option<fn(&Term) -> String> {
    let order = text_order(column.collation.as_deref().unwrap_or_default());
    let equality = matches!(sign, "=" | "<>");
    let itself = match forms::text_key(column) {
        TextKey::Itself => true,
        TextKey::Converted => equality && order == TextOrder::BytesEqualOnly && forms::plain_text(column) && type_word(&column.native_type) != "char",
        TextKey::Bytes | TextKey::Printed => false,
    };
    (column.data_type == DataType::Utf8 && !itself).then_some(forms::bytes)
}

fn decimal(unscaled: i128, data_type: &DataType) -> String {
    let scale = match data_type {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => usize::try_from(*scale).unwrap_or_default(),
        _ => 0,
    };
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Quotes where every `sql_mode` and every log reader agrees on the meaning, hexadecimal digits where not.
fn text_literal(text: &str) -> String {
    if text.chars().any(|character| character == '\\' || character.is_control()) {
        return format!("_utf8mb4 X'{}'", hex(text.as_bytes()));
    }
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    fn literal(value: Operand<'_>, data_type: DataType) -> String {
        MySqlDialect.literal(value, &data_type).unwrap()
    }

    #[test]
    fn names_are_exact() {
        assert_eq!(MySqlDialect.table("bill`ing", "My Table"), "`bill``ing`.`My Table`");
    }

    #[test]
    fn literals_are_typed() {
        assert_eq!(literal(Operand::Date(20_787), DataType::Date32), "DATE'2026-11-30'");
        let stamp = DataType::Timestamp(TimeUnit::Microsecond, None);
        assert_eq!(literal(Operand::Timestamp(1_500_000), stamp.clone()), "TIMESTAMP'1970-01-01 00:00:01.500000'");
        assert_eq!(literal(Operand::Decimal(-5), DataType::Decimal128(10, 2)), "-0.05");
        assert_eq!(literal(Operand::Decimal(1250), DataType::Decimal128(10, 0)), "1250");
        assert_eq!(literal(Operand::Int(u64::MAX.into()), DataType::UInt64), "18446744073709551615");
        assert_eq!(literal(Operand::Float(0.1), DataType::Float64), "1e-1");
        assert_eq!(literal(Operand::Bytes(b"\0\xFF"), DataType::Binary), "X'00ff'");
        assert!(MySqlDialect.literal(Operand::Float(f64::NAN), &DataType::Float64).is_err());
        assert!(MySqlDialect.literal(Operand::Timestamp(i64::MAX), &stamp).is_err());
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(literal(Operand::Text("it's"), DataType::Utf8), "'it''s'");
        assert_eq!(literal(Operand::Text("\\' OR 1"), DataType::Utf8), "_utf8mb4 X'5c27204f522031'");
        assert_eq!(literal(Operand::Text("a\0"), DataType::Utf8), "_utf8mb4 X'6100'");
        let bits = |native: &str| MySqlDialect.in_bits(&Term::computed("`id`", native, DataType::Int64, true), -3, 12, &[0b101, 0xf0]);
        let sql = "CASE WHEN `id` BETWEEN -3 AND 12 THEN ORD(SUBSTR(X'05f0', ((`id` - -3) >> 3) + 1, 1)) >> ((`id` - -3) & 7) & 1 ELSE 0 END = 1";
        assert_eq!((bits("bigint(20)").as_deref(), bits("year(4)")), (Some(sql), None));
    }
}
