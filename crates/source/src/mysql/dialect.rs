// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for MySQL and MariaDB: names in backticks, literals that are typed and safe in every `sql_mode`.

use super::calendar::{time_text, timestamp_text};
use crate::exact_text::date_text;
use crate::{Dialect, Operand};
use arrow::datatypes::DataType;
use std::fmt::Write;
use weir_base::{Error, ErrorCode, Result};

/// The writing rules of both products.
#[derive(Debug, Clone, Copy)]
pub struct MySqlDialect;

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

    fn as_text(&self, quoted: &str) -> String {
        format!("CAST({quoted} AS CHAR)")
    }

    /// None: the servers can only order texts by bytes through a cast, which takes the index away and makes the source scan.
    fn bytewise(&self, _quoted: &str) -> Option<String> {
        None
    }
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

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02X}");
    }
    digits
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
        assert_eq!(literal(Operand::Bytes(b"\0\xFF"), DataType::Binary), "X'00FF'");
        assert!(MySqlDialect.literal(Operand::Float(f64::NAN), &DataType::Float64).is_err());
        assert!(MySqlDialect.literal(Operand::Timestamp(i64::MAX), &stamp).is_err());
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(literal(Operand::Text("it's"), DataType::Utf8), "'it''s'");
        assert_eq!(literal(Operand::Text("\\' OR 1"), DataType::Utf8), "_utf8mb4 X'5C27204F522031'");
        assert_eq!(literal(Operand::Text("a\0"), DataType::Utf8), "_utf8mb4 X'6100'");
    }
}
