// SPDX-License-Identifier: Apache-2.0
//! The rows of a running answer, handed to the client a stretch at a time. What was not asked for yet stays in the stream.

use crate::metrics::OpenQuery;
use crate::postgres::fault::{Fault, Trouble};
use crate::postgres::link::{Attention, Link};
use crate::postgres::reply::{ColumnShape, message, patch_length, shapes};
use crate::values::binary::put_sized;
use crate::values::delimited::{self, CopyOptions};
use crate::values::{Cells, Zone, binary, kind, text};
use arrow::array::RecordBatch;
use futures::StreamExt;
use weir_api::{Answer, AnswerKind, Door, Receipt};
use weir_base::{Error, ErrorCode, Result};

/// An answer under way.
pub struct Rows {
    answer: Answer,
    columns: Vec<ColumnShape>,
    /// Columns that were announced as text before their type was known: always sent as text.
    as_text: Vec<bool>,
    rest: Option<RecordBatch>,
    measure: OpenQuery,
}

/// How far a stretch of rows went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub rows: u64,
    /// No more rows will come.
    pub ended: bool,
}

impl Rows {
    /// `announced` is what the client was told about the columns before this answer was made, if it was told.
    /// Errors: columns that cannot be shown, or that differ from what was announced.
    pub fn new(answer: Answer, announced: Option<&[ColumnShape]>, measure: OpenQuery) -> Result<Self> {
        let columns = shapes(answer.schema())?;
        let as_text = match announced {
            Some(announced) => compared(announced, &columns)?,
            None => vec![false; columns.len()],
        };
        Ok(Self { answer, columns, as_text, rest: None, measure })
    }

    pub fn columns(&self) -> &[ColumnShape] {
        &self.columns
    }

    /// The tag of a command that gives no rows.
    pub fn command_tag(&self) -> Option<&str> {
        match self.answer.kind() {
            AnswerKind::Command(tag) => Some(tag),
            AnswerKind::Rows => None,
        }
    }

    /// Whether the receipt says anything: not for a setting that was changed.
    pub fn told(&self) -> bool {
        !matches!(self.command_tag(), Some("SET" | "RESET"))
    }

    /// Call it after the last row.
    pub fn receipt(&self) -> Receipt {
        self.answer.receipt()
    }

    pub fn failed(&mut self, fault: &Fault) {
        self.measure.failed(fault.code);
    }

    /// Sends at most `rows_max` rows as DataRow messages; binary where `formats` says so.
    pub async fn send(&mut self, link: &mut Link, attention: &Attention, formats: &[bool], zone: Zone, rows_max: Option<u64>) -> Result<Stretch, Trouble> {
        let as_text = self.as_text.clone();
        let binary: Vec<bool> = formats.iter().zip(&as_text).map(|(binary, as_text)| *binary && !as_text).collect();
        self.walk(link, attention, rows_max, |columns, row, out| put_data_row(columns, row, &binary, zone, out)).await
    }

    /// Sends every row as CopyData messages. `prologue` goes in the message of the first row, as in Postgres, and is then empty.
    pub async fn copy(
        &mut self,
        link: &mut Link,
        attention: &Attention,
        options: &CopyOptions,
        zone: Zone,
        prologue: &mut Vec<u8>,
    ) -> Result<Stretch, Trouble> {
        self.walk(link, attention, None, |columns, row, out| {
            let start = out.len();
            out.extend_from_slice(&[b'd', 0, 0, 0, 0]);
            out.append(prologue);
            delimited::put_row(options, columns, row, zone, out)?;
            patch_length(out, start);
            Ok(())
        })
        .await
    }

    /// Passes over rows without sending them.
    pub async fn skip(&mut self, link: &mut Link, attention: &Attention, rows_max: Option<u64>) -> Result<Stretch, Trouble> {
        self.walk(link, attention, rows_max, |_, _, _| Ok(())).await
    }

    async fn walk(
        &mut self,
        link: &mut Link,
        attention: &Attention,
        rows_max: Option<u64>,
        mut put_row: impl FnMut(&[Cells], usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Stretch, Trouble> {
        let mut sent = 0;
        while rows_max.is_none_or(|most| sent < most) {
            let Some(batch) = self.next_batch(link, attention).await? else {
                self.measure.succeeded();
                return Ok(Stretch { rows: sent, ended: true });
            };
            let wanted = rows_max.map_or(u64::MAX, |most| most - sent);
            let count = usize::try_from(wanted).unwrap_or(usize::MAX).min(batch.num_rows());
            let columns = prepared(&batch)?;
            for row in 0..count {
                let start = link.out.len();
                put_row(&columns, row, &mut link.out).inspect_err(|_| link.out.truncate(start))?;
                if link.full() {
                    attention.flush(link).await?;
                }
            }
            sent += count as u64;
            self.measure.rows(count as u64);
            self.rest = (count < batch.num_rows()).then(|| batch.slice(count, batch.num_rows() - count));
        }
        Ok(Stretch { rows: sent, ended: false })
    }

    async fn next_batch(&mut self, link: &mut Link, attention: &Attention) -> Result<Option<RecordBatch>, Trouble> {
        if let Some(batch) = self.rest.take() {
            return Ok(Some(batch));
        }
        Ok(attention.wait(link, self.answer.batches().next()).await?.transpose()?)
    }
}

/// Begins measuring a statement of this door.
pub fn measure() -> OpenQuery {
    OpenQuery::begin(Door::Postgres)
}

/// For each column whether it has to go as text. Error: 0A000 when what was announced no longer holds.
fn compared(announced: &[ColumnShape], actual: &[ColumnShape]) -> Result<Vec<bool>> {
    let changed = || {
        Error::new(ErrorCode::Unsupported, "cached plan must not change result type").with_hint("prepare the statement again, with types for its parameters")
    };
    if announced.len() != actual.len() {
        return Err(changed());
    }
    let pairs = announced.iter().zip(actual);
    pairs
        .map(|(announced, actual)| match (announced.kind.oid(), actual.kind.oid()) {
            (before, now) if before == now => Ok(false),
            (kind::TEXT, _) => Ok(true),
            _ => Err(changed()),
        })
        .collect()
}

fn prepared(batch: &RecordBatch) -> Result<Vec<Cells>> {
    let schema = batch.schema();
    schema.fields().iter().zip(batch.columns()).map(|(field, array)| Cells::new(field, array)).collect()
}

fn put_data_row(columns: &[Cells], row: usize, formats: &[bool], zone: Zone, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[b'D', 0, 0, 0, 0]);
    out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
    for (index, cells) in columns.iter().enumerate() {
        if cells.is_null(row) {
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            continue;
        }
        let as_binary = formats.get(index).copied().unwrap_or(false);
        put_sized(out, |out| if as_binary { binary::put(cells, row, out) } else { text::put(cells, row, zone, out) }).map_err(|error| cells.named(error))?;
    }
    patch_length(out, start);
    Ok(())
}

/// CopyOutResponse: overall format, and the same for each column.
pub fn copy_out_response(out: &mut Vec<u8>, binary: bool, columns: usize) {
    message(out, b'H', |out| {
        out.push(u8::from(binary));
        out.extend_from_slice(&(columns as u16).to_be_bytes());
        for _ in 0..columns {
            out.extend_from_slice(&u16::from(binary).to_be_bytes());
        }
    });
}
