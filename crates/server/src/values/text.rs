// SPDX-License-Identifier: Apache-2.0
//! Values in Postgres text format.

use crate::values::calendar::{Zone, put_date, put_interval, put_time, put_timestamp, put_timestamp_in_zone};
use crate::values::column::{Cells, Column};
use crate::values::digits::{put_decimal, put_f32, put_f64, put_hex, put_i64, put_u64};
use crate::values::json;
use crate::values::kind::UUID;
use std::ops::Range;
use weir_base::{Error, ErrorCode, Result};

/// Appends the value in a row, which must not be null.
pub fn put(cells: &Cells, row: usize, zone: Zone, out: &mut Vec<u8>) -> Result<()> {
    match &cells.column {
        Column::Null => {}
        Column::Bool(array) => out.push(if array.value(row) { b't' } else { b'f' }),
        Column::Int(read) => put_i64(read(row)?, out),
        Column::Unsigned(array) => put_u64(array.value(row), out),
        Column::Float32(read) => put_f32(read(row)?, out),
        Column::Float64(read) => put_f64(read(row)?, out),
        Column::Decimal { unscaled, scale } => put_decimal(&unscaled(row)?, *scale, out),
        Column::Text(texts) => put_text(texts.value(row), out)?,
        Column::Bytes(blobs) if cells.kind.element == UUID => json::put_uuid(blobs.value(row), out),
        Column::Bytes(blobs) => {
            out.extend_from_slice(b"\\x");
            put_hex(blobs.value(row), out);
        }
        Column::Date(read) => put_date(read(row)?, out),
        Column::Time(read) => put_time(read(row)?, out),
        Column::Timestamp { micros, utc: false } => put_timestamp(micros(row)?, out),
        Column::Timestamp { micros, utc: true } => put_timestamp_in_zone(micros(row)?, zone, out)?,
        Column::Interval(read) => put_interval(read(row)?, out),
        Column::List { range, items } => put_array(range(row)?, items, zone, out)?,
        Column::Struct(_) | Column::Map { .. } => json::put(cells, row, out)?,
    }
    Ok(())
}

/// Postgres text cannot hold a zero byte, and clients that read C strings would cut there.
pub fn put_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    if text.as_bytes().contains(&0) {
        return Err(Error::new(ErrorCode::ValueOutOfRange, "text with a zero byte cannot go over the Postgres wire")
            .with_hint("replace it, such as with replace(column, chr(0), '')"));
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Sizes of each dimension, outermost first; empty for an empty array. Errors: 2202E in Postgres, for a ragged one.
pub fn dimensions(range: Range<usize>, items: &Cells) -> Result<Vec<usize>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let mut sizes = vec![range.len()];
    let Column::List { range: inner, items: inner_items } = &items.column else { return Ok(sizes) };
    let mut first: Option<Vec<usize>> = None;
    for index in range {
        let shape = if items.is_null(index) { Vec::new() } else { dimensions(inner(index)?, inner_items)? };
        if first.as_ref().is_some_and(|known| *known != shape) || (items.is_null(index)) {
            return Err(Error::new(ErrorCode::ValueOutOfRange, "nested lists of different lengths are no Postgres array")
                .with_hint("unnest the column, or read it over HTTP"));
        }
        first = Some(shape);
    }
    match first {
        Some(shape) if shape.is_empty() => Ok(Vec::new()),
        shape => {
            sizes.extend(shape.unwrap_or_default());
            Ok(sizes)
        }
    }
}

fn put_array(range: Range<usize>, items: &Cells, zone: Zone, out: &mut Vec<u8>) -> Result<()> {
    if dimensions(range.clone(), items)?.is_empty() {
        out.extend_from_slice(b"{}");
        return Ok(());
    }
    put_braces(range, items, zone, out)
}

fn put_braces(range: Range<usize>, items: &Cells, zone: Zone, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'{');
    for index in range.clone() {
        if index > range.start {
            out.push(b',');
        }
        match &items.column {
            Column::List { range: inner, items: inner_items } => put_braces(inner(index)?, inner_items, zone, out)?,
            _ if items.is_null(index) => out.extend_from_slice(b"NULL"),
            _ => {
                let mut element = Vec::new();
                put(items, index, zone, &mut element)?;
                put_element(&element, out);
            }
        }
    }
    out.push(b'}');
    Ok(())
}

fn put_element(element: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| b"{},\"\\".contains(byte) || byte.is_ascii_whitespace() || *byte == 0x0b;
    if !element.is_empty() && !element.eq_ignore_ascii_case(b"NULL") && !element.iter().any(special) {
        out.extend_from_slice(element);
        return;
    }
    out.push(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}
