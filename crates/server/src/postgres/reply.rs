// SPDX-License-Identifier: Apache-2.0
//! Messages to a Postgres client, into their bytes.

use crate::postgres::fault::{Fault, Severity};
use crate::values::Kind;
use weir_base::{Error, ErrorCode, Result, limits};

/// A column as RowDescription tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnShape {
    pub name: String,
    pub kind: Kind,
}

/// Writes one message: its tag, its length, and what `body` writes.
pub fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    body(out);
    patch_length(out, start);
}

/// Sets the length of the message that began at `start`; bodies made here are far below what 32 bits can say.
pub fn patch_length(out: &mut [u8], start: usize) {
    let length = (out.len() - start - 1) as u32;
    out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
}

pub fn put_text(text: &str, out: &mut Vec<u8>) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}

/// An error, or with a lower severity a notice.
pub fn fault(out: &mut Vec<u8>, fault: &Fault) {
    let notice = matches!(fault.severity, Severity::Notice | Severity::Warning);
    message(out, if notice { b'N' } else { b'E' }, |out| {
        let severity = fault.severity.word();
        let fields = [(b'S', Some(severity)), (b'V', Some(severity)), (b'C', Some(fault.code)), (b'M', Some(fault.message.as_str()))];
        let optional = [(b'D', fault.detail.as_deref()), (b'H', fault.hint.as_deref())];
        for (field, text) in fields.into_iter().chain(optional) {
            if let Some(text) = text {
                out.push(field);
                put_text(text, out);
            }
        }
        out.push(0);
    });
}

pub fn parameter_status(out: &mut Vec<u8>, name: &str, value: &str) {
    message(out, b'S', |out| {
        put_text(name, out);
        put_text(value, out);
    });
}

pub fn command_complete(out: &mut Vec<u8>, tag: &str) {
    message(out, b'C', |out| put_text(tag, out));
}

pub fn ready(out: &mut Vec<u8>, status: u8) {
    message(out, b'Z', |out| out.push(status));
}

/// A message that is only its tag, such as ParseComplete.
pub fn bare(out: &mut Vec<u8>, tag: u8) {
    message(out, tag, |_| {});
}

pub fn authentication(out: &mut Vec<u8>, code: i32, data: &[u8]) {
    message(out, b'R', |out| {
        out.extend_from_slice(&code.to_be_bytes());
        out.extend_from_slice(data);
    });
}

pub fn parameter_description(out: &mut Vec<u8>, types: &[u32]) {
    message(out, b't', |out| {
        out.extend_from_slice(&(types.len() as u16).to_be_bytes());
        for oid in types {
            out.extend_from_slice(&oid.to_be_bytes());
        }
    });
}

/// The columns of a result with the format of each (1 is binary).
pub fn row_description(out: &mut Vec<u8>, columns: &[ColumnShape], formats: &[bool]) {
    message(out, b'T', |out| {
        out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
        for (index, column) in columns.iter().enumerate() {
            put_text(&column.name, out);
            // No table and no attribute number: a result column belongs to none.
            out.extend_from_slice(&[0; 6]);
            out.extend_from_slice(&column.kind.oid().to_be_bytes());
            out.extend_from_slice(&column.kind.size().to_be_bytes());
            out.extend_from_slice(&column.kind.modifier.to_be_bytes());
            out.extend_from_slice(&u16::from(formats.get(index).copied().unwrap_or(false)).to_be_bytes());
        }
    });
}

/// The columns of a schema. Errors: more of them than allowed, a type that cannot be shown.
pub fn shapes(schema: &arrow::datatypes::Schema) -> Result<Vec<ColumnShape>> {
    let count = schema.fields().len();
    if count > limits::COLUMNS_MAX {
        return Err(Error::new(ErrorCode::LimitExceeded, "too many columns")
            .with_detail(format!("{count} columns, at most {} go over the Postgres wire", limits::COLUMNS_MAX))
            .with_hint("name the columns you need"));
    }
    let shape = |field: &std::sync::Arc<arrow::datatypes::Field>| Ok(ColumnShape { name: field.name().clone(), kind: Kind::of(field)? });
    schema.fields().iter().map(shape).collect()
}
