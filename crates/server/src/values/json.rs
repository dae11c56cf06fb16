// SPDX-License-Identifier: Apache-2.0
//! Values as JSON: whole numbers exact at any size, decimals as strings, ISO 8601 for time, base64 for bytes.

use crate::values::calendar::{put_iso_date, put_iso_interval, put_iso_timestamp, put_time};
use crate::values::column::{Cells, Column};
use crate::values::digits::{put_decimal, put_f32, put_f64, put_hex, put_i64, put_u64};
use crate::values::kind::UUID;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use weir_base::{Error, Result};

/// Appends the value in a row, or `null`.
pub fn put(cells: &Cells, row: usize, out: &mut Vec<u8>) -> Result<()> {
    if cells.is_null(row) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    match &cells.column {
        Column::Null => out.extend_from_slice(b"null"),
        Column::Bool(array) => out.extend_from_slice(if array.value(row) { b"true" } else { b"false" }),
        Column::Int(read) => put_i64(read(row)?, out),
        Column::Unsigned(array) => put_u64(array.value(row), out),
        Column::Float32(read) => put_float(read(row)?.is_finite(), read(row)?, put_f32, out),
        Column::Float64(read) => put_float(read(row)?.is_finite(), read(row)?, put_f64, out),
        Column::Text(texts) => put_string(texts.value(row), out)?,
        Column::List { range, items } => put_list(range(row)?, items, out)?,
        Column::Struct(parts) => put_struct(parts, row, out)?,
        Column::Map { range, keys, values } => put_map(range(row)?, keys, values, out)?,
        _ => {
            out.push(b'"');
            put_quoted(cells, row, out)?;
            out.push(b'"');
        }
    }
    Ok(())
}

/// What stands between quotation marks and never needs an escape.
fn put_quoted(cells: &Cells, row: usize, out: &mut Vec<u8>) -> Result<()> {
    match &cells.column {
        Column::Decimal { unscaled, scale } => put_decimal(&unscaled(row)?, *scale, out),
        Column::Bytes(blobs) if cells.kind.element == UUID => put_uuid(blobs.value(row), out),
        Column::Bytes(blobs) => out.extend_from_slice(STANDARD.encode(blobs.value(row)).as_bytes()),
        Column::Date(read) => put_iso_date(read(row)?, out),
        Column::Time(read) => put_time(read(row)?, out),
        Column::Timestamp { micros, utc } => put_iso_timestamp(micros(row)?, *utc, out),
        Column::Interval(read) => put_iso_interval(read(row)?, out),
        _ => return Err(Error::internal("a value that JSON does not quote")),
    }
    Ok(())
}

/// JSON has no NaN and no infinities: they are strings.
fn put_float<F>(finite: bool, number: F, put_number: fn(F, &mut Vec<u8>), out: &mut Vec<u8>) {
    if finite {
        return put_number(number, out);
    }
    out.push(b'"');
    put_number(number, out);
    out.push(b'"');
}

/// `8-4-4-4-12` hexadecimal digits.
pub fn put_uuid(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    for (index, length) in [4, 2, 2, 2, 6].into_iter().enumerate() {
        if index > 0 {
            out.push(b'-');
        }
        let (part, after) = rest.split_at(length.min(rest.len()));
        put_hex(part, out);
        rest = after;
    }
}

/// A JSON string with its escapes.
pub fn put_string(text: &str, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, text).map_err(|error| Error::internal("text could not be written as JSON").with_detail(error.to_string()))
}

fn put_list(range: std::ops::Range<usize>, items: &Cells, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'[');
    for index in range.clone() {
        if index > range.start {
            out.push(b',');
        }
        put(items, index, out)?;
    }
    out.push(b']');
    Ok(())
}

fn put_struct(parts: &[(String, Cells)], row: usize, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'{');
    for (index, (name, cells)) in parts.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put_string(name, out)?;
        out.push(b':');
        put(cells, row, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn put_map(range: std::ops::Range<usize>, keys: &Cells, values: &Cells, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'{');
    for index in range.clone() {
        if index > range.start {
            out.push(b',');
        }
        put_key(keys, index, out)?;
        out.push(b':');
        put(values, index, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Keys of objects are strings, whatever the key's type.
fn put_key(keys: &Cells, index: usize, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    put(keys, index, out)?;
    if out.get(start) == Some(&b'"') {
        return Ok(());
    }
    let bare = String::from_utf8_lossy(&out[start..]).into_owned();
    out.truncate(start);
    put_string(&bare, out)
}
