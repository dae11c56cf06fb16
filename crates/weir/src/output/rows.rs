// SPDX-License-Identifier: Apache-2.0
//! CSV and JSON, row by row.

use crate::output::{Destination, Sink, Style, write_failed};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::io::Write;
use weir_base::Result;
use weir_server::values::{Cells, json, text};

/// Columns of a batch, ready to be read cell by cell.
pub(crate) fn cells(batch: &RecordBatch) -> Result<Vec<Cells>> {
    let schema = batch.schema();
    schema.fields().iter().zip(batch.columns()).map(|(field, column)| Cells::new(field, column)).collect()
}

/// RFC 4180 with a header line and `\n` line ends. NULL is empty (or what `--null` says); an empty text is `""`.
pub(crate) struct Csv<'a> {
    style: Style,
    out: &'a mut Destination,
}

impl<'a> Csv<'a> {
    pub(crate) fn new(style: Style, out: &'a mut Destination) -> Self {
        Self { style, out }
    }
}

impl Sink for Csv<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let names: Vec<Vec<u8>> = schema.fields().iter().map(|field| quoted(field.name().as_bytes())).collect();
        let mut line = names.join(&b","[..]);
        line.push(b'\n');
        self.out.write_all(&line).map_err(write_failed)
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = cells(batch)?;
        let mut line = Vec::new();
        let mut value = Vec::new();
        for row in 0..batch.num_rows() {
            line.clear();
            for (index, cells) in columns.iter().enumerate() {
                if index > 0 {
                    line.push(b',');
                }
                if cells.is_null(row) {
                    line.extend_from_slice(self.style.null.as_bytes());
                    continue;
                }
                value.clear();
                text::put(cells, row, self.style.zone, &mut value)?;
                line.extend_from_slice(&quoted(&value));
            }
            line.push(b'\n');
            self.out.write_all(&line).map_err(write_failed)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.out.flush().map_err(write_failed)
    }
}

/// The value, in quotes where a reader would need them.
fn quoted(value: &[u8]) -> Vec<u8> {
    let plain = !value.is_empty() && !value.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'));
    if plain {
        return value.to_vec();
    }
    let mut out = vec![b'"'];
    for byte in value {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
    out
}

/// One list of objects; each row is a line of its own, so that it can be read as it comes.
pub(crate) struct Json<'a> {
    out: &'a mut Destination,
    keys: Vec<Vec<u8>>,
    first: bool,
}

impl<'a> Json<'a> {
    pub(crate) fn new(out: &'a mut Destination) -> Self {
        Self { out, keys: Vec::new(), first: true }
    }
}

impl Sink for Json<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        for field in schema.fields() {
            let mut key = Vec::new();
            json::put_string(field.name(), &mut key)?;
            key.push(b':');
            self.keys.push(key);
        }
        self.out.write_all(b"[").map_err(write_failed)
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = cells(batch)?;
        let mut line = Vec::new();
        for row in 0..batch.num_rows() {
            line.clear();
            line.extend_from_slice(if self.first { b"{" } else { b",\n{" });
            self.first = false;
            for (index, (key, cells)) in self.keys.iter().zip(&columns).enumerate() {
                if index > 0 {
                    line.push(b',');
                }
                line.extend_from_slice(key);
                json::put(cells, row, &mut line)?;
            }
            line.push(b'}');
            self.out.write_all(&line).map_err(write_failed)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.out.write_all(b"]\n").and_then(|()| self.out.flush()).map_err(write_failed)
    }
}
