// SPDX-License-Identifier: Apache-2.0
//! What a column's declared type promises. SQLite derives an affinity from the words; we derive an Arrow type that values of
//! that affinity fit, and call everything else a stray.

use arrow::datatypes::{DataType, TimeUnit};

/// What a declared type means to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Integer,
    Real,
    Text,
    Blob,
    /// 0 and 1.
    Boolean,
    /// Exact digits; doubles count when 15 digits say all of them.
    Decimal {
        precision: u8,
        scale: i8,
    },
    /// `YYYY-MM-DD` as text.
    Date,
    /// `HH:MM[:SS[.fraction]]` as text.
    Time,
    /// ISO 8601 as text; one with a zone is moved to UTC.
    Timestamp {
        zoned: bool,
    },
    /// No promise at all: whatever is there, as SQLite prints it.
    Printed,
}

/// Words that SQLite takes for numbers although their columns hold texts.
const PRINTED: [&str; 8] = ["JSON", "JSONB", "UUID", "GUID", "STRING", "ENUM", "ANY", "XML"];

pub(super) fn meaning(declared: &str) -> Meaning {
    let upper = declared.trim().to_ascii_uppercase();
    let name = upper.split('(').next().unwrap_or_default().trim();
    match name {
        "BOOLEAN" | "BOOL" => return Meaning::Boolean,
        "DATE" => return Meaning::Date,
        "TIME" => return Meaning::Time,
        "DATETIME" | "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" => return Meaning::Timestamp { zoned: false },
        "TIMESTAMPTZ" | "DATETIMETZ" | "TIMESTAMP WITH TIME ZONE" => return Meaning::Timestamp { zoned: true },
        name if name.is_empty() || PRINTED.contains(&name) => return Meaning::Printed,
        _ => {}
    }
    by_affinity(&upper)
}

/// SQLite's own rules, in its own order.
fn by_affinity(upper: &str) -> Meaning {
    let has = |words: &[&str]| words.iter().any(|word| upper.contains(word));
    if has(&["INT"]) {
        Meaning::Integer
    } else if has(&["CHAR", "CLOB", "TEXT"]) {
        Meaning::Text
    } else if has(&["BLOB"]) {
        Meaning::Blob
    } else if has(&["REAL", "FLOA", "DOUB"]) {
        Meaning::Real
    } else {
        let (precision, scale) = arguments(upper).unwrap_or((38, 18));
        Meaning::Decimal { precision, scale }
    }
}

/// `(p)` or `(p,s)`, where 128 bits can hold it.
fn arguments(upper: &str) -> Option<(u8, i8)> {
    let inside = upper.split_once('(')?.1.split(')').next()?;
    let mut numbers = inside.split(',').map(|number| number.trim().parse::<u8>());
    let precision = numbers.next()?.ok()?;
    let scale = match numbers.next() {
        Some(scale) => scale.ok()?,
        None => 0,
    };
    let fits = (1..=38).contains(&precision) && scale <= precision;
    fits.then(|| i8::try_from(scale).ok().map(|scale| (precision, scale)))?
}

impl Meaning {
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Integer => DataType::Int64,
            Self::Real => DataType::Float64,
            Self::Text | Self::Printed => DataType::Utf8,
            Self::Blob => DataType::Binary,
            Self::Boolean => DataType::Boolean,
            Self::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp { zoned } => DataType::Timestamp(TimeUnit::Microsecond, zoned.then(|| "UTC".into())),
        }
    }

    /// SQLite prints numbers itself; a blob stays one, so that it is a stray and not a garbled text.
    pub(super) fn read_as(self) -> Option<&'static str> {
        (self == Self::Printed).then_some("CASE typeof({}) WHEN 'blob' THEN {} ELSE CAST({} AS TEXT) END")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_follows_sqlites_order() {
        assert_eq!(meaning("UNSIGNED BIG INT"), Meaning::Integer);
        assert_eq!(meaning("CHARINT"), Meaning::Integer);
        assert_eq!(meaning("varchar(255)"), Meaning::Text);
        assert_eq!(meaning("double precision"), Meaning::Real);
        assert_eq!(meaning("BLOB"), Meaning::Blob);
        assert_eq!(meaning(""), Meaning::Printed);
        assert_eq!(meaning("STRING"), Meaning::Printed);
    }

    #[test]
    fn decimals_keep_their_declaration() {
        assert_eq!(meaning("DECIMAL(12,2)"), Meaning::Decimal { precision: 12, scale: 2 });
        assert_eq!(meaning("numeric(5)"), Meaning::Decimal { precision: 5, scale: 0 });
        assert_eq!(meaning("NUMERIC"), Meaning::Decimal { precision: 38, scale: 18 });
        assert_eq!(meaning("DECIMAL(60,2)"), Meaning::Decimal { precision: 38, scale: 18 });
    }

    #[test]
    fn times_are_known_by_name() {
        assert_eq!(meaning("timestamp(6)"), Meaning::Timestamp { zoned: false });
        assert_eq!(meaning("TIMESTAMP WITH TIME ZONE"), Meaning::Timestamp { zoned: true });
        assert_eq!(meaning("Date"), Meaning::Date);
    }
}
