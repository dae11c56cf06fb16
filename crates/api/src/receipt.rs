// SPDX-License-Identifier: Apache-2.0
//! What an answer says about itself (CONTRACT, 6).

use serde::{Deserialize, Serialize};
use std::time::Duration;
use weir_base::{AsOfMethod, ByteSize, QueryId, Timestamp, UserName};

/// The receipt: how old the answer is, what left each source, which rules applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub query_id: QueryId,
    pub user: UserName,
    /// The oldest of the inputs.
    pub as_of: Timestamp,
    /// Newest minus oldest input.
    pub skew_ms: i64,
    pub tables: Vec<TableReceipt>,
    pub sources: Vec<SourceUse>,
    #[serde(default)]
    pub definitions: Vec<DefinitionUse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<KeyUse>,
    #[serde(default)]
    pub policies: Vec<String>,
    pub elapsed_ms: f64,
    pub cache: String,
}

/// A duration in milliseconds, to the microsecond.
pub fn millis(duration: Duration) -> f64 {
    to_micros(duration.as_secs_f64() * 1000.0)
}

/// Milliseconds without what is below a microsecond, which a sum of them can have.
pub fn to_micros(ms: f64) -> f64 {
    (ms * 1000.0).round() / 1000.0
}

/// One table that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableReceipt {
    pub table: String,
    pub placement: String,
    pub as_of: Timestamp,
    pub lag_ms: i64,
    pub method: AsOfMethod,
}

/// What crossed the wire from one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceUse {
    pub source: String,
    pub statements: u64,
    pub rows: u64,
    pub bytes: u64,
    pub ms: f64,
    pub queued_ms: f64,
    pub forecast_rows: Option<u64>,
    /// Of VERIFY, which asks twice: `on` for what was read with push-down, `off` for what was read without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushdown: Option<String>,
}

/// A metric definition that was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefinitionUse {
    pub metric: String,
    pub version: String,
    pub sql: String,
}

/// How sure the identity of the customers in the answer is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyUse {
    pub exact: u64,
    pub probable: u64,
    pub excluded: u64,
}

impl Receipt {
    /// The two-line footer: the age first, then what left each source.
    pub fn footer(&self) -> String {
        let skew = if self.skew_ms > 0 { format!(", inputs {} ms apart", self.skew_ms) } else { String::new() };
        let mut parts = vec![format!("as of {}{skew}", self.as_of)];
        for source in &self.sources {
            let forecast = source.forecast_rows.map(|rows| format!(" (forecast {})", thousands(rows))).unwrap_or_default();
            let plural = if source.rows == 1 { "row" } else { "rows" };
            let way = source.pushdown.as_ref().map(|way| format!(" with push-down {way}")).unwrap_or_default();
            parts.push(format!("{}{way} {} {plural}{forecast}, {}, {:.0} ms", source.source, thousands(source.rows), ByteSize(source.bytes), source.ms));
        }
        let first = parts.join(" · ");
        let policies = if self.policies.is_empty() { String::new() } else { format!(" · {}", self.policies.join(", ")) };
        format!("{first}\nquery {} · {:.0} ms · cache {}{policies}", self.query_id, self.elapsed_ms, self.cache)
    }
}

/// `1204` → `1,204`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_have_no_noise() {
        assert_eq!(millis(Duration::from_nanos(2_963_327_999)).to_string(), "2963.328");
        assert_eq!(to_micros(0.1 + 0.2).to_string(), "0.3");
    }

    #[test]
    fn footer_in_two_lines() {
        let receipt = Receipt {
            query_id: QueryId::fresh(),
            user: UserName::new("ana"),
            as_of: Timestamp::from_millis(0),
            skew_ms: 12,
            tables: vec![],
            sources: vec![SourceUse {
                source: "app_pg".into(),
                statements: 1,
                rows: 1204,
                bytes: 47_104,
                ms: 12.0,
                queued_ms: 0.0,
                forecast_rows: Some(1190),
                pushdown: None,
            }],
            definitions: vec![],
            keys: None,
            policies: vec![],
            elapsed_ms: 20.0,
            cache: "none".into(),
        };
        let footer = receipt.footer();
        assert_eq!(footer.lines().next(), Some("as of 1970-01-01T00:00:00.000Z, inputs 12 ms apart · app_pg 1,204 rows (forecast 1,190), 46 KiB, 12 ms"));
        assert_eq!(footer.lines().count(), 2);
    }
}
