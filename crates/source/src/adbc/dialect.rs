// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for a warehouse: quotes, and literals that carry their type.

use super::vendor::Vendor;
use crate::Dialect;
use crate::capability::Operand;
use crate::exact_text::{date_text, decimal_text, time_text, timestamp_text};
use arrow::datatypes::DataType;
use weir_base::{Error, ErrorCode, Result};

/// The writing rules of one vendor.
#[derive(Debug, Clone, Copy)]
pub(super) struct WarehouseDialect(pub(super) Vendor);

impl Dialect for WarehouseDialect {
    fn quote(&self, name: &str) -> String {
        match self.0 {
            Vendor::BigQuery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Vendor::Databricks => format!("`{}`", name.replace('`', "``")),
            Vendor::Snowflake | Vendor::Redshift | Vendor::Generic => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn literal(&self, value: Operand<'_>, data_type: &DataType) -> Result<String> {
        match value {
            Operand::Bool(value) => Ok(if value { "TRUE" } else { "FALSE" }.to_owned()),
            Operand::Int(value) => Ok(value.to_string()),
            Operand::Decimal(value) => decimal(value, data_type),
            Operand::Float(value) => self.float(value),
            Operand::Text(value) => self.text(value),
            Operand::Bytes(value) => self.bytes(value),
            Operand::Date(value) => date_text(value).map(|text| format!("DATE '{text}'")).ok_or_else(|| cannot_spell("date")),
            Operand::Time(value) => time_text(value).map(|text| self.time(&text)).ok_or_else(|| cannot_spell("time")),
            Operand::Timestamp(value) => self.timestamp(value, data_type),
        }
    }

    /// No warehouse says by text that it orders by bytes, so ranges of texts stay here.
    fn bytewise(&self, _quoted: &str) -> Option<String> {
        None
    }
}

impl WarehouseDialect {
    fn float(self, value: f64) -> Result<String> {
        if !value.is_finite() {
            return Err(cannot_spell("float"));
        }
        let double = match self.0 {
            Vendor::BigQuery => "FLOAT64",
            Vendor::Databricks => "DOUBLE",
            _ => "DOUBLE PRECISION",
        };
        Ok(format!("CAST({value:e} AS {double})"))
    }

    fn text(self, value: &str) -> Result<String> {
        if value.contains('\0') {
            return Err(cannot_spell("text"));
        }
        let escaped = match self.0 {
            Vendor::Snowflake => value.replace('\\', "\\\\").replace('\'', "''"),
            Vendor::BigQuery => value.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r"),
            Vendor::Databricks => value.replace('\\', "\\\\").replace('\'', "\\'"),
            Vendor::Redshift | Vendor::Generic => value.replace('\'', "''"),
        };
        Ok(format!("'{escaped}'"))
    }

    fn bytes(self, value: &[u8]) -> Result<String> {
        let hex: String = value.iter().map(|byte| format!("{byte:02X}")).collect();
        match self.0 {
            Vendor::BigQuery => Ok(format!("FROM_HEX('{hex}')")),
            Vendor::Snowflake => Ok(format!("TO_BINARY('{hex}', 'HEX')")),
            Vendor::Databricks => Ok(format!("X'{hex}'")),
            Vendor::Redshift => Ok(format!("FROM_HEX('{hex}')")),
            Vendor::Generic => Err(cannot_spell("binary")),
        }
    }

    fn time(self, text: &str) -> String {
        match self.0 {
            Vendor::Snowflake => format!("'{text}'::TIME"),
            _ => format!("TIME '{text}'"),
        }
    }

    fn timestamp(self, micros: i64, data_type: &DataType) -> Result<String> {
        let text = timestamp_text(micros).ok_or_else(|| cannot_spell("timestamp"))?;
        let zoned = matches!(data_type, DataType::Timestamp(_, Some(_)));
        Ok(match (self.0, zoned) {
            (Vendor::Snowflake, true) => format!("'{text}+00:00'::TIMESTAMP_TZ"),
            (Vendor::Snowflake, false) => format!("'{text}'::TIMESTAMP_NTZ"),
            (Vendor::BigQuery, true) => format!("TIMESTAMP '{text}+00:00'"),
            (Vendor::BigQuery, false) => format!("DATETIME '{text}'"),
            (Vendor::Databricks, true) => format!("TIMESTAMP '{text}+00:00'"),
            (Vendor::Databricks, false) => format!("TIMESTAMP_NTZ '{text}'"),
            (Vendor::Redshift | Vendor::Generic, true) => format!("TIMESTAMPTZ '{text}+00:00'"),
            (Vendor::Redshift | Vendor::Generic, false) => format!("TIMESTAMP '{text}'"),
        })
    }
}

fn decimal(value: i128, data_type: &DataType) -> Result<String> {
    match data_type {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => Ok(decimal_text(value, *scale)),
        other => Err(Error::internal(format!("decimal literal for a column of type {other}"))),
    }
}

fn cannot_spell(what: &str) -> Error {
    Error::new(ErrorCode::BadValue, format!("{what} literal cannot be written for this source"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    const SNOWFLAKE: WarehouseDialect = WarehouseDialect(Vendor::Snowflake);

    #[test]
    fn nothing_typed_gets_out_of_its_quotes() {
        assert_eq!(SNOWFLAKE.quote("a\"; DROP"), "\"a\"\"; DROP\"");
        assert_eq!(SNOWFLAKE.literal(Operand::Text("\\' OR 1=1"), &DataType::Utf8).unwrap(), "'\\\\'' OR 1=1'");
        assert_eq!(WarehouseDialect(Vendor::BigQuery).literal(Operand::Text("it's\n\\"), &DataType::Utf8).unwrap(), "'it\\'s\\n\\\\'");
        assert_eq!(SNOWFLAKE.literal(Operand::Text("a\0"), &DataType::Utf8).unwrap_err().code(), ErrorCode::BadValue);
    }

    #[test]
    fn literals_carry_their_type() {
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert_eq!(SNOWFLAKE.literal(Operand::Timestamp(1), &zoned).unwrap(), "'1970-01-01 00:00:00.000001+00:00'::TIMESTAMP_TZ");
        assert_eq!(SNOWFLAKE.literal(Operand::Decimal(-1250), &DataType::Decimal128(12, 2)).unwrap(), "-12.50");
        assert_eq!(SNOWFLAKE.literal(Operand::Date(0), &DataType::Date32).unwrap(), "DATE '1970-01-01'");
        assert_eq!(SNOWFLAKE.literal(Operand::Float(1.5), &DataType::Float64).unwrap(), "CAST(1.5e0 AS DOUBLE PRECISION)");
        assert_eq!(SNOWFLAKE.literal(Operand::Float(f64::NAN), &DataType::Float64).unwrap_err().code(), ErrorCode::BadValue);
    }
}
