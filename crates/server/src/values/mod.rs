// SPDX-License-Identifier: Apache-2.0
//! Values on their way through a door: Arrow columns to Postgres text, Postgres binary and JSON, and parameters back.

pub mod binary;
pub mod calendar;
pub mod column;
pub mod delimited;
pub mod digits;
pub mod json;
pub mod kind;
pub mod parameter;
pub mod text;

pub use calendar::Zone;
pub use column::Cells;
pub use kind::Kind;
