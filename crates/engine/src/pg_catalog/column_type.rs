// SPDX-License-Identifier: Apache-2.0
//! The Postgres type of a column, as the wire sends it: oid, size, modifier and the standard's name.

use arrow::datatypes::DataType;

/// Oid, oid of its array, bytes (-1 when they vary), passed by value, name in `information_schema`, name in `pg_type`.
const TYPES: [(i32, i32, i16, bool, &str, &str); 17] = [
    (16, 1000, 1, true, "boolean", "bool"),
    (17, 1001, -1, false, "bytea", "bytea"),
    (20, 1016, 8, true, "bigint", "int8"),
    (21, 1005, 2, true, "smallint", "int2"),
    (23, 1007, 4, true, "integer", "int4"),
    (25, 1009, -1, false, "text", "text"),
    (26, 1028, 4, true, "oid", "oid"),
    (114, 199, -1, false, "json", "json"),
    (700, 1021, 4, true, "real", "float4"),
    (701, 1022, 8, true, "double precision", "float8"),
    (1082, 1182, 4, true, "date", "date"),
    (1083, 1183, 8, true, "time without time zone", "time"),
    (1114, 1115, 8, true, "timestamp without time zone", "timestamp"),
    (1184, 1185, 8, true, "timestamp with time zone", "timestamptz"),
    (1186, 1187, 16, false, "interval", "interval"),
    (1700, 1231, -1, false, "numeric", "numeric"),
    (2950, 2951, 16, false, "uuid", "uuid"),
];

/// A column's type in the words of Postgres.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnType {
    pub oid: i32,
    pub size: i16,
    /// Precision and scale of a numeric, packed; -1 for none.
    pub modifier: i32,
    pub dimensions: i32,
    pub by_value: bool,
    /// `ARRAY` for arrays.
    pub standard_name: &'static str,
    /// `_int4` for arrays.
    pub array: bool,
    pub short_name: &'static str,
}

impl ColumnType {
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::plain(16),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => Self::plain(17),
            DataType::Int64 | DataType::UInt32 => Self::plain(20),
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => Self::plain(21),
            DataType::Int32 | DataType::UInt16 => Self::plain(23),
            DataType::Struct(_) | DataType::Map(_, _) => Self::plain(114),
            DataType::Float16 | DataType::Float32 => Self::plain(700),
            DataType::Float64 => Self::plain(701),
            DataType::Date32 | DataType::Date64 => Self::plain(1082),
            DataType::Time32(_) | DataType::Time64(_) => Self::plain(1083),
            DataType::Timestamp(_, None) => Self::plain(1114),
            DataType::Timestamp(_, Some(_)) => Self::plain(1184),
            DataType::Interval(_) | DataType::Duration(_) => Self::plain(1186),
            DataType::UInt64 => Self::numeric(20, 0),
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale)
            | DataType::Decimal256(precision, scale) => Self::numeric(*precision, *scale),
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) | DataType::ListView(item) | DataType::LargeListView(item) => {
                Self::array_of(Self::of(item.data_type()))
            }
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::RunEndEncoded(_, values) => Self::of(values.data_type()),
            _ => Self::plain(25),
        }
    }

    fn plain(oid: i32) -> Self {
        let known = TYPES.iter().find(|(known, ..)| *known == oid);
        let (oid, _, size, by_value, standard_name, short_name) = known.copied().unwrap_or((25, 1009, -1, false, "text", "text"));
        Self { oid, size, modifier: -1, dimensions: 0, by_value, standard_name, array: false, short_name }
    }

    fn numeric(precision: u8, scale: i8) -> Self {
        let modifier = ((i32::from(precision) << 16) | (i32::from(scale) & 0x7ff)) + 4;
        Self { modifier, ..Self::plain(1700) }
    }

    fn array_of(element: Self) -> Self {
        let oid = TYPES.iter().find(|(known, ..)| *known == element.oid).map_or(element.oid, |(_, array, ..)| *array);
        Self { oid, size: -1, dimensions: element.dimensions + 1, by_value: false, standard_name: "ARRAY", array: true, ..element }
    }

    /// Digits and scale of a numeric.
    pub fn digits(self) -> Option<(i64, i64)> {
        let packed = (self.modifier != -1).then_some(self.modifier - 4)?;
        let scale = packed & 0x7ff;
        Some((i64::from(packed >> 16), i64::from(if scale > 1023 { scale - 2048 } else { scale })))
    }

    /// The name in `pg_type`.
    pub fn type_name(self) -> String {
        if self.array { format!("_{}", self.short_name) } else { self.short_name.to_owned() }
    }

    /// As `\d` shows it: `numeric(12,2)`, `timestamp with time zone`, `text[]`.
    pub fn display(self) -> String {
        let (_, _, _, _, standard, _) = TYPES.into_iter().find(|(.., short)| *short == self.short_name).unwrap_or((25, 1009, -1, false, "text", "text"));
        let digits = self.digits().map(|(precision, scale)| format!("({precision},{scale})")).unwrap_or_default();
        format!("{standard}{digits}{}", "[]".repeat(usize::from(self.array)))
    }

    /// The oid of the default collation for text, else 0.
    pub fn collation(self) -> i32 {
        if [25, 1009].contains(&self.oid) { 100 } else { 0 }
    }
}

/// The oid of a type by its standard name: `integer`, `timestamp with time zone`.
pub(super) fn standard_oid(name: &str) -> Option<i32> {
    TYPES.iter().find(|(.., standard, _)| *standard == name).map(|(oid, ..)| *oid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::Field;
    use std::sync::Arc;

    #[test]
    fn numerics_carry_their_digits_also_in_arrays() {
        let money = ColumnType::of(&DataType::Decimal128(12, 2));
        assert_eq!((money.oid, money.modifier, money.digits()), (1700, 786_438, Some((12, 2))));
        assert_eq!(ColumnType::of(&DataType::Decimal128(5, -3)).digits(), Some((5, -3)));
        let list = ColumnType::of(&DataType::List(Arc::new(Field::new("item", DataType::Decimal128(12, 2), true))));
        assert_eq!((list.oid, list.modifier, list.type_name().as_str()), (1231, 786_438, "_numeric"));
        assert_eq!((money.display().as_str(), list.display().as_str()), ("numeric(12,2)", "numeric(12,2)[]"));
        assert_eq!(ColumnType::of(&DataType::UInt64).display(), "numeric(20,0)");
        assert_eq!(ColumnType::of(&DataType::Int32).display(), "integer");
    }
}
