// SPDX-License-Identifier: Apache-2.0
//! Sizes and durations as people write them: `64KiB 512MiB 2GiB` and `250ms 30s 15m 24h 90d`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

const KIB: u64 = 1024;
const SIZES: [(&str, u64); 4] = [("TiB", KIB * KIB * KIB * KIB), ("GiB", KIB * KIB * KIB), ("MiB", KIB * KIB), ("KiB", KIB)];

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not a size; write a whole number with B, KiB, MiB, GiB or TiB, such as 512MiB");
        let text = text.trim();
        let (digits, unit) = split_unit(text);
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        let factor = match unit {
            "" | "B" => 1,
            _ => SIZES.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1,
        };
        number.checked_mul(factor).map(ByteSize).ok_or_else(wrong)
    }
}

impl fmt::Display for ByteSize {
    /// The largest unit that gives at least 1, with at most one decimal: `46 KiB`, `1.5 MiB`, `12 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((unit, factor)) = SIZES.iter().find(|(_, factor)| self.0 >= *factor) else {
            return write!(f, "{} B", self.0);
        };
        let value = self.0 as f64 / *factor as f64;
        if value >= 10.0 || self.0.is_multiple_of(*factor) { write!(f, "{value:.0} {unit}") } else { write!(f, "{value:.1} {unit}") }
    }
}

/// A length of time, as written in configuration and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

impl Span {
    pub const fn from_millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    pub fn as_millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

const SPANS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not a duration; write a whole number with ms, s, m, h or d, such as 30s");
        let (digits, unit) = split_unit(text.trim());
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        let factor = SPANS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
        number.checked_mul(factor).map(Span::from_millis).ok_or_else(wrong)
    }
}

impl fmt::Display for Span {
    /// As it would be written: the largest unit that divides it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.as_millis();
        let (unit, factor) = SPANS.iter().find(|(_, factor)| ms >= *factor && ms.is_multiple_of(*factor)).unwrap_or(&("ms", 1));
        write!(f, "{}{unit}", ms / factor)
    }
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

impl ByteSize {
    /// As it would be written in configuration: the largest unit that divides it, so that nothing is rounded.
    pub fn exact(self) -> String {
        let (unit, factor) = SIZES.iter().find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor)).unwrap_or(&("B", 1));
        format!("{}{unit}", self.0 / factor)
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.exact())
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

macro_rules! from_text {
    ($unit:ty) => {
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
from_text!(ByteSize);
from_text!(Span);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_printed() {
        assert_eq!("512MiB".parse(), Ok(ByteSize(512 * 1024 * 1024)));
        assert_eq!(ByteSize(1536).to_string(), "1.5 KiB");
        assert_eq!(ByteSize(12).to_string(), "12 B");
        assert!("512MB".parse::<ByteSize>().is_err());
        assert!("-1MiB".parse::<ByteSize>().is_err());
    }

    #[test]
    fn spans_are_read_and_printed() {
        assert_eq!("15m".parse(), Ok(Span::from_millis(900_000)));
        assert_eq!(Span::from_millis(90_000).to_string(), "90s");
        assert_eq!(Span::from_millis(250).to_string(), "250ms");
        assert!("5".parse::<Span>().is_err());
    }
}
