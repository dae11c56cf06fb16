// SPDX-License-Identifier: Apache-2.0
//! Systems that Weir reads: the contract every connector keeps, and the connectors. Knows SQL text and Arrow, nothing else.

pub mod adbc;
mod arms;
pub mod capability;
pub mod contract;
pub mod dialect;
mod exact_text;
pub mod expression;
mod handover;
mod hex;
pub mod mysql;
pub mod postgres;
mod read_only;
pub mod registry;
pub mod sqlite;
pub mod statistics;
mod tls;

pub use capability::{Operand, Operation, Pattern, Reason, Support};
pub use contract::{Altering, BatchStream, Column, Discovered, Estimate, Fetched, Health, OutputColumn, ServerRole, Source, SourceTable, Statement, TableKind};
pub use dialect::{Comparison, Dialect, KeysMax};
pub use expression::{Aggregate, Argument, Function, Term, Window, Written};
pub use registry::{CONNECTORS, ConnectorKind, SourceSpec, ValuePolicy, connect};
pub use statistics::{ColumnStatistics, TableStatistics, Value};
