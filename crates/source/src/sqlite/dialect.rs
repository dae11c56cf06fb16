// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for SQLite.

use crate::capability::Operand;
use crate::exact_text::{date_text, decimal_text, time_text, timestamp_text};
use crate::{Comparison, Dialect, Term};
use arrow::datatypes::DataType;
use weir_base::{Error, ErrorCode, Result};

#[derive(Debug, Clone, Copy)]
pub(super) struct SqliteDialect;

impl Dialect for SqliteDialect {
    /// With backticks: SQLite takes a name in double quotes that it does not know for a text, and a column that was dropped
    /// would come back as its own name in every row.
    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn literal(&self, value: Operand<'_>, data_type: &DataType) -> Result<String> {
        match value {
            Operand::Bool(value) => Ok(if value { "1" } else { "0" }.to_owned()),
            // A longer one would silently become a double.
            Operand::Int(value) => i64::try_from(value).map(|value| value.to_string()).map_err(|_| cannot_spell("integer")),
            Operand::Decimal(value) => match data_type {
                DataType::Decimal128(_, scale) => Ok(decimal_text(value, *scale)),
                other => Err(Error::internal(format!("decimal literal for a column of type {other}"))),
            },
            Operand::Float(value) => float(value),
            Operand::Text(value) => text(value),
            Operand::Bytes(value) => Ok(format!("X'{}'", value.iter().map(|byte| format!("{byte:02X}")).collect::<String>())),
            Operand::Date(value) => date_text(value).map(|text| format!("'{text}'")).ok_or_else(|| cannot_spell("date")),
            Operand::Time(value) => time_text(value).map(|text| format!("'{text}'")).ok_or_else(|| cannot_spell("time")),
            Operand::Timestamp(value) => timestamp_text(value).map(|text| format!("'{text}'")).ok_or_else(|| cannot_spell("timestamp")),
        }
    }

    fn same_or_missing(&self, left: &Term, right: &Term) -> Option<Comparison> {
        Some(Comparison::whole(format!("{} IS {}", left.sql, right.sql)))
    }

    fn joins_fully(&self) -> bool {
        true
    }

    fn missing(&self, _: &DataType) -> Option<String> {
        Some("NULL".to_owned())
    }

    fn bytewise(&self, quoted: &str) -> Option<String> {
        Some(format!("{quoted} COLLATE BINARY"))
    }
}

fn float(value: f64) -> Result<String> {
    match value {
        value if value.is_nan() => Err(cannot_spell("float")),
        f64::INFINITY => Ok("9e999".to_owned()),
        f64::NEG_INFINITY => Ok("-9e999".to_owned()),
        value => Ok(format!("{value:e}")).map(|text| if text.contains('.') { text } else { text.replace('e', ".0e") }),
    }
}

fn text(value: &str) -> Result<String> {
    if value.contains('\0') {
        return Err(cannot_spell("text"));
    }
    Ok(format!("'{}'", value.replace('\'', "''")))
}

fn cannot_spell(what: &str) -> Error {
    Error::new(ErrorCode::BadValue, format!("{what} literal cannot be written for sqlite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_type() {
        let literal = |operand, data_type: DataType| SqliteDialect.literal(operand, &data_type).unwrap();
        assert_eq!(literal(Operand::Float(1e300), DataType::Float64), "1.0e300");
        assert_eq!(literal(Operand::Float(-0.1), DataType::Float64), "-1.0e-1");
        assert_eq!(literal(Operand::Int(i128::from(i64::MIN)), DataType::Int64), "-9223372036854775808");
        assert_eq!(literal(Operand::Text("it's \\ \""), DataType::Utf8), "'it''s \\ \"'");
        assert_eq!(SqliteDialect.literal(Operand::Int(1 << 70), &DataType::Int64).unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(SqliteDialect.quote("a`b\""), "`a``b\"`");
    }
}
