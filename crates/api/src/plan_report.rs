// SPDX-License-Identifier: Apache-2.0
//! The plan in words (CONTRACT, 5): one object for `weir plan`, `POST /v1/plan` and `EXPLAIN (FORMAT JSON)`.

use serde::{Deserialize, Serialize};
use weir_base::Timestamp;

/// What would happen if the query ran now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    pub verdict: Verdict,
    pub why: String,
    pub sources: Vec<SourceReport>,
    pub placements: Vec<PlacementReport>,
    pub materialized: Vec<Materialized>,
    pub policies: Vec<String>,
    pub suggestions: Vec<Suggestion>,
    /// The work that Weir does itself, as an indented tree of operators.
    pub residual: Vec<String>,
}

/// Run now, wait in a queue, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Run,
    Queue,
    Refuse,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Queue => "queue",
            Self::Refuse => "refuse",
        }
    }
}

/// All that one source would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceReport {
    pub source: String,
    pub statements: Vec<FragmentReport>,
    pub budget: Budget,
}

/// One statement that a source would run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FragmentReport {
    /// The exact text.
    pub sql: String,
    /// Tables as `schema.table`.
    pub table: Vec<String>,
    pub pushed: Vec<String>,
    pub kept: Vec<Kept>,
    pub forecast: Forecast,
    /// Keys that joins will send with it, if they are found to be few.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keys: Vec<AwaitedKeys>,
}

/// Keys of a join that are known once its other side is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedKeys {
    /// The column that they are looked for in.
    pub column: String,
    /// The tables that they come from, with their sources.
    pub from: Vec<String>,
}

/// Work over a source that Weir does itself, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub what: String,
    pub code: String,
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<String>,
}

/// How a forecast was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastMethod {
    Explain,
    Count,
    Manifest,
    Stats,
    Unknown,
}

impl ForecastMethod {
    pub fn word(self) -> &'static str {
        match self {
            Self::Explain => "explain",
            Self::Count => "count",
            Self::Manifest => "manifest",
            Self::Stats => "stats",
            Self::Unknown => "unknown",
        }
    }
}

/// What would leave the source: rows (low, likely, high) and bytes; all `None` when unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    pub rows: Option<u64>,
    pub rows_low: Option<u64>,
    pub rows_high: Option<u64>,
    pub bytes: Option<u64>,
    pub method: ForecastMethod,
}

impl Forecast {
    pub const UNKNOWN: Self = Self { rows: None, rows_low: None, rows_high: None, bytes: None, method: ForecastMethod::Unknown };
}

/// What the source allows per query; `None` is no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct Budget {
    pub rows: Option<u64>,
    pub bytes: Option<u64>,
    pub used_today: UsedToday,
}

/// What the asking user has taken out of the source since midnight UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct UsedToday {
    pub rows: u64,
    pub bytes: u64,
}

/// Where a table would be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlacementReport {
    pub table: String,
    pub placement: String,
    pub as_of: Option<Timestamp>,
    pub why: String,
}

/// A materialized view that could stand in for a part of the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Materialized {
    pub view: String,
    pub used: bool,
    pub why: String,
}

/// A cheaper query that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    pub sql: String,
    pub why: String,
}
