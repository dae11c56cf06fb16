// SPDX-License-Identifier: Apache-2.0
//! What a caller says about a table to be made, and what a write did.

use arrow::datatypes::SchemaRef;
use std::collections::BTreeMap;
use std::fmt;
use weir_base::Timestamp;

/// A table to be made.
#[derive(Debug, Clone)]
pub struct TableSpec {
    pub schema: String,
    pub table: String,
    pub columns: SchemaRef,
    pub partitioning: Vec<PartitionField>,
    /// A table of that name is no error, and stays as it is.
    pub if_not_exists: bool,
    /// A table of that name gives way in the same commit.
    pub or_replace: bool,
    pub comment: Option<String>,
    /// Iceberg table properties.
    pub properties: BTreeMap<String, String>,
}

impl TableSpec {
    pub fn new(schema: impl Into<String>, table: impl Into<String>, columns: SchemaRef) -> Self {
        Self {
            schema: schema.into(),
            table: table.into(),
            columns,
            partitioning: Vec::new(),
            if_not_exists: false,
            or_replace: false,
            comment: None,
            properties: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionField {
    pub column: String,
    pub transform: Transform,
}

/// How a column's value becomes a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    Identity,
    Year,
    Month,
    Day,
    Hour,
    Bucket(u32),
    Truncate(u32),
}

impl Transform {
    pub(crate) fn iceberg(self) -> iceberg::spec::Transform {
        use iceberg::spec::Transform as Iceberg;
        match self {
            Self::Identity => Iceberg::Identity,
            Self::Year => Iceberg::Year,
            Self::Month => Iceberg::Month,
            Self::Day => Iceberg::Day,
            Self::Hour => Iceberg::Hour,
            Self::Bucket(buckets) => Iceberg::Bucket(buckets),
            Self::Truncate(width) => Iceberg::Truncate(width),
        }
    }

    /// What the partition field is called beside its column; none for the value itself.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Identity => "",
            Self::Year => "_year",
            Self::Month => "_month",
            Self::Day => "_day",
            Self::Hour => "_hour",
            Self::Bucket(_) => "_bucket",
            Self::Truncate(_) => "_trunc",
        }
    }
}

impl fmt::Display for PartitionField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transform {
            Transform::Identity => f.write_str(&self.column),
            Transform::Bucket(buckets) => write!(f, "bucket({buckets}, {})", self.column),
            Transform::Truncate(width) => write!(f, "truncate({width}, {})", self.column),
            other => write!(f, "{}({})", &other.suffix()[1..], self.column),
        }
    }
}

/// Which state of a table to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Snapshot(i64),
    /// The last snapshot at or before this instant.
    At(Timestamp),
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    pub rows: u64,
    pub files: u64,
    pub bytes: u64,
    /// `None` when nothing was written, so that there was nothing to commit.
    pub snapshot_id: Option<i64>,
    /// False when `if_not_exists` found the table; the input was not read then.
    pub created: bool,
}
