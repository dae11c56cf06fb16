// SPDX-License-Identifier: Apache-2.0
//! Rows as COPY writes them: tab-separated text, CSV, and its binary form. HTTP answers in CSV are the same CSV.

use crate::values::binary::put_sized;
use crate::values::{Cells, Zone, binary, text};
use weir_base::Result;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyFormat {
    Text,
    Csv,
    Binary,
}

/// How rows are written. Delimiter, quote and escape are single bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyOptions {
    pub format: CopyFormat,
    pub header: bool,
    pub delimiter: u8,
    pub null: String,
    pub quote: u8,
    pub escape: u8,
    /// Quote every value that is not null (FORCE_QUOTE *).
    pub quote_all: bool,
}

impl CopyOptions {
    /// CSV with a header, as HTTP gives it.
    pub fn csv() -> Self {
        Self { format: CopyFormat::Csv, header: true, delimiter: b',', null: String::new(), quote: b'"', escape: b'"', quote_all: false }
    }
}

/// The bytes in front of the first row, if there are any.
pub fn put_prologue(options: &CopyOptions, names: &[&str], out: &mut Vec<u8>) {
    if options.format == CopyFormat::Binary {
        out.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        return;
    }
    if !options.header {
        return;
    }
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            out.push(options.delimiter);
        }
        put_field(options, name.as_bytes(), names.len(), out);
    }
    out.push(b'\n');
}

/// The bytes after the last row, if there are any.
pub fn put_epilogue(options: &CopyOptions, out: &mut Vec<u8>) {
    if options.format == CopyFormat::Binary {
        out.extend_from_slice(&(-1_i16).to_be_bytes());
    }
}

/// One row. Errors: a value that cannot be written.
pub fn put_row(options: &CopyOptions, columns: &[Cells], row: usize, zone: Zone, out: &mut Vec<u8>) -> Result<()> {
    if options.format == CopyFormat::Binary {
        return put_binary_row(columns, row, out);
    }
    let mut field = Vec::new();
    for (index, cells) in columns.iter().enumerate() {
        if index > 0 {
            out.push(options.delimiter);
        }
        if cells.is_null(row) {
            out.extend_from_slice(options.null.as_bytes());
            continue;
        }
        field.clear();
        text::put(cells, row, zone, &mut field).map_err(|error| cells.named(error))?;
        put_field(options, &field, columns.len(), out);
    }
    out.push(b'\n');
    Ok(())
}

fn put_binary_row(columns: &[Cells], row: usize, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
    for cells in columns {
        if cells.is_null(row) {
            out.extend_from_slice(&(-1_i32).to_be_bytes());
        } else {
            put_sized(out, |out| binary::put(cells, row, out)).map_err(|error| cells.named(error))?;
        }
    }
    Ok(())
}

fn put_field(options: &CopyOptions, field: &[u8], columns: usize, out: &mut Vec<u8>) {
    match options.format {
        CopyFormat::Csv => put_csv_field(options, field, columns, out),
        _ => put_text_field(options, field, out),
    }
}

fn put_text_field(options: &CopyOptions, field: &[u8], out: &mut Vec<u8>) {
    for byte in field {
        let escape = match byte {
            b'\\' => b'\\',
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x0b => b'v',
            byte if *byte == options.delimiter => *byte,
            byte => {
                out.push(*byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', escape]);
    }
}

fn put_csv_field(options: &CopyOptions, field: &[u8], columns: usize, out: &mut Vec<u8>) {
    let special = |byte: &u8| [options.delimiter, options.quote, b'\n', b'\r'].contains(byte);
    let end_marker = columns == 1 && field == b"\\.";
    if !options.quote_all && field != options.null.as_bytes() && !end_marker && !field.iter().any(special) {
        out.extend_from_slice(field);
        return;
    }
    out.push(options.quote);
    for byte in field {
        if *byte == options.quote || *byte == options.escape {
            out.push(options.escape);
        }
        out.push(*byte);
    }
    out.push(options.quote);
}
