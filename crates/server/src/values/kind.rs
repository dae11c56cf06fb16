// SPDX-License-Identifier: Apache-2.0
//! The Postgres type of a column: its OID, size and modifier, and the name that people know it by.

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

pub const BOOL: u32 = 16;
pub const BYTEA: u32 = 17;
pub const CHAR: u32 = 18;
pub const NAME: u32 = 19;
pub const INT8: u32 = 20;
pub const INT2: u32 = 21;
pub const INT4: u32 = 23;
pub const TEXT: u32 = 25;
pub const OID: u32 = 26;
pub const JSON: u32 = 114;
pub const FLOAT4: u32 = 700;
pub const FLOAT8: u32 = 701;
pub const UNKNOWN: u32 = 705;
pub const BPCHAR: u32 = 1042;
pub const VARCHAR: u32 = 1043;
pub const DATE: u32 = 1082;
pub const TIME: u32 = 1083;
pub const TIMESTAMP: u32 = 1114;
pub const TIMESTAMPTZ: u32 = 1184;
pub const INTERVAL: u32 = 1186;
pub const NUMERIC: u32 = 1700;
pub const UUID: u32 = 2950;
pub const JSONB: u32 = 3802;

/// Element type, array type, bytes per value (-1 when it varies), name.
const TYPES: [(u32, u32, i16, &str); 22] = [
    (BOOL, 1000, 1, "boolean"),
    (BYTEA, 1001, -1, "bytea"),
    (CHAR, 1002, 1, "\"char\""),
    (NAME, 1003, 64, "name"),
    (INT8, 1016, 8, "bigint"),
    (INT2, 1005, 2, "smallint"),
    (INT4, 1007, 4, "integer"),
    (TEXT, 1009, -1, "text"),
    (OID, 1028, 4, "oid"),
    (JSON, 199, -1, "json"),
    (FLOAT4, 1021, 4, "real"),
    (FLOAT8, 1022, 8, "double precision"),
    (BPCHAR, 1014, -1, "character"),
    (VARCHAR, 1015, -1, "character varying"),
    (DATE, 1182, 4, "date"),
    (TIME, 1183, 8, "time without time zone"),
    (TIMESTAMP, 1115, 8, "timestamp without time zone"),
    (TIMESTAMPTZ, 1185, 8, "timestamp with time zone"),
    (INTERVAL, 1187, 16, "interval"),
    (NUMERIC, 1231, -1, "numeric"),
    (UUID, 2951, 16, "uuid"),
    (JSONB, 3807, -1, "jsonb"),
];

/// The type of a column as a Postgres client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Type of a value; for arrays, of the innermost element.
    pub element: u32,
    pub array: bool,
    /// Precision and scale of a numeric, packed as Postgres packs them; -1 for none.
    pub modifier: i32,
}

impl Kind {
    /// The type that shows a column of this field exactly. Error: 0A000 for types that have no counterpart at all.
    pub fn of(field: &Field) -> Result<Self> {
        if let Some(extension) = field.metadata().get("ARROW:extension:name") {
            match (extension.as_str(), field.data_type()) {
                ("arrow.uuid", DataType::FixedSizeBinary(16)) => return Ok(Self::plain(UUID)),
                ("arrow.json", DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => return Ok(Self::plain(JSON)),
                _ => {}
            }
        }
        // How the catalog marks the columns that hold object identifiers.
        if field.data_type() == &DataType::Int32 && field.metadata().contains_key("pg.oid_alias") {
            return Ok(Self::plain(OID));
        }
        Self::of_type(field.data_type())
    }

    fn of_type(data_type: &DataType) -> Result<Self> {
        let element = match data_type {
            DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => TEXT,
            DataType::Boolean => BOOL,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => INT2,
            DataType::Int32 | DataType::UInt16 => INT4,
            DataType::Int64 | DataType::UInt32 => INT8,
            DataType::UInt64 => return Ok(Self { element: NUMERIC, array: false, modifier: modifier(20, 0) }),
            DataType::Float16 | DataType::Float32 => FLOAT4,
            DataType::Float64 => FLOAT8,
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale)
            | DataType::Decimal256(precision, scale) => {
                return Ok(Self { element: NUMERIC, array: false, modifier: modifier(*precision, *scale) });
            }
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => BYTEA,
            DataType::Date32 | DataType::Date64 => DATE,
            DataType::Time32(_) | DataType::Time64(_) => TIME,
            DataType::Timestamp(_, None) => TIMESTAMP,
            DataType::Timestamp(_, Some(_)) => TIMESTAMPTZ,
            DataType::Interval(_) | DataType::Duration(_) => INTERVAL,
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) | DataType::ListView(item) | DataType::LargeListView(item) => {
                return Ok(Self { array: true, ..Self::of(item)? });
            }
            DataType::Struct(_) | DataType::Map(_, _) => JSON,
            DataType::Dictionary(_, values) => return Self::of_type(values),
            DataType::RunEndEncoded(_, values) => return Self::of(values),
            DataType::Union(_, _) => {
                return Err(Error::new(ErrorCode::Unsupported, "a union column cannot be shown").with_hint("select one of its fields"));
            }
        };
        Ok(Self::plain(element))
    }

    pub const fn plain(element: u32) -> Self {
        Self { element, array: false, modifier: -1 }
    }

    /// OID of the whole type.
    pub fn oid(self) -> u32 {
        if !self.array {
            return self.element;
        }
        TYPES.iter().find(|(element, ..)| *element == self.element).map_or(1009, |(_, array, ..)| *array)
    }

    /// Bytes of a value, -1 when they vary.
    pub fn size(self) -> i16 {
        if self.array {
            return -1;
        }
        TYPES.iter().find(|(element, ..)| *element == self.element).map_or(-1, |(_, _, size, _)| *size)
    }

    /// `bigint`, `numeric(12,2)`, `text[]`.
    pub fn name(self) -> String {
        let base = TYPES.iter().find(|(element, ..)| *element == self.element).map_or("text", |(.., name)| *name);
        let modified = match self.modifier {
            -1 => base.to_owned(),
            packed => {
                let (precision, scale) = ((packed - 4) >> 16, (packed - 4) & 0x7ff);
                let scale = if scale > 1023 { scale - 2048 } else { scale };
                format!("{base}({precision},{scale})")
            }
        };
        if self.array { format!("{modified}[]") } else { modified }
    }
}

fn modifier(precision: u8, scale: i8) -> i32 {
    ((i32::from(precision) << 16) | (i32::from(scale) & 0x7ff)) + 4
}

/// The Arrow type of an item that a client sends with this type; text where its own digits or spelling decide.
pub fn item_type(oid: u32) -> DataType {
    match oid {
        BOOL => DataType::Boolean,
        INT2 => DataType::Int16,
        INT4 => DataType::Int32,
        INT8 | OID => DataType::Int64,
        FLOAT4 => DataType::Float32,
        FLOAT8 => DataType::Float64,
        BYTEA => DataType::Binary,
        INTERVAL => DataType::Interval(IntervalUnit::MonthDayNano),
        DATE => DataType::Date32,
        TIME => DataType::Time64(TimeUnit::Microsecond),
        TIMESTAMP => DataType::Timestamp(TimeUnit::Microsecond, None),
        TIMESTAMPTZ => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        _ => DataType::Utf8,
    }
}

/// The Arrow type that a client declares with an OID; `None` where it leaves that open.
pub fn declared_type(oid: u32) -> Option<DataType> {
    let digits = |oid| if oid == NUMERIC { DataType::Decimal128(38, 10) } else { item_type(oid) };
    match element_of_array(oid) {
        Some(element) => Some(DataType::List(Arc::new(Field::new("item", digits(element), true)))),
        None => Some(digits(oid)).filter(|data_type| *data_type != DataType::Utf8),
    }
}

/// The element type of an array type, where the OID is one.
pub fn element_of_array(oid: u32) -> Option<u32> {
    TYPES.iter().find(|(_, array, ..)| *array == oid).map(|(element, ..)| *element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_oids() {
        let list = DataType::List(Arc::new(Field::new("item", DataType::Decimal128(12, 2), true)));
        let kind = Kind::of(&Field::new("x", list, true)).unwrap();
        assert_eq!((kind.oid(), kind.size(), kind.name().as_str()), (1231, -1, "numeric(12,2)[]"));
        let kind = Kind::of(&Field::new("x", DataType::Decimal128(5, -3), true)).unwrap();
        assert_eq!(kind.name(), "numeric(5,-3)");
        assert_eq!(Kind::of(&Field::new("x", DataType::UInt32, true)).unwrap().oid(), INT8);
    }
}
