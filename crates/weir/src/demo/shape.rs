// SPDX-License-Identifier: Apache-2.0
//! Tables as the demo describes them once for every kind of system: columns, values, and how each system spells them.

use chrono::{DateTime, NaiveDate};
use std::fmt::Write;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A positive whole number of up to 18 digits.
    Id,
    Int,
    Text,
    Bool,
    /// Twelve digits, two of them after the point.
    Money,
    /// An instant, in microseconds.
    At,
    Day,
}

#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub nullable: bool,
}

/// A column without NULLs.
pub const fn col(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, nullable: false }
}

/// A column that may be NULL.
pub const fn opt(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, nullable: true }
}

/// One table.
#[derive(Debug)]
pub struct Shape {
    pub name: &'static str,
    pub columns: &'static [Column],
    /// Columns of the primary key.
    pub key: &'static [&'static str],
    /// Columns with an index each.
    pub indexed: &'static [&'static str],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    /// Hundredths.
    Cents(i64),
    /// Microseconds since 1970.
    At(i64),
    /// Days since 1970.
    Day(i32),
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// A kind of system that tables are loaded into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    Postgres,
    MariaDb,
    Snowflake,
    Sqlite,
}

impl Spelling {
    fn type_of(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Self::MariaDb, Kind::Id) => "bigint unsigned",
            (Self::Snowflake, Kind::Id) => "number(18,0)",
            (_, Kind::Id) => "bigint",
            (Self::Snowflake, Kind::Int) => "number(9,0)",
            (_, Kind::Int) => "integer",
            (Self::MariaDb, Kind::Text) => "varchar(160)",
            (Self::Snowflake, Kind::Text) => "varchar",
            (_, Kind::Text) => "text",
            (Self::MariaDb, Kind::Bool) => "tinyint(1)",
            (_, Kind::Bool) => "boolean",
            (Self::Snowflake, Kind::Money) => "number(12,2)",
            (_, Kind::Money) => "decimal(12,2)",
            (Self::Postgres | Self::Sqlite, Kind::At) => "timestamptz",
            (Self::MariaDb, Kind::At) => "datetime(6)",
            (Self::Snowflake, Kind::At) => "timestamp_ntz(6)",
            (_, Kind::Day) => "date",
        }
    }

    /// `CREATE TABLE` and its indexes. The names are ours and need no quotes.
    pub fn create(self, shape: &Shape) -> String {
        let null = |column: &Column| if column.nullable { "" } else { " not null" };
        let columns: Vec<String> = shape.columns.iter().map(|column| format!("{} {}{}", column.name, self.type_of(column.kind), null(column))).collect();
        let key = if shape.key.is_empty() { String::new() } else { format!(", primary key ({})", shape.key.join(", ")) };
        let mut text = format!("create table {} ({}{key});\n", shape.name, columns.join(", "));
        // A warehouse has no indexes.
        for column in shape.indexed.iter().filter(|_| self != Self::Snowflake) {
            text.push_str(&format!("create index {0}_{column} on {0} ({column});\n", shape.name));
        }
        text
    }

    /// One value as a literal of an `INSERT`.
    fn literal(self, value: &Value, out: &mut String) {
        match value {
            Value::Null => out.push_str("NULL"),
            Value::Text(text) => {
                let text = if self == Self::MariaDb { text.replace('\\', "\\\\") } else { text.clone() };
                out.push_str(&format!("'{}'", text.replace('\'', "''")));
            }
            Value::Bool(value) => out.push(if *value { '1' } else { '0' }),
            Value::At(_) | Value::Day(_) => {
                out.push('\'');
                plain(value, out);
                out.push('\'');
            }
            Value::Int(_) | Value::Cents(_) => plain(value, out),
        }
    }
}

/// The value without quotes, as every system reads it: `2026-11-30 18:36:18.123456`, `12.50`. Nothing for NULL.
pub fn plain(value: &Value, out: &mut String) {
    // Writing to a String cannot fail; the result carries nothing.
    let _infallible = match value {
        Value::Null => Ok(()),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Int(value) => write!(out, "{value}"),
        Value::Text(value) => write!(out, "{value}"),
        Value::Cents(cents) => write!(out, "{}{}.{:02}", if *cents < 0 { "-" } else { "" }, cents.unsigned_abs() / 100, cents.unsigned_abs() % 100),
        Value::At(micros) => write!(out, "{}", DateTime::from_timestamp_micros(*micros).unwrap_or_default().format("%Y-%m-%d %H:%M:%S%.6f")),
        Value::Day(days) => write!(out, "{}", NaiveDate::from_epoch_days(*days).unwrap_or_default()),
    };
}

/// Rows as `COPY … FROM stdin` of PostgreSQL reads them, up to and with the end mark.
pub fn copy_script(shape: &Shape, rows: impl Iterator<Item = Vec<Value>>) -> String {
    let mut text = format!("copy {} from stdin;\n", shape.name);
    for row in rows {
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                text.push('\t');
            }
            match value {
                Value::Null => text.push_str("\\N"),
                // Our texts hold neither tabs nor line ends.
                Value::Text(value) => text.push_str(&value.replace('\\', "\\\\")),
                Value::At(_) => {
                    plain(value, &mut text);
                    text.push_str("+00");
                }
                value => plain(value, &mut text),
            }
        }
        text.push('\n');
    }
    text.push_str("\\.\n");
    text
}

/// Rows as `INSERT` statements of many rows each.
pub fn insert_script(spelling: Spelling, shape: &Shape, rows: impl Iterator<Item = Vec<Value>>) -> String {
    const ROWS_PER_STATEMENT: usize = 1_000;
    let mut text = String::new();
    for (number, row) in rows.enumerate() {
        let start = number % ROWS_PER_STATEMENT == 0;
        match (start, number) {
            (true, 0) => text.push_str(&format!("insert into {} values\n(", shape.name)),
            (true, _) => text.push_str(&format!(";\ninsert into {} values\n(", shape.name)),
            (false, _) => text.push_str(",\n("),
        }
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            spelling.literal(value, &mut text);
        }
        text.push(')');
    }
    if !text.is_empty() {
        text.push_str(";\n");
    }
    text
}

/// Rows as comma-separated values without a header; NULL is empty, texts are quoted.
pub fn csv(rows: impl Iterator<Item = Vec<Value>>) -> String {
    let mut text = String::new();
    for row in rows {
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            match value {
                Value::Text(value) => text.push_str(&format!("\"{}\"", value.replace('"', "\"\""))),
                value => plain(value, &mut text),
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { name: "t", columns: &[col("id", Kind::Id), opt("note", Kind::Text), opt("at", Kind::At)], key: &["id"], indexed: &["at"] };

    fn rows() -> Vec<Vec<Value>> {
        vec![vec![Value::Int(1), Value::Text("O'B\\x".into()), Value::At(1_500_000)], vec![Value::Int(2), Value::Null, Value::Null]]
    }

    #[test]
    fn each_system_has_its_spelling() {
        let expected = "create table t (id bigint not null, note text, at timestamptz, primary key (id));\ncreate index t_at on t (at);\n";
        assert_eq!(Spelling::Postgres.create(&SHAPE), expected);
        assert!(Spelling::MariaDb.create(&SHAPE).contains("id bigint unsigned not null, note varchar(160), at datetime(6)"));
        assert_eq!(copy_script(&SHAPE, rows().into_iter()), "copy t from stdin;\n1\tO'B\\\\x\t1970-01-01 00:00:01.500000+00\n2\t\\N\t\\N\n\\.\n");
        let inserted = insert_script(Spelling::MariaDb, &SHAPE, rows().into_iter());
        assert_eq!(inserted, "insert into t values\n(1,'O''B\\\\x','1970-01-01 00:00:01.500000'),\n(2,NULL,NULL);\n");
        assert_eq!(csv(rows().into_iter()), "1,\"O'B\\x\",1970-01-01 00:00:01.500000\n2,,\n");
    }

    #[test]
    fn money_keeps_its_sign() {
        let mut text = String::new();
        plain(&Value::Cents(-5), &mut text);
        plain(&Value::Cents(120_050), &mut text);
        assert_eq!(text, "-0.051200.50");
    }
}
