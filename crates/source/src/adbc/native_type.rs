// SPDX-License-Identifier: Apache-2.0
//! The warehouse's type names to Arrow types, and what to select where the bare column would lose something.

use super::vendor::Vendor;
use arrow::datatypes::{DataType, TimeUnit};

pub(super) const AS_VARCHAR: &str = "CAST({} AS VARCHAR)";
const AS_STRING: &str = "CAST({} AS STRING)";

/// A column type as the catalog gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NativeType {
    /// Upper case, without precision: `NUMBER`, `TIMESTAMP_NTZ`.
    pub(super) name: String,
    pub(super) precision: Option<u8>,
    pub(super) scale: Option<i8>,
}

/// How a column is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) data_type: DataType,
    pub(super) read_as: Option<&'static str>,
}

fn bare(data_type: DataType) -> Reading {
    Reading { data_type, read_as: None }
}

fn through(data_type: DataType, read_as: &'static str) -> Reading {
    Reading { data_type, read_as: Some(read_as) }
}

/// Decimals travel as text: Arrow's importer wants 128-bit values aligned to 16 bytes and panics where a driver passes on
/// what the network gave it, which is aligned to 8. Integers travel as themselves.
fn decimal(data_type: DataType, as_text: &'static str) -> Reading {
    match data_type {
        DataType::Int64 => bare(data_type),
        _ => through(data_type, as_text),
    }
}

fn naive() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

fn zoned() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

fn time() -> DataType {
    DataType::Time64(TimeUnit::Microsecond)
}

impl NativeType {
    /// From `numeric(12, 2)` or from a bare name with precision and scale beside it.
    pub(super) fn parse(text: &str, precision: Option<u8>, scale: Option<i8>) -> Self {
        let upper = text.trim().to_ascii_uppercase();
        let Some((name, arguments)) = upper.split_once('(') else {
            return Self { name: upper, precision, scale };
        };
        let inside = arguments.split(')').next().unwrap_or_default();
        let mut numbers = inside.split(',').map(|number| number.trim().parse::<u8>().ok());
        let after = arguments.split_once(')').map_or("", |(_, after)| after);
        let precision = numbers.next().flatten().or(precision);
        let scale = numbers.next().flatten().and_then(|scale| i8::try_from(scale).ok()).or(scale);
        Self { name: format!("{}{after}", name.trim_end()), precision, scale }
    }

    /// As users see it: `NUMBER(12,2)`.
    pub(super) fn text(&self) -> String {
        match (self.numeric(), self.precision, self.scale) {
            (true, Some(precision), Some(scale)) => format!("{}({precision},{scale})", self.name),
            _ => self.name.clone(),
        }
    }

    fn numeric(&self) -> bool {
        matches!(self.name.as_str(), "NUMBER" | "NUMERIC" | "DECIMAL" | "DEC")
    }

    pub(super) fn reading(&self, vendor: Vendor) -> Reading {
        match vendor {
            Vendor::Snowflake => self.snowflake(),
            Vendor::BigQuery => self.bigquery(),
            Vendor::Databricks => self.databricks(),
            Vendor::Redshift => self.redshift(),
            Vendor::Generic => self.standard().unwrap_or_else(|| through(DataType::Utf8, AS_VARCHAR)),
        }
    }

    /// Timestamps travel as text: the driver hands out nanoseconds, which end in the year 2262, and NULLs have come back
    /// as 1970 from a server that leaves the outer validity out. So do decimals (see `decimal`).
    fn snowflake(&self) -> Reading {
        match self.name.as_str() {
            "NUMBER" | "NUMERIC" | "DECIMAL" => decimal(self.number(38, 0), AS_VARCHAR),
            "FLOAT" | "DOUBLE" | "REAL" => bare(DataType::Float64),
            "TEXT" | "VARCHAR" | "STRING" | "CHAR" => bare(DataType::Utf8),
            "BOOLEAN" => bare(DataType::Boolean),
            "DATE" => bare(DataType::Date32),
            "TIME" => bare(time()),
            "BINARY" => bare(DataType::Binary),
            "TIMESTAMP_NTZ" => through(naive(), "TO_VARCHAR({}, 'YYYY-MM-DD HH24:MI:SS.FF9')"),
            "TIMESTAMP_LTZ" | "TIMESTAMP_TZ" => through(zoned(), "TO_VARCHAR(CONVERT_TIMEZONE('UTC', {}), 'YYYY-MM-DD HH24:MI:SS.FF9')"),
            "VARIANT" | "OBJECT" | "ARRAY" => through(DataType::Utf8, "TO_JSON({})"),
            "GEOGRAPHY" | "GEOMETRY" => through(DataType::Utf8, "ST_ASWKT({})"),
            "VECTOR" => through(DataType::Utf8, "TO_JSON({}::ARRAY)"),
            _ => through(DataType::Utf8, AS_VARCHAR),
        }
    }

    fn bigquery(&self) -> Reading {
        match self.name.as_str() {
            "INT64" => bare(DataType::Int64),
            "FLOAT64" => bare(DataType::Float64),
            "NUMERIC" => decimal(self.declared_decimal(38, 9), AS_STRING),
            "BIGNUMERIC" => decimal(DataType::Decimal256(76, 38), AS_STRING),
            "BOOL" => bare(DataType::Boolean),
            "STRING" => bare(DataType::Utf8),
            "BYTES" => bare(DataType::Binary),
            "DATE" => bare(DataType::Date32),
            "TIME" => bare(time()),
            "DATETIME" => bare(naive()),
            "TIMESTAMP" => bare(zoned()),
            _ => through(DataType::Utf8, "TO_JSON_STRING({})"),
        }
    }

    fn databricks(&self) -> Reading {
        match self.name.as_str() {
            "TINYINT" | "BYTE" | "SMALLINT" | "SHORT" | "INT" | "INTEGER" | "BIGINT" | "LONG" => bare(DataType::Int64),
            "FLOAT" | "DOUBLE" => bare(DataType::Float64),
            "DECIMAL" | "NUMERIC" => decimal(self.declared_decimal(10, 0), AS_STRING),
            "BOOLEAN" => bare(DataType::Boolean),
            "STRING" | "VARCHAR" | "CHAR" => bare(DataType::Utf8),
            "BINARY" => bare(DataType::Binary),
            "DATE" => bare(DataType::Date32),
            "TIMESTAMP" => bare(zoned()),
            "TIMESTAMP_NTZ" => bare(naive()),
            name if name.starts_with("ARRAY") || name.starts_with("MAP") || name.starts_with("STRUCT") || name == "VARIANT" => {
                through(DataType::Utf8, "to_json({})")
            }
            _ => through(DataType::Utf8, AS_STRING),
        }
    }

    fn redshift(&self) -> Reading {
        match self.name.as_str() {
            "SUPER" => through(DataType::Utf8, "JSON_SERIALIZE({})"),
            "BINARY VARYING" | "VARBYTE" => bare(DataType::Binary),
            _ => self.standard().unwrap_or_else(|| through(DataType::Utf8, AS_VARCHAR)),
        }
    }

    /// The names of the SQL standard; `None` for others.
    fn standard(&self) -> Option<Reading> {
        Some(match self.name.as_str() {
            "TINYINT" | "SMALLINT" | "INTEGER" | "INT" | "BIGINT" | "INT2" | "INT4" | "INT8" => bare(DataType::Int64),
            "REAL" | "FLOAT" | "DOUBLE" | "DOUBLE PRECISION" | "FLOAT4" | "FLOAT8" => bare(DataType::Float64),
            "NUMERIC" | "DECIMAL" => decimal(self.declared_decimal(38, 18), AS_VARCHAR),
            "BOOLEAN" | "BOOL" => bare(DataType::Boolean),
            "CHARACTER VARYING" | "VARCHAR" | "TEXT" | "STRING" => bare(DataType::Utf8),
            "BLOB" | "BYTEA" | "BINARY" | "VARBINARY" | "BINARY LARGE OBJECT" => bare(DataType::Binary),
            "DATE" => bare(DataType::Date32),
            "TIME" | "TIME WITHOUT TIME ZONE" => bare(time()),
            "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" | "DATETIME" => bare(naive()),
            "TIMESTAMP WITH TIME ZONE" | "TIMESTAMPTZ" => bare(zoned()),
            _ => return None,
        })
    }

    /// Whole numbers that always fit 64 bits are integers, so that they join with other sources' ids without a conversion.
    fn number(&self, precision: u8, scale: i8) -> DataType {
        match self.declared_decimal(precision, scale) {
            DataType::Decimal128(precision, 0) if precision <= 18 => DataType::Int64,
            decimal => decimal,
        }
    }

    fn declared_decimal(&self, precision: u8, scale: i8) -> DataType {
        match self.precision {
            Some(declared @ 1..=38) => DataType::Decimal128(declared, self.scale.unwrap_or(0)),
            _ => DataType::Decimal128(precision, scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snowflake(text: &str, precision: Option<u8>, scale: Option<i8>) -> Reading {
        NativeType::parse(text, precision, scale).reading(Vendor::Snowflake)
    }

    #[test]
    fn whole_numbers_are_integers_where_they_always_fit() {
        assert_eq!(snowflake("NUMBER", Some(18), Some(0)).data_type, DataType::Int64);
        assert_eq!(snowflake("NUMBER", Some(19), Some(0)).data_type, DataType::Decimal128(19, 0));
        assert_eq!(snowflake("NUMBER", Some(38), Some(0)).data_type, DataType::Decimal128(38, 0));
        assert_eq!(snowflake("NUMBER", Some(12), Some(2)), through(DataType::Decimal128(12, 2), AS_VARCHAR));
    }

    #[test]
    fn arguments_are_read_from_the_name_too() {
        let parsed = NativeType::parse("numeric(12, 2)", None, None);
        assert_eq!(parsed, NativeType { name: "NUMERIC".into(), precision: Some(12), scale: Some(2) });
        assert_eq!(parsed.text(), "NUMERIC(12,2)");
        assert_eq!(NativeType::parse("timestamp(6) with time zone", None, None).reading(Vendor::Generic).data_type, zoned());
        assert_eq!(NativeType::parse("ARRAY<STRUCT<a INT64>>", None, None).reading(Vendor::BigQuery).read_as, Some("TO_JSON_STRING({})"));
    }

    #[test]
    fn what_has_no_counterpart_is_text() {
        assert_eq!(snowflake("FILE", None, None), through(DataType::Utf8, AS_VARCHAR));
        assert_eq!(snowflake("VARIANT", None, None).data_type, DataType::Utf8);
    }
}
