// SPDX-License-Identifier: Apache-2.0
//! How answers are printed: one sink per format. Every sink streams; none holds a whole answer.

mod columnar;
mod destination;
mod rows;
mod table;

pub use destination::Destination;
pub use table::Layout;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::ValueEnum;
use std::io;
use weir_base::{Error, ErrorCode, Result};
use weir_server::values::Zone;

/// What `--format` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns, as psql has them
    Table,
    /// Comma-separated values with a header line
    Csv,
    /// A list of objects, one per line
    Json,
    /// An Apache Parquet file
    Parquet,
    /// An Arrow IPC stream
    Arrow,
}

impl Format {
    /// Formats that would only garble a terminal.
    pub fn binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }
}

/// How values are shown where the format leaves a choice.
#[derive(Debug, Clone)]
pub struct Style {
    pub layout: Layout,
    /// What stands for NULL in tables and CSV.
    pub null: String,
    /// Zone of timestamps with a zone, in tables and CSV.
    pub zone: Zone,
}

/// Takes one answer: its columns, its batches, its end.
pub trait Sink: Send {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()>;
    fn batch(&mut self, batch: &RecordBatch) -> Result<()>;
    fn end(&mut self) -> Result<()>;
}

/// A sink of that format that writes to `destination`.
pub fn sink<'a>(format: Format, style: &Style, destination: &'a mut Destination) -> Box<dyn Sink + 'a> {
    match format {
        Format::Table => Box::new(table::Table::new(style.clone(), destination)),
        Format::Csv => Box::new(rows::Csv::new(style.clone(), destination)),
        Format::Json => Box::new(rows::Json::new(destination)),
        Format::Parquet => Box::new(columnar::Parquet::new(destination)),
        Format::Arrow => Box::new(columnar::Arrow::new(destination)),
    }
}

const CLOSED: &str = "output was closed by its reader";

/// An output error. A reader that has seen enough (`| head`) is told apart: it is no failure.
pub(crate) fn write_failed(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::new(ErrorCode::Cancelled, CLOSED),
        io::ErrorKind::StorageFull => Error::new(ErrorCode::OutOfResources, "disk is full").with_detail("while the answer was written"),
        _ => Error::new(ErrorCode::OutOfResources, "answer cannot be written").with_detail(error.to_string()),
    }
}

/// Whether the error only says that nobody reads any more.
pub fn closed(error: &Error) -> bool {
    error.message() == CLOSED
}
