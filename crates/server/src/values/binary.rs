// SPDX-License-Identifier: Apache-2.0
//! Values in Postgres binary format.

use crate::values::calendar::{Interval, POSTGRES_EPOCH_DAYS, POSTGRES_EPOCH_MICROS};
use crate::values::column::{Cells, Column};
use crate::values::digits::put_numeric;
use crate::values::json;
use crate::values::kind::{INT2, INT4};
use crate::values::text::{dimensions, put_text};
use std::ops::Range;
use weir_base::{Error, ErrorCode, Result};

/// Appends the value in a row, which must not be null.
pub fn put(cells: &Cells, row: usize, out: &mut Vec<u8>) -> Result<()> {
    match &cells.column {
        Column::Null => {}
        Column::Bool(array) => out.push(u8::from(array.value(row))),
        Column::Int(read) => put_int(read(row)?, cells.kind.element, out)?,
        Column::Unsigned(array) => put_numeric(&array.value(row).to_string(), 0, out),
        Column::Float32(read) => out.extend_from_slice(&read(row)?.to_be_bytes()),
        Column::Float64(read) => out.extend_from_slice(&read(row)?.to_be_bytes()),
        Column::Decimal { unscaled, scale } => put_numeric(&unscaled(row)?, *scale, out),
        Column::Text(texts) => put_text(texts.value(row), out)?,
        Column::Bytes(blobs) => out.extend_from_slice(blobs.value(row)),
        Column::Date(read) => out.extend_from_slice(&days(read(row)?)?.to_be_bytes()),
        Column::Time(read) => out.extend_from_slice(&read(row)?.to_be_bytes()),
        Column::Timestamp { micros, .. } => out.extend_from_slice(&instant(micros(row)?)?.to_be_bytes()),
        Column::Interval(read) => put_interval(read(row)?, out),
        Column::List { range, items } => put_array(range(row)?, items, out)?,
        Column::Struct(_) | Column::Map { .. } => json::put(cells, row, out)?,
    }
    Ok(())
}

fn put_int(value: i64, oid: u32, out: &mut Vec<u8>) -> Result<()> {
    match oid {
        INT2 => out.extend_from_slice(&i16::try_from(value).map_err(|_| out_of_range("smallint"))?.to_be_bytes()),
        INT4 => out.extend_from_slice(&i32::try_from(value).map_err(|_| out_of_range("integer"))?.to_be_bytes()),
        _ => out.extend_from_slice(&value.to_be_bytes()),
    }
    Ok(())
}

fn out_of_range(what: &str) -> Error {
    Error::new(ErrorCode::ValueOutOfRange, format!("{what} out of range"))
}

/// Days since 2000-01-01; the two infinities stay what they are.
fn days(since_1970: i64) -> Result<i32> {
    let narrow = i32::try_from(since_1970).map_err(|_| out_of_range("date"))?;
    if narrow == i32::MAX || narrow == i32::MIN {
        return Ok(narrow);
    }
    i32::try_from(since_1970 - POSTGRES_EPOCH_DAYS).map_err(|_| out_of_range("date"))
}

/// Microseconds since 2000-01-01; the two infinities stay what they are.
fn instant(since_1970: i64) -> Result<i64> {
    if since_1970 == i64::MAX || since_1970 == i64::MIN {
        return Ok(since_1970);
    }
    since_1970.checked_sub(POSTGRES_EPOCH_MICROS).ok_or_else(|| out_of_range("timestamp"))
}

fn put_interval(interval: Interval, out: &mut Vec<u8>) {
    out.extend_from_slice(&interval.micros.to_be_bytes());
    out.extend_from_slice(&interval.days.to_be_bytes());
    out.extend_from_slice(&interval.months.to_be_bytes());
}

fn put_array(range: Range<usize>, items: &Cells, out: &mut Vec<u8>) -> Result<()> {
    let sizes = dimensions(range.clone(), items)?;
    let mut elements = Vec::new();
    let mut has_null = false;
    if !sizes.is_empty() {
        put_elements(range, items, &mut has_null, &mut elements)?;
    }
    put_count(sizes.len(), out)?;
    out.extend_from_slice(&i32::from(has_null).to_be_bytes());
    out.extend_from_slice(&items.kind.element.to_be_bytes());
    for size in sizes {
        put_count(size, out)?;
        out.extend_from_slice(&1_i32.to_be_bytes());
    }
    out.extend_from_slice(&elements);
    Ok(())
}

fn put_elements(range: Range<usize>, items: &Cells, has_null: &mut bool, out: &mut Vec<u8>) -> Result<()> {
    for index in range {
        if let Column::List { range: inner, items: inner_items } = &items.column {
            put_elements(inner(index)?, inner_items, has_null, out)?;
        } else if items.is_null(index) {
            *has_null = true;
            out.extend_from_slice(&(-1_i32).to_be_bytes());
        } else {
            put_sized(out, |out| put(items, index, out))?;
        }
    }
    Ok(())
}

fn put_count(count: usize, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(&i32::try_from(count).map_err(|_| out_of_range("array length"))?.to_be_bytes());
    Ok(())
}

/// Writes a value with its length in front. Error: 22003 when it is longer than the wire can say.
pub fn put_sized(out: &mut Vec<u8>, put_value: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    put_value(out)?;
    let length = i32::try_from(out.len() - start - 4).map_err(|_| out_of_range("value length"))?;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
