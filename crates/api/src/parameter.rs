// SPDX-License-Identifier: Apache-2.0
//! A parameter value as it came through a door. It is bound as a value and never becomes part of a text.

/// One parameter. The engine casts it to the type the statement needs, exactly or with an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A decimal as its digits, such as `12.50`.
    Decimal(String),
    /// Text, also for every type that the client sent as text and left for us to infer.
    Text(String),
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01 without a zone.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 UTC.
    TimestampUtc(i64),
}
