// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for PostgreSQL: exact names and typed literals that leave the column, and so its index, alone.

use super::mapping::{base_type, cased, padded};
use crate::hex::hex;
use crate::{Column, Comparison, Dialect, KeysMax, Operand, Pattern, Term};
use arrow::datatypes::DataType;
use weir_base::{CalendarDay, DAY_MICROS, Error, ErrorCode, Result};

#[derive(Debug)]
pub struct PostgresDialect;

impl Dialect for PostgresDialect {
    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn literal(&self, value: Operand<'_>, data_type: &DataType) -> Result<String> {
        match value {
            Operand::Bool(value) => Ok(if value { "true" } else { "false" }.to_owned()),
            Operand::Int(value) => integer(value, data_type),
            Operand::Float(value) => Ok(float(value, data_type)),
            Operand::Decimal(unscaled) => decimal(unscaled, data_type),
            Operand::Text(text) => Ok(format!("{}::text", quoted(text)?)),
            Operand::Bytes(bytes) => Ok(format!("'\\x{}'::bytea", hex(bytes))),
            Operand::Date(days) => {
                Ok(format!("'{}'::date", infinity(i64::from(days), (i32::MIN.into(), i32::MAX.into())).unwrap_or_else(|| date(i64::from(days)))))
            }
            Operand::Time(micros) => Ok(format!("'{}'::time", time(micros))),
            Operand::Timestamp(micros) => Ok(timestamp(micros, data_type)),
        }
    }

    fn literal_for(&self, value: Operand<'_>, column: &Column) -> Result<String> {
        match value {
            // Beside an enum a bare literal is read as one of its labels, whatever schema its type is in.
            Operand::Text(text) if column.labels.is_some() => quoted(text),
            // So is one beside a citext; as a text it would make a text of the column, which no index is over.
            Operand::Text(text) if cased(column) => quoted(text),
            Operand::Text(text) if padded(column) => Ok(format!("{}::bpchar", quoted(text)?)),
            Operand::Text(text) if base_type(&column.native_type) == "uuid" => Ok(format!("{}::uuid", quoted(text)?)),
            Operand::Int(oid) if base_type(&column.native_type) == "oid" => Ok(format!("'{oid}'::oid")),
            _ => self.literal(value, &column.data_type),
        }
    }

    fn array(&self, values: &[Operand<'_>], column: &Column) -> Option<String> {
        let word = match (&column.data_type, base_type(&column.native_type)) {
            (DataType::Int16, _) => "::int2[]",
            (DataType::Int32, _) => "::int4[]",
            (DataType::Int64, native) if native != "oid" => "::int8[]",
            (DataType::Utf8, "uuid") => "::uuid[]",
            (DataType::Utf8, _) if padded(column) => "::bpchar[]",
            (DataType::Utf8, _) if cased(column) => "",
            (DataType::Utf8, _) if column.read_as.is_none() => "::text[]",
            _ => return None,
        };
        let element = |value: &Operand<'_>| match value {
            Operand::Int(value) => Some(value.to_string()),
            Operand::Text(text) => Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
            _ => None,
        };
        let elements = values.iter().map(element).collect::<Option<Vec<String>>>()?;
        Some(format!("{}{word}", quoted(&format!("{{{}}}", elements.join(","))).ok()?))
    }

    /// `get_bit` fails beyond the last bit, and a CASE is computed in its order.
    fn in_bits(&self, term: &Term, low: i64, high: i64, set: &[u8]) -> Option<String> {
        let whole = matches!(term.meaning.data_type, DataType::Int16 | DataType::Int32 | DataType::Int64);
        if !whole || base_type(&term.meaning.native_type) == "oid" || i32::try_from(i128::from(high) - i128::from(low)).is_err() {
            return None;
        }
        let value = format!("{}::int8", term.sql);
        let bounds = format!("'{low}'::int8 AND '{high}'::int8");
        Some(format!("CASE WHEN {value} BETWEEN {bounds} THEN get_bit('\\x{}'::bytea, ({value} - '{low}'::int8)::int4) = 1 ELSE false END", hex(set)))
    }

    /// An array is one value, hashed by the server; a text may have a gigabyte.
    fn keys_max(&self) -> KeysMax {
        KeysMax { list: usize::MAX, text_bytes: 64 * 1024 * 1024, rows_a_key: 1.0, rows_a_bit: 0.5 }
    }

    /// Arrays hold NULLs equal, and unlike an OR their equality can be hashed.
    fn same_or_missing(&self, left: &Term, right: &Term) -> Option<Comparison> {
        let text = |term: &Term| term.meaning.read_as.is_none() || padded(&term.meaning);
        let form = match &left.meaning.data_type {
            DataType::Int16 | DataType::Int32 | DataType::Int64 => "::int8",
            DataType::Utf8 if text(left) && left.meaning.collation != right.meaning.collation => "::text COLLATE \"C\"",
            DataType::Utf8 if text(left) => "::text",
            _ => "",
        };
        Some(Comparison::whole(format!("ARRAY[{}{form}] = ARRAY[{}{form}]", left.sql, right.sql)))
    }

    fn hashes_missing(&self) -> bool {
        true
    }

    fn has_grouping_sets(&self) -> bool {
        true
    }

    fn planned_apart(&self) -> &'static str {
        " OFFSET 0"
    }

    fn joins_fully(&self) -> bool {
        true
    }

    fn missing(&self, data_type: &DataType) -> Option<String> {
        super::functions::word(data_type).ok().map(|word| format!("NULL::{word}"))
    }

    fn has_booleans(&self) -> bool {
        true
    }

    fn as_text(&self, quoted: &str) -> String {
        format!("{quoted}::text")
    }

    /// A `char(n)` would be matched with the blanks that fill it up.
    fn like(&self, term: &Term, pattern: Pattern<'_>) -> Result<String> {
        let escape = quoted(pattern.escape.encode_utf8(&mut [0; 4]))?;
        let form = if padded(&term.meaning) { "::text" } else { "" };
        Ok(format!("{}{form} LIKE {}::text ESCAPE {escape}::text", term.sql, quoted(pattern.text)?))
    }

    fn bytewise(&self, quoted: &str) -> Option<String> {
        Some(format!("{quoted} COLLATE \"C\""))
    }
}

/// Small non-negative numbers stay plain, because people read them in plans; the type stands where it is not `int4`.
fn integer(value: i128, data_type: &DataType) -> Result<String> {
    let (word, fits) = match data_type {
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => ("int2", i16::try_from(value).is_ok()),
        DataType::Int32 | DataType::UInt16 => ("int4", i32::try_from(value).is_ok()),
        DataType::Int64 | DataType::UInt32 => ("int8", i64::try_from(value).is_ok()),
        _ => ("numeric", true),
    };
    if !fits {
        return Err(Error::new(ErrorCode::BadValue, "integer does not fit its type").with_detail(format!("the type is {data_type}")));
    }
    Ok(match word {
        "int4" if value >= 0 => value.to_string(),
        _ => format!("'{value}'::{word}"),
    })
}

/// The shortest text that reads back as the same float.
fn float(value: f64, data_type: &DataType) -> String {
    let word = if matches!(data_type, DataType::Float32) { "float4" } else { "float8" };
    let text = if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if word == "float4" {
        format!("{:e}", value as f32)
    } else {
        format!("{value:e}")
    };
    format!("'{text}'::{word}")
}

fn decimal(unscaled: i128, data_type: &DataType) -> Result<String> {
    let (DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale)) = data_type else {
        return Err(Error::internal("decimal literal for a type that is none").with_detail(data_type.to_string()));
    };
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = unscaled.unsigned_abs().to_string();
    let text = match usize::try_from(*scale) {
        Ok(0) => digits,
        Ok(scale) => {
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let (whole, part) = padded.split_at(padded.len() - scale);
            format!("{whole}.{part}")
        }
        Err(_) => format!("{digits}{}", "0".repeat(usize::from(scale.unsigned_abs()))),
    };
    Ok(if sign.is_empty() && text.contains('.') { text } else { format!("'{sign}{text}'::numeric") })
}

/// A text in quotes. A backslash takes the `E''` form, which means the same whatever `standard_conforming_strings` says.
/// Error: 22P02 for a NUL, which PostgreSQL cannot hold.
fn quoted(text: &str) -> Result<String> {
    if text.contains('\0') {
        return Err(Error::new(ErrorCode::BadValue, "text with a NUL character").with_detail("PostgreSQL cannot hold one, so nothing equals it"));
    }
    let doubled = text.replace('\'', "''");
    Ok(if doubled.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") })
}

fn dated(days: i64, clock: &str) -> String {
    let CalendarDay { year, month, day } = CalendarDay::from_days(days);
    let (shown, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    format!("{shown:04}-{month:02}-{day:02}{clock}{era}")
}

fn date(days: i64) -> String {
    dated(days, "")
}

fn time(micros: i64) -> String {
    let (seconds, part) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if part == 0 { clock } else { format!("{clock}.{part:06}") }
}

fn timestamp(micros: i64, data_type: &DataType) -> String {
    let zoned = matches!(data_type, DataType::Timestamp(_, Some(_)));
    let (zone, word) = if zoned { ("+00", "timestamptz") } else { ("", "timestamp") };
    let finite = || {
        let clock = time(micros.rem_euclid(DAY_MICROS));
        dated(micros.div_euclid(DAY_MICROS), &format!(" {clock}{zone}"))
    };
    format!("'{}'::{word}", infinity(micros, (i64::MIN, i64::MAX)).unwrap_or_else(finite))
}

/// The extremes are the infinities.
fn infinity(value: i64, extremes: (i64, i64)) -> Option<String> {
    match value {
        value if value == extremes.0 => Some("-infinity".to_owned()),
        value if value == extremes.1 => Some("infinity".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    fn literal(value: Operand<'_>, data_type: &DataType) -> String {
        PostgresDialect.literal(value, data_type).unwrap()
    }

    #[test]
    fn keys_as_bits_need_whole_numbers_that_are_close() {
        let column = |data_type: DataType| Term::computed("\"id\"", "bigint", data_type, true);
        let bits = |data_type, low, high| PostgresDialect.in_bits(&column(data_type), low, high, &[0b101, 0xf0]);
        assert_eq!(
            bits(DataType::Int64, -3, 12).as_deref(),
            Some(
                "CASE WHEN \"id\"::int8 BETWEEN '-3'::int8 AND '12'::int8 \
                 THEN get_bit('\\x05f0'::bytea, (\"id\"::int8 - '-3'::int8)::int4) = 1 ELSE false END"
            )
        );
        assert_eq!((bits(DataType::Utf8, 0, 15), bits(DataType::Int64, i64::MIN, i64::MAX)), (None, None));
    }

    #[test]
    fn names_and_texts_cannot_break_out() {
        assert_eq!(PostgresDialect.table("public", "My\"Table"), "\"public\".\"My\"\"Table\"");
        assert_eq!(literal(Operand::Text("it's"), &DataType::Utf8), "'it''s'::text");
        assert_eq!(literal(Operand::Text("a\\'; drop"), &DataType::Utf8), "E'a\\\\''; drop'::text");
        assert_eq!(PostgresDialect.literal(Operand::Text("a\0b"), &DataType::Utf8).unwrap_err().code(), ErrorCode::BadValue);
    }

    #[test]
    fn numbers_carry_their_type() {
        assert_eq!(literal(Operand::Int(5), &DataType::Int32), "5");
        assert_eq!(literal(Operand::Int(-5), &DataType::Int32), "'-5'::int4");
        assert_eq!(literal(Operand::Int(i64::MIN.into()), &DataType::Int64), "'-9223372036854775808'::int8");
        assert_eq!(literal(Operand::Decimal(1250), &DataType::Decimal128(12, 2)), "12.50");
        assert_eq!(literal(Operand::Decimal(-5), &DataType::Decimal128(12, 2)), "'-0.05'::numeric");
        assert_eq!(literal(Operand::Decimal(7), &DataType::Decimal128(12, 0)), "'7'::numeric");
        assert_eq!(literal(Operand::Float(0.1), &DataType::Float64), "'1e-1'::float8");
        assert_eq!(literal(Operand::Float(f64::from(0.1_f32)), &DataType::Float32), "'1e-1'::float4");
    }

    #[test]
    fn moments_are_right_in_every_era() {
        let plain = DataType::Timestamp(TimeUnit::Microsecond, None);
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert_eq!(literal(Operand::Date(0), &DataType::Date32), "'1970-01-01'::date");
        assert_eq!(literal(Operand::Date(-2_440_588), &DataType::Date32), "'4714-11-24 BC'::date");
        assert_eq!(literal(Operand::Date(-719_163), &DataType::Date32), "'0001-12-31 BC'::date");
        assert_eq!(literal(Operand::Date(i32::MAX), &DataType::Date32), "'infinity'::date");
        assert_eq!(literal(Operand::Timestamp(i64::MIN), &zoned), "'-infinity'::timestamptz");
        assert_eq!(literal(Operand::Timestamp(-1), &plain), "'1969-12-31 23:59:59.999999'::timestamp");
        assert_eq!(literal(Operand::Timestamp(253_402_300_799_000_000), &zoned), "'9999-12-31 23:59:59+00'::timestamptz");
        assert_eq!(literal(Operand::Time(86_399_999_999), &DataType::Time64(TimeUnit::Microsecond)), "'23:59:59.999999'::time");
    }
}
