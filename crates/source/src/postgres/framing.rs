// SPDX-License-Identifier: Apache-2.0
//! Rows out of `COPY … (FORMAT binary)`, however the server cuts them into messages, and rows into batches.

use super::value::{ColumnReader, Misfit};
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use weir_base::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX};
use weir_base::{Error, ErrorCode, Result};

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// Signature, flags, and the length of the header's extension.
const HEADER_BYTES: usize = SIGNATURE.len() + 8;
const TRAILER: i16 = -1;

/// One column of a running statement.
pub struct Sink {
    pub reader: Box<dyn ColumnReader>,
    /// What the column is called in errors.
    pub label: String,
}

/// Collects rows until a batch is full.
pub struct Batches {
    schema: SchemaRef,
    sinks: Vec<Sink>,
    rows: usize,
    bytes: usize,
}

impl Batches {
    pub fn new(schema: SchemaRef, sinks: Vec<Sink>) -> Self {
        Self { schema, sinks, rows: 0, bytes: 0 }
    }

    pub fn columns(&self) -> usize {
        self.sinks.len()
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn full(&self) -> bool {
        self.rows >= BATCH_ROWS_MAX || self.bytes >= BATCH_BYTES_MAX
    }

    /// Error: 22003 naming the column.
    pub fn append(&mut self, column: usize, raw: Option<&[u8]>) -> Result<()> {
        self.bytes += raw.map_or(0, <[u8]>::len);
        let sink = &mut self.sinks[column];
        sink.reader.append(raw).map_err(|misfit| unfit(misfit, &sink.label))
    }

    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// The rows so far as a batch; the next one starts empty.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let finish = |sink: &mut Sink| sink.reader.finish().map_err(|misfit| unfit(misfit, &sink.label));
        let columns = self.sinks.iter_mut().map(finish).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::internal("columns of a source do not make a batch").with_detail(error.to_string()))
    }
}

fn unfit(misfit: Misfit, label: &str) -> Error {
    if let Misfit::Wire(name) = misfit {
        return Error::new(ErrorCode::SourceBroke, "source sent bytes that are not a value").with_detail(format!("column {label}, read as {name}"));
    }
    let hint = match misfit {
        Misfit::LowerBound => "read it as text: CAST(column AS text) is read at the source, with its bounds",
        _ => "leave the column out, filter those rows away, read it as text, or set `values:` of the source",
    };
    Error::new(ErrorCode::ValueOutOfRange, "value cannot be represented exactly")
        .with_detail(format!("column {label} holds {}", misfit.words()))
        .with_hint(hint)
}

/// What a message did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More rows may come.
    More,
    /// The batch is full; rows of the message are left for `resume`.
    Full,
    /// The trailer was seen: the result is complete.
    Complete,
}

/// Cuts a binary COPY stream into rows.
pub struct CopyRows {
    /// The start of a row that the server cut in two. Empty as long as a message is whole rows, which is always so far.
    pending: Vec<u8>,
    header_seen: bool,
    complete: bool,
}

impl CopyRows {
    pub fn new() -> Self {
        Self { pending: Vec::new(), header_seen: false, complete: false }
    }

    /// Whether the trailer was seen. A stream that ends before is a broken one.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// Takes the next message. Errors: 22003 naming a column, 08006 for bytes that are no COPY stream.
    pub fn push(&mut self, message: &[u8], batches: &mut Batches) -> Result<Progress> {
        if self.pending.is_empty() {
            let used = self.take_rows(message, batches)?;
            self.pending.extend_from_slice(&message[used..]);
        } else {
            self.pending.extend_from_slice(message);
            let joined = std::mem::take(&mut self.pending);
            let used = self.take_rows(&joined, batches)?;
            self.pending.extend_from_slice(&joined[used..]);
        }
        Ok(self.progress(batches))
    }

    /// Goes on with what a full batch left over.
    pub fn resume(&mut self, batches: &mut Batches) -> Result<Progress> {
        if self.pending.is_empty() {
            return Ok(self.progress(batches));
        }
        self.push(&[], batches)
    }

    fn progress(&self, batches: &Batches) -> Progress {
        match (self.complete, batches.full()) {
            (true, _) => Progress::Complete,
            (false, true) => Progress::Full,
            (false, false) => Progress::More,
        }
    }

    /// Reads whole rows and says how many bytes they took.
    fn take_rows(&mut self, bytes: &[u8], batches: &mut Batches) -> Result<usize> {
        let mut used = 0;
        if !self.header_seen {
            let Some(length) = header_length(bytes)? else { return Ok(0) };
            self.header_seen = true;
            used = length;
        }
        while !self.complete && !batches.full() && bytes.len() >= used + 2 {
            let fields = i16::from_be_bytes([bytes[used], bytes[used + 1]]);
            if fields == TRAILER {
                self.complete = true;
                used += 2;
                break;
            }
            if usize::try_from(fields) != Ok(batches.columns()) {
                return Err(garbled());
            }
            let Some(length) = row_length(&bytes[used + 2..], batches.columns())? else { break };
            take_row(&bytes[used + 2..], batches)?;
            used += 2 + length;
        }
        if self.complete && used < bytes.len() { Err(garbled()) } else { Ok(used) }
    }
}

fn header_length(bytes: &[u8]) -> Result<Option<usize>> {
    if bytes.len() < HEADER_BYTES {
        return Ok(None);
    }
    if !bytes.starts_with(SIGNATURE) {
        return Err(garbled());
    }
    let extension = read_i32(bytes, HEADER_BYTES - 4);
    let length = HEADER_BYTES + usize::try_from(extension).map_err(|_| garbled())?;
    Ok((bytes.len() >= length).then_some(length))
}

/// Bytes of the row that starts here; `None` when its end is not there yet.
fn row_length(bytes: &[u8], columns: usize) -> Result<Option<usize>> {
    let mut at = 0;
    for _ in 0..columns {
        if bytes.len() < at + 4 {
            return Ok(None);
        }
        let length = read_i32(bytes, at);
        if length < -1 {
            return Err(garbled());
        }
        at += 4 + length.max(0) as usize;
    }
    Ok((bytes.len() >= at).then_some(at))
}

/// Reads a row whose length has been checked.
fn take_row(bytes: &[u8], batches: &mut Batches) -> Result<()> {
    let mut at = 0;
    for column in 0..batches.columns() {
        let length = read_i32(bytes, at);
        at += 4;
        let raw = usize::try_from(length).ok().map(|length| &bytes[at..at + length]);
        batches.append(column, raw)?;
        at += raw.map_or(0, <[u8]>::len);
    }
    batches.end_row();
    Ok(())
}

fn read_i32(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn garbled() -> Error {
    Error::new(ErrorCode::SourceBroke, "source sent a result that cannot be read").with_detail("the bytes are not a binary COPY of the expected columns")
}

#[cfg(test)]
mod tests {
    use super::super::value::{Policies, reader};
    use super::*;
    use crate::ValuePolicy;
    use arrow::array::{Int32Array, StringArray};
    use arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;
    use tokio_postgres::types::Type;

    fn batches() -> Batches {
        let policies = Policies { nan: ValuePolicy::Keep, infinity: ValuePolicy::Keep };
        let sink = |wire: &Type, wanted: &DataType| Sink { reader: reader(wire, wanted, policies).unwrap(), label: "t.c".into() };
        let fields = vec![Field::new("n", DataType::Int32, true), Field::new("s", DataType::Utf8, true)];
        Batches::new(Arc::new(Schema::new(fields)), vec![sink(&Type::INT4, &DataType::Int32), sink(&Type::TEXT, &DataType::Utf8)])
    }

    fn stream() -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([0; 8]);
        for (number, text) in [(7_i32, "seven"), (8, "")] {
            bytes.extend(2_i16.to_be_bytes());
            bytes.extend(4_i32.to_be_bytes());
            bytes.extend(number.to_be_bytes());
            bytes.extend((text.len() as i32).to_be_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(2_i16.to_be_bytes());
        bytes.extend((-1_i32).to_be_bytes());
        bytes.extend((-1_i32).to_be_bytes());
        bytes.extend(TRAILER.to_be_bytes());
        bytes
    }

    #[test]
    fn rows_are_the_same_however_the_stream_is_cut() {
        let bytes = stream();
        for cut in 1..bytes.len() {
            let (mut rows, mut batches) = (CopyRows::new(), batches());
            for message in bytes.chunks(cut) {
                rows.push(message, &mut batches).unwrap();
            }
            assert!(rows.complete());
            let batch = batches.finish().unwrap();
            assert_eq!(batch.column(0).as_any().downcast_ref::<Int32Array>().unwrap(), &Int32Array::from(vec![Some(7), Some(8), None]));
            assert_eq!(batch.column(1).as_any().downcast_ref::<StringArray>().unwrap(), &StringArray::from(vec![Some("seven"), Some(""), None]));
        }
    }

    #[test]
    fn without_its_trailer_a_stream_is_not_complete() {
        let bytes = stream();
        let (mut rows, mut batches) = (CopyRows::new(), batches());
        assert_eq!(rows.push(&bytes[..bytes.len() - 2], &mut batches).unwrap(), Progress::More);
        assert!(!rows.complete());
    }

    #[test]
    fn garbage_is_an_error() {
        let mut wrong = stream();
        wrong[0] = b'X';
        assert_eq!(CopyRows::new().push(&wrong, &mut batches()).unwrap_err().code(), ErrorCode::SourceBroke);
        let mut behind = stream();
        behind.push(0);
        assert_eq!(CopyRows::new().push(&behind, &mut batches()).unwrap_err().code(), ErrorCode::SourceBroke);
    }
}
