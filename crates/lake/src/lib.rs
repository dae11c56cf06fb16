// SPDX-License-Identifier: Apache-2.0
//! The lake: Iceberg tables on local disk or S3. Pruned, parallel reads with every kind of delete that v2 knows, and atomic
//! appends and table creation. Knows Arrow and Parquet, and no query engine.

mod adapt;
mod bounds;
mod commit;
mod config;
mod conform;
mod constant;
mod deletes;
mod drop;
mod fault;
mod file;
mod filter;
mod footer;
mod lake;
mod manifest;
mod moments;
mod origin;
mod partition;
mod plan;
mod pointer;
mod predicate;
mod prune;
mod publish;
mod read;
mod scan;
mod schema;
mod shelf;
mod spec;
mod split;
mod statistics;
mod table;
mod text_views;
mod write;

pub use config::{CatalogConfig, LakeConfig, S3Config};
pub use filter::BatchFilter;
pub use lake::Lake;
pub use plan::{ScanPlan, ScanRequest};
pub use predicate::{CompareOp, Literal, Predicate};
pub use scan::{Scan, ScanMeter};
pub use spec::{PartitionField, TableSpec, Transform, Version, Written};
pub use statistics::ColumnStatistics;
pub use table::LakeTable;

use arrow::array::RecordBatch;
use futures::stream::BoxStream;

/// Batches as they are read or written. Dropping the stream ends the work behind it.
pub type BatchStream = BoxStream<'static, weir_base::Result<RecordBatch>>;
