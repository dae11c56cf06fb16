// SPDX-License-Identifier: Apache-2.0
//! Parameters from the Postgres wire, in text or binary, to values that are bound and never become part of a text.

use crate::values::calendar::{POSTGRES_EPOCH_DAYS, POSTGRES_EPOCH_MICROS, parse_offset};
use crate::values::digits::read_numeric;
use crate::values::json::put_uuid;
use crate::values::kind;
use weir_api::Parameter;
use weir_base::{CalendarDay, DAY_MICROS, Error, ErrorCode, Result, bytea};

/// Reads parameter `number` (from 1) of type `oid` in the format the client chose. Errors: 22P02, 0A000; no value in them.
pub fn read(number: usize, oid: u32, binary: bool, bytes: Option<&[u8]>) -> Result<Parameter> {
    let Some(bytes) = bytes else { return Ok(Parameter::Null) };
    if binary {
        return read_binary(oid, bytes).map_err(|fault| told(fault, number, oid));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| told(Fault::Invalid, number, oid))?;
    match kind::element_of_array(oid) {
        Some(element) => read_array(element, text).map_err(|fault| told(fault, number, oid)),
        None => read_text(oid, text).ok_or_else(|| told(Fault::Invalid, number, oid)),
    }
}

/// `{1,2,NULL}`: each item as if it had come alone.
fn read_array(element: u32, text: &str) -> Result<Parameter, Fault> {
    if text.trim_start().starts_with("{{") {
        return Err(Fault::Nested);
    }
    let items = Parameter::array_items(text).ok_or(Fault::Invalid)?.into_iter();
    let read = |item: Option<String>| item.map_or(Some(Parameter::Null), |item| read_text(element, &item)).ok_or(Fault::Invalid);
    Ok(Parameter::Array { element: kind::item_type(element), items: items.map(read).collect::<Result<_, Fault>>()? })
}

/// Why bytes are no value.
enum Fault {
    Invalid,
    Unsupported,
    /// An array in an array.
    Nested,
}

fn told(fault: Fault, number: usize, oid: u32) -> Error {
    let name = kind::element_of_array(oid).map_or_else(|| kind::Kind::plain(oid), |element| kind::Kind { array: true, ..kind::Kind::plain(element) }).name();
    let place = format!("parameter ${number} of type {name} (oid {oid})");
    match fault {
        Fault::Invalid => Error::new(ErrorCode::BadValue, "a parameter does not fit its type").with_detail(place),
        Fault::Nested => Error::new(ErrorCode::Unsupported, "arrays of more than one dimension are not taken as parameters").with_detail(place),
        Fault::Unsupported => {
            Error::new(ErrorCode::Unsupported, "a binary parameter of this type is not understood").with_detail(place).with_hint("send it as text")
        }
    }
}

fn read_text(oid: u32, text: &str) -> Option<Parameter> {
    Some(match oid {
        kind::BOOL => Parameter::Bool(read_bool(text.trim())?),
        kind::INT2 => Parameter::Int(text.trim().parse::<i16>().ok()?.into()),
        kind::INT4 => Parameter::Int(text.trim().parse::<i32>().ok()?.into()),
        kind::INT8 => Parameter::Int(text.trim().parse().ok()?),
        kind::OID => Parameter::Int(text.trim().parse::<u32>().ok()?.into()),
        kind::FLOAT4 | kind::FLOAT8 => Parameter::Float(read_float(text.trim())?),
        kind::NUMERIC => read_decimal(text.trim())?,
        kind::BYTEA => Parameter::Bytes(bytea::read(text)?),
        kind::DATE => read_date(text)
            .map_or_else(|| Parameter::Text(text.into()), |days| i32::try_from(days).map_or_else(|_| Parameter::Text(text.into()), Parameter::Date)),
        kind::TIMESTAMP => {
            read_timestamp(text).filter(|(_, offset)| offset.is_none()).map_or_else(|| Parameter::Text(text.into()), |(micros, _)| Parameter::Timestamp(micros))
        }
        kind::TIMESTAMPTZ => match read_timestamp(text) {
            Some((micros, Some(offset))) => Parameter::TimestampUtc(micros - i64::from(offset) * 1_000_000),
            _ => Parameter::Text(text.into()),
        },
        kind::UUID => Parameter::Text(read_uuid(text.trim())?),
        kind::INTERVAL => Parameter::IntervalText(text.to_owned()),
        _ => Parameter::Text(text.to_owned()),
    })
}

/// In any of the spellings that Postgres takes, as the one that it shows.
fn read_uuid(text: &str) -> Option<String> {
    let digits = text.strip_prefix('{').map_or(Some(text), |rest| rest.strip_suffix('}'))?.replace('-', "");
    let bytes: [u8; 16] = bytea::read_hex(&digits).filter(|_| digits.len() == 32)?.try_into().ok()?;
    Some(uuid(&bytes))
}

fn read_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "on" | "yes" | "y" | "1" => Some(true),
        "f" | "false" | "off" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

fn read_float(text: &str) -> Option<f64> {
    let plausible = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "infinity" | "inf" | "+infinity" => Some(f64::INFINITY),
        "-infinity" | "-inf" => Some(f64::NEG_INFINITY),
        _ if plausible => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// Digits stay digits; NaN and the infinities have no decimal and go as floats.
fn read_decimal(text: &str) -> Option<Parameter> {
    let number = read_float(text)?;
    Some(if number.is_finite() { Parameter::Decimal(text.to_owned()) } else { Parameter::Float(number) })
}

fn whole(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let plain = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// `2026-11-30` as days since 1970-01-01.
fn read_date(text: &str) -> Option<i64> {
    let mut parts = text.trim().splitn(3, '-');
    let (year, month, day) = (whole(parts.next()?, 4..=6)?, whole(parts.next()?, 2..=2)?, whole(parts.next()?, 2..=2)?);
    CalendarDay { year, month: month.try_into().ok()?, day: day.try_into().ok()? }.days()
}

/// `18:36:18.123456` as microseconds since midnight.
fn read_time(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').map_or((text, "0"), |(clock, fraction)| (clock, fraction));
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (whole(parts.next()?, 2..=2)?, whole(parts.next()?, 2..=2)?);
    let second = parts.next().map_or(Some(0), |second| whole(second, 2..=2))?;
    let micros = whole(fraction, 1..=6)? * 10_i64.pow(6 - fraction.len() as u32);
    (hour < 24 && minute < 60 && second < 60).then_some(((hour * 60 + minute) * 60 + second) * 1_000_000 + micros)
}

/// Microseconds as written, and the offset in seconds where one is written.
fn read_timestamp(text: &str) -> Option<(i64, Option<i32>)> {
    let text = text.trim();
    let (date, clock) = text.split_at_checked(text.find([' ', 'T'])?)?;
    let clock = &clock[1..];
    let (clock, offset) = match clock.find(['+', '-', 'Z']) {
        Some(at) if &clock[at..] == "Z" => (&clock[..at], Some(0)),
        Some(at) => (&clock[..at], Some(parse_offset(&clock[at..])?)),
        None => (clock, None),
    };
    Some((read_date(date)? * DAY_MICROS + read_time(clock)?, offset))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Fault> {
    bytes.try_into().map_err(|_| Fault::Invalid)
}

fn read_binary(oid: u32, bytes: &[u8]) -> Result<Parameter, Fault> {
    Ok(match oid {
        kind::BOOL => Parameter::Bool(fixed::<1>(bytes)?[0] != 0),
        kind::INT2 => Parameter::Int(i16::from_be_bytes(fixed(bytes)?).into()),
        kind::INT4 => Parameter::Int(i32::from_be_bytes(fixed(bytes)?).into()),
        kind::INT8 => Parameter::Int(i64::from_be_bytes(fixed(bytes)?)),
        kind::OID => Parameter::Int(u32::from_be_bytes(fixed(bytes)?).into()),
        kind::FLOAT4 => Parameter::Float(f32::from_be_bytes(fixed(bytes)?).into()),
        kind::FLOAT8 => Parameter::Float(f64::from_be_bytes(fixed(bytes)?)),
        kind::NUMERIC => read_numeric(bytes).as_deref().and_then(read_decimal).ok_or(Fault::Invalid)?,
        kind::BYTEA => Parameter::Bytes(bytes.to_vec()),
        kind::DATE => read_binary_date(i32::from_be_bytes(fixed(bytes)?)),
        kind::TIME => Parameter::Time(i64::from_be_bytes(fixed(bytes)?)),
        kind::TIMESTAMP => read_binary_timestamp(i64::from_be_bytes(fixed(bytes)?), Parameter::Timestamp)?,
        kind::TIMESTAMPTZ => read_binary_timestamp(i64::from_be_bytes(fixed(bytes)?), Parameter::TimestampUtc)?,
        kind::INTERVAL => read_binary_interval(fixed(bytes)?)?,
        kind::UUID => Parameter::Text(uuid(&fixed::<16>(bytes)?)),
        kind::JSONB => text(bytes.strip_prefix(&[1]).ok_or(Fault::Invalid)?)?,
        0 | kind::TEXT | kind::VARCHAR | kind::BPCHAR | kind::NAME | kind::CHAR | kind::JSON | kind::UNKNOWN => text(bytes)?,
        _ => match kind::element_of_array(oid) {
            Some(element) => read_binary_array(element, bytes)?,
            None => return Err(Fault::Unsupported),
        },
    })
}

fn text(bytes: &[u8]) -> Result<Parameter, Fault> {
    std::str::from_utf8(bytes).map(|text| Parameter::Text(text.to_owned())).map_err(|_| Fault::Invalid)
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut out = Vec::with_capacity(36);
    put_uuid(bytes, &mut out);
    out.into_iter().map(char::from).collect()
}

fn read_binary_date(days: i32) -> Parameter {
    match days {
        i32::MAX => Parameter::Text("infinity".into()),
        i32::MIN => Parameter::Text("-infinity".into()),
        _ => Parameter::Date(days.saturating_add(POSTGRES_EPOCH_DAYS as i32)),
    }
}

fn read_binary_timestamp(micros: i64, make: fn(i64) -> Parameter) -> Result<Parameter, Fault> {
    match micros {
        i64::MAX => Ok(Parameter::Text("infinity".into())),
        i64::MIN => Ok(Parameter::Text("-infinity".into())),
        _ => micros.checked_add(POSTGRES_EPOCH_MICROS).map(make).ok_or(Fault::Invalid),
    }
}

/// Microseconds, days, months.
fn read_binary_interval(bytes: [u8; 16]) -> Result<Parameter, Fault> {
    let (micros, rest) = bytes.split_at(8);
    let (days, months) = rest.split_at(4);
    let (days, months) = (i32::from_be_bytes(fixed(days)?), i32::from_be_bytes(fixed(months)?));
    Ok(Parameter::Interval { months, days, micros: i64::from_be_bytes(fixed(micros)?) })
}

/// Dimensions, whether there are NULLs, the element's type, then size and lower bound of each dimension, then the items.
fn read_binary_array(declared: u32, bytes: &[u8]) -> Result<Parameter, Fault> {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map(i32::from_be_bytes).ok_or(Fault::Invalid);
    let (dimensions, element) = (word(0)?, word(8)?.cast_unsigned());
    let mut items = Vec::new();
    match dimensions {
        0 => return Ok(Parameter::Array { element: kind::item_type(declared), items }),
        1 => {}
        _ => return Err(Fault::Nested),
    }
    let mut at = 20;
    for _ in 0..word(12)? {
        let length = word(at)?;
        at += 4;
        let Ok(length) = usize::try_from(length) else {
            items.push(Parameter::Null);
            continue;
        };
        let item = bytes.get(at..at.saturating_add(length)).ok_or(Fault::Invalid)?;
        at += length;
        items.push(read_binary(element, item)?);
    }
    Ok(Parameter::Array { element: kind::item_type(element), items })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_parameters_of_declared_types() {
        let read = |oid, text: &str| read(1, oid, false, Some(text.as_bytes()));
        assert_eq!(read(kind::INT4, "5").unwrap(), Parameter::Int(5));
        assert_eq!(read(kind::INT2, "70000").unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(read(kind::NUMERIC, "12.50").unwrap(), Parameter::Decimal("12.50".into()));
        assert_eq!(read(kind::BYTEA, "\\x00ff").unwrap(), Parameter::Bytes(vec![0, 255]));
        assert_eq!(read(kind::BYTEA, "a\\\\\\001").unwrap(), Parameter::Bytes(vec![b'a', b'\\', 1]));
        assert_eq!(read(kind::DATE, "2026-11-30").unwrap(), Parameter::Date(20_787));
        assert_eq!(read(kind::TIMESTAMPTZ, "2026-11-30 19:36:18.123456+01").unwrap(), Parameter::TimestampUtc(1_796_063_778_123_456));
        assert_eq!(read(kind::TIMESTAMP, "yesterday").unwrap(), Parameter::Text("yesterday".into()));
        for spelled in ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "a0eebc999c0b4ef8bb6d6bb9bd380a11"] {
            assert_eq!(read(kind::UUID, spelled).unwrap(), Parameter::Text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11".into()));
        }
        assert_eq!(read(kind::UUID, "a0eebc99").unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(read(0, "x").unwrap(), Parameter::Text("x".into()));
    }

    #[test]
    fn binary_parameters() {
        assert_eq!(read(1, kind::INT8, true, Some(&7_i64.to_be_bytes())).unwrap(), Parameter::Int(7));
        assert_eq!(read(1, kind::DATE, true, Some(&0_i32.to_be_bytes())).unwrap(), Parameter::Date(10_957));
        assert_eq!(read(1, kind::INT4, true, Some(&[1])).unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(read(1, 600, true, Some(&[0; 16])).unwrap_err().code(), ErrorCode::Unsupported);
        let interval = [&(-5_i64).to_be_bytes()[..], &3_i32.to_be_bytes(), &14_i32.to_be_bytes()].concat();
        assert_eq!(read(1, kind::INTERVAL, true, Some(&interval)).unwrap(), Parameter::Interval { months: 14, days: 3, micros: -5 });
        assert_eq!(read(1, kind::INTERVAL, true, Some(&[0; 15])).unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(read(1, kind::INTERVAL, false, Some(b"1 day")).unwrap(), Parameter::IntervalText("1 day".into()));
        let array = [
            &1_i32.to_be_bytes()[..],
            &1_i32.to_be_bytes(),
            &23_i32.to_be_bytes(),
            &2_i32.to_be_bytes(),
            &1_i32.to_be_bytes(),
            &4_i32.to_be_bytes(),
            &5_i32.to_be_bytes(),
            &(-1_i32).to_be_bytes(),
        ]
        .concat();
        let expected = Parameter::Array { element: arrow::datatypes::DataType::Int32, items: vec![Parameter::Int(5), Parameter::Null] };
        assert_eq!(read(1, 1007, true, Some(&array)).unwrap(), expected);
        assert_eq!(read(1, 1007, false, Some(b"{5,NULL}")).unwrap(), expected);
        assert_eq!(read(1, 1007, false, Some(b"{5,x}")).unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(read(1, 1007, false, Some(b"{{5},{6}}")).unwrap_err().code(), ErrorCode::Unsupported);
        assert_eq!(read(1, 1009, true, Some(&[0; 12])).unwrap(), Parameter::Array { element: arrow::datatypes::DataType::Utf8, items: vec![] });
        assert_eq!(read(2, kind::TEXT, true, None).unwrap(), Parameter::Null);
    }
}
