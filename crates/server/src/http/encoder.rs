// SPDX-License-Identifier: Apache-2.0
//! The three shapes of an answer on HTTP: JSON, CSV and an Arrow IPC stream, each written batch by batch.

use crate::http::problem::described;
use crate::values::delimited::{CopyOptions, put_prologue, put_row};
use crate::values::{Cells, Kind, Zone, json};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use axum::http::{HeaderMap, StatusCode, header};
use weir_api::Receipt;
use weir_base::{Error, ErrorCode, QueryId, Result};

use super::problem::Problem;

/// What the client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Json,
    Csv,
    Arrow,
}

impl Shape {
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Arrow => "application/vnd.apache.arrow.stream",
        }
    }

    /// The first media type of `Accept` that can be given; JSON where nothing is asked for. Error: 406.
    pub fn negotiate(headers: &HeaderMap) -> std::result::Result<Self, Problem> {
        let Some(accept) = headers.get(header::ACCEPT) else { return Ok(Self::Json) };
        let accept = accept.to_str().unwrap_or_default();
        let wanted =
            accept.split(',').filter(|range| !range.replace(' ', "").ends_with(";q=0")).map(|range| range.split(';').next().unwrap_or_default().trim());
        for range in wanted {
            match range.to_ascii_lowercase().as_str() {
                "application/json" | "application/*" | "*/*" | "" => return Ok(Self::Json),
                "text/csv" | "text/*" => return Ok(Self::Csv),
                "application/vnd.apache.arrow.stream" => return Ok(Self::Arrow),
                _ => {}
            }
        }
        let error = Error::new(ErrorCode::Protocol, "none of the accepted media types can be given");
        Err(Problem::with_status(StatusCode::NOT_ACCEPTABLE, error.with_hint("accept application/json, text/csv or application/vnd.apache.arrow.stream")))
    }
}

/// Writes one answer.
pub enum Encoder {
    Json { query_id: QueryId, rows: u64 },
    Csv { zone: Zone },
    Arrow(Box<StreamWriter<Vec<u8>>>),
}

impl Encoder {
    /// With the bytes in front of the first row. Errors: columns that this shape cannot show.
    pub fn begin(shape: Shape, query_id: QueryId, schema: &SchemaRef, timezone: &str, out: &mut Vec<u8>) -> Result<Self> {
        match shape {
            Shape::Json => {
                put_columns(query_id, schema, out)?;
                Ok(Self::Json { query_id, rows: 0 })
            }
            Shape::Csv => {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                put_prologue(&CopyOptions::csv(), &names, out);
                Ok(Self::Csv { zone: Zone::parse(timezone)? })
            }
            Shape::Arrow => {
                let mut writer = StreamWriter::try_new(Vec::new(), schema).map_err(unwritable)?;
                out.append(writer.get_mut());
                Ok(Self::Arrow(Box::new(writer)))
            }
        }
    }

    pub fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Json { rows, .. } => put_json_rows(batch, rows, out),
            Self::Csv { zone } => {
                let (columns, options) = (cells(batch)?, CopyOptions::csv());
                (0..batch.num_rows()).try_for_each(|row| put_row(&options, &columns, row, *zone, out))
            }
            Self::Arrow(writer) => {
                writer.write(batch).map_err(unwritable)?;
                out.append(writer.get_mut());
                Ok(())
            }
        }
    }

    /// The bytes after the last row.
    pub fn end(&mut self, receipt: &Receipt, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Json { .. } => {
                out.extend_from_slice(b"],\"receipt\":");
                out.extend_from_slice(&as_json(receipt)?);
                out.extend_from_slice(b"}\n");
            }
            Self::Csv { .. } => {}
            Self::Arrow(writer) => {
                writer.finish().map_err(unwritable)?;
                out.append(writer.get_mut());
            }
        }
        Ok(())
    }

    /// What can still be said when the answer breaks; the connection is broken off after it.
    pub fn broken(&self, error: &Error) -> Vec<u8> {
        match self {
            Self::Json { query_id, .. } => format!("],\"error\":{}}}\n", described(error, Some(*query_id))).into_bytes(),
            Self::Csv { .. } | Self::Arrow(_) => Vec::new(),
        }
    }
}

fn unwritable(error: ArrowError) -> Error {
    Error::internal("an Arrow stream could not be written").with_detail(error.to_string())
}

pub fn as_json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Error::internal("an answer could not be written as JSON").with_detail(error.to_string()))
}

fn put_columns(query_id: QueryId, schema: &SchemaRef, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(format!("{{\"query_id\":\"{query_id}\",\"columns\":[").as_bytes());
    for (index, field) in schema.fields().iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"name\":");
        json::put_string(field.name(), out)?;
        out.extend_from_slice(b",\"type\":");
        json::put_string(&Kind::of(field)?.name(), out)?;
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"rows\":[");
    Ok(())
}

fn cells(batch: &RecordBatch) -> Result<Vec<Cells>> {
    let schema = batch.schema();
    schema.fields().iter().zip(batch.columns()).map(|(field, array)| Cells::new(field, array)).collect()
}

/// A row that cannot be written leaves no trace: what broke is told instead.
fn put_json_rows(batch: &RecordBatch, rows: &mut u64, out: &mut Vec<u8>) -> Result<()> {
    let columns = cells(batch)?;
    for row in 0..batch.num_rows() {
        let start = out.len();
        put_json_row(&columns, row, *rows > 0, out).inspect_err(|_| out.truncate(start))?;
        *rows += 1;
    }
    Ok(())
}

fn put_json_row(columns: &[Cells], row: usize, after_another: bool, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(if after_another { b",\n[" } else { b"\n[" });
    for (index, cells) in columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json::put(cells, row, out).map_err(|error| cells.named(error))?;
    }
    out.push(b']');
    Ok(())
}
