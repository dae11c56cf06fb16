// SPDX-License-Identifier: Apache-2.0
//! The lake against real files, a real S3 server, PyIceberg and DuckDB.

mod deletes;
mod faults;
mod foreign;
mod moments;
mod pruning;
mod remote;
mod support;
mod tables;
