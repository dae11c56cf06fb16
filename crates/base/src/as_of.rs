// SPDX-License-Identifier: Apache-2.0
//! The age of an answer: the instant a table, or a whole answer, is true for, and how that instant is known.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An instant in microseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis * 1000)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub const fn millis(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Milliseconds from `self` to `later`; negative when `later` is earlier (clocks differ).
    pub const fn ms_until(self, later: Timestamp) -> i64 {
        later.0.saturating_sub(self.0) / 1000
    }
}

impl fmt::Display for Timestamp {
    /// ISO 8601 in UTC with milliseconds: `2026-11-30T18:36:18.123Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::<Utc>::from_timestamp_micros(self.0) {
            Some(at) => f.write_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true)),
            None => write!(f, "{} us since 1970", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let at = DateTime::parse_from_rfc3339(&text).map_err(serde::de::Error::custom)?;
        Ok(Self(at.timestamp_micros()))
    }
}

/// How an as-of is known. Words of the receipt (CONTRACT, 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsOfMethod {
    /// The source's own clock when the statement began there.
    Clock,
    /// The last transaction a replica has replayed.
    ReplicaReplay,
    /// The time of the snapshot that was read.
    Snapshot,
    /// The commit time of the last applied change.
    CommitTs,
    /// All changes up to this time are in.
    Watermark,
}

impl AsOfMethod {
    pub fn word(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::ReplicaReplay => "replica_replay",
            Self::Snapshot => "snapshot",
            Self::CommitTs => "commit_ts",
            Self::Watermark => "watermark",
        }
    }
}

/// The instant something is true for, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsOf {
    pub at: Timestamp,
    pub method: AsOfMethod,
}

impl AsOf {
    pub const fn new(at: Timestamp, method: AsOfMethod) -> Self {
        Self { at, method }
    }

    /// The older of two: what an answer made of both is true for.
    pub fn oldest(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }
}

impl fmt::Display for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.at, self.method.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_parses_iso() {
        let at = Timestamp::from_micros(1_764_527_778_123_456);
        assert_eq!(at.to_string(), "2025-11-30T18:36:18.123Z");
        assert_eq!(Timestamp::from_micros(-1).millis(), -1);
    }

    #[test]
    fn the_oldest_wins() {
        let old = AsOf::new(Timestamp::from_millis(1), AsOfMethod::Snapshot);
        let new = AsOf::new(Timestamp::from_millis(2), AsOfMethod::Clock);
        assert_eq!(new.oldest(old), old);
        assert_eq!(old.oldest(new), old);
    }
}
