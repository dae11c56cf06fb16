// SPDX-License-Identifier: Apache-2.0
//! Parquet files and Arrow IPC streams: the batches as they are.

use crate::output::{Destination, Sink, write_failed};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io;
use weir_base::{Error, ErrorCode, Result};

/// Before `begin` there is only the place to write to; the writer needs the schema.
enum State<'a, W> {
    Before(&'a mut Destination),
    Writing(W),
    Done,
}

pub(crate) struct Parquet<'a>(State<'a, ArrowWriter<&'a mut Destination>>);

impl<'a> Parquet<'a> {
    pub(crate) fn new(out: &'a mut Destination) -> Self {
        Self(State::Before(out))
    }
}

impl Sink for Parquet<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let State::Before(out) = std::mem::replace(&mut self.0, State::Done) else { return Err(twice()) };
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        self.0 = State::Writing(ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(parquet_failed)?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let State::Writing(writer) = &mut self.0 else { return Err(twice()) };
        writer.write(batch).map_err(parquet_failed)
    }

    fn end(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.0, State::Done) {
            State::Writing(writer) => writer.close().map(|_| ()).map_err(parquet_failed),
            _ => Err(twice()),
        }
    }
}

pub(crate) struct Arrow<'a>(State<'a, StreamWriter<&'a mut Destination>>);

impl<'a> Arrow<'a> {
    pub(crate) fn new(out: &'a mut Destination) -> Self {
        Self(State::Before(out))
    }
}

impl Sink for Arrow<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let State::Before(out) = std::mem::replace(&mut self.0, State::Done) else { return Err(twice()) };
        self.0 = State::Writing(StreamWriter::try_new(out, schema).map_err(arrow_failed)?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let State::Writing(writer) = &mut self.0 else { return Err(twice()) };
        writer.write(batch).map_err(arrow_failed)
    }

    fn end(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.0, State::Done) {
            State::Writing(mut writer) => writer.finish().map_err(arrow_failed),
            _ => Err(twice()),
        }
    }
}

fn twice() -> Error {
    Error::internal("an answer was written out of order")
}

fn parquet_failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => write_failed(*error),
            Err(other) => unwritable("parquet", &other.to_string()),
        },
        other => unwritable("parquet", &other.to_string()),
    }
}

fn arrow_failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => write_failed(error),
        other => unwritable("arrow", &other.to_string()),
    }
}

fn unwritable(format: &str, detail: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("answer cannot be written as {format}")).with_detail(detail)
}
