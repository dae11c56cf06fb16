// SPDX-License-Identifier: Apache-2.0
//! The kinds of columns that a place can have, their tricky values, and what PostgreSQL must hold so that it means the same.

/// What may be done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Int,
    Big,
    /// Decimals that may be multiplied.
    Dec,
    /// Decimals of many digits.
    Wide,
    Float,
    Text,
    Bool,
    Date,
    Ts,
    Tstz,
    Time,
    Bytes,
    Uuid,
    Enum,
}

/// A kind of column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    pub class: Class,
    /// The column's type in its place, collation included.
    pub ddl: &'static str,
    /// Its type in the PostgreSQL that says the truth.
    pub truth: &'static str,
    pub values: &'static [&'static str],
    pub reading: Reading,
}

/// What Weir reads of a value that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    Same,
    /// `char(n)` has no blanks at its end.
    Trimmed,
    /// Zero dates are NULL.
    ZeroIsNull,
}

impl Reading {
    pub fn of(self, value: &str) -> Option<&str> {
        match self {
            Self::Same => Some(value),
            Self::Trimmed => Some(value.trim_end_matches(' ')),
            Self::ZeroIsNull => (!value.contains("-00")).then_some(value),
        }
    }
}

const SMALL: &[&str] = &["0", "1", "-1", "2", "3", "7", "-7", "100"];
const SHORTS: &[&str] = &["0", "1", "-1", "2", "3", "7", "-7", "100", "32767", "-32768"];
const INTS: &[&str] = &["0", "1", "-1", "2", "3", "7", "-7", "100", "2147483647", "-2147483648"];
const BIGS: &[&str] = &["0", "1", "-1", "2", "3", "7", "9007199254740993", "9007199254740992", "9223372036854775807", "-9223372036854775807"];
const UNSIGNED: &[&str] = &["0", "1", "2", "3", "7", "100", "4294967295", "2147483648"];
const BIG_UNSIGNED: &[&str] = &["0", "1", "2", "3", "7", "18446744073709551615", "9223372036854775808"];
const YEARS: &[&str] = &["2026", "1901", "2155", "2000"];
const DECIMALS: &[&str] = &["0", "1", "-1", "0.05", "-0.05", "7.1", "2.50", "-3.00", "100.10", "99999999.99", "-99999999.99"];
const FINE: &[&str] = &["0", "1", "0.0000000001", "-0.0000000001", "7.1", "2.5", "12345678901234567890.1234567891", "-99999999999999999999.9999999999"];
const FLOATS: &[&str] = &["0", "1", "-1", "1.5", "0.1", "-2.25", "100", "1e300", "-1e-300", "NaN", "Infinity", "-Infinity", "-0"];
const FINITE: &[&str] = &["0", "1", "-1", "1.5", "0.1", "-2.25", "100", "1e300", "-1e-300", "-0.0"];
const REALS: &[&str] = &["0", "1", "1.5", "0.1", "-2.25", "100", "16777217", "NaN", "-0"];
const FINITE_REALS: &[&str] = &["0", "1", "1.5", "0.1", "-2.25", "100", "16777217", "-0.0"];
pub const TEXTS: &[&str] = &[
    "a",
    "A",
    "a ",
    "",
    "é",
    "e",
    "É",
    "z",
    "Z",
    "ß",
    "ss",
    "it's",
    "back\\slash",
    "50%",
    "a_b",
    "😀",
    "aa",
    "  a",
    "Straße",
    "İ",
    "i",
    "\"q\"",
    "e\u{301}",
    "\ta",
];
const SHORT_TEXTS: &[&str] = &["a", "A", "a ", "", "é", "e", "z", "it's", "\\", "%", "😀", "aa"];
const BOOLS: &[&str] = &["true", "false"];
const BITS: &[&str] = &["1", "0"];
const DATES: &[&str] = &["2026-11-30", "2026-12-01", "0001-01-01", "9999-12-31", "1969-12-31", "2024-02-29", "2026-03-29"];
const MARIA_DATES: &[&str] = &["2026-11-30", "2026-12-01", "1000-01-01", "9999-12-31", "1969-12-31", "2024-02-29", "0000-00-00"];
const MOMENTS: &[&str] = &[
    "2026-11-30 12:00:00",
    "2026-11-30 12:00:00.000001",
    "1969-12-31 23:59:59.999999",
    "2026-03-29 02:30:00",
    "2026-10-25 02:30:00",
    "2024-02-29 00:00:00",
    "0001-01-01 00:00:00",
];
const MARIA_MOMENTS: &[&str] =
    &["2026-11-30 12:00:00", "2026-11-30 12:00:00.000001", "1969-12-31 23:59:59.999999", "2026-03-29 02:30:00", "2026-10-25 02:30:00", "0000-00-00 00:00:00"];
const ZONED: &[&str] =
    &["2026-11-30 12:00:00+00", "2026-11-30 12:00:00.000001+00", "1969-12-31 23:59:59+00", "2026-03-29 01:30:00+00", "2026-10-25 00:30:00+00"];
const MARIA_ZONED: &[&str] = &["2026-11-30 12:00:00", "2026-11-30 12:00:00.000001", "1971-01-01 00:00:00", "2026-03-29 01:30:00", "0000-00-00 00:00:00"];
const TIMES: &[&str] = &["00:00:00", "23:59:59.999999", "12:00:00", "12:00:00.000001"];
const BYTES: &[&str] = &["", "00", "00ff", "61", "6161", "5c27"];
const UUIDS: &[&str] = &["00000000-0000-0000-0000-00000000000a", "ffffffff-0000-4000-8000-000000000000", "12345678-1234-4234-8234-123456789abc"];
const MOODS: &[&str] = &["sad", "ok", "Happy"];
const LETTERS: &[&str] = &["b", "a", "C"];

const fn kind(class: Class, ddl: &'static str, truth: &'static str, values: &'static [&'static str]) -> Kind {
    Kind { class, ddl, truth, values, reading: Reading::Same }
}

const fn read(class: Class, ddl: &'static str, truth: &'static str, values: &'static [&'static str], reading: Reading) -> Kind {
    Kind { class, ddl, truth, values, reading }
}

/// A whole number that tables are joined by.
pub const KEY: Kind = kind(Class::Int, "int", "int", SMALL);
pub const SQLITE_KEY: Kind = kind(Class::Big, "INTEGER", "bigint", SMALL);

pub const POSTGRES: &[Kind] = &[
    kind(Class::Int, "smallint", "smallint", SHORTS),
    kind(Class::Int, "int", "int", INTS),
    kind(Class::Int, "int", "int", SMALL),
    kind(Class::Big, "bigint", "bigint", BIGS),
    kind(Class::Dec, "numeric(10,2)", "numeric(10,2)", DECIMALS),
    kind(Class::Dec, "numeric", "numeric(38,18)", DECIMALS),
    kind(Class::Wide, "numeric(30,10)", "numeric(30,10)", FINE),
    kind(Class::Float, "double precision", "double precision", FLOATS),
    kind(Class::Float, "real", "real", REALS),
    kind(Class::Text, "text", "text", TEXTS),
    kind(Class::Text, "varchar(20)", "varchar(20)", TEXTS),
    kind(Class::Text, "text COLLATE \"C\"", "text", TEXTS),
    kind(Class::Text, "text COLLATE \"en-x-icu\"", "text", TEXTS),
    kind(Class::Text, "text COLLATE blind", "text", TEXTS),
    read(Class::Text, "char(8)", "text", SHORT_TEXTS, Reading::Trimmed),
    kind(Class::Bool, "boolean", "boolean", BOOLS),
    kind(Class::Date, "date", "date", DATES),
    kind(Class::Ts, "timestamp", "timestamp", MOMENTS),
    kind(Class::Tstz, "timestamptz", "timestamptz", ZONED),
    kind(Class::Time, "time", "time", TIMES),
    kind(Class::Bytes, "bytea", "bytea", BYTES),
    kind(Class::Uuid, "uuid", "uuid", UUIDS),
    kind(Class::Enum, "mood", "mood", MOODS),
];

pub const MARIADB: &[Kind] = &[
    kind(Class::Int, "tinyint(1)", "smallint", BITS),
    kind(Class::Int, "smallint", "smallint", SHORTS),
    kind(Class::Int, "int", "int", INTS),
    kind(Class::Int, "mediumint", "int", SMALL),
    kind(Class::Int, "year", "smallint", YEARS),
    kind(Class::Big, "bigint", "bigint", BIGS),
    kind(Class::Big, "int unsigned", "bigint", UNSIGNED),
    kind(Class::Wide, "bigint unsigned", "numeric(20,0)", BIG_UNSIGNED),
    kind(Class::Dec, "decimal(10,2)", "numeric(10,2)", DECIMALS),
    kind(Class::Wide, "decimal(30,10)", "numeric(30,10)", FINE),
    kind(Class::Float, "double", "double precision", FINITE),
    kind(Class::Float, "float", "real", FINITE_REALS),
    kind(Class::Text, "varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "text", TEXTS),
    kind(Class::Text, "varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "text", TEXTS),
    kind(Class::Text, "varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", "text", TEXTS),
    kind(Class::Text, "varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci", "text", TEXTS),
    kind(Class::Text, "text CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "text", TEXTS),
    read(Class::Text, "char(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "text", SHORT_TEXTS, Reading::Trimmed),
    kind(Class::Text, "enum('b', 'a', 'C')", "text", LETTERS),
    read(Class::Date, "date", "date", MARIA_DATES, Reading::ZeroIsNull),
    read(Class::Ts, "datetime(6)", "timestamp", MARIA_MOMENTS, Reading::ZeroIsNull),
    read(Class::Tstz, "timestamp(6) NULL", "timestamptz", MARIA_ZONED, Reading::ZeroIsNull),
    kind(Class::Time, "time(6)", "time", TIMES),
    kind(Class::Bytes, "varbinary(20)", "bytea", BYTES),
];

pub const SQLITE: &[Kind] = &[
    kind(Class::Big, "INTEGER", "bigint", SMALL),
    kind(Class::Big, "BIGINT", "bigint", BIGS),
    kind(Class::Dec, "DECIMAL(10,2)", "numeric(10,2)", DECIMALS),
    kind(Class::Float, "REAL", "double precision", FINITE),
    kind(Class::Text, "TEXT", "text", TEXTS),
    kind(Class::Text, "TEXT COLLATE NOCASE", "text", TEXTS),
    kind(Class::Text, "TEXT COLLATE RTRIM", "text", TEXTS),
    kind(Class::Bool, "BOOLEAN", "boolean", BITS),
    kind(Class::Date, "DATE", "date", DATES),
    kind(Class::Ts, "TIMESTAMP", "timestamp", MOMENTS),
    kind(Class::Time, "TIME", "time", TIMES),
    kind(Class::Bytes, "BLOB", "bytea", BYTES),
];

/// The lake's tables are made from those of the truth.
pub const LAKE: &[Kind] = &[
    kind(Class::Int, "int", "int", INTS),
    kind(Class::Big, "bigint", "bigint", BIGS),
    kind(Class::Dec, "numeric(10,2)", "numeric(10,2)", DECIMALS),
    kind(Class::Wide, "numeric(30,10)", "numeric(30,10)", FINE),
    kind(Class::Float, "double precision", "double precision", FLOATS),
    kind(Class::Float, "real", "real", REALS),
    kind(Class::Text, "text", "text", TEXTS),
    kind(Class::Bool, "boolean", "boolean", BOOLS),
    kind(Class::Date, "date", "date", DATES),
    kind(Class::Ts, "timestamp", "timestamp", MOMENTS),
    kind(Class::Tstz, "timestamptz", "timestamptz", ZONED),
    kind(Class::Time, "time", "time", TIMES),
    kind(Class::Bytes, "bytea", "bytea", BYTES),
];

/// A constant of a class, as an analyst writes it.
pub fn literal(class: Class, value: &str) -> String {
    let text = format!("'{}'", value.replace('\'', "''"));
    match class {
        Class::Int | Class::Big | Class::Dec | Class::Wide => value.to_owned(),
        Class::Float => format!("CAST({text} AS double precision)"),
        Class::Text | Class::Uuid | Class::Enum => text,
        Class::Bool => value.to_owned(),
        Class::Date => format!("DATE {text}"),
        Class::Ts => format!("TIMESTAMP {text}"),
        Class::Tstz => format!("CAST({text} AS timestamptz)"),
        Class::Time => format!("TIME {text}"),
        Class::Bytes => format!("CAST('\\x{value}' AS bytea)"),
    }
}

/// Values of a class for constants.
pub fn constants(class: Class) -> &'static [&'static str] {
    match class {
        Class::Int => SMALL,
        Class::Big => &["0", "1", "2", "7", "9007199254740993", "9223372036854775807", "-1"],
        Class::Dec => &["0", "1", "2.5", "2.50", "0.05", "-3.00", "7.1", "100.1", "0.001"],
        Class::Wide => &["0", "1", "7.1", "0.0000000001", "18446744073709551615", "-1"],
        Class::Float => &["0", "1.5", "0.1", "1e300", "-2.25"],
        Class::Text => TEXTS,
        Class::Bool => BOOLS,
        Class::Date => DATES,
        Class::Ts => MOMENTS,
        Class::Tstz => ZONED,
        Class::Time => TIMES,
        Class::Bytes => BYTES,
        Class::Uuid => UUIDS,
        Class::Enum => MOODS,
    }
}
